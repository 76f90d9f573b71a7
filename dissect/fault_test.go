package dissect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// faulty is a Handler with faults: of exchanges with some id, and of skipped bytes.
type faulty struct {
	*collector
	id int32
}

func (f *faulty) Exchange(x *dissect.Exchange) {
	if x.Request.CorrelationID == f.id {
		f.fault()
	}
	f.collector.Exchange(x)
}

func (f *faulty) Skipped(*dissect.Connection, dissect.DirSkip) { f.fault() }

func (f *faulty) fault() {
	var none []int
	none[f.id]++
}

// faultyStream returns a stream to a dissector whose handler has faults.
func faultyStream(t *testing.T, recover bool) *stream {
	c := &collector{t: t, keepBytes: true}
	return &stream{collector: c, d: dissect.New(dissect.Options{Handler: &faulty{c, 2}, Recover: recover})}
}

func TestFaultInAFrameLosesThatFrame(t *testing.T) {
	s := faultyStream(t, true).open(50000, true)
	for id := range int32(4) {
		q, r := heartbeat(id)
		s.send(up, q)
		s.send(down, r)
	}
	s.close(reassembly.EndFIN)
	var ids []int32
	for _, x := range s.exchanges {
		ids = append(ids, x.Req.ID)
		assert.Equal(t, dissect.Paired, x.State)
	}
	assert.Equal(t, []int32{0, 1, 3}, ids)
	require.Len(t, s.conns[0].Issues, 1)
	assert.Equal(t, int64(1), s.conns[0].Faults)
	i := s.conns[0].Issues[0]
	assert.Equal(t, tree.CodeInternal, i.Code)
	assert.Equal(t, tree.Error, i.Severity)
	assert.Contains(t, i.Text, "fault of ours at packet 6: runtime error: index out of range [2] with length 0 (")
	assert.Regexp(t, `\(dissect_test\.\(\*faulty\)\.fault fault_test\.go:\d+ < dissect_test\.\(\*faulty\)\.Exchange fault_test\.go:\d+ < dissect\.\(\*conn\)\.hand `, i.Text)
	assert.NotContains(t, i.Text, "\n")
}

func TestFaultOutsideOfFramesEndsTheConnectionOnly(t *testing.T) {
	s := faultyStream(t, true)
	q, r := heartbeat(1)
	a := s.open(50000, true)
	a.send(up, q)
	a.send(down, r)
	a.send(up, cat(i32(-1), q))
	a.send(up, q)
	a.close(reassembly.EndFIN)
	assert.Len(t, s.exchanges, 1)
	require.Len(t, s.conns, 1)
	assert.Equal(t, int64(1), s.conns[0].Faults)
	assert.Contains(t, s.conns[0].Issues[0].Text, "(*faulty).Skipped")
	b := s.open(50001, true)
	b.send(up, q)
	b.send(down, r)
	b.close(reassembly.EndFIN)
	require.Len(t, s.exchanges, 2)
	assert.Equal(t, dissect.Paired, s.exchanges[1].State)
	assert.Zero(t, s.conns[1].Faults)
}

func TestFaultsPanicUnlessAsked(t *testing.T) {
	s := faultyStream(t, false).open(50000, true)
	q, r := heartbeat(2)
	s.send(up, q)
	assert.Panics(t, func() { s.send(down, r) })
}

func TestManyFaultsAreCounted(t *testing.T) {
	s := faultyStream(t, true).open(50000, true)
	for range 1000 {
		q, r := heartbeat(2)
		s.send(up, q)
		s.send(down, r)
	}
	s.close(reassembly.EndFIN)
	assert.Equal(t, int64(1000), s.conns[0].Faults)
	assert.Less(t, len(s.conns[0].Issues), 20)
}
