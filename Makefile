# The tools and what they are pinned by: Go by the line "go" of go.mod, staticcheck and everything else that
# is written in Go by go.mod and go.sum.
GO        ?= go
STATIC    := $(GO) tool staticcheck
LISTEN    ?= 127.0.0.1:9742
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# What make test and make test-race test. Of all packages, the second takes those whose goroutines share memory: the others run alike
# with the race detector and without it.
PACKAGES  ?= ./...
RACE      := $(addprefix ./host/,api audit bridge client family family/budget family/hooks family/jobs httpsessions jsonrpc keys mcp memory metrics operator outbound owner remote sandbox sandbox/early schema stream \
             search search/embed search/near search/semantic search/vector store/bolt tool tool/operation usage wire) ./host ./cmd/...
# Tests wait for processes, disks and timers, so that more of them than processors run at once. make check vets.
RUN       := -vet=off -p 4 -parallel 4
BENCHTIME ?= 1s
PAIRS     ?= 20
FOLLOW    ?= 60s
PRIMITIVES ?= 60s
COSTS     ?= 200
# The program has the families in it, and no HTTP/2: docs/RATIONALE.md tells why.
TAGS      := guests,nethttpomithttp2
# The program has at most so many bytes: a bound against accidents, far above its size, so that no code is bent to fit.
LARGEST   := 48000000
# Packages that spend their time waiting, or that no call reaches, are compiled without inlining, which makes the program a megabyte
# smaller. Elliptic curves and hashes are slow without it.
COLD      := $(addprefix github.com/alcove-memory/alcove/,cmd/... host registry/...) $(addprefix github.com/alcove-memory/alcove/host/, \
             admin api audit backup bridge bundle client conform datadir embedders family family/config family/jobs files importer keys measure \
             mcp memory/integrity memory/portable memory/purge memory/retention metrics operator outbound owner requestlog rest schema/instance service \
             sessions settings store/bolt/salvage stream tool/core usage) \
             $(addprefix github.com/,blevesearch/... coder/... gofrs/... google/... mark3labs/... opencontainers/... schollz/... spf13/... \
             tetratelabs/wazero/internal/engine/interpreter tetratelabs/wazero/internal/wasm/binary tetratelabs/wazero/internal/wasmdebug yosida95/...) \
             go.yaml.in/... golang.org/x/text/... oras.land/... compress/gzip \
             crypto/... debug/dwarf encoding/asn1 encoding/csv encoding/pem flag go/... html log/... math/big mime/... net net/http net/textproto os/... regexp/syntax text/... vendor/...
INLINED   := $(addprefix crypto/internal/fips140/,edwards25519/... hmac nistec/... sha256 sha512)
# How long the tests of make stress are, and each fuzz test of make fuzz. docs/FAULTS.md tells what each is.
STRESS    ?= 5m
SOAK      ?= 30m
KILLS     ?= 400
POWER     ?= 3000
FLIP      ?= 47
DAMAGE    ?= 6000
LEAK      ?= 100000
STORES    ?= 2000
TENANTS   ?= 20000
FUZZTIME  ?= 1m
LONG      := $(GO) test -count=1 -timeout 24h
# The first-party families, and how a guest in Go is built: the same sources and the same Go give the same bytes.
GUESTS    := $(patsubst guests/families/%/manifest.json,%,$(wildcard guests/families/*/manifest.json))
FAMILIES  := $(patsubst %/alcove_gen.go,./%,$(wildcard guests/families/*/alcove_gen.go sdk/interop/conform/alcove_gen.go sdk/go/example/alcove_gen.go))
GUEST     := CGO_ENABLED=0 GOOS=wasip1 GOARCH=wasm $(GO) build -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w -buildid=' \
             -gcflags='github.com/alcove-memory/alcove/guests/...=-l'
DIST      ?= guests/dist
# What make release signs the catalogue of families with: files of secret keys, which alcove family keygen makes; two while a key is replaced.
# Who builds a release again has its signatures instead, which are published beside it.
RELEASE_KEY ?=
SIGNATURES  ?=
PROGRAM   := $(GO) build -trimpath -tags $(TAGS) $(COLD:%=-gcflags=%=-l) $(INLINED:%=-gcflags=%=)

