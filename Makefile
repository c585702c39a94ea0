# Go is pinned by the line "go" of go.mod, staticcheck and all else that is written in Go by go.mod and go.sum.
GO       ?= go
VERSION  ?= $(shell cat cmd/alcove/VERSION)
LISTEN   ?= 127.0.0.1:9742
PACKAGES ?= ./...
# Tests wait for processes, disks and timers, so more of them than processors run at once. make check vets.
RUN      ?= -vet=off -p 4 -parallel 4
# A bound against accidents, in bytes, far above the program's size, so that no code is bent to fit.
LARGEST  := 90000000
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# One configuration for all targets, whatever the path of the clone: what one compiled, the others find in the cache.
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath -tags=guests
export CGO_ENABLED := 0

# The first-party families are one module, which is packed with the manifest of each. The same sources and the same Go give the same bytes.
FAMILIES := $(patsubst guests/families/%/manifest.json,%,$(wildcard guests/families/*/manifest.json))
MANIFESTS := $(FAMILIES:%=guests/families/%/manifest.json)
IMAGE    := guests/dist/families.image
MODULE   := guests/dist/families.wasm
SOURCES  := go.mod go.sum $(shell find abi guests sdk host/internal host/regular host/sandbox -type f -not -name '*_test.go' \
            -not -path 'guests/dist/*' -not -path '*/testdata/*' -not -path '*/node_modules/*')
GUEST    := GOFLAGS=-trimpath GOOS=wasip1 GOARCH=wasm $(GO) build -buildvcs=false -buildmode=c-shared -ldflags='-s -w -buildid='

# Every target is a name, and no file.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:            ## list these targets
	@sed -n 's/^\([a-z-]*\): .*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-8s %s\n", $$1, $$2}'

run: build       ## show it: a session with a real MCP client, then serve until Ctrl-C (LISTEN=host:port)
	@bin/alcove demo --serve --listen $(LISTEN)

build: $(IMAGE)  ## build bin/alcove, with the first-party families in it
	@echo 'build bin/alcove $(VERSION)'
	@$(GO) build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/alcove ./cmd/alcove

guests: $(IMAGE) ## build the first-party families, and the templates of new ones, into guests/dist

$(IMAGE): $(SOURCES)
	@mkdir -p guests/dist
	@$(GUEST) -o $(MODULE) ./guests/build/all
	@$(GO) run ./guests/build/pack -module $(MODULE) -image $@ -templates guests/dist/templates.zst $(MANIFESTS)

plugins:         ## write the plugins of Claude Code, Codex and Gemini CLI into bin/plugins
	@$(GO) run ./cmd/plugins -out bin/plugins -version '$(VERSION)'
	@echo 'bin/plugins: docs/guides/clients.md has how each is installed'

## test

# Tests build modules of their own, offline, so everything that go.mod lists must be there before they begin.
fetch:
	@$(GO) mod download

# Several servers share a database in tests of these packages. One that gets no processor for two seconds loses its spaces, as it should, so they
# come after the others, and few at a time.
CLUSTERS := $(addprefix ./host/integration/,servers oauth console moves)
OTHERS = $(shell $(GO) list ./... | grep -vE '/host/integration/(servers|oauth|console|moves)$$')
test: fetch $(IMAGE) ## run all tests
	@failed=0; set -x; \
	$(GO) test $(RUN) -timeout 1h $(if $(filter ./...,$(PACKAGES)),$(OTHERS),$(PACKAGES)) || failed=1; \
	$(if $(filter ./...,$(PACKAGES)),$(GO) test $(RUN) -p 1 -parallel 2 -timeout 1h $(CLUSTERS) || failed=1;) \
	exit $$failed

test-times: fetch $(IMAGE) ## run all tests, and write which take longest to bin/test-times.txt
	$(GO) run ./host/bench/measure/testtimes -o bin/test-times.txt -- $(RUN) -timeout 1h $(PACKAGES)

# The packages whose goroutines share memory: the others run alike with the race detector and without it. It needs a C compiler.
# Those that take longest come first.
# The tests of commands start programs, which take most of the time under the detector: ALSO=./cmd/... runs them, too, as make stress does.
RACE := $(ALSO) $(addprefix ./host/,family $(addprefix integration/,families faults fronts rights) cluster daemon/... family/hooks family/jobs family/outside/... front/... \
        internal/... capture/hook memory memory/usage operator/... remote sandbox sandbox/early search search/embed search/near search/semantic search/vector state store/bolt store/objects \
        tool tool/operation)
test-race: fetch $(IMAGE) ## run the tests of the concurrent packages under the race detector
	@# Under the detector the built-in families take minutes to compile. One test has them in the cache of all packages, which else compile them at once.
	-$(if $(filter ./...,$(PACKAGES)),GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test $(RUN) -race -short -timeout 1h -run '^TestInANewDirectoryFactsAreEnriched$$' ./host/integration/families)
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test $(RUN) -race -short -timeout 1h $(if $(filter ./...,$(PACKAGES)),$(RACE),$(PACKAGES))

check: format vet lint modules generated samples engines reproducible pages size types ## format, vet, lint, modules, generated files, guests, console, size, other platforms

format:
	@files="$$(gofmt -l abi cmd guests host registry sdk)"; if [ -n "$$files" ]; then echo "not formatted (make fmt):"; echo "$$files"; exit 1; fi

vet: $(IMAGE)
	$(GO) vet ./...

lint: $(IMAGE)
	$(GO) tool staticcheck ./...
	$(GO) tool actionlint

modules:
	$(GO) mod verify
	$(GO) mod tidy -diff

# To write them anew: go run ./abi/gen, go run ./cmd/alcove family gen DIR, and go run ./guests/build/doc -out docs/families -settings
# docs/CONFIGURATION.md guests/families/*/manifest.json.
generated: build
	$(GO) run ./abi/gen -check
	@for file in guests/families/*/alcove_gen.go sdk/interop/conform/alcove_gen.go sdk/go/example/alcove_gen.go guests/examples/reminders/go/alcove_gen.go; do \
		bin/alcove family gen $$(dirname $$file) --check || exit 1; done
	@for file in sdk/*/example/family.c sdk/*/example/family.cpp sdk/*/example/family.zig sdk/*/example/family.rs sdk/assemblyscript/example/family.ts; do \
		bin/alcove family gen $$file --check || exit 1; done
	$(GO) run ./guests/build/doc -check -out docs/families -settings docs/CONFIGURATION.md $(MANIFESTS)

# The guests that the tests of the sandbox run, and the arithmetic of transformers, where their compilers are installed.
samples:
	@$(MAKE) --no-print-directory -C host/sandbox/testdata/guests check
	@$(MAKE) --no-print-directory -C host/search/embed/kernel/c check

# With Debian 12's clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32, from the archives that QUICKJS and MICROPYTHON name, or source packages.
# make engines fetches those; make check builds only where they are there.
ENGINES := guests/engines
engines:         ## build the engines of families in JavaScript and Python again, and compare them with the committed ones
	@for need in clang-14 wasm-ld-14 python3; do command -v $$need >/dev/null || { echo "there is no $$need: the engines were not built again"; exit 0; }; done; \
	[ -d /usr/lib/wasm32-wasi ] || { echo 'there is no wasi-libc: the engines were not built again'; exit 0; }; \
	dir="$$(mktemp -d)"; trap 'rm -rf "$$dir"' EXIT; quickjs="$(abspath $(QUICKJS))" micropython="$(abspath $(MICROPYTHON))"; \
	if [ -z "$$quickjs" ] && ! apt-cache showsrc quickjs 2>/dev/null | grep -q 2025.04.26; then \
		[ "$(filter engines,$(MAKECMDGOALS))" ] || { echo 'their sources are not here, and make engines fetches them: the engines were not built again'; exit 0; }; \
		sh $(ENGINES)/sources.sh "$$dir/sources" || { echo 'their sources cannot be had: the engines were not built again'; exit 1; }; \
		quickjs="$$(ls "$$dir"/sources/quickjs_*.orig.tar.xz)" micropython="$$(ls "$$dir"/sources/micropython_*.orig.tar.xz)"; \
	fi; \
	echo 'building the engine of javascript' && sh $(ENGINES)/javascript/build.sh "$$dir/javascript" $$quickjs && \
	echo 'building the engine of python' && sh $(ENGINES)/python/build.sh "$$dir/python" $$micropython $${micropython:+$$quickjs} && \
	for l in javascript python; do gunzip <"$$dir/$$l" >"$$dir/new" && gunzip <$(ENGINES)/$$l/engine.wasm.gz | cmp - "$$dir/new" && echo "the engine of $$l: the same bytes twice" || exit 1; done

# Built elsewhere and without what was built before, the module of the families is the same.
reproducible: $(IMAGE)
	@dir="$$(mktemp -d)"; trap 'chmod -R u+w "$$dir"; rm -rf "$$dir"' EXIT; cp -r go.mod go.sum sdk guests "$$dir"; \
	cd "$$dir" && GOCACHE="$$dir/cache" $(GUEST) -o all.wasm ./guests/build/all && cmp all.wasm $(CURDIR)/$(MODULE) && echo "the families: the same bytes twice"

# The built pages of the console are committed, so that a build of the program needs no npm.
WEB := host/front/console/web
console: $(WEB)/node_modules/.package-lock.json ## build the pages of the console and the views into host/front/console/dist
	@cd $(WEB) && npx tsc --noEmit && node build.mjs

# Of what a browser of this machine shows.
console-pictures: $(IMAGE) ## take the pictures of the console's screens into docs/console
	@mkdir -p docs/console && ALCOVE_PICTURES=$(CURDIR)/docs/console $(GO) test -count=1 -run TestPictures ./host/integration/console

pages:
	@if ! command -v npm >/dev/null; then echo 'there is no npm: the pages of the console were not built again'; exit 0; fi; \
	$(MAKE) --no-print-directory $(WEB)/node_modules/.package-lock.json && dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && \
	(cd $(WEB) && npx tsc --noEmit && node build.mjs "$$dir") && \
	diff -r "$$dir" host/front/console/dist && echo 'the console: the same pages twice'

$(WEB)/node_modules/.package-lock.json: $(WEB)/package-lock.json
	@cd $(WEB) && npm ci --silent && touch node_modules/.package-lock.json

size: build
	@bytes=$$(wc -c < bin/alcove); echo "bin/alcove has $$bytes bytes, of $(LARGEST)"; [ $$bytes -le $(LARGEST) ]

# The same code for all platforms takes seconds each to check, and a minute to compile.
types: $(IMAGE)
	$(GO) run ./host/testing/typecheck $(PLATFORMS)

cross: $(IMAGE)  ## build and vet it for all platforms, whose types make check checks
	@for p in $(PLATFORMS); do echo "build $$p"; GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./cmd/alcove || exit 1; done
	GOOS=windows GOARCH=amd64 $(GO) vet ./host/... ./cmd/...

## release

# Who signs the catalogue of families gives RELEASE_KEY, files of secret keys that alcove family keygen makes: two while a key is replaced.
# Who builds a release again gives its published signatures as SIGNATURES. CONTACT is the address of who publishes packages.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
release: build   ## build bin/release: the program for all platforms, archives, packages, plugins, image, extensions, chart, sums, bills of materials (VERSION=v1 RELEASE_KEY=file)
	@rm -rf bin/release && mkdir -p bin/release
	@$(GO) run ./cmd/release sign -image $(IMAGE) -keys '$(RELEASE_KEY)' -signatures '$(SIGNATURES)' > bin/release/catalogue.sig
	@set -e; made="$$(cat bin/release/catalogue.sig)"; for p in $(PLATFORMS); do \
		case $$p in windows/*) exe=.exe;; *) exe=;; esac; out=bin/release/alcove-$${p%/*}-$${p#*/}; echo "build $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION) -X main.signatures=$$made" -o $$out$$exe ./cmd/alcove; \
		$(GO) run ./cmd/release sbom -image $(IMAGE) -version '$(VERSION)' -signatures "$$made" -program $$out$$exe > $$out.cdx.json; done
	@$(GO) run ./cmd/plugins -zip bin/release/alcove-plugins.zip -version '$(VERSION)'
	@rm -rf bin/manual && bin/alcove manual bin/manual > /dev/null
	@$(GO) run ./cmd/release pack -dir bin/release -version '$(VERSION)' -time $(SOURCE_DATE_EPOCH) -manual bin/manual $(CONTACT:%=-contact '%')
	@$(MAKE) --no-print-directory npm image mcpb deploy
	@$(GO) run ./cmd/release sums -dir bin/release -keys '$(RELEASE_KEY)'

npm:             ## write the packages of npm into bin/release/npm, from the programs in bin/release
	@$(GO) run ./cmd/release npm -dir bin/release -version '$(VERSION)'

image:           ## build bin/release/alcove-image.tar, the OCI image of the programs in bin/release
	@$(GO) run ./cmd/release image -version '$(VERSION)'

mcpb:            ## build the desktop extensions of the programs in bin/release, and server.json, which names them and the image
	@$(GO) run ./cmd/release extensions -version '$(VERSION)'
	@$(GO) run ./cmd/release listing -version '$(VERSION)'

deploy:          ## write the Helm chart, the manifest for Kubernetes and the file of Docker Compose into bin/release
	@$(GO) run ./cmd/release deploy -version '$(VERSION)'

# With Helm's own code and the schema of Kubernetes, which are a module of their own and take minutes to compile at first.
HELM := cd cmd/release/deploy/helm && GOFLAGS= $(GO) run . -chart ../chart -set tls.secret=alcove-tls
chart:           ## lint and render the chart with Helm, validate what comes out, and write cmd/release/deploy/kubernetes.yaml anew
	@$(HELM) -out ../kubernetes.yaml
	@$(HELM) -set requireKeys=false -set networkPolicy.enabled=false
	@$(HELM) -set 'arguments={--posture=careful}' -set environmentSecret=embedder -set service.type=LoadBalancer -set storage.className=fast \
		-set image.digest=sha256:$$(printf %064d 0) -set 'image.pullSecrets[0].name=pull' -set 'tolerations[0].operator=Exists'

release-test: chart ## test what make release made: the chart with Helm, packages in a root of their own (ALCOVE_ROOT=one of debootstrap), the image with podman, an extension with an MCP client and with npx mcpb, where these are installed
	git diff --exit-code -- cmd/release/deploy/kubernetes.yaml
	ALCOVE_RELEASE=$(CURDIR)/bin/release ALCOVE_RELEASE_VERSION='$(VERSION)' $(GO) test -count=1 -timeout 1h -v -run Released ./cmd/release/... ./host/integration/clients

verify-release: release ## build the release again, elsewhere and without what was built before, and compare
	@dir="$$(mktemp -d)"; trap 'chmod -R u+w "$$dir"; rm -rf "$$dir"' EXIT; cp -r go.mod go.sum Makefile README.md LICENSE NOTICE CHANGELOG.md abi cmd guests host registry sdk "$$dir"; \
	rm -rf "$$dir/guests/dist" && GOCACHE="$$dir/cache" $(MAKE) --no-print-directory -C "$$dir" release RELEASE_KEY= SIGNATURES="$$(cat bin/release/catalogue.sig)" \
		VERSION='$(VERSION)' PLATFORMS='$(PLATFORMS)' SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) CONTACT='$(CONTACT)' > /dev/null && cmp "$$dir/bin/release/SHA256SUMS" bin/release/SHA256SUMS && echo "the same bytes twice"

