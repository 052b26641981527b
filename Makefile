# make test   every end-to-end path once, after installing the programs that tests use (4 minutes on 2 cores)
# make system the rest: real Slurm, hundreds of kills, all pages in all sizes, quality over seeds, other machines' conditions
# make short  the tests without a process, a browser, a database and a network: a minute
# make conditions [ONLY="load nohup"]  make test under busy loops, nohup, one processor, another user, ... prints a table
# make extensions   of make system, the test that adds one extension of each kind by the steps of CONTRIBUTING.md
# make race   the packages where concurrency is, under the race detector
# make bench  the performance goals, as ratios against a peer in the same run
# make soak   the long versions of the fault tests, and every fuzz target for 10 min: half a day
# make figures  how large the code is: lines, packages, long and branching functions
# make fuzz   every fuzz target, 60 s each; FUZZTIME=10m is the long form
# make audit  licences of the program's parts, gosec, known vulnerabilities, and the bill of materials (dist/sbom.json)
# make mutants [PKG="stop model"]  how many small changes of the code the tests see; days for all
# make promises  the tests of assay's promises; writes docs/promises.md with their counts
# make breaks [ONLY="P1 P6"]  breaks a line of code of each promise, and sees that a test of it fails
# make promises-soak [ONLY="P1 P6"]  their long forms, hours for all; keeps their counts for the page
# make dist   programs, packages, wheels and their checksums, in dist/
# make dist-test  installs and uses them on a fresh Debian (root and debootstrap)
# make reference  the pages of the reference and the drawn architecture, which are made from the code
# make site   the documentation as a site, in dist/site; links are checked, and its search in a browser
# make pictures  pictures of every page in every state, at three sizes and in two themes, in dist/pictures
# make dev    for a newcomer: installs the needed tools, builds, and runs the fast tests
# make lint   vet, gofumpt and golangci-lint from tools.mod; types of the pages' modules; phrases per 1,000 words; the figures of make mutants reach their floors

GO     ?= go
TOOL   := $(GO) tool -modfile=tools.mod
RACE   := ./internal/batch ./internal/worker ./internal/queue/... ./internal/access ./study ./internal/service ./internal/builds ./internal/online ./internal/table ./run ./store/... ./internal/store/... ./internal/rest/... ./internal/term ./internal/workbench ./internal/meterfs
FUZZTIME ?= 60s

.PHONY: pictures dist dist-test site reference dev promises test short system conditions extensions deps deps-system race bench soak fuzz mutants lint fmt

# The program is compiled while others are installed. make lint has go vet.
test:
	@sh scripts/deps.sh test & GOGC=400 $(GO) list -export -deps ./cmd/assay >/dev/null; wait
	$(GO) run ./internal/tools suite -p 4 -vet=off -ldflags=-w -timeout 10m ./...

pictures: deps
	ASSAY_MANY=100000 ASSAY_PICTURES=$(CURDIR)/dist/pictures ASSAY_TEST=system $(GO) test -count=1 -timeout 30m ./internal/web ./internal/pages \
		-run 'TestStates|TestManyTrials|TestAllPages|TestStudyAtAllSizes|TestReportInABrowser|TestCharts'

short:
	$(GO) test -short -p 4 ./...
	$(GO) test -C lab -short ./...

system: deps-system
	sh scripts/system.sh

conditions: deps
	sh scripts/conditions.sh $(ONLY)

extensions:
	ASSAY_TEST=system $(GO) test -count=1 -v ./internal/arch -run Extensions

deps:
	@sh scripts/deps.sh test

deps-system:
	@sh scripts/deps.sh system

race:
	$(GO) test -race -short -timeout 20m $(RACE)
	$(GO) test -race -timeout 20m ./internal/queue/jetstream

bench:
	@sh scripts/deps.sh bench
	sh scripts/bench.sh

soak: deps-system
	ASSAY_SOAK=1 $(GO) test -timeout 3h ./...
	ASSAY_SOAK=1 $(GO) test -C lab -timeout 3h ./...
	sh scripts/fuzz.sh 10m

dist:
	sh scripts/dist.sh

dist-test: dist
	@sh scripts/deps.sh dist
	sh scripts/dist-test.sh

site:
	sh scripts/site.sh

reference:
	UPDATE_DOCS=1 $(GO) test -count=1 ./setup ./spec ./internal/arch ./internal/rest/api ./cmd/assay -run 'SearchersPage|ReferenceOf|Drawn'

dev:
	sh scripts/dev.sh

promises: deps-system
	$(GO) run ./internal/tools promises

.PHONY: breaks
breaks: deps-system
	$(GO) run ./internal/tools promises breaks $(ONLY)

.PHONY: promises-soak
promises-soak: deps-system
	ASSAY_SOAK=1 $(GO) run ./internal/tools promises $(ONLY)

.PHONY: figures
figures:
	@sh scripts/figures.sh

fuzz:
	sh scripts/fuzz.sh $(FUZZTIME)

.PHONY: audit sbom
audit:
	sh scripts/audit.sh

sbom:
	sh scripts/sbom.sh

mutants:
	sh scripts/mutants.sh $(PKG)

lint:
	$(GO) vet ./...
	$(GO) vet -C lab ./...
	@test -z "$$($(TOOL) gofumpt -l .)" || { $(TOOL) gofumpt -l .; echo 'run: make fmt'; exit 1; }
	$(TOOL) golangci-lint run ./...
	cd lab && "$$(cd .. && $(TOOL) -n golangci-lint)" run ./...
	sh scripts/mutants.sh --check
	$(GO) test ./internal/arch -run 'TestProse$$'
	ASSAY_TEST=system $(GO) test ./internal/pages ./internal/web -run 'TestTypes$$'

fmt:
	$(TOOL) gofumpt -w .
