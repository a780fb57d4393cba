# The one door to everything done with this repository, by hand or by machine. Longer steps are scripts in .ci/.
# SEEDS: worlds to simulate. SCRATCH: where builds go.
SEEDS ?= 20000
SCRATCH ?= .build
export SEEDS SCRATCH
# All that build for debugging here build alike: Package.swift.
test build lint docs library-docs: export SYNCD_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help run demo-ab test build sim install deb rig bench fuzz coverage sanitize lint docs library-docs format clean

help: ## say what can be done
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## two paired nodes on this machine, demo/alpha and demo/beta, until Ctrl-C
	@.ci/demo

demo-ab: ## the A/B conflict of two devices, played without a person
	@.ci/demo-ab

test: ## everything a pull request needs; the last line counts what passed
	@.ci/test

build: ## compile everything for debugging
	@.ci/packages
	swift build --scratch-path $(SCRATCH) --build-tests

sim: ## only the simulator, SEEDS=n worlds
	@.ci/packages
	@.ci/simulate

install: ## build as it is shipped, and install it below PREFIX (/usr/local) of DESTDIR
	@.ci/install

deb: ## the Debian package, in OUTPUT (the build folder)
	@.ci/deb

rig: ## two machines with the package installed, story by story (root): network namespaces, then containers; TIER=vm: qemu
	@.ci/packages tests
	@if [ "$(TIER)" = vm ] || [ "$(TIER)" = light ]; then :; else .ci/packages containers; fi
	@if [ "$(TIER)" = vm ]; then .ci/packages machines && swift build --scratch-path $(SCRATCH) --product rigdisk; fi
	@package=$$(.ci/deb) && export RIG_DISK=$(abspath $(SCRATCH))/debug/rigdisk RIG_IMAGES=$(abspath $(SCRATCH))/rig && for tier in $(or $(TIER),light container); do Tests/Rig/run.sh --tier $$tier "$$package" || exit; done

bench: ## the figures of the core, of two daemons beside cp, tar, rsync, Unison, Syncthing, of records and AB-1; BENCH=quick: smaller
	@.ci/packages
	@.ci/bench

fuzz: ## bytes that break the laws of the decoders, each looked for FUZZ_SECONDS (10) under the address sanitizer
	@.ci/fuzz

coverage: ## how much of what decodes its own tests run, at least 95 % of each part
	@.ci/coverage

sanitize: ## the stories of two daemons under the address and the thread sanitizer
	@.ci/sanitize

lint: ## formatting and house rules
	@.ci/packages
	swift format lint --strict --parallel --recursive Package.swift Sources Tests
	swift test --scratch-path $(SCRATCH) --disable-xctest --filter '^Tidy\.'

docs: ## write the manual pages of messages and commands, the completions and the table in the README anew
	@.ci/packages
	SYNCD_WRITE_DOCS=1 swift test --scratch-path $(SCRATCH) --disable-xctest --filter '(Message|Command)DocumentsTests'

library-docs: ## pages of the library's documentation for a browser, by docc
	@.ci/packages
	@SCRATCH=$(SCRATCH) .ci/library-docs

format: ## rewrite the sources as the formatter wants them
	swift format --in-place --parallel --recursive Package.swift Sources Tests

clean: ## remove what builds left
	rm -rf $(SCRATCH)
