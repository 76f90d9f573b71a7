package schema

import "slices"

// names are the words of an enumeration; words[i] belongs to the value low+i.
type names struct {
	low   int64
	words []string
}

// Name returns the word for v, or "".
func (n names) Name(v int64) string {
	if i := v - n.low; i >= 0 && i < int64(len(n.words)) {
		return n.words[i]
	}
	return ""
}

// maxNames bounds the width of an enumeration, so that a far-off value costs no memory.
const maxNames = 1 << 16

func newNames(words map[int64]string) names {
	if len(words) == 0 {
		return names{}
	}
	var keys []int64
	for v := range words {
		keys = append(keys, v)
	}
	slices.Sort(keys)
	n := names{low: keys[0]}
	for _, v := range keys {
		if v-n.low >= maxNames {
			break
		}
		for int64(len(n.words)) < v-n.low {
			n.words = append(n.words, "")
		}
		n.words = append(n.words, words[v])
	}
	return n
}

// wordsFrom names low and the values behind it, in order.
func wordsFrom(low int64, words ...string) names { return names{low, words} }
