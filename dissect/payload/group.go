package payload

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// Types of classic groups, as their members give them.
const (
	consumerType = "consumer"
	connectType  = "connect"
)

// Names of assignors whose user data are known.
const (
	stickyAssignor      = "sticky"
	cooperativeAssignor = "cooperative-sticky"
	streamsAssignor     = "stream"
)

// memberData reads what a member of a classic group says of itself or is given.
func (d *Decoder) memberData(data []byte, subscription bool) verdict {
	d.now.subscription = subscription
	if d.plan != nil && d.plan.Name == "ConsumerGroupMemberMetadataValue" { // only consumers can move to the new protocol
		return d.consumerData(data, subscription)
	}
	if d.now.protocolType == nil {
		d.now.protocolType, d.now.protocol = d.requestGroup()
	}
	switch string(d.now.protocolType) {
	case consumerType:
		return d.consumerData(data, subscription)
	case connectType:
		return d.connectData(data, subscription)
	case "":
		return d.guessData(data, subscription)
	}
	return verdict{}
}

// guessData tries what the bytes may be where nothing says so, as in SyncGroup before version 5.
// Only what fits to the last byte is taken.
func (d *Decoder) guessData(data []byte, subscription bool) verdict {
	for _, try := range []func([]byte, bool) verdict{d.consumerData, d.connectData} {
		d.form = form{}
		if v := try(data, subscription); v.open && d.form.end == len(data) {
			return v
		}
	}
	d.form = form{}
	return verdict{}
}

// consumerData reads a ConsumerProtocolSubscription or -Assignment. Some clients send version 1
// without the fields that it added.
func (d *Decoder) consumerData(data []byte, subscription bool) verdict {
	name := "ConsumerProtocolAssignment"
	if subscription {
		name = "ConsumerProtocolSubscription"
	}
	v := d.versioned(name, data)
	if v.open || len(data) < 2 {
		return v
	}
	version := int16be(data)
	for older := version - 1; older >= 0 && d.catalogue.Data(name, version) != nil; older-- {
		p := d.catalogue.Data(name, older)
		if end, ok := d.fits(data, 2, p); ok && end == len(data) {
			d.form.body, d.form.bodyAt, d.form.end = p, 2, end
			d.form.note = "the fields that versions behind " + strconv.Itoa(int(older)) + " added are missing"
			return verdict{open: true}
		}
	}
	return v
}

// connectData reads the state or the assignment of a Connect worker.
func (d *Decoder) connectData(data []byte, subscription bool) verdict {
	if subscription {
		return d.versioned("ConnectWorkerState", data)
	}
	return d.versioned("ConnectAssignment", data)
}

// userData reads what an assignor adds to subscriptions and assignments.
func (d *Decoder) userData(data []byte) verdict {
	subscription := d.plan != nil && d.plan.Name == "ConsumerProtocolSubscription"
	switch protocol := string(d.now.protocol); {
	case protocol == streamsAssignor:
		return d.streamsData(data, subscription)
	case protocol == "" && !subscription:
		if v := d.streamsData(data, false); v.open && d.form.end == len(data) {
			return v
		}
		d.form = form{}
	case protocol == stickyAssignor && subscription:
		return d.stickyData(data)
	case protocol == cooperativeAssignor && subscription:
		return d.result(d.layout("CooperativeStickyAssignorUserData", 0, data, 0))
	}
	return verdict{}
}

// stickyData reads the user data of the sticky assignor, which do not say their version: 1 has a
// generation behind what 0 has.
func (d *Decoder) stickyData(data []byte) verdict {
	const name = "StickyAssignorUserData"
	if d.layout(name, 1, data, 0) == "" && d.form.end == len(data) {
		return verdict{open: true}
	}
	d.form = form{}
	return d.result(d.layout(name, 0, data, 0))
}

// streamsData reads what Kafka Streams adds; both begin with their version as an int32.
func (d *Decoder) streamsData(data []byte, subscription bool) verdict {
	name := "AssignmentInfo"
	if subscription {
		name = "SubscriptionInfoData"
	}
	if len(data) < 4 {
		return verdict{unread: tooShort(name)}
	}
	if data[0] != 0 || data[1] != 0 || data[2] > 0x7f {
		return verdict{unread: "no version in front of " + name}
	}
	return d.result(d.layout(name, int16be(data[2:]), data, 0))
}

// requestGroup returns what the request that is answered says of the group.
func (d *Decoder) requestGroup() (protocolType, protocol []byte) {
	r := d.ask()
	return r.protocolType, r.protocol
}

// request is what a response's request holds that is needed to read the response.
type request struct {
	tree.Discard
	asked        bool
	protocolType []byte
	protocol     []byte
	data         []byte // of an Envelope
}

// ask looks into the request that is answered, once.
func (d *Decoder) ask() *request {
	r := &d.now.request
	if r.asked || d.ctx.Request == nil || d.plan == nil || d.plan.Direction != schema.Response {
		return r
	}
	r.asked = true
	var look walk.Decoder
	look.Frame(d.ctx.Request, int32(max(0, len(d.ctx.Request)-4)), d.ctx.RequestHeader, d.ctx.RequestBody, r)
	return r
}

// Begin descends everything but lists, whose elements speak for themselves.
func (r *request) Begin(e tree.Event) bool { return e.Desc.Kind != tree.KindArray }

// Leaf notes what is asked for.
func (r *request) Leaf(e tree.Event) {
	switch schema.Role(e.Desc.Role) {
	case schema.RoleProtocolType:
		r.protocolType = e.Value.Bytes
	case schema.RoleProtocolName:
		r.protocol = e.Value.Bytes
	case schema.RoleRequestData:
		r.data = e.Value.Bytes
	}
}
