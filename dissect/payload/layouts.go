package payload

import (
	"embed"
	"sync"

	"github.com/kdissect/kdissect/dissect/schema"
)

//go:embed layouts/protocols.txt
var layoutFiles embed.FS

//go:embed about.txt
var aboutText string

// layouts are the protocols that have no message definition in Kafka's sources.
var layouts = sync.OnceValue(func() *schema.Catalogue {
	c, err := schema.ReadCatalogue(layoutFiles, "layouts")
	if err != nil {
		panic(err) // the embedded files are tested
	}
	about, err := schema.ParseGlossary("about.txt", aboutText)
	if err != nil {
		panic(err)
	}
	return schema.New(nil, c.DataMessages(), about)
})

// Layouts returns the definitions of the protocols that Kafka defines in code: the user data of
// sticky assignors, Connect's worker protocol, and the assignments of Kafka Streams.
func Layouts() *schema.Catalogue { return layouts() }
