package cli

import (
	"fmt"
	"slices"
	"strings"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value   string
	allowed []string
}

// newChoice returns a choice whose default is the first of allowed.
func newChoice(allowed ...string) *choice {
	return &choice{value: allowed[0], allowed: allowed}
}

// String implements pflag.Value.
func (c *choice) String() string { return c.value }

// Set implements pflag.Value.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("want %s", strings.Join(c.allowed, ", "))
	}
	c.value = s
	return nil
}

// Type implements pflag.Value: the words that help shows.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }
