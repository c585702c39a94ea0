package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/project"
)

// scaffolds has the environment of a home without network in which the compilers of a language are found.
func scaffolds(t *testing.T, language string) []string {
	t.Helper()
	if !guests.Embedded() {
		t.Skip("there are no templates without -tags guests, after make guests")
	}
	if testing.Short() {
		t.Skip("it builds a module, which takes a while")
	}
	env := append(readmeHome(t), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=mod", "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	find := filepath.Join(t.TempDir(), "environment.sh")
	if err := os.WriteFile(find, []byte("for v in RUSTC CLANG WASM_LD ASC; do eval \"[ -z \\\"\\$$v\\\" ] || echo $v=\\$$v\"; done\n"), 0o600); err != nil {
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

// readmeLines are the commands in a project's README.
func readmeLines(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, commands, found := strings.Cut(string(text), "```sh\n")
	commands, _, closed := strings.Cut(commands, "\n```")
	if !found || !closed {
		t.Fatalf("the README has no commands:\n%s", text)
	}
	return strings.Split(commands, "\n")
}

// A new family is built, tested, packed, installed and called by the lines of its README.
func TestANewFamilyAnswers(t *testing.T) {
	t.Parallel()
	for _, language := range project.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			env, dir := scaffolds(t, language), t.TempDir()
			runInShell(t, env, "cd "+dir+" && alcove family new green-tea --lang "+language)
			last, dir := "", filepath.Join(dir, "green-tea")
			for _, line := range readmeLines(t, dir) {
				last = runInShell(t, env, "cd "+dir+" && "+line)
			}
			if !strings.Contains(last, "Hello, Ada!") {
				t.Errorf("the last command says %s", last)
			}
			if got := runInShell(t, env, "alcove search Ada"); !strings.Contains(got, "greeted Ada") {
				t.Errorf("the greeting was not remembered: %s", got)
			}
		})
	}
}

// Each tool of a given manifest is there, and answers that it is not written yet.
func TestStubsOfAManifestAnswer(t *testing.T) {
	t.Parallel()
	const manifest = `{"abi": 1, "name": "tea", "version": "1.0.0", "description": "Brews", "tools": [
		{"name": "tea_brew", "description": "Brews", "input_schema": {"type": "object"}},
		{"name": "tea.pour-out", "description": "*/ Pours", "input_schema": {"type": "object"}}]}`
	for _, language := range project.Languages() {
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