verify-guests: build reproducible ## compare the families in bin/alcove with their source, build each alone, and write a module of each to bin/families
	@for f in $(FAMILIES); do $(GUEST) -o /dev/null ./guests/families/$$f/guest || exit 1; done # as third parties build theirs
	@mkdir -p bin/families && $(GO) run ./guests/build/pack -module $(MODULE) -modules bin/families $(MANIFESTS)
	@bin/alcove family verify | while read -r word name digest; do [ "$$word" = ok ] || { echo "$$word $$name"; continue; }; \
		[ "$$(sha256sum < bin/families/$$name.wasm)" = "$$digest  -" ] || { echo "$$name in bin/alcove is not what the source builds"; exit 1; }; done

## stress and measurements

# What make test runs for seconds, for hours, and in full what it runs a part of, another one each day. ALCOVE_STRESS_SEED=N repeats a run of
# the first line; docs/FAULTS.md tells what each is.
LONG   := $(GO) test -count=1 -timeout 24h
STRESS ?= 5m
stress: $(IMAGE) ## attack it at length, then fuzz: about 3 hours (STRESS=5m each load, SOAK=30m, FUZZTIME=1m)
	ALCOVE_STRESS=$(STRESS) $(LONG) -v -run 'AgreeWithAModel|NoClientSends|Attackers|NoisyFamilies|ThatIsStopped|SwappedQuickly' ./cmd/alcove ./host/family
	ALCOVE_MODEL_TIME=$(STRESS) $(LONG) -run 'RandomOperationsAgree' ./host/memory
	ALCOVE_SYNC_STEPS=$(or $(SYNC),50000) $(LONG) -v -run 'ThreeSpacesAreAsAModelSays' ./host/remote
	ALCOVE_KILLS=$(or $(KILLS),400) $(LONG) -v -run 'WhenTheOwnerIsKilled|WhileTheOwnerIsKilled' ./host/integration/faults
	ALCOVE_STRESS=$(STRESS) $(LONG) -v -run 'WhileServersAreKilled' ./host/integration/servers
	ALCOVE_STRESS=$(or $(NODES),30m) $(LONG) -v -run 'WhilePrimariesFail' ./host/integration/servers
	ALCOVE_STORES=$(or $(STORES),2000) $(LONG) -v -run 'TenProcesses' ./cmd/alcove
	ALCOVE_SOAK=$(or $(SOAK),30m) $(LONG) -v -run 'TestSoak' ./host/integration/speed
	ALCOVE_POWER_ROUNDS=$(or $(POWER),3000) $(LONG) -run 'PowerFailure|FailingDisk' ./host/store/bolt ./host/store/backup
	ALCOVE_FLIP_STEP=$(or $(FLIP),47) ALCOVE_DAMAGE_ROUNDS=$(or $(DAMAGE),6000) $(LONG) -run 'EveryByteThatFlips|DamageInManyPlaces' ./host/store/bolt
	ALCOVE_TENANTS=$(or $(TENANTS),20000) $(LONG) -run 'NothingOfAnotherKey' ./host/integration/rights
	ALCOVE_GRAPH=1 $(LONG) -run 'AsNetworkxWalksThem' ./guests/families/graph
	ALCOVE_EVENTS=1 $(LONG) -v -run 'EventsReachAReceiver' ./host/integration/families
	ALCOVE_LEAK=$(or $(LEAK),100000) $(LONG) -run 'NothingLeaks|LeaveNothing' ./host/sandbox ./host/testing/hostile
	ALCOVE_PARTS=all $(LONG) $(PACKAGES)
	ALCOVE_PARTS=all $(MAKE) --no-print-directory test-race ALSO=./cmd/...
	@$(MAKE) --no-print-directory cross fuzz

