package output

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// recentPlans is how many selections are found without a look into the map.
const recentPlans = 64

// selections keeps what a Visitor wants of each layout that was met.
type selections struct {
	wanted func(*schema.Plan, *tree.Desc) bool
	recent [recentPlans]recentSelection
	all    map[*schema.Plan]*walk.Selection
}

type recentSelection struct {
	plan      *schema.Plan
	selection *walk.Selection
}

// of returns the selection of p, nil for nil.
func (s *selections) of(p *schema.Plan) *walk.Selection {
	if p == nil {
		return nil
	}
	at := uint(p.Version)<<1 + uint(p.Direction)
	if p.API != nil {
		at += uint(p.API.Key) * 5
	}
	recent := &s.recent[at%recentPlans]
	if recent.plan != p {
		recent.plan, recent.selection = p, s.find(p)
	}
	return recent.selection
}

func (s *selections) find(p *schema.Plan) *walk.Selection {
	found := s.all[p]
	if found == nil {
		found = walk.Select(p, func(d *tree.Desc) bool { return s.wanted(p, d) })
		if s.all == nil {
			s.all = map[*schema.Plan]*walk.Selection{}
		}
		s.all[p] = found
	}
	return found
}
