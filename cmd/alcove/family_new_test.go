package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/build/project"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// cleanMachine makes the guide's tests build with an empty cache of Go's, too, which takes a minute, where there is no network (make guides).
const cleanMachine = "ALCOVE_CLEAN_MACHINE"

// timeGuide tells how long the guide takes in a language. On a clean machine it fails if there is a network.
func timeGuide(t *testing.T, language string) {
	t.Helper()
	where := "here"
	if os.Getenv(cleanMachine) != "" {
		where = "from an empty home, without a network"
		all, err := net.Interfaces()
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range all {
			if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
				t.Fatalf("%s: got the network %s, want none", cleanMachine, i.Name)
			}
		}
	}
	began := time.Now()
	t.Cleanup(func() { t.Logf("the guide in %s took %.0f s %s", language, time.Since(began).Seconds(), where) })
}

// scaffolds has the environment of an empty home without network in which the compilers of a language are found, and nothing else of
// this process's environment. rustup's toolchains are those of this user; the registry of cargo is that of the empty home.
func scaffolds(t testing.TB, language string) []string {
	t.Helper()
	if !guests.Embedded() {
		t.Skip("there are no templates without -tags guests, after make guests")
	}
	if testing.Short() {
		t.Skip("it builds a module, which takes a while")
	}
	env := []string{"GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=mod" + unvetted(), "GOTOOLCHAIN=local"}
	for _, v := range readmeHome(t) {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "PATH", "HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_CACHE_HOME", "ALCOVE_DATA", "ALCOVE_LISTEN", asMain:
			env = append(env, v)
		}
	}
	if os.Getenv(cleanMachine) == "" {
		env = append(env, "GOCACHE="+goEnv(t, "GOCACHE"))
	}
	if toolchains := cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(os.Getenv("HOME"), ".rustup")); language == "rust" && isFolder(toolchains) {
		env = append(env, "RUSTUP_HOME="+toolchains, "RUSTUP_AUTO_INSTALL=0", "CARGO_NET_OFFLINE=true")
	}
	find := filepath.Join(t.TempDir(), "environment.sh")
	if err := os.WriteFile(find, []byte("for v in RUSTC CLANG WASM_LD ZIG ASC; do eval \"[ -z \\\"\\$$v\\\" ] || echo $v=\\$$v\"; done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := exec.Command("sh", "../../sdk/compilers.sh", language, find).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("not run: %s", bytes.TrimSpace(found))
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(env, strings.Fields(string(found))...)
}

// withoutCargo is why cargo cannot build with the rustc of an environment; empty if it can. Cargo asks rustc for what a rustc of another age
// does not know, as rustup's cargo does of Debian's rustc, so a crate is built to find out.
func withoutCargo(t testing.TB, env []string) string {
	t.Helper()
	probe := exec.Command("sh", "-c", "cargo init --quiet --lib --vcs none --name probe --edition 2021 && cargo build --quiet --offline")
	probe.Dir, probe.Env = t.TempDir(), env
	if out, err := probe.CombinedOutput(); err != nil {
		return fmt.Sprintf("cargo builds nothing here: %v: %s", err, bytes.TrimSpace(out))
	}
	return ""
}

// besideRustc puts the directory of an environment's rustc before the others, so that the cargo beside it is the one that runs.
func besideRustc(env []string) []string {
	for _, v := range env {
		if rustc, found := strings.CutPrefix(v, "RUSTC="); found && filepath.IsAbs(rustc) {
			return append(env, "PATH="+filepath.Dir(rustc)+string(os.PathListSeparator)+pathIn(env))
		}
	}
	return env
}

func pathIn(env []string) (path string) {
	for _, v := range env {
		if p, found := strings.CutPrefix(v, "PATH="); found {
			path = p
		}
	}
	return path
}

// blockOf is the first block of commands in a document behind a text.
func blockOf(t *testing.T, file, behind string) []string {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(doc), behind)
	_, text, opened := strings.Cut(text, "\n```")
	_, text, _ = strings.Cut(text, "\n") // the block's language, if any
	text, _, closed := strings.Cut(text, "\n```")
	if !found || !opened || !closed {
		t.Fatalf("%s has no commands behind %q", file, behind)
	}
	return strings.Split(text, "\n")
}

