# The commands of the README, and those of a developer. Everything but `make demo`'s try to
# install libpcap's headers needs Go and make only.

GO       ?= go
# Where the shared corpora are; tests and yardsticks that need them are skipped without.
KDISSECT_SHARED ?= ../shared
FUZZTIME ?= 30s

# A checkout that git refuses to read (of another owner, or no git) is built without its revision.
BUILDFLAGS := $(shell git rev-parse HEAD >/dev/null 2>&1 || echo -buildvcs=false)

# With libpcap where its headers and a C compiler are, which only live capture by --filter and
# systems other than Linux need.
# The # has a name because versions of make differ in how it is escaped.
HASH := \#
TAGS := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && echo '$(HASH)include <pcap.h>' | $$($(GO) env CC) -E - >/dev/null 2>&1 && echo -tags libpcap)

BIN     := bin/kdissect
EXE     := $(shell $(GO) env GOEXE)
CAPTURE := testdata/pcaps/consumer-group-describe.pcap

.PHONY: demo test build check bench profile update fuzz loss libpcap clean

# demo builds kdissect and shows a capture: as trees, then as one line for each exchange.
demo: libpcap build
	./$(BIN)$(EXE) read --format tree --api ConsumerGroupDescribe $(CAPTURE)
	@echo
	./$(BIN)$(EXE) read $(CAPTURE)

test:
	$(GO) test ./...

build:
	$(GO) build $(BUILDFLAGS) $(TAGS) -o $(BIN)$(EXE) ./cmd/kdissect

# check is what a change must pass before it is sent: format, vet, tests under the race detector
# (which needs a C compiler).
check:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt -w $$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	$(GO) test -race ./...

# update rewrites what kdissect prints in golden files, the README and the scripts, in this order,
# since scripts compare with golden files. Read the diff.
update:
	$(GO) test ./internal/cli -run '^(TestGolden|TestReadme)' -count=1 -update
	$(GO) test ./cmd/kdissect -count=1 -update

# fuzz runs every fuzz target for FUZZTIME.
fuzz:
	@./.ci/fuzz $(FUZZTIME)

# loss writes docs/loss.md: what is shown of damaged captures of the shared corpora.
loss:
	KDISSECT_SHARED='$(abspath $(KDISSECT_SHARED))' $(GO) test ./internal/losslab -run 'TestLoss$$' -count=1 -update

# bench compares `kdissect read` with the floor, the least that any dissector must do, and with other
# programs where they are installed, and writes docs/speed.md. `go test -bench .` measures the stages.
bench: build
	KDISSECT_SHARED='$(KDISSECT_SHARED)' $(GO) run ./internal/bench -o docs/speed.md ./$(BIN)$(EXE)

# profile writes the profile by which `go build` optimises kdissect, of reading generated captures.
profile:
	$(GO) run -trimpath ./internal/profile cmd/kdissect/default.pgo

# libpcap installs the headers that live capture needs, where that can be done. Nothing else
# needs them, so a failure is no failure.
libpcap:
	@if [ ! -e /usr/include/pcap/pcap.h ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing libpcap-dev (only live capture needs it)"; \
		(apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq libpcap-dev) \
			</dev/null >/dev/null 2>&1 || echo "libpcap-dev could not be installed; going on without"; \
	fi

clean:
	rm -rf bin bench
