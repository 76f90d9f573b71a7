package tree

// Line is what the text form shows of a node, in parts. Parts that a node does not have are "".
type Line struct {
	Name  string // with the index of an element, such as "string[0]"
	Type  string // such as "[]string", "message v1"
	Value string
	Note  string // without its brackets
}

// Line returns the parts of the line of node i, without colour.
func (x *Text) Line(t *Tree, i int32) Line {
	y := Text{Full: x.Full, Secrets: x.Secrets, Values: x.Values, UUIDName: x.UUIDName, t: t}
	n := &t.Nodes[i]
	part := func(write func(*Node)) string {
		y.dst = y.dst[:0]
		write(n)
		return string(y.dst)
	}
	l := Line{Name: part(y.name), Type: part(y.typ)}
	if l.Type != "" {
		l.Type = l.Type[1:] // the space in front
	}
	if y.hasValue(n) {
		l.Value, l.Note = part(y.value), part(y.remark)
	}
	return l
}
