package cli

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/internal/output"
)

// selectFlags are the flags that say which exchanges a command shows.
type selectFlags struct {
	apis, clientIDs, topics, groups, connections []string

	correlationIDs []int32
	errorsOnly     bool
	slowerThan     time.Duration
	since, until   instant
	count          int64
	where          string
}

// define adds the flags to fs.
func (f *selectFlags) define(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.apis, "api", nil, "only this API, by `name` or key (Fetch, FETCH, 1)")
	f.defineHead(fs)
	fs.StringSliceVar(&f.topics, "topic", nil, "only exchanges that speak of this topic (`name`); * stands for any characters")
	fs.StringSliceVar(&f.groups, "group", nil, "only exchanges that speak of this group (`name`); * stands for any characters")
	fs.Int32SliceVar(&f.correlationIDs, "correlation-id", nil, "only this correlation id (`number`)")
	fs.BoolVar(&f.errorsOnly, "errors", false, "only responses with an error code, and halves whose other half is missing")
	fs.DurationVar(&f.slowerThan, "slower-than", 0, "only exchanges that took longer, such as 100ms")
	fs.Int64VarP(&f.count, "count", "n", 0, "stop after `N` exchanges")
	fs.StringVar(&f.where, "where", "", "only where an `expression` over the JSON form holds; short names: api, version, clientId, latencyMs, error")
}

// defineHead adds the flags that ask for nothing inside of bodies, for all commands that select.
func (f *selectFlags) defineHead(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.clientIDs, "client-id", nil, "only this client `id`; * stands for any characters")
	fs.StringSliceVar(&f.connections, "connection", nil, "only this connection (`which`): its number, ADDRESS, ADDRESS:PORT, :PORT, or two of these with - between")
	fs.Var(&f.since, "since", "only from this `time` on: RFC 3339, a time of day in UTC, or an offset from the first packet")
	fs.Var(&f.until, "until", "only up to this `time`")
}

// selection says which exchanges a command shows.
type selection struct {
	apis        map[int16]bool
	clientIDs   patterns
	topics      patterns
	groups      patterns
	connections []connPattern

	correlationIDs map[int32]bool
	errorsOnly     bool
	slowerThan     time.Duration
	since, until   instant
	where          *where // nil: none
}

// compile checks the flags; its errors are usage errors.
func (f *selectFlags) compile(c *schema.Catalogue) (*selection, error) {
	s := &selection{
		clientIDs:  parsePatterns(f.clientIDs),
		topics:     parsePatterns(f.topics),
		groups:     parsePatterns(f.groups),
		errorsOnly: f.errorsOnly,
		slowerThan: f.slowerThan,
		since:      f.since,
		until:      f.until,
	}
	if f.count < 0 {
		return nil, usagef("-n %d: want a positive number", f.count)
	}
	if f.slowerThan < 0 {
		return nil, usagef("--slower-than %s: want a positive duration", f.slowerThan)
	}
	for _, name := range f.apis {
		key, err := apiKey(c, name)
		if err != nil {
			return nil, err
		}
		if s.apis == nil {
			s.apis = map[int16]bool{}
		}
		s.apis[key] = true
	}
	for _, text := range f.connections {
		p, err := parseConnPattern(text)
		if err != nil {
			return nil, usageError{err}
		}
		s.connections = append(s.connections, p)
	}
	for _, id := range f.correlationIDs {
		if s.correlationIDs == nil {
			s.correlationIDs = map[int32]bool{}
		}
		s.correlationIDs[id] = true
	}
	if f.where != "" {
		w, err := compileWhere(f.where)
		if err != nil {
			return nil, err
		}
		s.where = w
	}
	return s, nil
}

// apiKey returns the key of an API by its name or its key in digits, which the catalogue need
// not know.
func apiKey(c *schema.Catalogue, name string) (int16, error) {
	if key, err := strconv.ParseInt(name, 10, 16); err == nil {
		return int16(key), nil
	}
	if api := c.APIByName(name); api != nil {
		return api.Key, nil
	}
	return 0, usagef("unknown API %q; 'kdissect apis' lists them", name)
}

// inside reports whether x lies in the part of the capture between --since and --until, given
// the time of the capture's first packet.
func (s *selection) inside(x *dissect.Exchange, first int64) bool {
	at := frameOf(x).FirstTime
	return (s.since.kind == instantUnset || at >= s.since.at(first)) &&
		(s.until.kind == instantUnset || at <= s.until.at(first))
}

// head reports whether x is meant as far as can be told without decoding its bodies.
func (s *selection) head(x *dissect.Exchange, first int64) bool {
	f := frameOf(x)
	return (s.apis == nil || s.apis[f.APIKey] && f.Kind == dissect.KafkaFrame) &&
		(s.clientIDs == nil || x.Request != nil && s.clientIDs.match(x.Request.ClientID)) &&
		s.onConnection(x.Conn) &&
		(s.correlationIDs == nil || s.correlationIDs[f.CorrelationID]) &&
		(s.slowerThan == 0 || x.Latency > s.slowerThan) &&
		s.inside(x, first)
}

// onConnection reports whether exchanges of c are meant.
func (s *selection) onConnection(c *dissect.Connection) bool {
	for _, p := range s.connections {
		if p.match(c.TCP) {
			return true
		}
	}
	return s.connections == nil
}

// needsNumbers reports whether the numbers of exchanges or connections may be asked for.
func (s *selection) needsNumbers() bool {
	return s.where != nil || slices.ContainsFunc(s.connections, func(p connPattern) bool { return p.number != 0 })
}

// needsFacts reports whether the bodies have to be looked at.
func (s *selection) needsFacts() bool {
	return s.topics != nil || s.groups != nil || s.errorsOnly || s.where != nil
}

// body reports whether an exchange is meant by what its bodies say.
func (s *selection) body(f *output.Facts) bool {
	if s.errorsOnly && !f.Failed() {
		return false
	}
	if s.groups != nil && !slices.ContainsFunc(f.Groups(), s.groups.match) {
		return false
	}
	if s.topics == nil {
		return true
	}
	topics := f.Topics()
	for i := range topics {
		if s.topics.match([]byte(f.TopicName(&topics[i]))) {
			return true
		}
	}
	return false
}

// frameOf returns the request or, where there is none, the response.
func frameOf(x *dissect.Exchange) *dissect.Frame {
	if x.Request != nil {
		return x.Request
	}
	return x.Response
}
