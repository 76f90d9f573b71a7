package output

import (
	"strconv"

	"github.com/kdissect/kdissect/tree"
)

// Issue implements tree.Sink.
func (s *body) Issue(i tree.Issue) {
	s.limited = s.limited || i.Code == tree.CodeLimit
	if s.long != nil && len(s.issues) >= maxIssueText {
		s.issuesLeft++
		return
	}
	s.issues = appendIssue(s.issues, &i, s.issueSide, true)
}

// moreIssues tells how many issues were left out.
func (s *body) moreIssues() {
	if s.issuesLeft == 0 {
		return
	}
	s.limited = true
	s.issues = appendIssue(s.issues, &tree.Issue{
		Severity: tree.Warning, Code: tree.CodeLimit, Text: strconv.Itoa(s.issuesLeft) + " more issues are left out",
	}, s.issueSide, false)
}

// appendIssue appends an issue as a JSON object with a comma before it. side is put in front of
// the path, so that paths of both halves differ; placed says whether its offset means anything.
func appendIssue(b []byte, i *tree.Issue, side string, placed bool) []byte {
	b = append(b, `,{"severity":"`...)
	b = append(b, i.Severity.String()...)
	b = append(b, `","code":`...)
	b = appendString(b, string(i.Code))
	b = append(b, `,"text":`...)
	b = appendString(b, i.Text)
	b = append(b, `,"path":"`...)
	b = append(b, side...)
	if side != "" && i.Path != "" && i.Path[0] != '[' {
		b = append(b, '.')
	}
	b = appendKey(b, i.Path)
	b = append(b, '"')
	if placed {
		b = append(b, `,"offset":`...)
		b = strconv.AppendInt(b, int64(i.Span.Off), 10)
		if i.Span.Source != 0 {
			b = append(b, `,"source":`...)
			b = strconv.AppendInt(b, int64(i.Span.Source), 10)
		}
	}
	return append(b, '}')
}

// unknownTag adds the unknown tagged field that ends to the list of its part of the frame.
func (s *body) unknownTag(tag int32) {
	if !s.wantHeader { // nobody asks for them
		return
	}
	list := &s.tags
	for i := range s.levels {
		if s.levels[i].flags&tree.FlagHeader != 0 {
			list = &s.headerTags
			break
		}
	}
	b := append(*list, `,{"path":"`...)
	b = s.appendPath(b)
	b = append(b, `","tag":`...)
	b = strconv.AppendInt(b, int64(tag), 10)
	b = append(b, `,"hex":`...)
	b = appendHex(b, s.tag)
	*list = append(b, '}')
	s.tag = nil
}

// appendPath appends the path of the innermost open object in JSON names, such as
// topics[0].partitions[1]; nothing for the body or the header itself.
func (s *body) appendPath(b []byte) []byte {
	from := len(b)
	for i := range s.levels {
		l := &s.levels[i]
		switch {
		case l.kind != levelObject && l.kind != levelArray, l.root:
		case l.index >= 0:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(l.index), 10)
			b = append(b, ']')
		default:
			if len(b) > from {
				b = append(b, '.')
			}
			b = appendKey(b, l.desc.Key)
		}
	}
	return b
}
