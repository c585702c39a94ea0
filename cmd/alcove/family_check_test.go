package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEachWrongBuildIsToldItsFlag builds the same program in the ways that authors mistake for the right one, with the Go compiler, and
// checks the project.
func TestEachWrongBuildIsToldItsFlag(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds modules, which takes a while")
	}
	t.Parallel()
	const handler = "//go:wasmexport alcove_handle\nfunc handle(uint32, uint32) int32 { return 0 }\n"
	for name, c := range map[string]struct {
		source string // behind package main
		env    string
		flags  string
		says   string // empty: nothing is wrong
	}{
		"as the guide has it":   {handler, "GOOS=wasip1 GOARCH=wasm", "-buildmode=c-shared -ldflags=-s", ""},
		"for this machine":      {"", "CGO_ENABLED=0", "", "it is a program for this machine: build it for WebAssembly, in Go with GOOS=wasip1 GOARCH=wasm"},
		"for browsers":          {"", "GOOS=js GOARCH=wasm", "", "it was built for browsers: build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared"},
		"as a command":          {handler, "GOOS=wasip1 GOARCH=wasm", "", "it is a command: it exports _start and no _initialize, so that its runtime would not have begun when it is called; build it as a library: in Go with -buildmode=c-shared"},
		"without an export":     {"", "GOOS=wasip1 GOARCH=wasm", "-buildmode=c-shared", "it exports no function alcove_handle of type (i32, i32) → (i32); export it: in Go with alcove.Serve or //go:wasmexport"},
		"with another type":     {strings.Replace(handler, "uint32, uint32", "uint32", 1), "GOOS=wasip1 GOARCH=wasm", "-buildmode=c-shared", "it exports alcove_handle as (i32) → (i32), not as (i32, i32) → (i32); give it that type"},
		"with names for traces": {handler, "GOOS=wasip1 GOARCH=wasm", "-buildmode=c-shared", ""}, // 2 % of the module
		"to another file":       {handler, "GOOS=wasip1 GOARCH=wasm", "-buildmode=c-shared -o other.wasm", "there is no raw.wasm, the module that alcove.dev.json names: run go build"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command := strings.Fields("go build -trimpath -o raw.wasm " + c.flags + " .")
			config, err := json.Marshal(map[string]any{"build": command, "module": "raw.wasm", "manifest": "manifest.json", "watch": []string{"*.go"}})
			if err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{
				"go.mod":          "module example.com/probe\n\ngo 1.24\n",
				"main.go":         "package main\n\n" + c.source + "\nfunc main() {}\n",
				"manifest.json":   `{"abi": 1, "name": "probe", "version": "1.0.0", "description": "Is built"}`,
				"alcove.dev.json": string(config),
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			build := exec.Command(command[0], command[1:]...)
			build.Dir, build.Env = dir, append(os.Environ(), append(strings.Fields(c.env), "GOFLAGS=", "GOWORK=off")...)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("run %s: %v\n%s", build, err, out)
			}
			out, err := program(t, filepath.Join(dir, "data"), "family", "check", dir).Output()
			if said := string(out); (err != nil) != (c.says != "") || !strings.Contains(said, c.says) {
				t.Errorf("it says %s (%v), without %q", said, err, c.says)
			}
			if _, err := os.Stat(filepath.Join(dir, "data")); !os.IsNotExist(err) {
				t.Errorf("the check made a data directory: %v", err)
			}
		})
	}
}
