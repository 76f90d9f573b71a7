package output

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
)

// allForms keeps what each form of output makes of exchanges.
type allForms struct {
	forms [3]func([]byte, *dissect.Exchange) []byte
	text  [3][]byte
	now   int64 // the place
	late  int   // exchanges that were handed over at another place than their own
}

func newAllForms() *allForms {
	return &allForms{forms: [3]func([]byte, *dissect.Exchange) []byte{
		NewSummary(nil, Options{Decoder: opener()}).Append,
		NewJSON(nil, Options{Decoder: opener()}).Append,
		NewTree(nil, Options{Decoder: opener()}).Append,
	}}
}

func (f *allForms) Exchange(x *dissect.Exchange) {
	for i, form := range f.forms {
		f.text[i] = form(f.text[i], x)
	}
	if x.Place != f.now {
		f.late++
	}
}

func (f *allForms) Closed(*dissect.Connection, reassembly.End) {}

// shown returns what is shown of a capture, of which some segments may be lost. Places are told
// where epoch is not 0: it is the packets that see the same facts.
func shown(t *testing.T, file string, lose, epoch int64, gather bool) *allForms {
	r, err := capture.Open(context.Background(), []string{file}, capture.Options{})
	require.NoError(t, err)
	defer r.Close()
	f := newAllForms()
	d := dissect.New(dissect.Options{Handler: f, Gather: gather})
	a := reassembly.New(reassembly.Limits{}, d)
	var live [][]byte
	for n := int64(1); ; n++ {
		var s reassembly.Segment
		if err := r.NextSegment(&s); errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if lose > 0 && n%lose == 0 {
			continue
		}
		s.Payload = append([]byte(nil), s.Payload...)
		live = append(live, s.Payload)
		if epoch > 0 {
			f.now = n
			d.At(n, n/epoch*epoch)
		}
		a.Advance(s.Time)
		a.Segment(&s)
		if n%100 == 0 { // here they end to live
			d.HandOver()
			for _, b := range live {
				for i := range b {
					b[i] = 0xa5
				}
			}
			live = live[:0]
		}
	}
	a.Flush()
	return f
}

// TestGatheredExchangesAreShownAlike holds exchanges that wait for others to those that do not.
func TestGatheredExchangesAreShownAlike(t *testing.T) {
	files, err := filepath.Glob("../../testdata/pcaps/*.pcap*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		alike(t, file, 0, 0)
		alike(t, file, 41, 64)
	}
}

func TestGatheredExchangesOfTheLabAreShownAlike(t *testing.T) {
	files := corpus.Files(t, "captures", "lab", "*", "*.pcap*")
	if testing.Short() || corpus.Race {
		files = files[:10]
	}
	late := 0
	for _, file := range files {
		late += alike(t, file, 0, 64)
		alike(t, file, 41, 0)
	}
	assert.Greater(t, late, 100, "exchanges that waited")
}

// alike compares what is shown, and returns how many exchanges waited, where places are told.
func alike(t *testing.T, file string, lose, epoch int64) int {
	want, got := shown(t, file, lose, epoch, false), shown(t, file, lose, epoch, true)
	for i, text := range want.text {
		assert.True(t, string(text) == string(got.text[i]), "%s, form %d, each %d lost, epochs of %d", file, i, lose, epoch)
	}
	if epoch == 0 {
		return 0
	}
	assert.Zero(t, want.late)
	return got.late
}
