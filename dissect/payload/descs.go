package payload

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// descs keeps the descriptions that are made of others, one for each field and layout that was
// met; their number is that of the catalogue's at most.
type descs struct {
	groups  map[groupKey]*tree.Desc
	secrets map[*tree.Desc]*tree.Desc
	bodies  map[bodyKey]*tree.Desc
	hidden  map[*schema.Plan]bool
}

type groupKey struct {
	holder *tree.Desc
	name   string
}

type bodyKey struct {
	desc *tree.Desc
	key  string
}

func newDescs() *descs {
	return &descs{
		groups: map[groupKey]*tree.Desc{}, secrets: map[*tree.Desc]*tree.Desc{},
		bodies: map[bodyKey]*tree.Desc{}, hidden: map[*schema.Plan]bool{},
	}
}

// group describes the payload that the field holder has.
func (c *descs) group(holder *tree.Desc, name string) *tree.Desc {
	key := groupKey{holder, name}
	d := c.groups[key]
	if d == nil {
		d = &tree.Desc{
			Name: holder.Name, Key: holder.Key + "Decoded", Type: name, Kind: tree.KindPayload,
			Order: holder.Order, About: "what the bytes hold",
		}
		c.groups[key] = d
	}
	return d
}

// body describes a body or a header as a member of the payload.
func (c *descs) body(desc *tree.Desc, key string) *tree.Desc {
	k := bodyKey{desc, key}
	d := c.bodies[k]
	if d == nil {
		copied := *desc
		copied.Key = key
		d = &copied
		c.bodies[k] = d
	}
	return d
}

// secret describes the same field as one that is not shown.
func (c *descs) secret(desc *tree.Desc) *tree.Desc {
	if desc.Secret {
		return desc
	}
	d := c.secrets[desc]
	if d == nil {
		copied := *desc
		copied.Secret = true
		d = &copied
		c.secrets[desc] = d
	}
	return d
}

// holdsSecret reports whether a layout has fields that are not to be shown.
func (c *descs) holdsSecret(p *schema.Plan) bool {
	hide, known := c.hidden[p]
	if !known {
		hide = p.Root.HoldsSecrets()
		c.hidden[p] = hide
	}
	return hide
}
