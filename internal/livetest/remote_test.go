package livetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// remote is the role behind the pair: it does what its standard input says, line by line, and
// answers each with a line.
func remote() int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var err error
		switch words := strings.Fields(in.Text()); words[0] {
		case "ip":
			var out []byte
			if out, err = exec.Command("ip", words[1:]...).CombinedOutput(); err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
		case "inject":
			err = inject(words[1], words[2])
		case "client":
			err = client(context.Background(), words[1], words[2])
		}
		fmt.Println("done:", err)
	}
	return 0
}

// pair is the other end of a pair of interfaces, in a namespace of its own.
type pair struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

// newPair makes the pair.
func newPair(t *testing.T) *pair {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+roleRemote)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		_ = exec.Command("ip", "link", "del", nearName).Run() // one of the tests has done so
	})
	p := &pair{t: t, in: in, out: bufio.NewScanner(out)}
	ip(t, fmt.Sprintf("link add %s type veth peer name %s netns %d", nearName, remoteName, cmd.Process.Pid))
	ip(t, fmt.Sprintf("addr add %s/24 dev %s", nearAddr, nearName))
	ip(t, fmt.Sprintf("link set %s up", nearName))
	// Frames of loopback captures are larger than Ethernet's.
	ip(t, fmt.Sprintf("link set %s mtu 60000", nearName))
	p.do(fmt.Sprintf("ip link set %s mtu 60000", remoteName))
	p.do(fmt.Sprintf("ip addr add %s/24 dev %s", remoteAddr, remoteName))
	p.do(fmt.Sprintf("ip link set %s up", remoteName))
	return p
}

// do has the other end do something.
func (p *pair) do(line string) {
	p.t.Helper()
	_, err := fmt.Fprintln(p.in, line)
	require.NoError(p.t, err)
	require.True(p.t, p.out.Scan(), "the other end is gone")
	require.Equal(p.t, "done: <nil>", p.out.Text(), line)
}

const (
	clientBatches = 50
	clientRecords = 20
)

// client produces to a broker and consumes, in a group, what it has produced.
func client(ctx context.Context, broker, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic), kgo.AllowAutoTopicCreation(),
		kgo.ConsumeTopics(topic), kgo.ConsumerGroup(topic+"-group"), kgo.ClientID("livetest"),
		kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return err
	}
	defer cl.Close()
	for i := range clientBatches {
		var records []*kgo.Record
		for n := range clientRecords {
			records = append(records, kgo.StringRecord(fmt.Sprintf("record %d of batch %d %s", n, i, strings.Repeat("x", 40*i))))
		}
		if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
			return fmt.Errorf("produce: %w", err)
		}
	}
	for got := 0; got < clientBatches*clientRecords; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("consume after %d: %w", got, err)
		}
		got += fetches.NumRecords()
	}
	return cl.CommitUncommittedOffsets(ctx)
}
