package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// size is a flag that takes a number of bytes, such as 4096, 64KiB or 1GiB.
type size int64

// sizeUnits are the suffixes that size reads and writes, largest first.
var sizeUnits = [...]struct {
	suffix string
	shift  uint
}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}

// String implements pflag.Value.
func (s *size) String() string {
	for _, u := range sizeUnits {
		if n := int64(*s); n > 0 && n%(1<<u.shift) == 0 {
			return strconv.FormatInt(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	digits, shift := text, uint(0)
	for _, u := range sizeUnits {
		// Accept "64K" and "64k" too.
		for _, suffix := range []string{u.suffix, u.suffix[:1], strings.ToLower(u.suffix[:1])} {
			if d, ok := strings.CutSuffix(text, suffix); ok && shift == 0 {
				digits, shift = d, u.shift
			}
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)>>shift {
		return fmt.Errorf("want a number of bytes such as 4096, 64KiB or 1GiB")
	}
	*s = size(n << shift)
	return nil
}

// Type implements pflag.Value.
func (s *size) Type() string { return "size" }
