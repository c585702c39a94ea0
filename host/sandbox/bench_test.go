package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

// guests are those that are measured: a small one, and one in Go.
func guests(t testing.TB) map[string][]byte {
	return map[string][]byte{"small": testdata(t, "bench/small.wasm"), "go": goGuest(t)}
}

// goGuest is the guest in Go, as it is built here.
func goGuest(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, ".")
	build.Dir = filepath.Join("testdata", "bench", "go")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the guest in Go: %v\n%s", err, out)
	}
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// BenchmarkCall is what a request costs, with a kilobyte of payload, one host operation, and putting the instance
// back. A small guest's takes at most 15 µs, one in Go 0.4 ms.
func BenchmarkCall(b *testing.B) {
	for name, module := range guests(b) {
		b.Run(name, func(b *testing.B) {
			m, err := newSandbox(b, testConfig(b)).Admit(context.Background(), module, Options{Bare: true})
			must(b, err)
			request := Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}}
			b.ReportAllocs()
			for b.Loop() {
				r, err := m.Call(context.Background(), request)
				if err != nil || r.Class != abi.ClassOK {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkLoad is what it costs to admit a module that was admitted before, by another process, until its first
// request is answered. A small guest takes at most 2 ms, one in Go 60 ms.
func BenchmarkLoad(b *testing.B) {
	for name, module := range guests(b) {
		b.Run(name, func(b *testing.B) {
			config := testConfig(b)
			load := func() {
				s, err := New(config)
				must(b, err)
				b.StartTimer()
				m, err := s.Admit(context.Background(), module, Options{Bare: true})
				must(b, err)
				r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}})
				if err != nil || r.Class != abi.ClassOK {
					b.Fatal(r, err)
				}
				b.StopTimer()
				must(b, s.Close())
			}
			b.StopTimer()
			load()
			b.ResetTimer()
			for range b.N {
				load()
			}
		})
	}
}

// kilobyte is the request of a tool call of one kilobyte.
func kilobyte() []byte {
	return fmt.Appendf(nil, `{"tool":"note","arguments":{"text":"%0900d"},"config":{},"context":{"caller":"ada","namespace":"default","branch":"main"}}`, 7)
}

// tea is a host that knows one memory.
type tea struct{}

func (tea) Call(context.Context, abi.Op, []byte) ([]byte, error) {
	return []byte(`{"key":"tea","value":"green","version":7}`), nil
}
