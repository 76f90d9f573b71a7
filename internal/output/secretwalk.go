package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// Walk gives the events of f, a half of x, to sink as trees show them: bytes without a layout are
// secret where they may hold a password or a token.
func Walk(d *walk.Decoder, x *dissect.Exchange, f *dissect.Frame, sink tree.Sink) {
	if x.Request == nil || schema.HoldsSecrets(x.Request.APIKey) || f.Kind == dissect.TokenFrame {
		sink = maskRests{sink}
	}
	f.Walk(d, sink)
}
