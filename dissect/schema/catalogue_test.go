package schema

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/tree"
)

// eachPlan calls fn for every plan of the catalogue, older ones included.
func eachPlan(c *Catalogue, fn func(*Plan)) {
	both := func(plan *Plan, older []*Plan) {
		fn(plan)
		for _, p := range older {
			fn(p)
		}
	}
	for _, a := range c.APIs() {
		for _, d := range []Direction{Request, Response} {
			versions := a.Message(d).Versions
			for v := versions.Min; v <= versions.Max; v++ {
				both(c.Plan(a.Key, v, d), c.Older(a.Key, v, d))
			}
		}
	}
	for _, m := range c.DataMessages() {
		for v := m.Versions.Min; v <= m.Versions.Max; v++ {
			both(c.Data(m.Name, v), c.OlderData(m.Name, v))
		}
	}
}

// eachStruct calls fn for every struct of a plan.
func eachStruct(s *Struct, fn func(*Struct)) {
	fn(s)
	for _, list := range [][]Field{s.Fields, s.Tags} {
		for i := range list {
			f := &list[i]
			if f.Elem != nil {
				f = f.Elem
			}
			if f.Struct != nil {
				eachStruct(f.Struct, fn)
			}
		}
	}
}

func TestCatalogueHoldsEveryPairThereEverWas(t *testing.T) {
	type pair struct {
		key  string
		kind string
	}
	type facts struct {
		name      string
		versions  Versions
		flexible  string
		unstable  map[int16]bool
		listeners map[string]bool
	}
	want := make(map[pair]*facts)
	for _, file := range []string{"catalog-4.4.0.tsv", "catalog-3.9.x.tsv"} { // newest first
		for _, row := range corpus.Table(t, corpus.Path(t, "vectors", file)) {
			v, err := ParseVersions(row[3])
			require.NoError(t, err)
			p := pair{row[0], row[2]}
			f := want[p]
			if f == nil {
				f = &facts{versions: None, unstable: map[int16]bool{}, listeners: map[string]bool{}}
				want[p] = f
			}
			if f.name == "" {
				f.name = row[1]
			}
			if row[5] == "true" && (f.versions.Empty() || !f.versions.Contains(v.Max)) {
				f.unstable[v.Max] = true
			}
			if f.versions.Empty() {
				f.versions, f.flexible = v, strings.ToLower(row[4])
			} else if !v.Empty() {
				f.versions = Versions{min(v.Min, f.versions.Min), max(v.Max, f.versions.Max)}
			}
			for _, l := range strings.Split(row[6], ",") {
				if l != "" {
					f.listeners[l] = true
				}
			}
		}
	}
	c := Default()
	assert.Len(t, c.APIs(), 95)
	for p, f := range want {
		a := c.API(atoi16(t, p.key))
		require.NotNil(t, a, p)
		m := a.Request
		if p.kind == "response" {
			m = a.Response
		}
		assert.Equal(t, f.name, a.Name, p)
		assert.Equal(t, f.versions, m.Versions, p)
		assert.Equal(t, f.flexible, m.Flexible.String(), p)
		unstable := map[int16]bool{}
		for v := m.Unstable.Min; v <= m.Unstable.Max; v++ {
			unstable[v] = true
		}
		assert.Equal(t, f.unstable, unstable, "unstable versions of %v", p)
		listeners := map[string]bool{}
		for _, l := range a.Listeners {
			listeners[l] = true
		}
		assert.Equal(t, f.listeners, listeners, "listeners of %v", p)
	}
	assert.Len(t, want, 2*len(c.APIs()))
}

func TestAcceptedVersionsAreThoseOfEachRelease(t *testing.T) {
	c := Default()
	n := 0
	for _, row := range corpus.Table(t, corpus.Path(t, "vectors", "releases.tsv")) {
		a := c.API(atoi16(t, row[1]))
		require.NotNil(t, a, row)
		i := slices.IndexFunc(a.Accepted, func(x Accepted) bool { return x.Release == row[0] })
		if assert.GreaterOrEqual(t, i, 0, row) {
			want := Accepted{row[0], Versions{atoi16(t, row[3]), atoi16(t, row[4])}, row[5] == "true"}
			assert.Equal(t, want, a.Accepted[i], row)
			n++
		}
	}
	total := 0
	for _, a := range c.APIs() {
		total += len(a.Accepted)
	}
	assert.Equal(t, n, total)
}

