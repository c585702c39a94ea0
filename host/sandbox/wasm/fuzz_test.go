package wasm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/spectest"
)

// FuzzParse parses broken and valid modules: nothing panics, wazero accepts all that we accept, and encoding
// is a fixed point.
func FuzzParse(f *testing.F) {
	for i, script := range spectest.Load(f) {
		for j, c := range script.Commands {
			if c.Filename != "" && c.ModuleType != "text" && (i+j)%29 == 0 {
				f.Add(script.File(f, c.Filename))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wasm.Parse(b, wasm.Limits{Module: 1 << 16})
		if err != nil {
			return
		}
		sameAgain(t, "fuzzed", m.Module)
	})
}

// goGuest builds a guest in Go that parses JSON, of about 3 MB.
func goGuest(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	source := `package main

import "encoding/json"

//go:wasmexport handle
func handle(n int32) int32 {
	var v map[string]any
	if json.Unmarshal(make([]byte, n), &v) != nil {
		return 1
	}
	return int32(len(v))
}

func main() {}
`
	for name, content := range map[string]string{"main.go": source, "go.mod": "module guest\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", "guest.wasm", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a guest: %v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "guest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAGuestInGoIsWithinTheLimits(t *testing.T) {
	m, err := wasm.Parse(goGuest(t), wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	sameAgain(t, "a Go guest", m.Module)
}

func BenchmarkParseAGoGuest(b *testing.B) {
	guest := goGuest(b)
	b.SetBytes(int64(len(guest)))
	for b.Loop() {
		if _, err := wasm.Parse(guest, wasm.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
