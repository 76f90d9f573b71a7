package tree

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValues(t *testing.T) {
	for word, want := range map[string]string{
		"size": "<hidden, 3 bytes>",
		"hash": "<hidden, 3 bytes, sha256 ba7816bf8f01>", // FIPS 180-2, "abc"
	} {
		v, ok := ParseValues(word)
		assert.True(t, ok)
		assert.Equal(t, want, string(v.Append(nil, []byte("abc"))))
	}
	v, ok := ParseValues("full")
	assert.True(t, ok)
	assert.Equal(t, ValuesFull, v)
	_, ok = ParseValues("some")
	assert.False(t, ok)
}
