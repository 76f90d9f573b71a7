package layout

import (
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

//go:embed web
var web embed.FS

// templates parses the pages' templates once.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(web, "web/*.tmpl"))
})

// asset returns a file of the embedded folder.
func asset(name string) string {
	b, err := web.ReadFile("web/" + name)
	if err != nil {
		panic(err) // embedded
	}
	return string(b)
}

// WriteHTML writes p as an HTML file that needs no other file and no network.
func (p *Page) WriteHTML(w io.Writer) error {
	v := p.view()
	v.Style, v.Script = template.CSS(asset("layout.css")), template.JS(asset("layout.js"))
	return templates().ExecuteTemplate(w, "page.tmpl", v)
}

// The limits of what an HTML page shows of one frame; browsers get slow beyond.
const (
	maxHTMLBytes = 64 << 10
	maxHTMLNodes = 50_000
)

// pageView is what the page's template shows.
type pageView struct {
	*Page
	Style    template.CSS // of a page that stands alone
	Script   template.JS
	Root     string // of a page in a site: the way to its root, such as "../../"
	Kind     string // of a page in a site: "api" or "data"
	Versions []versionLink
	Legend   []legendView
	Sides    []*sideView
	Changes  []changesView
}

// versionLink leads to the page of a version.
type versionLink struct {
	Version  int16
	Current  bool
	Unstable bool
	Href     string
}

type legendView struct {
	Class, Text string
	Absent      bool
}

// sideView is what the template shows of a side.
type sideView struct {
	*Side
	ID      string
	Heading string
	Sources []sourceView
	Nodes   []nodeView
	// Cut says what the page leaves out, or "".
	Cut string
}

// sourceView is a buffer of a side: the frame, or what was decompressed.
type sourceView struct {
	Number int
	Name   string
	Rows   []rowView
}

type rowView struct {
	Offset string
	Cells  []cellView
	Text   string
}

type cellView struct {
	Class string
	Node  int32
	Hex   string
}

// nodeView is a line of the tree.
type nodeView struct {
	tree.Line
	ID       int32
	Class    string
	Depth    int
	Source   int32
	Offset   int32
	Length   int32
	Span     string
	About    string
	Children bool
	Issues   []tree.NodeIssue
}

// classes are the style classes of regions.
var classes = [...]string{
	tree.RegionNone: "n", tree.RegionFrame: "f", tree.RegionHeader: "h", tree.RegionRequest: "q", tree.RegionResponse: "s",
	tree.RegionData: "d", tree.RegionBatch: "b", tree.RegionRecord: "r", tree.RegionTags: "t",
}

// view prepares p for the template.
func (p *Page) view() *pageView {
	v := &pageView{Page: p}
	for _, r := range p.Legend {
		v.Legend = append(v.Legend, legendView{classes[r], r.String(), !p.present[r]})
	}
	for _, s := range p.Sides {
		v.Sides = append(v.Sides, s.view())
	}
	return v
}

func (s *Side) view() *sideView {
	v := &sideView{Side: s, ID: map[schema.Direction]string{schema.Request: "request", schema.Response: "response", schema.Data: "data"}[s.Direction]}
	v.Heading = s.Title()
	if s.Plan != nil {
		v.Heading = fmt.Sprintf("%s v%d", s.Plan.Name, s.Plan.Version)
	}
	leaves := s.leaves()
	for src, b := range s.Tree.Sources {
		sv := sourceView{Number: src}
		if src > 0 {
			sv.Name = fmt.Sprintf("#%d, what was compressed in it", src)
			if o := s.Tree.Origins; src-1 < len(o) {
				sv.Name = fmt.Sprintf("#%d, %d bytes decompressed (%s)", src, len(b), o[src-1].Codec)
			}
		}
		if len(b) > maxHTMLBytes {
			v.Cut = fmt.Sprintf("Only the first %d bytes of a buffer are shown here.", maxHTMLBytes)
			b = b[:maxHTMLBytes]
		}
		regions, secret := s.mask.Map(s.Tree, int32(src))
		for off := 0; off < len(b); off += tree.GridRow {
			sv.Rows = append(sv.Rows, s.row(b, off, regions, secret, leaves[src]))
		}
		v.Sources = append(v.Sources, sv)
	}
	s.nodeViews(v)
	return v
}

// leaves returns for each byte of each source the node that it belongs to.
func (s *Side) leaves() [][]int32 {
	all := make([][]int32, len(s.Tree.Sources))
	for src, b := range s.Tree.Sources {
		all[src] = make([]int32, len(b))
	}
	// Children come after their parents, so the innermost node writes last.
	for i := range s.Tree.Nodes {
		n := &s.Tree.Nodes[i]
		if n.Flags&tree.FlagComputed != 0 || int(n.Span.Source) >= len(all) {
			continue
		}
		b := all[n.Span.Source]
		for at := max(int(n.Span.Off), 0); at < min(int(n.Span.End()), len(b)); at++ {
			b[at] = int32(i)
		}
	}
	return all
}

func (s *Side) row(b []byte, off int, regions []tree.Region, secret []bool, leaves []int32) rowView {
	end := min(off+tree.GridRow, len(b))
	r := rowView{Offset: fmt.Sprintf("%04x", off), Cells: make([]cellView, 0, end-off)}
	text := make([]byte, 0, end-off)
	for i := off; i < end; i++ {
		c := cellView{Class: classes[regions[i]], Node: leaves[i], Hex: hex.EncodeToString(b[i : i+1])}
		char := byte('.')
		if b[i] >= 0x20 && b[i] < 0x7f {
			char = b[i]
		}
		if secret[i] && !s.text.Secrets {
			c.Hex, char = "**", '*'
		}
		r.Cells = append(r.Cells, c)
		text = append(text, char)
	}
	r.Text = string(text)
	return r
}

// nodeViews lists the lines of the tree.
func (s *Side) nodeViews(v *sideView) {
	t := s.Tree
	issues := make(map[int32][]tree.NodeIssue)
	for _, i := range t.Issues {
		issues[i.Node] = append(issues[i.Node], i)
	}
	var walk func(i int32, depth int, region tree.Region)
	walk = func(i int32, depth int, region tree.Region) {
		n := &t.Nodes[i]
		if n.Flags&tree.FlagComputed != 0 {
			return
		}
		if len(v.Nodes) >= maxHTMLNodes {
			v.Cut = fmt.Sprintf("Only the first %d lines of the tree are shown here.", maxHTMLNodes)
			return
		}
		if n.Desc.Region != tree.RegionNone {
			region = n.Desc.Region
		}
		span := fmt.Sprintf("0x%04x, %dB", n.Span.Off, n.Span.Len)
		if n.Span.Source > 0 {
			span = fmt.Sprintf("#%d:%s", n.Span.Source, span)
		}
		v.Nodes = append(v.Nodes, nodeView{
			Line: s.text.Line(t, i), ID: i, Class: classes[region], Depth: depth,
			Source: n.Span.Source, Offset: n.Span.Off, Length: n.Span.Len, Span: span,
			About: n.Desc.About, Children: n.Next > i+1, Issues: issues[i],
		})
		for c := i + 1; c < n.Next; c = t.Nodes[c].Next {
			walk(c, depth+1, region)
		}
	}
	if len(t.Nodes) > 0 {
		walk(0, 0, tree.RegionNone)
	}
}
