package scrub

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	a, b, other := newStandIns([]byte("k")), newStandIns([]byte("k")), newStandIns([]byte("l"))
	for _, name := range []string{"orders", "Orders-2.v1", "10.0.0.1", "ä-é-ß", "注文", "😀x", "---", "a"} {
		was := []byte(name)
		now, again, differs := []byte(name), []byte(name), []byte(name)
		a.name(now)
		b.name(again)
		other.name(differs)
		require.Len(t, now, len(was))
		assert.True(t, utf8.Valid(now), name)
		assert.Equal(t, now, again, "same key")
		if len(name) > 4 {
			assert.NotEqual(t, was, now)
			assert.NotEqual(t, now, differs, "another key")
		}
	}
	kept := []byte("a.b-c_d")
	a.name(kept)
	assert.Regexp(t, `^[a-z]\.[a-z]-[a-z]_[a-z]$`, string(kept))
}

func TestDifferentNamesStayDifferent(t *testing.T) {
	s := newStandIns([]byte("k"))
	seen := map[string]bool{}
	for i := range 1000 {
		b := fmt.Appendf(nil, "%03d", i)
		s.name(b)
		seen[string(b)] = true
	}
	assert.Greater(t, len(seen), 980, "of 1,000 there are") // the last few find no free one
}

func TestData(t *testing.T) {
	s := newStandIns([]byte("k"))
	text := []byte(strings.Repeat("some text, ", 20))
	n := len(text)
	s.data(text)
	require.Len(t, text, n)
	assert.NotContains(t, string(text), "some")
	assert.Regexp(t, "^[a-z0-9]+$", string(text))
	raw := []byte{0xff, 1, 2, 3, 4, 5, 6}
	s.data(raw)
	assert.False(t, utf8.Valid(raw))
}

func TestTokens(t *testing.T) {
	v := &values{standIns: newStandIns([]byte("k"))}
	user := []byte("alice")
	v.name(user)
	for token, want := range map[string]string{
		"\x00alice\x00alice-secret":         `^\x00` + string(user) + `\x00[a-z0-9]{12}$`,
		"n,,n=alice,r=nonce":                `^n,,n=` + string(user) + `,r=nonce$`,
		"r=nonce,s=c2FsdHNhbHQ=,i=4096":     `^r=nonce,s=[A-Za-z0-9]{11}=,i=4096$`,
		"c=biws,r=nonce,p=cHJvb2Y=":         `^c=biws,r=nonce,p=[A-Za-z0-9]{7}=$`,
		"n,,\x01auth=Bearer abcdef\x01\x01": `^n,,\x01auth=Bearer [A-Za-z0-9_-]{6}\x01\x01$`,
		`{"status":"invalid"}`:              `^\{"status":"[a-z]{7}"\}$`,
		"\x60\x08\x06\x01\x2asecre":         "^\x60\x08\x06\x01\\*\x00{5}$",
	} {
		b := []byte(token)
		v.token(b)
		assert.Regexp(t, want, string(b))
		assert.NotEqual(t, token, string(b))
	}
}
