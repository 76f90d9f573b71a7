package browsertest

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// update rewrites the pictures that the README shows.
var update = flag.Bool("update", false, "rewrite the pictures in docs/img")

// root is the checkout.
var root = filepath.Join("..", "..")

// browser is a tab, and what went wrong in it.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string // script errors, and requests that leave the machine
	files  []string // requests of files
}

// open starts a browser, or skips the test where there is none.
func open(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium is installed")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1400, 1000),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.event))
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, cdplog.Enable, cdp.Empty{})
	return b
}

// event notes what must not happen.
func (b *browser) event(e any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.faults = append(b.faults, "console: "+string(e.Type))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			b.faults = append(b.faults, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		switch url := e.Request.URL; {
		case strings.HasPrefix(url, "file:"):
			b.files = append(b.files, url)
		case !strings.HasPrefix(url, "data:"):
			b.faults = append(b.faults, "request: "+url)
		}
	}
}

// done returns what went wrong since the last call, and how many files were asked for.
func (b *browser) done() (faults []string, files int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults, files = b.faults, len(b.files)
	b.faults, b.files = nil, nil
	return faults, files
}

// run does actions in the tab.
func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, actions...))
}

// call sends a command of the protocol.
func call[P, R any](b *browser, cmd cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, cmd, params)
	require.NoError(b.t, err)
}

// goTo loads a file.
func (b *browser) goTo(file, fragment string) {
	b.t.Helper()
	// A new fragment alone would not load the page again.
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(address(b.t, file)+fragment))
}

// address returns the URL of a file.
func address(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	return "file://" + filepath.ToSlash(path)
}

// eval returns what an expression gives.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b.t, err, expression)
	return v
}

// built is the program under test, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kdissect")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "kdissect")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/kdissect")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	return bin, cmd.Run()
})

// TestMain removes what built made.
func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if bin, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(status)
}

// kdissect runs the program and returns what it prints.
func kdissect(t *testing.T, args ...string) []byte {
	t.Helper()
	bin, err := built()
	require.NoError(t, err)
	out, err := exec.Command(bin, args...).Output()
	require.NoError(t, err)
	return out
}
