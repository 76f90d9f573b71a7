package walk

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// TestSecretConfigs hides values of configs by their name, or by what the broker says of them.
func TestSecretConfigs(t *testing.T) {
	str := func(s string) []byte { return append([]byte{0, byte(len(s))}, s...) }
	config := func(name, value string, sensitive byte) []byte {
		b := append(str(name), str(value)...)
		b = append(b, 0, 5, sensitive, 0, 0, 0, 1) // read only, source, sensitive, one synonym
		return append(append(append(b, str(name)...), str(value)...), 5)
	}
	body := []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0xff, 0xff, 4, 0, 1, '1', 0, 0, 0, 3}
	body = append(body, config("ssl.key.password", "hush", 0)...)
	body = append(body, config("log.dirs", "/var", 0)...)
	body = append(body, config("my.own", "quiet", 1)...)
	p := schema.Default().Plan(32, 1, schema.Response)
	require.NotNil(t, p)
	var shown, hidden []string
	sink := leaves(func(e tree.Event) {
		if schema.Role(e.Desc.Role) != schema.RoleConfigValue {
			return
		}
		if e.Desc.Secret {
			hidden = append(hidden, string(e.Value.Bytes))
		} else {
			shown = append(shown, string(e.Value.Bytes))
		}
	})
	r := new(Decoder).Body(body, 0, p, sink)
	require.True(t, r.Fits())
	require.Equal(t, len(body), r.End)
	assert.Equal(t, []string{"hush", "hush", "quiet", "quiet"}, hidden) // values and synonyms
	assert.Equal(t, []string{"/var", "/var"}, shown)
}

type leaves func(tree.Event)

func (f leaves) Begin(tree.Event) bool                   { return true }
func (f leaves) Leaf(e tree.Event)                       { f(e) }
func (f leaves) End(tree.Event)                          {}
func (f leaves) Issue(tree.Issue)                        {}
func (f leaves) Source(int32, []byte, tree.Span, string) {}
