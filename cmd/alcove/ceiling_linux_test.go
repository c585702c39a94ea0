package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ceiling is how much address space an import gets, in KiB. The program itself reserves about 1.3 GB.
const ceiling = 2 << 20

// TestAnImportOfBombsFailsWithinACeilingOfMemory runs the command with a limit of the system's, beside a server without one.
func TestAnImportOfBombsFailsWithinACeilingOfMemory(t *testing.T) {
	if underRace {
		t.Skip("the race detector reserves more address space than the ceiling")
	}
	dir := dataDir(t)
	serveForTest(t, dir)
	var aliases strings.Builder
	aliases.WriteString(`a: &a ["lol","lol","lol","lol","lol","lol","lol","lol","lol"]`)
	for c := 'b'; c <= 'i'; c++ {
		fmt.Fprintf(&aliases, "\n%c: &%c [%s*%c]", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"aliases/note.md":    "---\n" + aliases.String() + "\n---\n",
		"brackets/note.md":   "---\na: " + strings.Repeat("[", 100_000) + "\n---\n",
		"depth/note.md":      "---\na: " + strings.Repeat("[", 50_000) + "\n---\n",
		"deep.json":          `[{"id":"1","memory":"x","metadata":{"a":` + nested(5000) + `}}]`,
		"values.json":        `[{"id":"c","title":"","mapping":{"a":{"children":[` + strings.Repeat(`"",`, 10_000_000) + `""]}}}]`,
		"line.jsonl":         `{"type":"entity","entityType":"","name":"` + strings.Repeat("x", 64<<20) + `"}`,
		"numbers.json":       `[{"id":"c","title":"","mapping":{"a":{"message":{"create_time":1e99999999}}}}]`,
		"bundle.jsonl":       `{"alcove":"bundle","format":1,"since":0,"until":1}` + "\n" + strings.Repeat("[", 32<<20),
		"backup/backup.json": `{"alcove":"backup folder","format":1,"parts":[` + strings.Repeat("{},", 10_000_000) + `{}]}`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, says string }{
		{"aliases", "note.md, line 6: its front matter: more than 262144 bytes"},
		{"brackets", "note.md: its front matter: more than 65536 bytes"},
		{"depth", "note.md, line 2: its front matter: more than 32 nested"},
		{"deep.json", "element 1: more than 512 nested"},
		{"values.json", "element 1: more than 500000 values"},
		{"line.jsonl", "line 1: more than 16777216 bytes"},
		{"numbers.json", "element 1: "},
		{"bundle.jsonl", "line 2: it is longer than 16777216 bytes"},
	} {
		data := dir
		if c.path == "bundle.jsonl" {
			data = filepath.Join(folder, "none")
		}
		got := underCeiling(t, data, "import", filepath.Join(folder, c.path))
		if !strings.Contains(got, c.says) {
			t.Errorf("import %s: %.600s", c.path, got)
		}
	}
	if got := underCeiling(t, filepath.Join(folder, "new"), "restore", filepath.Join(folder, "backup")); !strings.Contains(got, "is not the manifest of a backup") {
		t.Errorf("restore: %.600s", got)
	}
}

// underCeiling runs a command that must fail, and gives what it says.
func underCeiling(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := program(t, dir, args...)
	cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -v %d && exec "$0" "$@"`, ceiling), cmd.Path}, args...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = sh
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err == nil {
		t.Errorf("%q did not fail", args)
	}
	return errs.String()
}
