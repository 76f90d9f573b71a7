package main

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kdissect": main})
}

// TestScripts runs the command lines of testdata/script. $PCAPS is the folder of the captures.
func TestScripts(t *testing.T) {
	pcaps, err := filepath.Abs(filepath.Join("..", "..", "testdata", "pcaps"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PCAPS", pcaps)
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   status,
			"truncate": truncate,
		},
	})
}

// status N COMMAND..: runs a command that must end with the exit status N.
func status(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("ended with %s, want %s", got, args[0])
	}
}

// truncate NEW FILE N: copies the first N bytes of a file.
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: truncate NEW FILE N")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	whole, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), whole[:n], 0o666))
}
