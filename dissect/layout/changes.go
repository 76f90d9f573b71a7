package layout

import (
	"fmt"
	"strings"

	"github.com/kdissect/kdissect/dissect/schema"
)

// changesView is what is different between a version and another.
type changesView struct {
	Title   string
	Changes []schema.Change
}

// kinds of changes, in the order in which a summary counts them.
var kinds = [...]schema.ChangeKind{schema.Added, schema.Removed, schema.Renamed, schema.Moved, schema.Changed}

// Summary counts the changes.
func (c changesView) Summary() string {
	if len(c.Changes) == 0 {
		return "the same layout"
	}
	var words []string
	for _, kind := range kinds {
		count := 0
		for _, change := range c.Changes {
			if change.Kind == kind {
				count++
			}
		}
		if count > 0 {
			words = append(words, fmt.Sprintf("%d %s", count, kind))
		}
	}
	return strings.Join(words, ", ")
}

// changes compares a version of a side with the earlier one, unless that has no such side, and
// with the layouts of older releases under the same version. Without an earlier version it is -1.
func (s *Side) changes(earlier int16) (views []changesView) {
	m, v := s.Message, s.Plan.Version
	if m == nil {
		return nil
	}
	if m.Versions.Contains(earlier) {
		views = append(views, changesView{
			Title:   fmt.Sprintf("%s: v%d to v%d", s.Title(), earlier, v),
			Changes: schema.DiffVersions(m, earlier, m, v).Changes,
		})
	}
	for _, o := range m.Older {
		if o.Message.Versions.Contains(v) {
			views = append(views, changesView{
				Title:   fmt.Sprintf("%s: from the v%d of Kafka %s and before", s.Title(), v, o.Release),
				Changes: schema.DiffVersions(o.Message, v, m, v).Changes,
			})
		}
	}
	return views
}
