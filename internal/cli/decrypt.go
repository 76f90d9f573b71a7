package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/tls"
	"github.com/kdissect/kdissect/reassembly"
)

// keyLogVariable names a key log for all programs that know of it.
const keyLogVariable = "SSLKEYLOGFILE"

// keyLogFlags name the key logs that TLS is decrypted with.
type keyLogFlags struct{ files []string }

func (f *keyLogFlags) define(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.files, "keylog", nil, "decrypt TLS with the secrets in this key log (`file`; default: $"+keyLogVariable+")")
}

// decryption decrypts the connections of a pipeline.
type decryption struct {
	env      *env
	keys     *tls.Keys
	sessions *tls.Sessions
	files    []*tls.KeyFile
	mu       sync.Mutex            // guards files and failed
	failed   map[*tls.KeyFile]bool // whose trouble was told
	told     int64                 // connections that could not be decrypted
}

// maxTold is how many connections that could not be decrypted get a line each.
const maxTold = 20

// newDecryption reads the key logs. Where grows is set they need not be there yet, and are read
// again when a secret is missing.
func newDecryption(e *env, f *keyLogFlags, grows bool) (*decryption, error) {
	d := &decryption{env: e, keys: tls.NewKeys(0), sessions: tls.NewSessions(0), failed: map[*tls.KeyFile]bool{}}
	names, asked := f.files, true
	if name := os.Getenv(keyLogVariable); name != "" && len(names) == 0 {
		names, asked = []string{name}, false
	}
	for _, name := range names {
		file := tls.NewKeyFile(name, d.keys)
		d.files = append(d.files, file)
		var err error
		switch {
		case grows:
			err = file.Poll()
		case asked:
			err = file.ReadAll()
		default:
			// Whoever set the variable did not have this capture in mind.
			if err := file.ReadAll(); err != nil {
				e.warn("$%s: %v", keyLogVariable, err)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if n := d.keys.Mistakes(); n > 0 {
		e.warn("key log: passed over %s that hold no secret", plural(n, "line"))
	}
	return d, nil
}

// secrets takes in the decryption secrets of a capture file.
func (d *decryption) secrets(s capture.Secrets) {
	if s.Type == capture.SecretsTLSKeyLog {
		d.keys.Add(s.Data)
	}
}

// missing reads what the key logs have more. Trouble is told once for each.
func (d *decryption) missing() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.files {
		if err := f.Poll(); err != nil && !d.failed[f] {
			d.failed[f] = true
			d.env.warn("%v", err)
		}
	}
}

// layer returns what decrypts in front of the dissector of l. report is told of TLS connections at their end;
// nil is not.
func (d *decryption) layer(l *lane, grows bool, report func(*reassembly.Conn)) reassembly.Handler {
	opt := tls.Options{
		Keys: d.keys, Report: report, Sessions: d.sessions,
		Where: func() int64 { return l.place }, Await: l.dissector.Await,
	}
	if grows {
		opt.Missing = d.missing
	}
	return tls.New(l.dissector, opt)
}

// report writes a line about a connection that could not be decrypted.
func (d *decryption) report(t *reassembly.Conn) {
	if text := remarkOnTLS(t); text != "" {
		d.remark(t.ID, text)
	}
}

// remark writes a remark about a connection.
func (d *decryption) remark(connection int64, text string) {
	if d.told++; d.told <= maxTold {
		d.env.warn("connection %d, %s", connection, text)
	}
}

// remarkOnTLS says of a connection that could not be decrypted who spoke and what is known; "" of
// others.
func remarkOnTLS(t *reassembly.Conn) string {
	s := t.TLS
	if s.Failure == "" {
		return ""
	}
	client := reassembly.Forward
	if s.Hello {
		client = s.Client
	}
	return fmt.Sprintf("%s > %s: %s", endpointOf(t, client), endpointOf(t, client.Other()), describeTLS(t, client))
}

// end tells how many lines were left out, and whether there were more secrets than are held.
func (d *decryption) end() {
	if n := d.keys.Dropped(); n > 0 && d.told > 0 {
		d.env.warn("key log: the secrets of %s were dropped for newer ones (limit %d)", plural(n, "connection"), tls.MaxConnections)
	}
	if more := d.told - maxTold; more > 0 {
		d.env.warn("%s more could not be decrypted; 'kdissect connections' lists them", plural(more, "TLS connection"))
	}
}

// describeTLS says in one line what is known of an encrypted connection: version, server name,
// suite, bytes each way, and what became of the decryption.
func describeTLS(t *reassembly.Conn, client reassembly.Dir) string {
	s := t.TLS
	var parts []string
	if parts = append(parts, s.Version); s.Version == "" {
		parts[0] = "TLS"
	}
	if s.ServerName != "" {
		parts = append(parts, "server name "+s.ServerName)
	}
	if s.Suite != "" {
		parts = append(parts, s.Suite)
	}
	if len(s.Protocols) > 0 {
		parts = append(parts, "ALPN "+strings.Join(s.Protocols, " "))
	}
	if s.Resumed {
		parts = append(parts, "resumed")
	}
	if s.Renegotiated {
		parts = append(parts, "renegotiated")
	}
	parts = append(parts, fmt.Sprintf("%s sent, %s received", plural(t.Dirs[client].Bytes, "byte"), plural(t.Dirs[client.Other()].Bytes, "byte")))
	switch {
	case s.Decrypted && s.Failure == "":
		parts = append(parts, fmt.Sprintf("decrypted %d and %d", s.Plain[client], s.Plain[client.Other()]))
	case s.Decrypted:
		parts = append(parts, fmt.Sprintf("decrypted %d and %d, then not: %s", s.Plain[client], s.Plain[client.Other()], s.Failure))
	case s.Failure != "":
		parts = append(parts, "not decrypted: "+s.Failure)
	}
	return strings.Join(parts, ", ")
}

// grows reports whether files are followed, so that key logs may grow meanwhile.
func grows(files []string) bool { return len(files) == 0 || slices.Contains(files, "-") }
