package develop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asCompiler makes this binary be the compiler: it copies the file source to the file module.
const asCompiler = "ALCOVE_TEST_COMPILER"

func TestMain(m *testing.M) {
	if os.Getenv(asCompiler) == "" {
		os.Setenv(asCompiler, "1")
		os.Exit(m.Run())
	}
	text, err := os.ReadFile("source")
	if string(text) == "uninstalled" {
		os.Exit(notFound)
	}
	if err != nil || string(text) == "broken" {
		fmt.Println(strings.Repeat("x", 3*mostOutput) + "source:1: it is broken")
		os.Exit(1)
	}
	if err := os.WriteFile("module", text, 0o600); err != nil {
		os.Exit(2)
	}
}

func TestConfigurationsAreStrict(t *testing.T) {
	const whole = `{"build": ["make"], "module": "m.wasm", "manifest": "manifest.json", "watch": ["*.go", "src/*.c"]}`
	if c, err := parse([]byte(whole)); err != nil || c.Module != "m.wasm" || len(c.Watch) != 2 {
		t.Errorf("Parse = %+v, %v, want module m.wasm and 2 patterns to watch", c, err)
	}
	many := `["` + strings.Repeat(`a","`, mostWords) + `a"]`
	for _, c := range []struct{ instead, by, says string }{
		{`"module"`, `"modules"`, `unknown field "modules"`},
		{whole, whole + "{}", "something follows"},
		{whole, "{\n\n\"build\": 1}", "line 3"},
		{whole, "", "line 1"},
		{`["make"]`, `[]`, "build has 0 elements"},
		{`["make"]`, many, "build has 65 elements: give from 1 to 64"},
		{`"make"`, `""`, "element 0 of build is empty"},
		{`"make"`, `"` + strings.Repeat("m", longestWord+1) + `"`, "longer than 4096 bytes"},
		{`"*.go"`, `"[a"`, `watch has "[a", which is not a pattern`},
		{`"watch"`, `"generated": ["[b"], "watch"`, `generated has "[b", which is not a pattern`},
		{`"watch"`, `"generated": ` + many + `, "watch"`, "generated has 65 elements: give from 0 to 64"},
		{`"m.wasm"`, `"../m.wasm"`, `module is "../m.wasm": give the path of a file below the project`},
		{`"m.wasm"`, `"/m.wasm"`, "module is"},
		{`"m.wasm"`, `"."`, "module is"},
		{`"manifest.json"`, `""`, "manifest is"},
		{`"manifest.json"`, `"m.wasm"`, "the same file"},
	} {
		if _, err := parse([]byte(strings.Replace(whole, c.instead, c.by, 1))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s for %s: %v, want %q", c.by, c.instead, err, c.says)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func newProject(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, ConfigFile, fmt.Sprintf(`{"build": [%q], "module": "module", "manifest": "manifest.json", "watch": ["source", "parts/*.c"], "generated": ["parts/gen_*"]}`, self))
	write(t, dir, "manifest.json", "{}")
	write(t, dir, "source", "one")
	return dir
}

func TestAProjectIsRefusedWithWhatToDo(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no "+ConfigFile) {
		t.Errorf("without its file: %v", err)
	}
	dir := t.TempDir()
	write(t, dir, ConfigFile, strings.Repeat(" ", mostConfig+1))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "65536 bytes") {
		t.Errorf("with a large file: %v", err)
	}
}

func TestOnlySourcesAreWatched(t *testing.T) {
	dir := newProject(t)
	for _, name := range []string{"module", "other", "parts/a.c", "parts/gen_a.c", "parts/a.o", "deep/source", ".git/source", "node_modules/source", "target/source"} {
		write(t, dir, name, name)
	}
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.readState()
	if err != nil || len(s) != 5 {
		t.Errorf("look = %v, %v, want 5 files", s, err)
	}
	for _, name := range []string{ConfigFile, "manifest.json", "source", "deep/source", "parts/a.c"} {
		if _, ok := s[filepath.FromSlash(name)]; !ok {
			t.Errorf("%s is not watched", name)
		}
	}
}

func TestABuildThatFailsShowsTheEndOfWhatItPrinted(t *testing.T) {
	dir := newProject(t)
	write(t, dir, "source", "broken")
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = p.build(t.Context())
	var failed *BuildError
	if !errors.As(err, &failed) || !strings.HasSuffix(failed.Output, "source:1: it is broken\n") || len(failed.Output) != mostOutput {
		t.Errorf("Build: %v, want the end of what it printed", err)
	}
	write(t, dir, "source", "uninstalled")
	for readme, want := range map[string]string{"# tea\nNeeded: a compiler (`CC` names it).\n\n": "is not installed; needed: a compiler (`CC` names it).", "# tea\n": "is not installed"} {
		write(t, dir, "README.md", readme)
		if _, _, err := p.build(t.Context()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("without its compiler: %v, want %q", err, want)
		}
	}
	write(t, dir, "README.md", "# tea\n")
	build := p.Config.Build
	p.Config.Build = []string{"alcove-has-no-such-compiler"}
	if _, _, err := p.build(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "a program that it needs is not installed") {
		t.Errorf("without the program of its build: %v, want that it is not installed", err)
	}
	p.Config.Build = build
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := p.build(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// served is a server that refuses one module.
type served chan string

func (s served) Swap(_ context.Context, module, _ []byte) error {
	if string(module) == "refused" {
		return errors.New("it is refused")
	}
	s <- string(module)
	return nil
}

func TestEachChangeIsBuiltAndServed(t *testing.T) {
	dir := newProject(t)
	modules, reports := make(served, 1), make(chan Report)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Loop{Server: modules, Every: time.Millisecond, Report: func(r Report) {
			select {
			case reports <- r:
			case <-ctx.Done():
			}
		}}.Run(ctx, dir)
	}()
	expect := func(source, fault string) {
		t.Helper()
		// A change may be seen half-written, which is one build more.
		for r := range reports {
			t.Logf("%v", r.Err)
			var module string
			if r.Err == nil {
				module = <-modules
			}
			if r.Err == nil && fault == "" && module == source || r.Err != nil && fault != "" && strings.Contains(r.Err.Error(), fault) {
				return
			}
		}
	}
	expect("one", "")
	write(t, dir, "source", "second")
	expect("second", "")
	write(t, dir, "source", "broken")
	expect("", "exit status 1")
	write(t, dir, "source", "refused")
	expect("", "it is refused")
	write(t, dir, ConfigFile, "{}")
	expect("", "build has 0 elements")
	fresh := newProject(t)
	config, err := os.ReadFile(filepath.Join(fresh, ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "source", "third one")
	write(t, dir, ConfigFile, string(config))
	expect("third one", "")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
