package brokerlog

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// keys are the API keys of the requests that 0.8 and 0.9 brokers logged by the name of a class.
var keys = map[string]int16{
	"ProducerRequest": 0, "FetchRequest": 1, "OffsetRequest": 2, "TopicMetadataRequest": 3,
	"LeaderAndIsrRequest": 4, "StopReplicaRequest": 5, "UpdateMetadataRequest": 6,
	"ControlledShutdownRequest": 7, "OffsetCommitRequest": 8, "OffsetFetchRequest": 9,
	"ConsumerMetadataRequest": 10,
}

var (
	// [time] TRACE Completed request:REQUEST from connection SERVER:PORT-CLIENT:PORT;totalTime:..
	// and, in 0.8, from client /CLIENT:PORT;totalTime:..
	textLine = regexp.MustCompile(`^\[.*?\] TRACE Completed request:(.*) from (?:client /|connection [^;]*-)([^;]+);totalTime:`)
	// {api_key=..,api_version=..,correlation_id=..,client_id=..} -- {FIELDS}
	structLine = regexp.MustCompile(`^\{api_key=(-?\d+),api_version=(-?\d+),correlation_id=(-?\d+),client_id=(.*?)\} -- (.*)$`)
	// Name: CLASS; Version: ..; CorrelationId: ..; ClientId: ..; FIELDS
	className    = regexp.MustCompile(`^Name: ?(\w+);`)
	classVersion = regexp.MustCompile(`; ?Version: ?(-?\d+);`)
	classID      = regexp.MustCompile(`; ?CorrelationId: ?(-?\d+);`)
	classClient  = regexp.MustCompile(`; ?ClientId: ?([^;]*)`)
)

// parseText reads a line of a text log.
func parseText(line string) (r Request, err error) {
	m := textLine.FindStringSubmatch(line)
	if m == nil {
		return r, errors.New("no completed request")
	}
	what := m[1]
	r.Client = m[2]
	var key, version, id, client string
	if s := structLine.FindStringSubmatch(what); s != nil {
		key, version, id, client = s[1], s[2], s[3], s[4]
		if r.Request, err = parseStruct(s[5]); err != nil {
			return r, err
		}
	} else {
		name, v := className.FindStringSubmatch(what), classVersion.FindStringSubmatch(what)
		corr, c := classID.FindStringSubmatch(what), classClient.FindStringSubmatch(what)
		if name == nil || v == nil || corr == nil || c == nil {
			return r, fmt.Errorf("not a known form: %.80s", what)
		}
		k, ok := keys[name[1]]
		if !ok {
			return r, fmt.Errorf("no known class: %s", name[1])
		}
		key, version, id, client = strconv.Itoa(int(k)), v[1], corr[1], c[1]
	}
	r.ClientID = &client
	r.APIKey, err = number[int16](&Value{Text: key}, 16, nil)
	r.APIVersion, err = number[int16](&Value{Text: version}, 16, err)
	r.ID, err = number[int32](&Value{Text: id}, 32, err)
	return r, err
}

// parseStruct reads what Struct.toString of Kafka 0.10 wrote: {name=value,..}, [value,..], or a
// bare value. All bare values are of kind String.
func parseStruct(s string) (Value, error) {
	v, rest, err := structValue(s)
	if err == nil && rest != "" {
		err = fmt.Errorf("%.40q follows the value", rest)
	}
	return v, err
}

func structValue(s string) (v Value, rest string, err error) {
	switch {
	case strings.HasPrefix(s, "{"):
		return structItems(Value{Kind: Object}, s[1:], '}')
	case strings.HasPrefix(s, "["):
		return structItems(Value{Kind: Array}, s[1:], ']')
	}
	// A bare value ends at a delimiter; that of a buffer has brackets of its own.
	end := strings.IndexAny(s, ",}]")
	if open := strings.IndexByte(s, '['); open >= 0 && open < end {
		end = strings.IndexByte(s, ']') + 1
	}
	if end < 0 {
		return v, s, fmt.Errorf("no end of %.40q", s)
	}
	return Value{Kind: String, Text: s[:end]}, s[end:], nil
}

// structItems reads members or elements up to the closing delimiter.
func structItems(v Value, s string, closing byte) (Value, string, error) {
	for {
		if s == "" {
			return v, s, errors.New("a struct or an array is not closed")
		}
		if s[0] == closing {
			return v, s[1:], nil
		}
		if len(v.Items) > 0 {
			if s[0] != ',' {
				return v, s, fmt.Errorf("no comma before %.40q", s)
			}
			s = s[1:]
		}
		if v.Kind == Object {
			name, rest, ok := strings.Cut(s, "=")
			if !ok {
				return v, s, fmt.Errorf("no name in %.40q", s)
			}
			v.Names, s = append(v.Names, name), rest
		}
		item, rest, err := structValue(s)
		if err != nil {
			return v, s, err
		}
		v.Items, s = append(v.Items, item), rest
	}
}