# Every target compiles alike, whatever the path of the clone: what one of them compiled, the others find in the cache.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)
build guests test vet lint imports generated cross: export CGO_ENABLED := 0

.PHONY: fetch family-costs seed-examples bench-pairs follow primitives help run build test check bench fmt clean format vet lint imports modules generated samples size cross bench-peers bench-conversations test-race test-times guests reproducible verify-guests release verify-release stress fuzz

help:            ## list these targets
	@sed -n 's/^\([a-z-]*\): .*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-8s %s\n", $$1, $$2}'

run: build       ## show it: a session with a real MCP client, then serve until Ctrl-C (LISTEN=host:port)
	@bin/alcove demo --listen $(LISTEN)

build: guests    ## build bin/alcove, with the first-party families in it
	@echo 'build bin/alcove $(VERSION)'
	@$(PROGRAM) -ldflags '$(LDFLAGS)' -o bin/alcove ./cmd/alcove

# The same source, VERSION, signatures, Go, and image of families give the same bytes, in any folder: make verify-release shows it.
release: guests  ## build bin/release: the program for all platforms, with SHA256SUMS and bills of materials (VERSION=v1 RELEASE_KEY=file)
	@rm -rf bin/release && mkdir -p bin/release
	@$(GO) run ./cmd/release sign -image $(DIST)/families.image -keys '$(RELEASE_KEY)' -signatures '$(SIGNATURES)' > bin/release/catalogue.sig
	@set -e; made="$$(cat bin/release/catalogue.sig)"; for p in $(PLATFORMS); do \
		case $$p in windows/*) exe=.exe;; *) exe=;; esac; out=bin/release/alcove-$${p%/*}-$${p#*/}; echo "build $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(PROGRAM) -buildvcs=false -ldflags "$(LDFLAGS) -X main.signatures=$$made" -o $$out$$exe ./cmd/alcove; \
		$(GO) run ./cmd/release sbom -image $(DIST)/families.image -version '$(VERSION)' -signatures "$$made" -program $$out$$exe > $$out.cdx.json; done
	@cd bin/release && sha256sum alcove-* catalogue.sig > SHA256SUMS && cat SHA256SUMS

verify-release: release ## build the release again, elsewhere and without what was built before, and compare
	@dir="$$(mktemp -d)"; trap 'chmod -R u+w "$$dir"; rm -rf "$$dir"' EXIT; cp -r go.mod go.sum Makefile abi cmd guests host registry sdk "$$dir"; \
	rm -rf "$$dir/$(DIST)" && GOCACHE="$$dir/cache" $(MAKE) --no-print-directory -C "$$dir" release RELEASE_KEY= SIGNATURES="$$(cat bin/release/catalogue.sig)" \
		VERSION='$(VERSION)' PLATFORMS='$(PLATFORMS)' > /dev/null && cmp "$$dir/bin/release/SHA256SUMS" bin/release/SHA256SUMS && echo "the same bytes twice"

# One module of all families, packed once with the manifest of each, and the image that the binary carries.
guests:          ## build the first-party families into guests/dist
	@mkdir -p $(DIST)/raw
	@$(GUEST) -o $(DIST)/raw/all.wasm ./guests/build/all
	@$(GO) run ./guests/build/pack -module $(DIST)/raw/all.wasm -out $(DIST) -templates $(DIST)/templates.zst $(GUESTS:%=guests/families/%/manifest.json)

# Built twice, elsewhere and without what was built before, the module is the same. Each family is also built alone, which is the
# form that third parties copy.
reproducible: guests
	@dir="$$(mktemp -d)"; trap 'chmod -R u+w "$$dir"; rm -rf "$$dir"' EXIT; cp -r go.mod go.sum sdk guests "$$dir"; \
	for g in all $(GUESTS); do \
		(cd "$$dir" && GOCACHE="$$dir/cache" $(GUEST) -o "$$dir/$$g.wasm" "$$(if [ $$g = all ]; then echo ./guests/build/all; else echo ./guests/families/$$g/guest; fi)") || exit 1; done; \
	cmp "$$dir/all.wasm" $(DIST)/raw/all.wasm && echo "$(GUESTS): the same bytes twice, and each alone"

