package cli

import "strings"

// pattern is a name to look for, in which each * stands for any run of characters.
type pattern []string // what lies between the asterisks

// parsePattern reads a pattern.
func parsePattern(s string) pattern { return strings.Split(s, "*") }

// match reports whether name, as captured, fits.
func (p pattern) match(name []byte) bool {
	s := string(name)
	first, last := p[0], p[len(p)-1]
	if len(p) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range p[1 : len(p)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// patterns is a set of alternatives.
type patterns []pattern

// parsePatterns reads the values of a flag.
func parsePatterns(values []string) patterns {
	var ps patterns
	for _, v := range values {
		ps = append(ps, parsePattern(v))
	}
	return ps
}

// match reports whether name fits one of ps.
func (ps patterns) match(name []byte) bool {
	for _, p := range ps {
		if p.match(name) {
			return true
		}
	}
	return false
}
