// Package cli is the command line of kdissect: its verbs and flags, what goes to stdout and to
// stderr, and the exit status.
//
// Data goes to stdout and everything else to stderr. The exit status is 0 when all was done,
// 1 when something failed, 2 for a wrong command line, and 3 when --strict was given and issues
// of severity warning or error were found.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/pflag"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitIssues = 3
)

// env is what a verb works with.
type env struct {
	ctx    context.Context // ends at SIGINT and SIGTERM
	stdin  io.Reader
	stdout *stdout
	stderr io.Writer
	mu     *sync.Mutex // held for a line to stderr
}

// warn writes one line to stderr.
func (e *env) warn(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(e.stderr, "kdissect: "+format+"\n", args...)
}

// usageError is a wrong command line.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errIssues says that --strict was given and issues were found.
var errIssues = errors.New("issues were found")

// Main runs the command line args, without the program's name, and returns the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// A reader that has had enough, such as head, closes the pipe: that must come back as an
	// error of the write.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)

	e := &env{ctx: ctx, stdin: stdin, stdout: newStdout(stdout), stderr: stderr, mu: &sync.Mutex{}}
	name, err := run(e, args)
	if failed := e.stdout.close(); failed != nil && (err == nil || errors.Is(err, errIssues)) {
		err = failed
	}
	switch {
	case err == nil, isBrokenPipe(err):
		return exitDone
	case errors.Is(err, errIssues):
		e.warn("%s (--strict)", err)
		return exitIssues
	}
	prefix := strings.TrimRight("kdissect "+name, " ")
	fmt.Fprintf(stderr, "%s: %s\n", prefix, err)
	if errors.As(err, new(usageError)) {
		fmt.Fprintf(stderr, "Run '%s' for the ways to use it.\n", strings.TrimRight("kdissect help "+name, " "))
		return exitUsage
	}
	return exitFailed
}

// run finds the verb and runs it; it returns the verb's name for messages.
func run(e *env, args []string) (string, error) {
	if len(args) == 0 {
		return "", usagef("no command given")
	}
	switch args[0] {
	case "-h", "--help":
		return "", writeHelp(e.stdout)
	case "help":
		return "help", help(e, args[1:])
	case "--version", "version":
		_, err := fmt.Fprintln(e.stdout, version())
		return "", err
	}
	if strings.HasPrefix(args[0], "-") {
		return "", usagef("unknown flag %s; flags follow the command, as in 'kdissect read %s'", args[0], args[0])
	}
	v, rest, err := findVerb(args)
	if err != nil {
		return "", err
	}
	fs := pflag.NewFlagSet(v.name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {}
	fs.SetOutput(io.Discard)
	action := v.define(fs)
	switch err := fs.Parse(rest); {
	case errors.Is(err, pflag.ErrHelp):
		return v.name, writeVerbHelp(e.stdout, v)
	case err != nil:
		return v.name, usageError{err}
	}
	return v.name, action(e, fs.Args())
}
