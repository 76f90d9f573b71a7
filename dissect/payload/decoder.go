package payload

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// Decoder decodes record sets and the payloads in them and in other fields. It is both the
// Records and the Payloads of a walk.Decoder, and like that is reused and serves one goroutine.
type Decoder struct {
	catalogue *schema.Catalogue
	records   *records.Decoder
	index     *index
	descs     *descs
	check     walk.Decoder // tries layouts
	depth     int          // payloads around this decoder's
	inside    *inner       // decodes what lies within a payload; made when first needed

	plan  *schema.Plan // of the frame or body under way
	ctx   walk.Context
	outer group // what the payload around says of the group
	now   state

	// Closed leaves what the records of Kafka's own topics hold as bytes.
	Closed bool

	form form   // of the bytes claimed last
	data []byte // these bytes

	late lateIssue
	set  recordSet
}

var (
	_ walk.Records  = (*Decoder)(nil)
	_ walk.Payloads = (*Decoder)(nil)
)

// maxDepth is the most payloads within payloads that are opened. A group's record in a forwarded
// request would need four.
const maxDepth = 4

// New returns a Decoder that takes layouts from c; nil is schema.Default().
func New(c *schema.Catalogue, l records.Limits) *Decoder {
	if c == nil {
		c = schema.Default()
	}
	return &Decoder{catalogue: c, records: records.New(l), index: newIndex(c), descs: newDescs()}
}

// Decoder returns a walk.Decoder that opens record sets and payloads with d.
func (d *Decoder) Decoder() *walk.Decoder { return &walk.Decoder{Records: d, Payloads: d} }

// group is what fields say of the group that bytes are about.
type group struct {
	protocolType, protocol []byte // nil where no field has told
	subscription           bool   // user data are those of a subscription, not of an assignment
}

// state is what the fields so far have said.
type state struct {
	group
	topic       []byte
	topicID     [16]byte
	compression int64
	position    int64
	request     request
}

// Reset implements walk.Records: derived sources are numbered from 1 again.
func (d *Decoder) Reset() { d.records.Reset() }

// Begin implements walk.Payloads.
func (d *Decoder) Begin(p *schema.Plan, ctx walk.Context) {
	d.plan, d.ctx = p, ctx
	d.now = state{group: d.outer}
}

// Field implements walk.Payloads.
func (d *Decoder) Field(desc *tree.Desc, v tree.Value) {
	switch schema.Role(desc.Role) {
	case schema.RoleTopicName:
		d.now.topic, d.now.topicID = v.Bytes, [16]byte{}
	case schema.RoleTopicID:
		d.now.topic = nil
		copy(d.now.topicID[:], v.Bytes)
	case schema.RoleProtocolType:
		d.now.protocolType = v.Bytes
	case schema.RoleProtocolName:
		d.now.protocol = v.Bytes
	case schema.RoleCompression:
		d.now.compression = v.Num
	case schema.RolePosition:
		d.now.position = v.Num
	}
}

// Claim implements walk.Payloads.
func (d *Decoder) Claim(desc *tree.Desc, data []byte) walk.Claim {
	if d.depth >= maxDepth {
		return d.tooDeep(desc)
	}
	var v verdict
	d.form, d.data = form{}, data
	switch schema.Role(desc.Role) {
	case schema.RoleMemberMetadata:
		v = d.memberData(data, true)
	case schema.RoleMemberAssignment:
		v = d.memberData(data, false)
	case schema.RoleUserData:
		v = d.userData(data)
	case schema.RoleRequestData:
		v = d.requestData(data)
	case schema.RoleResponseData:
		v = d.responseData(data)
	case schema.RolePrincipalData:
		v = d.versioned("DefaultPrincipalData", data)
	case schema.RoleAuthBytes:
		v = d.saslToken(data)
	case schema.RoleMetrics:
		v = d.metrics()
	}
	c := walk.Claim{Open: v.open, Unread: v.unread}
	if v.open && d.form.hide || v.hide {
		c.Desc = d.descs.secret(desc)
	}
	d.form.holder = desc
	return c
}

// tooDeep leaves alone what lies below too many payloads. It may hold secrets, like all that is not
// read.
func (d *Decoder) tooDeep(desc *tree.Desc) walk.Claim {
	switch schema.Role(desc.Role) {
	case schema.RoleMemberMetadata, schema.RoleMemberAssignment, schema.RoleUserData, schema.RoleRequestData,
		schema.RoleResponseData, schema.RolePrincipalData, schema.RoleAuthBytes, schema.RoleMetrics:
		return walk.Claim{Desc: d.descs.secret(desc), Limit: true, Unread: "nested too deep: " + strconv.Itoa(maxDepth) + " levels are read"}
	}
	return walk.Claim{}
}

// Payload implements walk.Payloads.
func (d *Decoder) Payload(length tree.Event, path string, sink tree.Sink) {
	at := tree.Span{Source: length.Span.Source, Off: length.Span.End(), Len: int32(len(d.data))}
	d.emit(at, &length, path, sink)
	d.data = nil
}

// verdict says what was found out about bytes.
type verdict struct {
	open   bool   // the decoder's form says how to read them
	hide   bool   // they may hold a secret
	unread string // why they are not what they should be
}

// fits tries a layout on data from off on and returns where it ends.
func (d *Decoder) fits(data []byte, off int, p *schema.Plan) (end int, ok bool) {
	if p == nil || off > len(data) {
		return 0, false
	}
	r := d.check.Body(data, off, p, nil)
	return r.End, r.Fits()
}

// take makes the layout p, or an older one of the same version, that of the form's body, if it
// fits data from off on.
func (d *Decoder) take(p *schema.Plan, older []*schema.Plan, data []byte, off int) bool {
	end, ok := d.fits(data, off, p)
	for i := 0; i < len(older) && (!ok || end < len(data)); i++ {
		if e, fit := d.fits(data, off, older[i]); fit && e == len(data) {
			p, end, ok = older[i], e, true
		}
	}
	if !ok {
		return false
	}
	f := &d.form
	f.body, f.bodyAt, f.end = p, off, end
	f.hide = f.hide || d.descs.holdsSecret(p)
	return true
}

// layout makes a data definition at a version that of the form's body. The reason is empty where
// it fits.
func (d *Decoder) layout(name string, version int16, data []byte, off int) (reason string) {
	c := d.catalogue
	if c.DataMessage(name) == nil {
		c = Layouts()
	}
	p := c.Data(name, version)
	f := &d.form
	f.name, f.version = name, int64(version)
	if p == nil {
		return unknownVersion(name, version)
	}
	if !d.take(p, c.OlderData(name, version), data, off) {
		return notRead(name, version)
	}
	return ""
}

// versioned reads bytes that begin with the int16 version of a data definition.
func (d *Decoder) versioned(name string, data []byte) verdict {
	if len(data) < 2 {
		return verdict{unread: tooShort(name)}
	}
	version := int16be(data)
	d.form.lead(versionDesc, 2, int64(version))
	return d.result(d.layout(name, version, data, 2))
}

func (d *Decoder) result(reason string) verdict {
	if reason != "" {
		return verdict{unread: reason}
	}
	return verdict{open: true}
}