# The families in bin/alcove are those that the source builds, elsewhere and again.
verify-guests: reproducible build ## compare the families in bin/alcove with a build of their source
	@bin/alcove family verify | while read -r word name digest; do [ "$$word" = ok ] || { echo "$$word $$name"; continue; }; \
		[ "$$(sha256sum < $(DIST)/$$name.wasm)" = "$$digest  -" ] || { echo "$$name in bin/alcove is not what the source builds"; exit 1; }; done

# Tests build modules of their own, offline, so everything that go.mod lists must be there before they begin.
fetch:
	@$(GO) mod download

# With the first-party families embedded, as they are in the binary.
test: fetch guests ## run all tests
	$(GO) test $(RUN) -timeout 1h -tags $(TAGS) $(PACKAGES)

test-times: fetch guests ## run all tests, and write which take longest to bin/test-times.txt
	$(GO) run ./host/bench/measure/testtimes -o bin/test-times.txt -- $(RUN) -timeout 1h -tags $(TAGS) $(PACKAGES)

# The race detector needs a C compiler.
test-race: fetch ## run the tests of the concurrent packages under the race detector
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test $(RUN) -race -short -timeout 1h $(if $(filter ./...,$(PACKAGES)),$(RACE),$(PACKAGES))

check: format vet lint imports modules generated samples reproducible size cross ## format, vet, lint, imports, modules, generated files, guests, size, all platforms

format:
	@files="$$(gofmt -l abi cmd guests host registry sdk)"; if [ -n "$$files" ]; then echo "not formatted (make fmt):"; echo "$$files"; exit 1; fi

vet: guests
	$(GO) vet ./...
	$(GO) vet -tags guests ./guests ./host

lint:
	$(STATIC) ./...

imports:
	$(GO) test -count=1 -run 'TestImports|TestTheProgramImports' ./host

modules:
	$(GO) mod verify
	$(GO) mod tidy -diff

# The constants of the ABI, from abi/abi.json, the manifests and codecs of the first-party families, from their packages, and their pages,
# from their manifests. To write them anew: go run ./abi/gen, go run ./cmd/alcove family gen DIR, and
# go run ./guests/build/doc -out docs/families -settings docs/CONFIGURATION.md guests/families/*/manifest.json.
generated:
	$(GO) run ./abi/gen -check
	@for dir in $(FAMILIES); do $(GO) run ./cmd/alcove family gen $$dir --check || exit 1; done
	$(GO) run ./guests/build/doc -check -out docs/families -settings docs/CONFIGURATION.md $(GUESTS:%=guests/families/%/manifest.json)

# The guests that the tests of the sandbox run, where their compilers are installed.
samples:
	@$(MAKE) --no-print-directory -C host/sandbox/testdata/guests check

size: build
	@bytes=$$(wc -c < bin/alcove); echo "bin/alcove has $$bytes bytes, of $(LARGEST)"; [ $$bytes -le $(LARGEST) ] || \
		{ echo "go tool nm -size -sort size, of a build without -s -w, names what is large"; exit 1; }

cross:
	@for p in $(PLATFORMS); do echo "build $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -trimpath -o /dev/null ./cmd/alcove || exit 1; done
	GOOS=windows GOARCH=amd64 $(GO) vet ./host/daemon/owner ./host/front/listen ./host/sandbox ./host/family ./host ./cmd/...

