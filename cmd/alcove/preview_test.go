package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// lockChanging are runs of the commands that change the lock file, in order.
func lockChanging(t *testing.T, dir string) []printing {
	one, two, key := versionOf(t, dir, "1.0.0"), versionOf(t, dir, "2.0.0"), filepath.Join(dir, "author")
	runApp(t, dir, "", "family", "keygen", key)
	return []printing{
		print("family", "install", one), print("family", "grant", "shout", "memory.read=work"), print("family", "update", "shout", two), print("family", "rollback", "shout"),
		print("family", "revoke", "shout", "--all"), print("family", "remove", "shout"),
		print("endpoint", "add", "web", "http://127.0.0.1:1", "--kind", "http"), print("endpoint", "add", "web", "http://127.0.0.1:2", "--kind", "http", "--private"), print("endpoint", "remove", "web"),
		print("root", "add", "notes", t.TempDir(), "--read-only"), print("root", "remove", "notes"),
		{args: []string{"site", "add", "http://127.0.0.1:1", "--slug", "blog", "--secret-stdin"}, in: "secret\n"}, print("site", "add", "http://127.0.0.1:2", "--slug", "shop"), print("site", "remove", "blog"), print("site", "remove", "shop"),
		print("family", "trust", "author", key+".pub"), print("family", "trust", "author", "--revoke", "it was stolen"),
	}
}

// versionOf packs a version of a family, and returns its path.
func versionOf(t *testing.T, dir, version string) string {
	t.Helper()
	guest, err := os.ReadFile("../../host/sandbox/testdata/guests/c.wasm")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal(abi.Manifest{ABI: abi.Version, Name: "shout", Version: version, Description: "Answers in capital letters",
		Capabilities: []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "to look things up"}},
		Tools:        []abi.Tool{{Name: "shout_text", Description: "Says it louder", InputSchema: json.RawMessage(`{"type":"object"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	module, err := sandbox.Pack(guest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "shout-"+version+".wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runApp runs a command in this process, and returns what it writes to standard error.
func runApp(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	var notes bytes.Buffer
	a := newApp(strings.NewReader(in), io.Discard, &notes, func(name string) string { return map[string]string{"ALCOVE_DATA": filepath.Join(dir, "data")}[name] })
	c := a.command()
	c.SetArgs(args)
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Errorf("alcove %s: %v", strings.Join(args, " "), err)
	}
	return notes.String()
}

func lockIn(t *testing.T, dir string) (registry.Lock, []byte) {
	t.Helper()
	l, err := registry.Read(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "data", registry.File))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return l, data
}

// Each command that changes the lock file first shows the lines that it changes, and with --dry-run it changes nothing at all.
func TestEachChangeOfTheLockFileIsShownBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	t.Cleanup(func() { stopOwner(t, data) })
	if out, err := program(t, data, "status").Output(); err != nil { // which starts the server
		t.Fatalf("alcove status: %v\n%s", err, out)
	}
	runs := lockChanging(t, dir)
	everyPreviewIsTested(t, runs)
	for _, r := range runs {
		name := strings.Join(r.args[:3], " ")
		if r.args[0] == "site" && len(builtIn()) == 0 {
			t.Logf("alcove %s is left out: this test was built without the family sites", name)
			continue
		}
		before, file := lockIn(t, dir)
		dry := runApp(t, dir, r.in, append(slices.Clone(r.args), "--dry-run")...)
		if _, now := lockIn(t, dir); !bytes.Equal(now, file) {
			t.Errorf("alcove %s --dry-run changes the lock file", name)
		}
		if _, err := os.Stat(filepath.Join(data, secretsDir, "site-blog")); r.in != "" && !os.IsNotExist(err) {
			t.Errorf("alcove %s --dry-run keeps the secret: %v", name, err)
		}
		shown := runApp(t, dir, r.in, append(slices.Clone(r.args), "--diff")...)
		after, _ := lockIn(t, dir)
		lines, err := registry.Diff(before, after)
		if err != nil || len(lines) == 0 {
			t.Fatalf("alcove %s changed nothing: %v", name, err)
		}
		want := "alcove.lock changes:\n" + strings.Join(lines, "\n") + "\n"
		if !strings.HasPrefix(fromChange(shown), want) || fromChange(dry) != want {
			t.Errorf("alcove %s shows\n%s\nwith --dry-run\n%s\nand changes\n%s", name, shown, dry, want)
		}
	}
}

// fromChange is what a command prints from the lines of alcove.lock on: a grant says in words before what it grants.
func fromChange(printed string) string {
	before, _, found := strings.Cut(printed, "alcove.lock changes:")
	if !found {
		return ""
	}
	return printed[len(before):]
}

// everyPreviewIsTested fails unless each command that can show a change of the lock file is among the runs.
func everyPreviewIsTested(t *testing.T, runs []printing) {
	t.Helper()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if flag := c.Flags().Lookup("dry-run"); flag == nil || flag.Usage != "show the change of alcove.lock, and change nothing" {
			return
		}
		words := strings.Fields(c.CommandPath())[1:]
		if !slices.ContainsFunc(runs, func(r printing) bool { return slices.Equal(r.args[:len(words)], words) }) {
			t.Errorf("no run is of alcove %s", strings.Join(words, " "))
		}
	}
	walk(newApp(nil, io.Discard, io.Discard, func(string) string { return "" }).command())
}

// A function that has the server change the lock file announces the change, so that a new command cannot leave it out.
func TestWhatChangesTheLockFileAnnouncesIt(t *testing.T) {
	acts := []string{"InstallFamily", "UpdateFamily", "RollBackFamily", "RemoveFamily", "GrantFamily", "TrustKeys", "SetEndpoint", "SetRoot"}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	exempt := map[string]bool{
		"verifiedBy":     true, // it lists the keys
		"Swap":           true, // the lock file is that of family dev's throwaway data
		"installGranted": true, // the lock file is a draft, which lock apply shows
	}
	found := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			var used []string
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					used = append(used, s.Sel.Name)
				}
				return true
			})
			for _, act := range acts {
				if slices.Contains(used, act) {
					found[act] = true
					if !exempt[f.Name.Name] && !slices.Contains(used, "announce") {
						t.Errorf("%s uses %s without announce", f.Name.Name, act)
					}
				}
			}
		}
	}
	if len(found) != len(acts) {
		t.Errorf("the acts that change the lock file are %q, and only %v are used", acts, found)
	}
}
