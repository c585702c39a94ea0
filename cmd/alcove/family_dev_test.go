package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/develop"
)

// dev is a running alcove family dev.
type dev struct {
	t     testing.TB
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startDev(t testing.TB, env []string, dir string, flags ...string) *dev {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startDevOf(t, self, env, dir, flags...)
}

func startDevOf(t testing.TB, program string, env []string, dir string, flags ...string) *dev {
	t.Helper()
	cmd := exec.Command(program, append([]string{"family", "dev", dir, "--json"}, flags...)...)
	cmd.Env, cmd.Stderr = env, t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	d := &dev{t, cmd, bufio.NewScanner(out)}
	d.lines.Buffer(nil, 1<<20)
	return d
}

// until reads lines up to one that is of an event and has a text.
func (d *dev) until(event, has string) devEvent {
	d.t.Helper()
	for d.lines.Scan() {
		var e devEvent
		if err := json.Unmarshal(d.lines.Bytes(), &e); err != nil {
			d.t.Fatalf("decode %s: %v", d.lines.Bytes(), err)
		}
		if e.Event == event && strings.Contains(d.lines.Text(), has) {
			return e
		}
	}
	d.t.Fatalf("it ended before %s %s: %v", event, has, d.lines.Err())
	return devEvent{}
}

// edit replaces a text in a file of a project.
func edit(t testing.TB, file, old, new string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil && !strings.Contains(string(text), old) {
		err = errors.New(file + " has no " + old)
	}
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A client of family dev sees each edit: another answer, and another tool. A build that fails leaves the last module. The data from
// which the throwaway data was copied stays as it is, and what a killed command left is removed by the next.
func TestAClientSeesEachEdit(t *testing.T) {
	t.Parallel()
	env, work := scaffolds(t, "go"), t.TempDir()
	cache := filepath.Join(work, "cache")
	env = append(env, "XDG_CACHE_HOME="+cache)
	runInShell(t, env, "cd "+work+" && alcove family new tea --lang go && alcove store first 'kept on the branch default' && alcove branch fork trial && alcove store second 'on the branch trial' --branch trial")
	project := filepath.Join(work, "tea")

	d := startDev(t, env, project, "--on-data", "--branch", "trial")
	connect := d.until("serving", "").Connect
	first := d.until("built", "tea")
	cmd := exec.Command(connect[0], connect[1:]...)
	cmd.Env, cmd.Stderr = env, t.Output()
	c := clientOf(t, cmd)
	greeted := func(want string) {
		t.Helper()
		var answer struct{ Text string }
		if c.call("tea_greet", map[string]any{"name": "Ada"}, &answer); answer.Text != want {
			t.Errorf("it answers %q, want %q", answer.Text, want)
		}
	}
	greeted("Hello, Ada!")
	d.until("", "greeted Ada") // the call of the host
	d.until("", `"kind":"ended"`)
	var second struct{ Value string }
	if c.call("memory_recall", map[string]any{"key": "second"}, &second); second.Value != "on the branch trial" {
		t.Errorf("the copy has %q", second.Value)
	}

	edit(t, filepath.Join(project, "family.go"), `+ "!"`, `+ "?"`)
	for d.until("built", "tea").Digest == first.Digest { // a file was seen half-written
	}
	compiled := func(want string) {
		t.Helper()
		for interpreted := true; interpreted; { // at first it is
			greeted(want)
			d.until("", `"kind":"ended"`)
			interpreted = strings.Contains(d.lines.Text(), `"interpreted":true`)
		}
	}
	compiled("Hello, Ada?")

	edit(t, filepath.Join(project, "family.go"), `+ "?"`, `+ ?`)
	if e := d.until("failed", ""); !strings.Contains(e.Output, "family.go:") {
		t.Errorf("the compiler said %q", e.Output)
	}
	greeted("Hello, Ada?")

	edit(t, filepath.Join(project, "family.go"), `+ ?`, `+ "."`)
	edit(t, filepath.Join(project, "family.go"), "// Greet greets somebody.", "// Greet greets somebody warmly.") // the build writes it into the manifest
	c.listsAfter("notifications/tools/list_changed", "Greets somebody warmly.")
	compiled("Hello, Ada.") // so that no compiler outlives what is killed below

	again := exec.Command(d.cmd.Path, "family", "dev", project)
	again.Env = env
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "another alcove family dev serves this project") {
		t.Errorf("a second one for the project: %v, %s", err, out)
	}
	locked := exec.Command(d.cmd.Path, "family", "dev", project)
	locked.Env = append(env, "ALCOVE_LOCKED=1")
	if out, err := locked.CombinedOutput(); err == nil || !strings.Contains(string(out), "ALCOVE_LOCKED is set") {
		t.Errorf("locked: %v, %s", err, out)
	}

	d.cmd.Process.Kill()
	d.cmd.Wait()
	if got := runInShell(t, env, "alcove family list --json && alcove list --branch default && alcove list --branch trial"); strings.Contains(got, `"tea"`) || strings.Contains(got, "greeted Ada") || !strings.Contains(got, "kept on the branch default") {
		t.Errorf("the data that was copied has changed: %s", got)
	}
	left, err := filepath.Glob(filepath.Join(cache, "alcove", "dev", "*", "work", "data"))
	if err != nil || len(left) != 1 {
		t.Fatalf("left are %v, %v", left, err)
	}
	own, remove, err := takeWorkDir(filepath.Join(cache, "alcove", "dev"), "another")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", left[0], err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(own); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", own, err)
	}
}

