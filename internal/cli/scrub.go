package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/scrub"
)

var scrubVerb = verb{
	name:     "scrub",
	operands: "IN OUT",
	brief:    "Copy a capture with what is confidential replaced",
	about: `
Writes a copy of a pcap or pcapng file that can be handed to somebody else: the same packets with the same
lengths and times, which decode to the same exchanges, without what they were about.

Always replaced are secrets (SASL tokens, passwords, keys), users and principals, the keys, values and headers
of records, free text (error messages, metadata of commits), and values of configurations but for
numbers and Kafka's own words. Flags add names and addresses; --all gives all of them.

What replaces a value has its length and its kind of characters, and is the same for the same value
everywhere in the file; with --key, also in others. Records in compressed batches are compressed anew to the size that
they had; where that cannot be, one repeated character stands for each value, or one record for the batch. All
checksums are computed anew.

What belongs to no frame that was found becomes zeros: other protocols, packets that are not TCP, bytes that were
not decoded. Times, sizes, offsets, ports, error codes, software names and Kafka's own topics are kept. Of pcapng,
secrets, comments, and the names of hosts, systems and interfaces are left out.

TLS stays encrypted as it is; --hosts takes handshakes out, which name the server. With --keylog, or
--decrypt for the secrets inside the capture, what can be decrypted is written as plaintext, replaced like the rest,
in packets of other lengths.

OUT is compressed where its name ends in .gz. It appears only when it is complete, and replaces nothing
unless --force is given.`,
	examples: []example{
		{"scrub capture.pcap clean.pcap", "without contents; names stay"},
		{"scrub --all capture.pcapng.gz clean.pcapng.gz", "without names and addresses, too"},
		{"scrub --all --keylog keys.log tls.pcap clean.pcap", "TLS as plaintext"},
		{"scrub --topics --client-ids --key s3cret a.pcap clean-a.pcap", "stand-ins that a run over b.pcap will use again"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &scrubFlags{}
		fs.BoolVar(&f.all, "all", false, "all of the following five")
		fs.BoolVar(&f.opt.ClientIDs, "client-ids", false, "replace client ids, member ids, group instance ids")
		fs.BoolVar(&f.opt.Topics, "topics", false, "replace topic names and ids, but for those of Kafka's own topics")
		fs.BoolVar(&f.opt.Groups, "groups", false, "replace group ids, transactional ids, names of connectors")
		fs.BoolVar(&f.opt.Hosts, "hosts", false, "replace host names, racks, listeners, cluster ids, log directories")
		fs.BoolVar(&f.opt.Addresses, "addresses", false, "replace IP and MAC addresses")
		fs.StringVar(&f.opt.Key, "key", "", "make what replaces values from this `secret`, so that other runs make the same")
		f.keyLogs.define(fs)
		fs.BoolVar(&f.decrypt, "decrypt", false, "decrypt TLS with the secrets inside IN and in $"+keyLogVariable)
		fs.BoolVar(&f.force, "force", false, "overwrite OUT")
		f.limits.defineStreams(fs)
		f.limits.defineDecoding(fs)
		return f.run
	},
}

type scrubFlags struct {
	opt     scrub.Options
	keyLogs keyLogFlags
	limits  limitFlags

	all, decrypt, force bool
}

func (f *scrubFlags) run(e *env, files []string) error {
	if len(files) != 2 {
		return usagef("want two files, IN and OUT; got %d", len(files))
	}
	in, out := files[0], files[1]
	if in == "-" || out == "-" {
		return usagef("IN is read twice, and OUT is written when it is complete: neither can be a pipe")
	}
	if strings.HasSuffix(out, ".zst") {
		return usagef("%s: OUT can be compressed with gzip (.gz) only", out)
	}
	if err := f.checkFiles(in, out); err != nil {
		return err
	}
	if f.all {
		f.opt.ClientIDs, f.opt.Topics, f.opt.Groups, f.opt.Hosts, f.opt.Addresses = true, true, true, true, true
	}
	if f.decrypt || len(f.keyLogs.files) > 0 {
		d, err := newDecryption(e, &f.keyLogs, false)
		if err != nil {
			return err
		}
		f.opt.Keys = d.keys
	}
	f.opt.Warn = func(text string) { e.warn("%s", text) }
	if err := f.limits.check(1); err != nil {
		return err
	}
	f.limits.apply()
	var limits limitCount
	var faults faultCount
	f.opt.Dissect.Recover = true
	f.limits.dissect(&f.opt.Dissect.Limits)
	f.opt.Dissect.Buffers = f.limits.buffers()
	f.opt.Reassembly, f.opt.Records = f.limits.reassembly(1), f.limits.records(true)
	f.opt.Front = func(h dissect.Handler) dissect.Handler {
		limits.Handler, faults.Handler = h, &limits
		return &faults
	}
	bar := newProgress(e)
	f.opt.Progress = bar.update
	rep, err := scrub.File(e.ctx, in, out, f.opt)
	bar.done()
	limits.decoded = rep.Limited
	tellEnd(e, &limits, &faults)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted; %s was not written", out)
	}
	if err != nil {
		return err
	}
	f.report(e, rep)
	return nil
}

// checkFiles refuses what cannot be read twice, and what would be lost.
func (f *scrubFlags) checkFiles(in, out string) error {
	from, err := os.Stat(in)
	if err != nil {
		return err
	}
	if !from.Mode().IsRegular() {
		return usagef("%s is not a file: it is read twice", in)
	}
	switch to, err := os.Stat(out); {
	case err != nil:
	case os.SameFile(from, to):
		return usagef("IN and OUT are the same file")
	case !to.Mode().IsRegular():
		return usagef("%s is there, and is not a file", out)
	case !f.force:
		return fmt.Errorf("%s is there already; --force overwrites it", out)
	}
	return nil
}

// report tells on stderr what was done and what was not.
func (f *scrubFlags) report(e *env, rep scrub.Report) {
	e.warn("%s, %s in %s scrubbed", plural(rep.Packets, "packet"), plural(rep.Frames, "frame"), plural(rep.Connections, "connection"))
	if rep.Decrypted > 0 {
		e.warn("%s decrypted", plural(rep.Decrypted, "connection"))
	}
	if rep.Encrypted > 0 {
		e.warn("%s encrypted, left as captured", plural(rep.Encrypted, "connection"))
	}
	if rep.Blanked > 0 {
		e.warn("%s not found to be Kafka, zeroed", plural(rep.Blanked, "connection"))
	}
	b := rep.Batches
	if n := b.Filled + b.Replaced; n > 0 {
		e.warn("%d of %d compressed batches could keep their size only with filler in place of values, %d of these with one record for all",
			n, b.Recompressed+n, b.Replaced)
	}
}