// readmeLines are the commands in a project's README.
func readmeLines(t *testing.T, dir string) []string {
	t.Helper()
	return blockOf(t, filepath.Join(dir, "README.md"), "#")
}

const guide = "../../docs/writing-a-family.md"

// A family is made, built, tested, installed, called, updated, rolled back and removed by the lines of the guide, which are those of the
// project's own README. The lines of the SDK's README build and test the same project. Each day another language has its turn.
func TestTheGuideWorksInEachLanguage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds modules in four languages, which takes a while")
	}
	t.Parallel()
	for _, language := range stress.Pick(t, 1, project.Compiled()) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			env, dir := scaffolds(t, language), t.TempDir()
			timeGuide(t, language)
			lines := blockOf(t, guide, "## From nothing to installed")
			runInShell(t, env, "cd "+dir+" && "+strings.Replace(lines[0], "--lang go", "--lang "+language, 1))
			dir = filepath.Join(dir, "tea")
			if got := readmeLines(t, dir); !slices.Equal(got, lines[2:]) { // behind family new, and cd
				t.Errorf("the README says %q, the guide %q", got, lines[2:])
			}
			said := map[string]string{}
			for _, line := range append(lines[2:], blockOf(t, guide, "It keeps its grants:")...) {
				verb, _, _ := strings.Cut(strings.TrimPrefix(line, "alcove family "), " ")
				said[verb] = runInShell(t, env, "cd "+dir+" && "+line)
				if strings.HasPrefix(line, "alcove call") {
					said["call"] += runInShell(t, env, "alcove search Ada")
				}
			}
			for verb, want := range map[string]string{
				"install": "not granted memory.write *", "alcove": "Hello, Ada!", "call": "greeted Ada", "update": "tea 0.2.0 (installed)", "rollback": "tea 0.1.0 (installed)", "remove": "removed tea 0.1.0",
			} {
				if !strings.Contains(said[verb], want) {
					t.Errorf("%s says %s, without %q", verb, said[verb], want)
				}
			}
			for _, verb := range []string{"update", "rollback"} {
				if !strings.Contains(said[verb], "granted     memory.write *") {
					t.Errorf("%s drops the grant: %s", verb, said[verb])
				}
			}
			if language == "go" {
				return // its README has no commands
			}
			if language == "rust" {
				env = besideRustc(env)
				if why := withoutCargo(t, env); why != "" {
					t.Logf("the lines of the SDK's README are not run: %s", why)
					return
				}
			}
			for _, line := range blockOf(t, "../../sdk/"+language+"/README.md", "#") {
				if !strings.HasPrefix(line, "rustup ") { // it downloads
					runInShell(t, env, "cd "+dir+" && export PATH=\"$PATH:$(dirname \"$ASC\")\" && "+line)
				}
			}
		})
	}
}

// Each tool of a given manifest is there, and answers that it is not written yet. Each day another language has its turn.
func TestStubsOfAManifestAnswer(t *testing.T) {
	t.Parallel()
	const manifest = `{"abi": 1, "name": "tea", "version": "1.0.0", "description": "Brews", "tools": [
		{"name": "tea_brew", "description": "Brews", "input_schema": {"type": "object"}},
		{"name": "tea.pour-out", "description": "*/ Pours", "input_schema": {"type": "object"}}]}`
	for _, language := range stress.Pick(t, 1, project.Compiled()) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			env, dir := scaffolds(t, language), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "m.json"), []byte(manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			runInShell(t, env, "cd "+dir+" && alcove family new tea --lang "+language+" --from m.json")
			lines := readmeLines(t, filepath.Join(dir, "tea"))
			for _, line := range lines[:3] { // build, test and pack
				runInShell(t, env, "cd "+dir+"/tea && "+line)
			}
			said := runInShell(t, env, "cd "+dir+"/tea && alcove family call tea.wasm tea.pour-out '{}' 2>&1 || true")
			if !strings.Contains(said, "tea.pour-out is not written yet") {
				t.Errorf("it says %s", said)
			}
		})
	}
}
