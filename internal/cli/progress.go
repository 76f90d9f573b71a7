package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long a command works before the bar appears.
const progressDelay = time.Second

// progress is a bar on stderr for files that take long. It is shown on a terminal only, and not
// where the output itself goes to one, which would mix them.
type progress struct {
	bar     *progressbar.ProgressBar
	env     *env
	started time.Time
	next    time.Time
}

// newProgress returns a progress for e, or nil where none is to be shown.
func newProgress(e *env) *progress {
	if !isTerminal(e.stderr) || e.stdout.terminal {
		return nil
	}
	now := time.Now()
	return &progress{env: e, started: now, next: now.Add(progressDelay)}
}

// update shows that done of total bytes were read; total is -1 where it is unknown. It may be
// called often.
func (p *progress) update(done, total int64) {
	if p == nil {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(100 * time.Millisecond)
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.env.stderr),
			progressbar.OptionSetDescription("reading"),
			progressbar.OptionShowBytes(true),
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish())
	}
	// An error of the bar is one of stderr, which leaves nobody to tell.
	_ = p.bar.Set64(done)
}

// done takes the bar away.
func (p *progress) done() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}
