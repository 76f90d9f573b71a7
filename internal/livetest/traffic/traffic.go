// Package traffic makes Kafka traffic at a steady rate: Produce requests of one size, each with
// its response, over several connections.
package traffic

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Load is what a client sends.
type Load struct {
	Connections int
	Records     int // of each request
	RecordSize  int // bytes of each record's value
	Rate        int // requests a second, of all connections together
	Duration    time.Duration
}

const version = 9

// Serve answers requests until the listener is closed.
func Serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			_ = answer(c)
		}()
	}
}

// answer answers the requests of a connection, each with the same response.
func answer(c net.Conn) error {
	resp := kmsg.NewPtrProduceResponse()
	resp.Version = version
	topic := kmsg.NewProduceResponseTopic()
	topic.Topic = "load"
	topic.Partitions = append(topic.Partitions, kmsg.NewProduceResponseTopicPartition())
	resp.Topics = append(resp.Topics, topic)
	body := append([]byte{0}, resp.AppendTo(nil)...) // the header's tags

	r := bufio.NewReaderSize(c, 256<<10)
	out := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	out = append(append(out, 0, 0, 0, 0), body...)
	var head [12]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return err
		}
		copy(out[4:8], head[8:12])
		if _, err := r.Discard(int(binary.BigEndian.Uint32(head[:])) - 8); err != nil {
			return err
		}
		if _, err := c.Write(out); err != nil {
			return err
		}
	}
}

// request returns a Produce request, whose correlation id stands at offset 8.
func request(l *Load) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.Version = version
	req.Acks = 1
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "load"
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = batch(l)
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("load")).AppendRequest(nil, req, 0)
}

// batch returns a record batch, magic 2.
func batch(l *Load) []byte {
	value := make([]byte, l.RecordSize)
	for i := range value {
		value[i] = byte('a' + i%26)
	}
	var records []byte
	for i := range l.Records {
		r := kmsg.Record{OffsetDelta: int32(i), Value: value}
		n := len(r.AppendTo(nil)) - 1 // the length's own byte, as it is 0
		r.Length = int32(n)
		records = r.AppendTo(records)
	}
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(l.Records - 1), ProducerID: -1, ProducerEpoch: -1,
		FirstSequence: -1, NumRecords: int32(l.Records), Records: records,
	}
	b.Length = int32(len(b.AppendTo(nil)) - 12)
	raw := b.AppendTo(nil)
	b.CRC = int32(crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b.AppendTo(nil)
}

// Result is what a client did.
type Result struct {
	Requests int
	Bytes    int64
	Took     time.Duration
}

// Run sends the load to a server and waits for all answers.
func Run(ctx context.Context, address string, l Load) (Result, error) {
	frame := request(&l)
	total := int(float64(l.Rate) * l.Duration.Seconds() / float64(l.Connections))
	began := time.Now()
	var wg sync.WaitGroup
	errs := make(chan error, l.Connections)
	for range l.Connections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs <- send(ctx, address, frame, total, l.Duration)
		}()
	}
	wg.Wait()
	close(errs)
	var err error
	for e := range errs {
		err = errors.Join(err, e)
	}
	n := total * l.Connections
	return Result{Requests: n, Bytes: int64(n) * int64(len(frame)), Took: time.Since(began)}, err
}

// send sends total frames, evenly over the duration, and reads as many answers.
func send(ctx context.Context, address string, frame []byte, total int, duration time.Duration) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	answers := make(chan error, 1)
	go func() {
		r := bufio.NewReader(c)
		for range total {
			var size [4]byte
			if _, err := io.ReadFull(r, size[:]); err != nil {
				answers <- fmt.Errorf("answer: %w", err)
				return
			}
			if _, err := r.Discard(int(binary.BigEndian.Uint32(size[:]))); err != nil {
				answers <- fmt.Errorf("answer: %w", err)
				return
			}
		}
		answers <- nil
	}()
	own := append([]byte(nil), frame...)
	began := time.Now()
	for i := range total {
		due := time.Duration(float64(duration) * float64(i) / float64(total))
		if early := due - time.Since(began); early > time.Millisecond {
			time.Sleep(early)
		}
		binary.BigEndian.PutUint32(own[8:], uint32(i))
		if _, err := c.Write(own); err != nil {
			return err
		}
	}
	return <-answers
}
