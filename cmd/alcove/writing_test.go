package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/stress"
)

// TestTheExampleOfAFamilyWorks writes the files in docs/writing-a-family.md, runs its commands, and calls the tools with an MCP client.
func TestTheExampleOfAFamilyWorks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a module, which takes a while")
	}
	doc, err := os.ReadFile("../../docs/writing-a-family.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := exampleModule(t, string(doc))
	env := append(readmeHome(t), "GOPROXY=off", "GOFLAGS=-buildvcs=false -trimpath"+unvetted(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	_, commands, found := strings.Cut(string(doc), "```sh\n")
	commands, _, closed := strings.Cut(commands, "```")
	if !found || !closed {
		t.Fatal("the document has no block of the language sh")
	}
	var last string
	for line := range strings.Lines(commands) {
		last = runInShell(t, env, "cd "+dir+" && "+line)
	}
	if !strings.Contains(last, "We use PostgreSQL.") {
		t.Errorf("the last command says %s", last)
	}
	runInShell(t, env, "cd "+dir+" && alcove family gen --check")
	checkImports(t, dir, env)
	callExample(t, env)
}

// exampleModule writes the files in a document, each in a block behind its name, into a module that is in a workspace with this one.
func exampleModule(t *testing.T, doc string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":  "module example.com/findings\n\ngo 1.26\n",
		"go.work": "go 1.26.0\n\nuse (\n\t.\n\t" + root + "\n)\n",
	}
	for _, m := range regexp.MustCompile("(?s)`([a-z/_]+\\.go)`[^\n]*:\n\n```go\n(.*?)```").FindAllStringSubmatch(doc, -1) {
		files[m[1]] = m[2]
	}
	if len(files) != 5 {
		t.Fatalf("the document has %d files of Go, not 3", len(files)-2)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// unvetted is the flag of go test without go vet, whose facts about all that a family's test links take longer than the rest. Where long
// tests run in full, there is vet.
func unvetted() string {
	if stress.All() {
		return ""
	}
	return " -vet=off"
}

func goEnv(t testing.TB, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// checkImports fails if the guest is made of packages that cost it size and time.
func checkImports(t *testing.T, dir string, env []string) {
	t.Helper()
	list := strings.Fields(runInShell(t, env, "cd "+dir+" && GOOS=wasip1 GOARCH=wasm go list -deps ./guest"))
	for _, name := range list {
		switch name {
		case "encoding/json", "fmt", "reflect", "time", "regexp", "os":
			t.Errorf("the guest imports %s", name)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "findings.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d packages, %d bytes", len(list), info.Size())
	if info.Size() > 2_400_000 {
		t.Errorf("the module has %d bytes: a family of a few tools has less than 2.4 MB", info.Size())
	}
}

// callExample calls the tools of the installed family over MCP.
func callExample(t *testing.T, env []string) {
	t.Helper()
	var dir string
	for _, v := range env {
		if home, ok := strings.CutPrefix(v, "XDG_DATA_HOME="); ok {
			dir = filepath.Join(home, "alcove")
		}
	}
	c := newClient(t, dir)
	var stored struct {
		FindingID  string  `json:"finding_id"`
		Importance float64 `json:"importance"`
	}
	c.call("memory_store_finding", map[string]any{"content": "The deploy failed.", "kind": "error", "tags": "deploy"}, &stored)
	if !strings.HasPrefix(stored.FindingID, "default#") || stored.Importance != .7 {
		t.Errorf("stored as %+v", stored)
	}
	var listed struct{ Findings []struct{ ID, Text string } }
	c.call("memory_list_findings", map[string]any{"kind": "error"}, &listed)
	if len(listed.Findings) != 1 || listed.Findings[0].Text != "The deploy failed." || listed.Findings[0].ID != stored.FindingID {
		t.Errorf("listed are %+v", listed)
	}
}