// The author of a family in C or C++ sees the compiler's error with file and line, and the last module serves on.
func TestACompilersErrorIsShownAndTheLastModuleServesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, file, right, wrong, says string }{
		{"c", "family.c", "return ALCOVE_OK;", "return ALCOVE_OKAY;", "family.c:31:10: error: use of undeclared identifier 'ALCOVE_OKAY'"},
		{"cpp", "family.cpp", "return ALCOVE_OK;", "return ALCOVE_OKAY;", "family.cpp:31:10: error: use of undeclared identifier 'ALCOVE_OKAY'"},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			env, work := scaffolds(t, c.language), t.TempDir()
			env = append(env, "XDG_CACHE_HOME="+filepath.Join(work, "cache"))
			runInShell(t, env, "cd "+work+" && alcove family new tea --lang "+c.language)
			d := startDev(t, env, filepath.Join(work, "tea"))
			data := d.until("serving", "").Data
			d.until("built", "tea")
			edit(t, filepath.Join(work, "tea", c.file), c.right, c.wrong)
			d.until("failed", c.says)
			if said := runInShell(t, env, "alcove call tea_greet '{\"name\":\"Ada\"}' --data "+data); !strings.Contains(said, "Hello, Ada!") {
				t.Errorf("the last module answers %s, want Hello, Ada!", said)
			}
		})
	}
}

const weighing = `import { family } from "alcove";
export default family({
  name: "order", version: "0.1.0", description: "Orders what a search finds",
  hooks: { rank: { features: ["score"], call: ({ columns: { score } }) => Array.from(score, (s) => 2 * s) } },
});
`

// The author of a hook sees what it answers after each build.
func TestEachBuildAnswersTheHookThatItsAuthorAsks(t *testing.T) {
	t.Parallel()
	env, dir := readmeHome(t), t.TempDir()
	env = append(env, "XDG_CACHE_HOME="+t.TempDir())
	for name, text := range map[string]string{"family.js": weighing, develop.ConfigFile: `{"build": ["alcove", "family", "pack", "family.js", "-o", "order.wasm", "--manifest-out", "manifest.json"],
		"module": "order.wasm", "manifest": "manifest.json", "watch": ["*.js"], "generated": ["manifest.json"]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := startDev(t, env, dir, "--hook", "rank", `{"candidates": [{"score": 0.25}, {"score": 0.5}]}`)
	asked := func(want ...int) {
		t.Helper()
		for e := d.until("asked", ""); ; e = d.until("asked", "") { // a file may be seen half-written
			if e.Asked != nil && slices.Equal(e.Asked.Order, want) {
				return
			}
		}
	}
	asked(2, 1)
	edit(t, filepath.Join(dir, "family.js"), "2 * s", "-s")
	asked(1, 2)
	edit(t, filepath.Join(dir, "family.js"), "-s", "s.length.x")
	d.until("asked", "family.js:4")
}

// Where a compiler is missing, its name and how it is installed are in the error of the build.
func TestAMissingCompilerIsNamed(t *testing.T) {
	t.Parallel()
	for language, c := range map[string]struct{ named, needs string }{
		"go":             {"PATH=" + withoutGo(t), "Go, of the version in `go.mod` or later"},
		"rust":           {"RUSTC=no-rustc", "rustc 1.63 or later with the target wasm32-unknown-unknown (`rustup target add"},
		"c":              {"CLANG=no-clang", "clang 14 or later and wasm-ld; `CLANG` and `WASM_LD` name them (Debian: `apt install"},
		"cpp":            {"CLANG=no-clang", "clang 14 or later and wasm-ld; `CLANG` and `WASM_LD` name them (Debian: `apt install"},
		"zig":            {"ZIG=no-zig", "Zig, of a version from 0.11 to 0.14; `ZIG` names it (`npm install"},
		"assemblyscript": {"ASC=no-asc", "Node, and asc 0.28 (`npm install`"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			env, work := scaffolds(t, ""), t.TempDir()
			env = append(env, "XDG_CACHE_HOME="+filepath.Join(work, "cache"))
			runInShell(t, env, "cd "+work+" && alcove family new tea --lang "+language)
			d := startDev(t, append(env, c.named), filepath.Join(work, "tea"))
			if e := d.until("failed", ""); !strings.Contains(e.Error, "a program that it needs is not installed; needed: "+c.needs) || !strings.Contains(e.Output, "not found") {
				t.Errorf("got %q, %q, want %q", e.Output, e.Error, c.needs)
			}
		})
	}
}

// withoutGo is a PATH with what build scripts need beside a compiler.
func withoutGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "dirname", "mktemp", "rm"} {
		at, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(at, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// listsAfter waits until the tools, listed after a notification that they changed, have a text.
func (c *mcpClient) listsAfter(notification, text string) {
	c.t.Helper()
	for notified := false; ; {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("wait for %s: %v", notification, err)
		}
		if strings.Contains(line, `"`+notification+`"`) {
			notified = true
			c.begin("tools/list", struct{}{})
		} else if notified && strings.Contains(line, text) {
			return
		}
	}
}