# What make test runs for seconds, for hours, and in full what it runs a part of, another one each day. ALCOVE_STRESS_SEED=N repeats a run of
# the first line.
stress: guests   ## attack it at length, then fuzz: about 3 hours (STRESS=5m each load, SOAK=30m, FUZZTIME=1m)
	ALCOVE_STRESS=$(STRESS) $(LONG) -v -run 'AgreeWithAModel|NoClientSends|Attackers|NoisyFamilies|ThatIsStopped|SwappedQuickly' ./cmd/alcove ./host/family
	ALCOVE_MODEL_TIME=$(STRESS) $(LONG) -run 'RandomOperationsAgree' ./host/memory
	ALCOVE_KILLS=$(KILLS) $(LONG) -v -run 'WhenTheOwnerIsKilled|WhileTheOwnerIsKilled' ./host
	ALCOVE_STORES=$(STORES) $(LONG) -v -run 'TenProcesses' ./cmd/alcove
	ALCOVE_SOAK=$(SOAK) $(LONG) -v -run 'TestSoak' ./host
	ALCOVE_POWER_ROUNDS=$(POWER) $(LONG) -run 'PowerFailure|FailingDisk' ./host/store/bolt ./host/store/backup
	ALCOVE_FLIP_STEP=$(FLIP) ALCOVE_DAMAGE_ROUNDS=$(DAMAGE) $(LONG) -run 'EveryByteThatFlips|DamageInManyPlaces' ./host/store/bolt
	ALCOVE_TENANTS=$(TENANTS) $(LONG) -tags guests -run 'NothingOfAnotherKey' ./host
	ALCOVE_GRAPH=1 $(LONG) -run 'AsNetworkxWalksThem' ./guests/families/graph
	ALCOVE_EVENTS=1 $(LONG) -v -tags guests -run 'EventsReachAReceiver' ./host
	ALCOVE_LEAK=$(LEAK) $(LONG) -run 'NothingLeaks|LeaveNothing' ./host/sandbox
	ALCOVE_PARTS=all $(LONG) -tags $(TAGS) $(PACKAGES)
	@$(MAKE) --no-print-directory fuzz

fuzz:            ## fuzz all that reads what comes from outside, FUZZTIME=1m each
	@set -e; for file in $$(grep -rl '^func Fuzz' --include='*_test.go' abi cmd guests host registry sdk); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$file); do \
			echo "$$name in $$(dirname $$file)"; $(GO) test ./$$(dirname $$file) -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME); done; done

bench: guests    ## run all benchmarks; figures and ratios count within one run only
	$(GO) test -tags guests -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout 60m ./...
	cd host/bench/sandbox && $(GO) vet . && $(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) .

family-costs:    ## print what the same family costs in each language, as a table (COSTS=200 calls)
	@ALCOVE_COSTS=$(COSTS) $(LONG) -v -run TestCostsOfEachLanguage ./sdk/interop

FACTS = host/bench/pairs/testdata/facts

bench-pairs: build ## compare bin/alcove with an older build, run in turn (BEFORE=path, PAIRS=20)
	GOOS=wasip1 GOARCH=wasm $(GO) build -trimpath -buildmode=c-shared -ldflags='-s -w' -o bin/facts.raw ./$(FACTS)/guest
	bin/alcove family pack bin/facts.raw --manifest $(FACTS)/manifest.json -o bin/facts.wasm
	$(GO) run ./host/bench/pairs -before "$(BEFORE)" -after bin/alcove -family bin/facts.wasm -pairs $(PAIRS)

seed-examples: guests ## run every call that the documents of other systems print, and write docs/seed-examples.md
	$(GO) test -count=1 ./host/integration/clients -run TestTheExamplesOfOtherSystems -update

# In one run, on a server process of its own: 1,000 agents that poll every 5 s and 1,000 streams, beside 50 stores and 5 searches a second
# on 100,000 memories.
follow:          ## measure polls, pushed events, stores and searches beside each other (FOLLOW=60s)
	ALCOVE_FOLLOW=$(FOLLOW) $(LONG) -v -run TestFollowersKeepUp ./host

# On a server process of its own: 16 clients make 200 calls a second, writes and reads, on 100,000 facts.
primitives: guests ## measure writes, access bumps, searches and queries beside each other (PRIMITIVES=60s)
	ALCOVE_PRIMITIVES=$(PRIMITIVES) $(LONG) -tags guests -v -run TestPrimitives ./host

bench-peers:     ## measure search beside Xapian (from python3-xapian), bleve, SQLite FTS5, chromem-go and a plain loop (PEERS='-texts 1000000 -vectors 0')
	cd host/bench/search && $(GO) vet . && $(GO) run . $(PEERS)

bench-conversations: ## measure the ranking of turns, and without each feature (DATA=dir FIT=-fit; see docs/guides/search.md)
	cd host/bench/search && $(GO) vet ./conversations && $(GO) run ./conversations $(FIT) $(abspath $(DATA))

fmt:             ## format all Go files
	gofmt -w abi cmd guests host registry sdk

clean:           ## remove what was built
	rm -rf bin $(DIST)
