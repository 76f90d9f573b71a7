package tree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

// TestBuilderKeepsToItsLimit: what is beyond the limit is left out, groups stay balanced, and one
// issue tells.
func TestBuilderKeepsToItsLimit(t *testing.T) {
	array := &tree.Desc{Name: "list", Kind: tree.KindArray}
	item := &tree.Desc{Name: "item", Kind: tree.KindStruct}
	leaf := &tree.Desc{Name: "n", Kind: tree.KindInt8}
	b := tree.Builder{Limit: 10}
	for range 2 { // the second time, after Reset
		b.Reset(make([]byte, 100))
		require.True(t, b.Begin(tree.Event{Desc: array, Count: 100}))
		shown := 0
		for i := range int32(100) {
			if b.Begin(tree.Event{Desc: item, Index: i, Flags: tree.FlagElement}) {
				shown++
				b.Leaf(tree.Event{Desc: leaf, Span: tree.Span{Off: i, Len: 1}})
			}
			b.End(tree.Event{Desc: item, Span: tree.Span{Off: i, Len: 1}})
		}
		b.End(tree.Event{Desc: array, Span: tree.Span{Len: 100}})
		got := b.Tree()
		assert.Len(t, got.Nodes, 10)
		assert.Equal(t, 5, shown)
		assert.EqualValues(t, 10, got.Nodes[0].Next)
		assert.EqualValues(t, 100, got.Nodes[0].Span.Len)
		require.Len(t, got.Issues, 1)
		assert.Equal(t, tree.CodeLimit, got.Issues[0].Code)
	}
}
