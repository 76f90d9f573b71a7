package traffic

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/reassembly"
)

// nothing is a handler that is told in vain.
type nothing struct{}

func (nothing) Open(*reassembly.Conn)                                    {}
func (nothing) Chunk(*reassembly.Conn, reassembly.Dir, reassembly.Chunk) {}
func (nothing) Gap(*reassembly.Conn, reassembly.Dir, reassembly.Gap)     {}
func (nothing) Note(*reassembly.Conn, reassembly.Dir, reassembly.Note)   {}
func (nothing) Finish(*reassembly.Conn, reassembly.Dir, int64, int64)    {}
func (nothing) Close(*reassembly.Conn, reassembly.End, int64, int64)     {}
func (nothing) Exchange(*dissect.Exchange)                               {}
func (nothing) Closed(*dissect.Connection, reassembly.End)               {}

// shows writes exchanges in a form.
type shows struct {
	nothing
	out func([]byte, *dissect.Exchange) []byte
	buf []byte
}

func (s *shows) Exchange(x *dissect.Exchange) { s.buf = s.out(s.buf[:0], x) }

// BenchmarkStages measures each stage with those before it.
func BenchmarkStages(b *testing.B) {
	catalogue := schema.Default()
	options := func() output.Options {
		return output.Options{Decoder: payload.New(catalogue, records.Limits{}).Decoder(), Catalogue: catalogue}
	}
	dissected := func(h dissect.Handler) reassembly.Handler {
		return dissect.New(dissect.Options{Handler: h, Catalogue: catalogue})
	}
	stages := []struct {
		name string
		next func() reassembly.Handler // nil: segments are read, and not put in order
	}{
		{"capture", nil},
		{"reassembly", func() reassembly.Handler { return nothing{} }},
		{"dissect", func() reassembly.Handler { return dissected(nothing{}) }},
		{"summary", func() reassembly.Handler {
			return dissected(&shows{out: output.NewSummary(io.Discard, options()).Append})
		}},
		{"json", func() reassembly.Handler { return dissected(&shows{out: output.NewJSON(io.Discard, options()).Append}) }},
		{"tree", func() reassembly.Handler { return dissected(&shows{out: output.NewTree(io.Discard, options()).Append}) }},
	}
	for _, mix := range []struct {
		name string
		Mix
	}{{"large", Mix{Bytes: 16 << 20, Records: 50, Connections: 64}}, {"small", Mix{Bytes: 16 << 20, Records: 1, Connections: 64}}} {
		var made bytes.Buffer
		require.NoError(b, Generate(&made, mix.Mix))
		file := filepath.Join(b.TempDir(), "stage.pcap")
		require.NoError(b, os.WriteFile(file, made.Bytes(), 0o666))
		for _, s := range stages {
			b.Run("stage="+s.name+"/frames="+mix.name, func(b *testing.B) {
				b.SetBytes(int64(made.Len()))
				b.ReportAllocs()
				for b.Loop() {
					var a *reassembly.Assembler
					if s.next != nil {
						a = reassembly.New(reassembly.Limits{}, s.next())
					}
					require.NoError(b, drain(file, a))
				}
			})
		}
	}
}

// drain moves the segments of a file to a.
func drain(file string, a *reassembly.Assembler) error {
	r, err := capture.Open(context.Background(), []string{file}, capture.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	var s reassembly.Segment
	for {
		switch err := r.NextSegment(&s); {
		case errors.Is(err, io.EOF):
			if a != nil {
				a.Flush()
			}
			return nil
		case err != nil:
			return err
		}
		if a != nil {
			a.Segment(&s)
		}
	}
}