func TestPlansAreSound(t *testing.T) {
	plans := 0
	eachPlan(Default(), func(p *Plan) {
		plans++
		require.NotNil(t, p)
		eachStruct(p.Root, func(s *Struct) {
			order := map[int32]bool{}
			minSize := 0
			if s.Flexible {
				minSize = 1
			}
			for i := range s.Fields {
				f := &s.Fields[i]
				order[f.Member] = true
				minSize += f.MinSize
				assert.Equal(t, int32(-1), f.Tag)
				assert.Equal(t, f.Desc.Order, f.Member)
				if f.Elem != nil {
					assert.Positive(t, f.Elem.MinSize, "%s v%d %s: a count is checked against it", p.Name, p.Version, f.Desc.Name)
				}
				if f.FixedSize >= 0 {
					assert.Equal(t, f.MinSize, f.FixedSize)
				}
			}
			for i := range s.Tags {
				order[s.Tags[i].Member] = true
				assert.NotNil(t, s.Tags[i].TagDesc)
				if i > 0 {
					assert.Less(t, s.Tags[i-1].Tag, s.Tags[i].Tag, "%s v%d", p.Name, p.Version)
				}
			}
			assert.Equal(t, minSize, s.MinSize)
			assert.Len(t, order, int(s.Members))
		})
	})
	// 736 pairs of API, version and direction, and what is no API.
	assert.Greater(t, plans, 736+133)
}

func TestPlansOfASample(t *testing.T) {
	c := Default()

	p := c.Plan(69, 1, Response)
	require.NotNil(t, p)
	assert.Equal(t, "ConsumerGroupDescribeResponse", p.Name)
	assert.Equal(t, "message body, version 1", p.Body.About)
	assert.Equal(t, int16(1), p.HeaderVersion)
	groups := p.Root.Fields[1]
	assert.Equal(t, "[]DescribedGroup", groups.Desc.Type)
	assert.Equal(t, "DescribedGroup", groups.Elem.Desc.Name)
	assert.Equal(t, 1, groups.MinSize)
	assert.Equal(t, 2+1+1+1+4+4+1+1+4+1, groups.Elem.MinSize)
	code := groups.Elem.Struct.Fields[0]
	assert.Equal(t, "UNKNOWN_TOPIC_OR_PARTITION", code.Desc.Names.Name(3))
	assert.Equal(t, uint8(RoleErrorCode), code.Desc.Role)
	member := groups.Elem.Struct.Fields[7].Elem.Struct
	assert.Equal(t, "Assignment", member.Fields[8].Desc.Type)
	assert.Equal(t, tree.KindStruct, member.Fields[8].Desc.Kind)
	assert.Equal(t, Value{Num: -1}, member.Fields[10].Zero)

	// A struct of fixed size without a tag section.
	fetch := c.Plan(1, 0, Request).Root.Fields[3].Elem.Struct.Fields[1].Elem
	assert.Equal(t, 4+8+4, fetch.FixedSize)
	assert.Equal(t, -1, c.Plan(1, 12, Request).Root.FixedSize)

	// Tagged fields that stand before others in the schema.
	assert.True(t, c.Plan(1, 15, Request).Body.Late)
	assert.False(t, c.Plan(1, 11, Request).Body.Late)

	// Nullable structs: an int8 in front, a uvarint inside a tagged field.
	assert.Equal(t, tree.KindInt8, c.Plan(68, 0, Response).Root.Fields[6].Marker.Kind)
	classic := c.Data("ConsumerGroupMemberMetadataValue", 0).Root.Tags[0]
	assert.Equal(t, tree.KindUvarint, classic.Marker.Kind)
	assert.False(t, classic.Zero.Null, "the literal null is no default")

	header := c.Header(Request, 2)
	assert.Equal(t, "common request header", header.Body.About)
	var names []string
	for _, f := range header.Root.Fields {
		names = append(names, f.Desc.Name+" "+f.Desc.Type+" "+f.Desc.Key)
	}
	assert.Equal(t, []string{"request_api_key int16 requestApiKey", "request_api_version int16 requestApiVersion",
		"correlation_id int32 correlationId", "client_id nullable_string clientId"}, names)
	assert.False(t, header.Root.Fields[3].Compact)
	assert.Equal(t, "Fetch", header.Root.Fields[0].Desc.Names.Name(1))
	assert.Len(t, c.Header(Request, 0).Root.Fields, 3)
	assert.Equal(t, "matches the correlation_id of the request", c.Header(Response, 1).Root.Fields[0].Desc.About)
}

