//go:build !linux

package cli

// largePages asks for large pages where that is known to help.
type largePages struct{}

func (*largePages) want(_, _ uintptr) {}
