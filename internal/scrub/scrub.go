package scrub

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/tls"
	"github.com/kdissect/kdissect/reassembly"
)

// File writes a scrubbed copy of the capture file in to the file out, which is compressed where
// its name ends in .gz. out is there only when all went well.
func File(ctx context.Context, in, out string, opt Options) (Report, error) {
	var rep Report
	key := sha256.Sum256([]byte("kdissect scrub " + opt.Key))
	if opt.Key == "" {
		_, _ = rand.Read(key[:]) // never fails
	}
	names := newStandIns(key[:])
	v := &values{standIns: names, opt: opt, addresses: newAddresses(names)}

	store, err := newSpool(filepath.Dir(out))
	if err != nil {
		return rep, err
	}
	defer store.close()
	s := &streams{
		frames: &frames{values: v, walk: payload.New(opt.Dissect.Catalogue, opt.Records).Decoder()},
		spool:  store,
		conns:  map[int64]*conn{}, flows: map[reassembly.Flow][]*conn{}, report: &rep,
	}
	dissector := opt.Dissect
	if dissector.Handler = s; opt.Front != nil {
		dissector.Handler = opt.Front(s)
	}
	s.Handler = dissect.New(dissector)
	if opt.Keys != nil {
		s.Handler = tls.New(&decrypted{Handler: s.Handler, streams: s}, tls.Options{Keys: opt.Keys})
	}
	p := newPackets(s)
	if opt.Addresses {
		p.addresses = &v.addresses
	}
	if err := dissectAll(ctx, in, p, opt); err != nil {
		return rep, err
	}
	rep.Batches, rep.Limited = s.frames.batches, s.frames.limited
	p.restart()
	return rep, rewrite(ctx, in, out, p, opt, &rep)
}

// each calls f with the packets of a capture file. pass is 0 or 1.
func each(ctx context.Context, name string, pass int64, opt Options, o capture.Options, f func(*capture.Packet) error) error {
	r, err := capture.Open(ctx, []string{name}, o)
	if err != nil {
		return err
	}
	defer r.Close()
	var pkt capture.Packet
	for n := 0; ; n++ {
		if n%1024 == 0 && opt.Progress != nil {
			read, total := r.Progress()
			opt.Progress(pass*total+read, 2*total)
		}
		switch err := r.Next(&pkt); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := f(&pkt); err != nil {
			return err
		}
	}
}

// secrets returns what puts those of a capture with keys, nil where there are none.
func secrets(keys *tls.Keys) func(capture.Secrets) {
	if keys == nil {
		return nil
	}
	return func(s capture.Secrets) {
		if s.Type == capture.SecretsTLSKeyLog {
			keys.Add(s.Data)
		}
	}
}

// dissectAll is the first pass.
func dissectAll(ctx context.Context, name string, p *packets, opt Options) error {
	a := reassembly.New(opt.Reassembly, p.streams)
	o := capture.Options{Secrets: secrets(opt.Keys), Warn: func(w capture.Warning) {
		if opt.Warn != nil {
			opt.Warn(w.String())
		}
	}}
	var seg reassembly.Segment
	err := each(ctx, name, 0, opt, o, func(pkt *capture.Packet) error {
		if p.segment(pkt, &seg) == capture.TCPSegment {
			a.Advance(seg.Time)
			a.Segment(&seg)
		}
		return p.streams.err
	})
	if err != nil {
		return err
	}
	a.Flush()
	if p.streams.err != nil {
		return p.streams.err
	}
	return p.streams.spool.w.Flush()
}

// rewrite is the second pass.
func rewrite(ctx context.Context, in, out string, p *packets, opt Options, rep *Report) (err error) {
	f, err := os.CreateTemp(filepath.Dir(out), ".kdissect-scrub-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	buf := bufio.NewWriterSize(f, 1<<20)
	c := &container{w: buf}
	var z *gzip.Writer
	if strings.HasSuffix(out, ".gz") {
		z = gzip.NewWriter(buf)
		c.w = z
	}
	var record []byte
	err = each(ctx, in, 1, opt, capture.Options{Frame: c.frame}, func(pkt *capture.Packet) error {
		n := len(pkt.Data)
		record = append(record[:0], pkt.Record...)
		pkt.Data = record[pkt.At : pkt.At+n]
		if pkt.Fault != 0 { // what its fields say cannot be: nothing of it is kept
			fill(record[pkt.At:max(pkt.At, len(record)-4)], 0)
			rep.Packets++
			c.write(record)
			return c.err
		}
		return p.scrub(pkt, func(data []byte) error {
			rep.Packets++
			if n > 0 && len(data) > 0 && &data[0] != &record[pkt.At] {
				c.other(record, pkt.At, data)
			} else {
				c.packet(record, pkt.At, n)
			}
			return c.err
		})
	})
	if err == nil {
		err = c.err
	}
	if z != nil && err == nil {
		err = z.Close()
	}
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	return err
}
