package layout

import (
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// pageJSON is the JSON form of a page.
type pageJSON struct {
	Title    string     `json:"title"`
	Name     string     `json:"name"`
	APIKey   *int16     `json:"apiKey,omitempty"`
	Version  int16      `json:"version"`
	Rule     string     `json:"rule"`
	Facts    []factJSON `json:"facts"`
	Request  *sideJSON  `json:"request,omitempty"`
	Response *sideJSON  `json:"response,omitempty"`
	Data     *sideJSON  `json:"data,omitempty"`
}

type factJSON struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

type sideJSON struct {
	HeaderVersion *int16          `json:"headerVersion,omitempty"`
	Size          int             `json:"size"`
	Hex           []string        `json:"hex"` // by source; secret bytes are "**"
	Tree          *nodeJSON       `json:"tree,omitempty"`
	Issues        []issueJSON     `json:"issues,omitempty"`
	Body          any             `json:"body,omitempty"`
	Schema        json.RawMessage `json:"schema,omitempty"`
}

type issueJSON struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Path     string `json:"path,omitempty"`
	Offset   int32  `json:"offset"`
	Text     string `json:"text"`
}

type nodeJSON struct {
	Name     string      `json:"name"`
	Type     string      `json:"type,omitempty"`
	Value    string      `json:"value,omitempty"`
	Note     string      `json:"note,omitempty"`
	Source   int32       `json:"source,omitempty"`
	Offset   int32       `json:"offset"`
	Length   int32       `json:"length"`
	Region   string      `json:"region,omitempty"`
	About    string      `json:"about,omitempty"`
	Children []*nodeJSON `json:"children,omitempty"`
}

// WriteJSON writes p as one JSON object on lines of its own.
func (p *Page) WriteJSON(w io.Writer) error {
	out := pageJSON{Title: p.Title, Version: p.Subject.Version, Rule: p.Rule, Facts: []factJSON{}}
	if p.Subject.API != nil || p.Subject.Data != nil {
		out.Name = p.Subject.Name()
	}
	if a := p.Subject.API; a != nil {
		out.APIKey = &a.Key
	}
	for _, f := range p.Facts {
		out.Facts = append(out.Facts, factJSON(f))
	}
	for _, s := range p.Sides {
		side := s.json()
		switch s.Direction {
		case schema.Request:
			out.Request = side
		case schema.Response:
			out.Response = side
		default:
			out.Data = side
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func (s *Side) json() *sideJSON {
	out := &sideJSON{Size: len(s.Bytes), Body: s.Value}
	if s.Header != nil {
		out.HeaderVersion = &s.Header.Version
	}
	if s.Schema != "" {
		out.Schema = json.RawMessage(s.Schema)
	}
	for src, b := range s.Tree.Sources {
		_, secret := s.mask.Map(s.Tree, int32(src))
		text := hex.AppendEncode(nil, b)
		for i := range b {
			if secret[i] && !s.text.Secrets {
				text[2*i], text[2*i+1] = '*', '*'
			}
		}
		out.Hex = append(out.Hex, string(text))
	}
	if len(s.Tree.Nodes) > 0 {
		out.Tree = s.nodes(0, tree.RegionNone)
	}
	for _, i := range s.Tree.Issues {
		out.Issues = append(out.Issues, issueJSON{i.Severity.String(), string(i.Code), i.Path, i.Span.Off, i.Text})
	}
	return out
}

// nodes returns node i and what is below it.
func (s *Side) nodes(i int32, region tree.Region) *nodeJSON {
	n := &s.Tree.Nodes[i]
	if n.Desc.Region != tree.RegionNone {
		region = n.Desc.Region
	}
	l := s.text.Line(s.Tree, i)
	out := &nodeJSON{
		Name: l.Name, Type: l.Type, Value: l.Value, Note: l.Note,
		Source: n.Span.Source, Offset: n.Span.Off, Length: n.Span.Len,
		Region: region.String(), About: n.Desc.About,
	}
	for c := i + 1; c < n.Next; c = s.Tree.Nodes[c].Next {
		if s.Tree.Nodes[c].Flags&tree.FlagComputed == 0 {
			out.Children = append(out.Children, s.nodes(c, region))
		}
	}
	return out
}
