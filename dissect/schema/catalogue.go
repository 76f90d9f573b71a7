package schema

// API is one Kafka API: a request and its response.
type API struct {
	Key       int16
	Name      string // such as "Fetch"
	LogName   string // as the broker's request log writes it, such as "FETCH"
	Request   *Message
	Response  *Message
	Listeners []string
}

// Catalogue holds every known API and data definition and compiles their plans.
// Its methods may be called from several goroutines.
type Catalogue struct{}

// Default returns the embedded catalogue.
func Default() *Catalogue { panic("not written yet") }

// API returns the API of a key, or nil.
func (c *Catalogue) API(key int16) *API { panic("not written yet") }

// APIs returns all APIs by ascending key.
func (c *Catalogue) APIs() []*API { panic("not written yet") }

// APIByName finds an API by its name or log name, whatever the case, or by its key in digits; nil if there is none.
func (c *Catalogue) APIByName(name string) *API { panic("not written yet") }

// Plan returns the layout of an API's request or response body at a version, or nil.
func (c *Catalogue) Plan(key, version int16, d Direction) *Plan { panic("not written yet") }

// Older returns the layouts that a newer release replaced under the same version, newest first.
func (c *Catalogue) Older(key, version int16, d Direction) []*Plan { panic("not written yet") }

// Header returns the layout of a request or response header, or nil.
func (c *Catalogue) Header(d Direction, version int16) *Plan { panic("not written yet") }

// RequestHeaderVersion returns the header version of a request, whose version need not be in the
// catalogue as long as its API is; -1 where it cannot be known.
func (c *Catalogue) RequestHeaderVersion(key, version int16) int16 { panic("not written yet") }

// Data returns the layout of a data definition (a record of an internal topic, an embedded
// protocol) at a version, or nil.
func (c *Catalogue) Data(name string, version int16) *Plan { panic("not written yet") }

// Message is a definition over all its versions.
type Message struct{}
