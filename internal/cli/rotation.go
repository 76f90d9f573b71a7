package cli

import (
	"fmt"
	"time"
)

// rotation is a flag for when to begin another file: a size or a time. A bare "m" is minutes,
// mebibytes are M or MiB.
type rotation struct {
	size  size
	every time.Duration
}

func (r *rotation) set() bool { return r.size > 0 || r.every > 0 }

// String implements pflag.Value.
func (r *rotation) String() string {
	switch {
	case r.every > 0:
		return r.every.String()
	case r.size > 0:
		return r.size.String()
	}
	return ""
}

// Set implements pflag.Value.
func (r *rotation) Set(text string) error {
	*r = rotation{}
	if d, err := time.ParseDuration(text); err == nil && d >= time.Second {
		r.every = d
		return nil
	}
	if err := r.size.Set(text); err != nil || r.size < 64<<10 {
		return fmt.Errorf("want a size of 64KiB or more, such as 100MiB, or a time of 1s or more, such as 1h")
	}
	return nil
}

// Type implements pflag.Value.
func (r *rotation) Type() string { return "size|time" }