fuzz:            ## fuzz all that reads what comes from outside, FUZZTIME=1m each
	@set -e; for file in $$(grep -rl '^func Fuzz' --include='*_test.go' abi cmd guests host registry sdk); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$file); do \
			echo "$$name in $$(dirname $$file)"; $(GO) test ./$$(dirname $$file) -run '^$$' -fuzz "^$$name\$$" -fuzztime $(or $(FUZZTIME),1m); done; done

BENCHTIME ?= 1s
bench: $(IMAGE)  ## run all benchmarks; figures and ratios count within one run only
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout 60m ./...
	cd host/bench/sandbox && $(GO) vet . && $(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) .

FACTS := host/bench/pairs/testdata/facts
bench-pairs: build ## compare bin/alcove with an older build, run in turn (BEFORE=path, PAIRS=20, MEMORIES=0)
	$(GUEST) -o bin/facts.raw ./$(FACTS)/guest
	bin/alcove family pack bin/facts.raw --manifest $(FACTS)/manifest.json -o bin/facts.wasm
	$(GO) run ./host/bench/pairs -before "$(BEFORE)" -after bin/alcove -family bin/facts.wasm -pairs $(or $(PAIRS),20) -memories $(or $(MEMORIES),0)

bench-console: $(IMAGE) ## measure the console at 100,000 memories in a browser: first paint, search as it is typed, 500 events a second
	$(LONG) -run '^$$' -bench BenchmarkConsole -benchtime 1x ./host/integration/console

