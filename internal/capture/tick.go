package capture

import "errors"

// ErrTick is what a live Source gives instead of a packet as time passes, so that a quiet
// interface does not hold up whoever waits for time. The next call goes on.
var ErrTick = errors.New("a moment has passed")
