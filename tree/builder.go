package tree

import "strconv"

// Node is one line of a Tree.
type Node struct {
	Desc  *Desc
	Num   int64 // Value.Num; for strings and bytes the length of the content
	Aux   int64
	Span  Span
	Next  int32 // index of the first node behind this one's subtree
	Index int32
	Count int32
	Flags Flags
}

// Tree is a decoded buffer as an arena of nodes in the order of the bytes: a group's children
// follow it up to its Next.
type Tree struct {
	Nodes   []Node
	Issues  []NodeIssue
	Sources [][]byte // by source number; 0 is the decoded buffer
	Origins []Origin // of sources 1 and up, in order
}

// NodeIssue is an issue and the node it stands below.
type NodeIssue struct {
	Node int32
	Issue
}

// Origin says what a derived source was made from.
type Origin struct {
	Source int32
	From   Span
	Codec  string
}

// Bytes returns the content of a string, bytes or uuid node: its span without the prefix.
func (t *Tree) Bytes(n *Node) []byte {
	b := t.Sources[n.Span.Source]
	end := int(n.Span.End())
	start := end - int(n.Num)
	if start < 0 || end > len(b) {
		return nil
	}
	return b[start:end]
}

// Builder is a Sink that keeps the events of a buffer as a Tree. It is reused: the Tree that
// Tree returns is void after the next Reset, as is every buffer it refers to.
type Builder struct {
	// Limit is the most nodes of a tree, about; 0 is none. What is beyond is left out, with an
	// issue.
	Limit int

	t       Tree
	open    []int32
	skipped int      // groups that are open and left out
	cut     bool     // the limit was hit, and told
	mute    bool     // so was that of issues
	derived [][]byte // copies of sources 1 and up, reused
}

// An issue takes the memory of several nodes; a few are kept in the smallest tree.
const (
	nodesPerIssue = 8
	minIssues     = 256
)

// Reset starts a tree of buf.
func (b *Builder) Reset(buf []byte) {
	b.t.Nodes, b.t.Issues, b.t.Origins = b.t.Nodes[:0], b.t.Issues[:0], b.t.Origins[:0]
	clear(b.t.Sources)
	b.t.Sources = append(b.t.Sources[:0], buf)
	b.open, b.skipped, b.cut, b.mute = b.open[:0], 0, false, false
}

// full reports whether no node may be added, and says so once.
func (b *Builder) full() bool {
	if b.Limit <= 0 || len(b.t.Nodes) < b.Limit {
		return false
	}
	if !b.cut {
		b.cut = true
		b.t.Issues = append(b.t.Issues, NodeIssue{b.parent(), Issue{Severity: Warning, Code: CodeLimit,
			Text: "the tree is at its limit of " + strconv.Itoa(b.Limit) + " nodes: what follows is left out"}})
	}
	return true
}

// parent returns the group that is open.
func (b *Builder) parent() int32 {
	if len(b.open) == 0 {
		return 0
	}
	return b.open[len(b.open)-1]
}

// Tree returns what was built since Reset.
func (b *Builder) Tree() *Tree { return &b.t }

func (b *Builder) add(e *Event) {
	n := Node{Desc: e.Desc, Num: e.Value.Num, Aux: e.Aux, Span: e.Span, Index: e.Index, Count: e.Count, Flags: e.Flags}
	switch e.Desc.Kind {
	case KindString, KindBytes, KindUUID, KindRest:
		n.Num = int64(len(e.Value.Bytes))
	}
	n.Next = int32(len(b.t.Nodes)) + 1
	b.t.Nodes = append(b.t.Nodes, n)
}

// Begin adds a group.
func (b *Builder) Begin(e Event) bool {
	if b.skipped > 0 || b.full() {
		b.skipped++
		return false
	}
	b.open = append(b.open, int32(len(b.t.Nodes)))
	b.add(&e)
	return true
}

// Leaf adds a leaf.
func (b *Builder) Leaf(e Event) {
	if b.skipped == 0 && !b.full() {
		b.add(&e)
	}
}

// End completes the group that is open.
func (b *Builder) End(e Event) {
	if b.skipped > 0 {
		b.skipped--
		return
	}
	if len(b.open) == 0 {
		return
	}
	n := &b.t.Nodes[b.open[len(b.open)-1]]
	b.open = b.open[:len(b.open)-1]
	n.Span = e.Span
	n.Next = int32(len(b.t.Nodes))
}

// Issue adds an issue below the leaf with its span that came last, else below the open group.
func (b *Builder) Issue(i Issue) {
	at := b.parent()
	if b.mute {
		return
	}
	if b.Limit > 0 && len(b.t.Issues) >= max(b.Limit/nodesPerIssue, minIssues) {
		b.mute = true
		b.t.Issues = append(b.t.Issues, NodeIssue{at, Issue{Severity: Warning, Code: CodeLimit,
			Text: "the tree is at its limit of " + strconv.Itoa(len(b.t.Issues)) + " issues: what follows is left out"}})
		return
	}
	if last := int32(len(b.t.Nodes)) - 1; last > at && b.t.Nodes[last].Span == i.Span {
		at = last
	}
	b.t.Issues = append(b.t.Issues, NodeIssue{at, i})
}

// Source keeps a copy of a derived buffer, since decoders reuse theirs within a frame.
func (b *Builder) Source(id int32, data []byte, origin Span, codec string) {
	for int(id) >= len(b.t.Sources) {
		b.t.Sources = append(b.t.Sources, nil)
	}
	for int(id) >= len(b.derived) {
		b.derived = append(b.derived, nil)
	}
	b.derived[id] = append(b.derived[id][:0], data...)
	b.t.Sources[id] = b.derived[id]
	b.t.Origins = append(b.t.Origins, Origin{id, origin, codec})
}