bench-peers:     ## measure search beside Xapian (from python3-xapian), bleve, SQLite FTS5, chromem-go and a plain loop (PEERS='-texts 1000000 -vectors 0')
	cd host/bench/search && $(GO) vet . && $(GO) run . $(PEERS)

bench-servers:   ## measure both stores in one run, and one, two and three servers that share spaces, with a part of a processor each (OPERATIONS=500x ALCOVE_QUOTA=30)
	$(GO) test -run '^$$' -bench BenchmarkEngines -benchtime $(or $(OPERATIONS),500x) ./host/store/postgres
	$(GO) test -run '^$$' -bench ServersThatShareSpaces -benchtime 1x ./host/integration/servers

SIZES := $(or $(N),100000,1000000)
bench-scale: build ## measure bin/alcove at growing sizes beside Xapian (from python3-xapian) and bleve, and write the table in docs/guides/scale.md (N=100000,1000000,10000000 SCALE='-dir D -resume')
	cd host/bench/search && $(GO) vet . && $(GO) run . -scale $(SIZES) -program ../../../bin/alcove -json ../../../bin/scale.json -chart ../../../docs/guides/scale.svg -table ../../../docs/guides/scale.md $(SCALE)

bench-conversations: ## measure the ranking of turns, without each feature, and with FIT=-fit each set by weights of the others (DATA=dir; see docs/guides/search.md)
	cd host/bench/search && $(GO) vet ./conversations && $(GO) run ./conversations $(FIT) $(abspath $(DATA))