func TestUnknownPlans(t *testing.T) {
	c := Default()
	assert.Nil(t, c.Plan(1, 19, Request))
	assert.Nil(t, c.Plan(-1, 0, Request))
	assert.Nil(t, c.Plan(500, 0, Response))
	assert.Nil(t, c.Plan(1, -1, Request))
	assert.Nil(t, c.Plan(1, 0, Data))
	assert.Nil(t, c.Header(Request, 3))
	assert.Nil(t, c.Header(Data, 0))
	assert.Nil(t, c.Data("Nothing", 0))
	assert.Nil(t, c.Older(1, 12, Response))
	assert.Nil(t, c.API(-5))
}

func TestHeaderVersions(t *testing.T) {
	c := Default()
	for _, test := range []struct {
		name         string
		key, version int16
		want         int16
	}{
		{"plain", 1, 11, 1},
		{"flexible", 1, 12, 2},
		{"above the known versions", 1, 99, 2},
		{"above the known versions of an API without flexible ones", 17, 50, 1},
		{"oldest ControlledShutdown", 7, 0, 0},
		{"ControlledShutdown", 7, 1, 1},
		{"flexible ControlledShutdown", 7, 3, 2},
		{"unknown key", 95, 0, -1},
		{"negative key", -3, 0, -1},
	} {
		assert.Equal(t, test.want, c.RequestHeaderVersion(test.key, test.version), test.name)
	}
	assert.Equal(t, int16(0), c.Plan(18, 4, Response).HeaderVersion, "ApiVersions answers so that anyone can read it")
	assert.Equal(t, int16(1), c.Plan(1, 12, Response).HeaderVersion)
	assert.Equal(t, int16(0), c.Plan(1, 11, Response).HeaderVersion)
}

func TestOlderLayouts(t *testing.T) {
	c := Default()
	for _, test := range []struct {
		key     int16
		d       Direction
		release string
		has     string
	}{
		{54, Request, "2.7.2", "ReplicaId"},
		{68, Request, "3.6.2", "ClientAssignors"},
		{68, Response, "3.6.2", "ShouldComputeAssignment"},
		{69, Response, "3.7.2", "MetadataBytes"},
		{87, Response, "3.9.2", "StartOffset"},
	} {
		older := c.Older(test.key, 0, test.d)
		if assert.Len(t, older, 1, test) {
			assert.Equal(t, test.release, older[0].Older)
			found := false
			eachStruct(older[0].Root, func(s *Struct) {
				found = found || slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Desc.Name == test.has })
			})
			assert.True(t, found, test)
		}
	}
	n := 0
	for _, a := range c.APIs() {
		n += len(a.Request.Older) + len(a.Response.Older)
	}
	assert.Equal(t, 5, n)
}

func TestPlansAreSharedBetweenGoroutines(t *testing.T) {
	c, err := ReadCatalogue(catalogFiles, "catalog")
	require.NoError(t, err)
	plans := make([]*Plan, 16)
	var wg sync.WaitGroup
	for i := range plans {
		wg.Go(func() { plans[i] = c.Plan(3, 9, Response) })
	}
	wg.Wait()
	for _, p := range plans {
		assert.Same(t, plans[0], p)
	}
}

func TestPlanDoesNotAllocate(t *testing.T) {
	c := Default()
	c.Plan(1, 12, Response)
	c.Older(1, 12, Response)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		c.Plan(1, 12, Response)
		c.Older(1, 12, Response)
		c.RequestHeaderVersion(1, 12)
	}))
}

func TestFieldsThatHoldSecrets(t *testing.T) {
	secrets := map[string]bool{}
	eachPlan(Default(), func(p *Plan) {
		eachStruct(p.Root, func(s *Struct) {
			for _, f := range s.Fields {
				if f.Desc.Secret {
					secrets[p.Name+"."+f.Desc.Name] = true
				}
			}
		})
	})
	var list []string
	for s := range secrets {
		list = append(list, s)
	}
	slices.Sort(list)
	assert.Equal(t, []string{
		"AlterUserScramCredentialsRequest.Salt",
		"AlterUserScramCredentialsRequest.SaltedPassword",
		"CreateDelegationTokenResponse.Hmac",
		"DescribeDelegationTokenResponse.Hmac",
		"ExpireDelegationTokenRequest.Hmac",
		"RenewDelegationTokenRequest.Hmac",
		"SaslAuthenticateRequest.AuthBytes",
		"SaslAuthenticateResponse.AuthBytes",
		"UserScramCredentialRecord.Salt",
		"UserScramCredentialRecord.ServerKey",
		"UserScramCredentialRecord.StoredKey",
	}, list)
}

func BenchmarkReadCatalogue(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadCatalogue(catalogFiles, "catalog"); err != nil {
			b.Fatal(err)
		}
	}
}
