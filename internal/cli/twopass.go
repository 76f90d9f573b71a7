package cli

import (
	"io"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// learn reads the files for what connections show of others, such as the names of topic ids, so that
// it is known from the start when they are read again. Whatever there is to tell is told then.
func (p *pipeline) learn() error {
	if grows(p.files) {
		return usagef("--two-pass reads files twice: it does not go with stdin")
	}
	quiet := *p.env
	quiet.stderr = io.Discard
	p.facts = &dissect.Facts{}
	first := &pipeline{env: &quiet, source: p.source, files: p.files, facts: p.facts, handler: nothing{}, stopped: func() bool { return false }}
	return first.read()
}

// nothing is a dissect.Handler that shows nothing.
type nothing struct{}

// Exchange implements dissect.Handler.
func (nothing) Exchange(*dissect.Exchange) {}

// Closed implements dissect.Handler.
func (nothing) Closed(*dissect.Connection, reassembly.End) {}