bench-meaning:   ## measure the built-in word vectors: questions in other words, conversations, cost (DATA=dir; see docs/guides/search.md)
	cd host/bench/search && $(GO) vet ./meaning && $(GO) run ./meaning $(abspath $(DATA))

# Two of the servers need a compiler for C++ where there is no prebuilt SQLite; they are left out where it fails.
PEERS := host/bench/compare/node_modules/.package-lock.json
compare: build $(PEERS) ## measure memory servers of npm beside bin/alcove, and write the table in README.md (COMPARE='-only Alcove,server-memory')
	$(GO) run ./host/bench/compare -json bin/compare.json -readme README.md $(COMPARE)

$(PEERS): host/bench/compare/package-lock.json
	cd host/bench/compare && npm ci && { npm rebuild --ignore-scripts=false better-sqlite3 || echo 'SQLite could not be built'; } && touch node_modules/.package-lock.json

listing: $(IMAGE) ## measure what clients are shown of the tools, and write the tables in docs/guides/clients.md
	$(GO) run ./host/bench/listing -o docs/guides/clients.md

judge: $(IMAGE)  ## print how well families judge, on labelled sets (JUDGE='-test types'; see host/bench/judge)
	$(GO) run ./host/bench/judge $(JUDGE)

# The compilers of npm are installed before, and what is called is this program: nothing else of this machine is in the empty homes.
ALONE := unshare $(if $(filter-out 0,$(shell id -u)),--map-root-user) --net
guides: $(IMAGE) ## follow the guide to families in each language, in empty homes without a network (Linux), and print how long each takes
	@for l in zig assemblyscript; do sh sdk/compilers.sh $$l; done
	@mkdir -p bin && $(GO) test -c -o bin/guides.test ./cmd/alcove
	@cd cmd/alcove && $(ALONE) sh -c 'ip link set lo up && ALCOVE_CLEAN_MACHINE=1 ALCOVE_PARTS=all exec ../../bin/guides.test -test.v -test.parallel 1 -test.timeout 2h -test.run "TestTheGuideWorks"' | \
		grep --line-buffered -E 'the guide in|not run|^(PASS|FAIL)|--- FAIL|^ +[a-z_]+_test.go'

