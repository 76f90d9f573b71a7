package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/kdissect/kdissect/"

// mayImport says which packages of ours each package may depend on; what those depend on is
// included. A package that is missing here fails the test: decide where it belongs first. The
// table is not changed to make a build pass.
var mayImport = map[string][]string{
	"tree":       {},
	"reassembly": {},

	"dissect/wire":    {},
	"dissect/frame":   {},
	"dissect/pair":    {},
	"dissect/schema":  {"tree"},
	"dissect/walk":    {"dissect/wire", "dissect/schema", "tree"},
	"dissect/records": {"dissect/wire", "tree"},
	"dissect/payload": {"dissect/wire", "dissect/schema", "dissect/walk", "dissect/records", "tree"},
	"dissect/layout":  {"dissect/wire", "dissect/schema", "dissect/walk", "dissect/records", "dissect/payload", "tree"},
	"dissect": {"dissect/wire", "dissect/schema", "dissect/walk", "dissect/frame", "dissect/pair",
		"dissect/records", "dissect/payload", "tree", "reassembly"},

	"internal/capture":       {"reassembly"},
	"internal/dump":          {},
	"internal/tls":           {"reassembly"},
	"internal/scrub":         {"dissect", "internal/capture", "internal/tls", "reassembly", "tree"},
	"internal/output":        {"dissect", "tree"},
	"internal/cli":           {"dissect", "dissect/layout", "internal/capture", "internal/dump", "internal/output", "internal/scrub", "internal/tls", "reassembly", "tree"},
	"internal/rules":         {},
	"internal/bench":         {"internal/traffic"},
	"internal/profile":       {"internal/cli", "internal/traffic"}, // what the compiler is told
	"internal/traffic":       {},
	"internal/corpus":        {},                                                                                             // finds the shared corpora, for tests
	"internal/fuzzing":       {},                                                                                             // for tests
	"internal/fuzzing/seeds": {"dissect", "internal/capture", "internal/fuzzing", "reassembly"},                              // for tests
	"internal/brokerlog":     {},                                                                                             // brokers' request logs, for tests
	"internal/losslab":       {"dissect", "internal/brokerlog", "internal/capture", "internal/output", "reassembly", "tree"}, // damages captures, for tests
	"cmd/kdissect":           {"internal/cli"},
}

// onlyIn says which packages may import a module of others.
var onlyIn = map[string][]string{
	"github.com/google/gopacket":      {"internal/capture", "reassembly"},
	"github.com/spf13/pflag":          {"internal/cli"},
	"github.com/expr-lang/expr":       {"internal/cli"},
	"github.com/schollz/progressbar":  {"internal/cli"},
	"golang.org/x/crypto":             {"internal/tls"},
	"golang.org/x/term":               {"internal/cli"},
	"github.com/stretchr/testify":     {}, // tests only
	"github.com/rogpeppe/go-internal": {}, // tests only
	"github.com/klauspost/compress":   {"internal/capture", "dissect/records", "dissect/payload", "internal/scrub"},
	"github.com/pierrec/lz4":          {"dissect/records", "dissect/payload", "internal/scrub"},
}

// processOnly are the names that belong to the command line. Captured data carries its own
// time, so that the clock does, too.
var processOnly = map[string][]string{
	"os.Exit":          {"internal/cli", "cmd/kdissect", "internal/bench", "internal/profile"},
	"os.Args":          {"cmd/kdissect", "internal/bench", "internal/profile"},
	"os.Stdin":         {"internal/cli", "cmd/kdissect", "internal/capture"},
	"os.Stdout":        {"internal/cli", "cmd/kdissect", "internal/bench", "internal/profile"},
	"os.Stderr":        {"internal/cli", "cmd/kdissect", "internal/bench", "internal/profile"},
	"fmt.Print":        {"internal/bench"},
	"fmt.Printf":       {"internal/bench"},
	"fmt.Println":      {"internal/bench"},
	"log.Print":        {},
	"log.Printf":       {},
	"log.Println":      {},
	"log.Fatal":        {},
	"log.Fatalf":       {},
	"time.Now":         {"internal/cli", "internal/bench"},
	"time.Since":       {"internal/cli", "internal/bench"},
	"flag.CommandLine": {}, // gopacket registers flags there: never merge it into ours
}

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath, Dir                   string
	GoFiles, CgoFiles, IgnoredGoFiles []string
	Imports, Deps                     []string
}

// name is the import path inside the module.
func (p *pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages(t *testing.T) []*pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-pgo=off", "-json=ImportPath,Dir,GoFiles,CgoFiles,IgnoredGoFiles,Imports,Deps", "./...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go list: %s", stderr.String())
	var all []*pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		p := new(pkg)
		err := dec.Decode(p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		all = append(all, p)
	}
	require.NotEmpty(t, all)
	return all
}

// closure adds to set what name may import, and what that may.
func closure(name string, set map[string]bool) {
	for _, dep := range mayImport[name] {
		if !set[dep] {
			set[dep] = true
			closure(dep, set)
		}
	}
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		_, known := mayImport[p.name()]
		if !assert.True(t, known, "%s is not in the table of packages", p.name()) {
			continue
		}
		allowed := map[string]bool{}
		closure(p.name(), allowed)
		for _, dep := range p.Deps {
			if ours, ok := strings.CutPrefix(dep, module); ok {
				assert.True(t, allowed[ours], "%s must not depend on %s", p.name(), ours)
			}
		}
		for _, imported := range p.Imports {
			for theirs, packages := range onlyIn {
				if imported == theirs || strings.HasPrefix(imported, theirs+"/") {
					assert.Contains(t, packages, p.name(), "%s must not import %s", p.name(), imported)
				}
			}
		}
	}
}

func TestProcessNamesStayInTheCommandLine(t *testing.T) {
	for _, p := range packages(t) {
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			imported := map[string]string{} // by the name in this file
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				require.NoError(t, err)
				name := path[strings.LastIndexByte(path, '/')+1:]
				if spec.Name != nil {
					name = spec.Name.Name
				}
				imported[name] = path
			}
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok {
					name := imported[x.Name] + "." + sel.Sel.Name
					if packages, limited := processOnly[name]; limited {
						assert.Contains(t, packages, p.name(), "%s: %s does not belong here",
							fset.Position(sel.Pos()), name)
					}
				}
				return true
			})
		}
	}
}