family-costs:    ## print what the same families cost in each language, as tables (COSTS=200 calls)
	@ALCOVE_COSTS=$(or $(COSTS),200) $(LONG) -v -run 'TestCostsOf(EachLanguage|OneFamilyInEachLanguage)' ./sdk/interop

# In one run, on a server process of its own: 1,000 agents that poll every 5 s and 1,000 streams, beside 50 stores and 5 searches a second
# on 100,000 memories.
follow: $(IMAGE) ## measure polls, pushed events, stores and searches beside each other (FOLLOW=60s)
	ALCOVE_FOLLOW=$(or $(FOLLOW),60s) $(LONG) -v -run TestFollowersKeepUp ./host/integration/speed

# On a server process of its own: 16 clients make 200 calls a second, writes and reads, on 100,000 facts.
primitives: $(IMAGE) ## measure writes, access bumps, searches and queries beside each other (PRIMITIVES=60s)
	ALCOVE_PRIMITIVES=$(or $(PRIMITIVES),60s) $(LONG) -v -run TestPrimitives ./host/integration/speed

rows: $(IMAGE)  ## run calls of every row of the documents in a new directory, and print which rows work
	$(GO) test -tags=guests -count=1 -v ./host/integration/families -run TestTheRowsOfTheDocuments

seed-examples: $(IMAGE) ## run every call that the documents of other systems print, and write docs/seed-examples.md
	$(GO) test -count=1 ./host/integration/clients -run TestTheExamplesOfOtherSystems -update

picture: build  ## record alcove demo as docs/demo.svg
	@$(GO) run ./cmd/picture -program bin/alcove > bin/demo.svg && mv bin/demo.svg docs/demo.svg

badges:          ## write docs/badges.svg
	@$(GO) run ./cmd/picture -badges . > bin/badges.svg && mv bin/badges.svg docs/badges.svg

SITE_BASE ?= /
site:            ## build the documentation as a site with search into bin/site, and check its links (needs npm)
	@cd docs/.vitepress && npm ci --ignore-scripts --no-audit --no-fund --silent && SITE_BASE=$(SITE_BASE) npx vitepress build .. && node check.mjs ../../bin/site $(SITE_BASE)

fmt:             ## format all Go files
	gofmt -w abi cmd guests host registry sdk

clean:           ## remove what was built
	rm -rf bin guests/dist docs/.vitepress/node_modules
