// Package bench compares the sandbox with Extism's Go SDK.
package bench

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

const found = `{"key":"tea","value":"green","version":7}`

// kilobyte is the request of a tool call of one kilobyte.
func kilobyte() []byte {
	return fmt.Appendf(nil, `{"tool":"note","arguments":{"text":"%0900d"},"config":{},"context":{"caller":"ada","namespace":"default","branch":"main"}}`, 7)
}

// BenchmarkAgainstExtism sends the same request to the same guest: a kilobyte in, one host operation, both read,
// a few bytes out. The sandbox meters the guest, limits it, and resets it after each request.
// Extism is measured in three configurations that do less: without a timeout, with one, and with a fresh instance
// for each request; only the last isolates callers from each other. The requests alternate, so that all
// configurations run under the same conditions.
func BenchmarkAgainstExtism(b *testing.B) {
	const answer = "[26,10]"
	ways := []struct {
		name string
		call func() (string, error)
	}{
		{"alcove", alcove(b)},
		{"extism", plugin(b, 0)},
		{"extism-timeout", plugin(b, 10*time.Second)},
		{"extism-fresh", fresh(b)},
	}
	best := make([]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			const requests = 300
			began := time.Now()
			for range requests {
				if got, err := way.call(); err != nil || got != answer {
					b.Fatalf("%s = %q, %v, want %q", way.name, got, err, answer)
				}
			}
			if took := time.Since(began) / requests; best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	for i, way := range ways {
		b.ReportMetric(float64(best[i].Nanoseconds())/1000, way.name+"-µs")
		if i > 0 {
			b.ReportMetric(float64(best[0])/float64(best[i]), "ratio-to-"+way.name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

type tea struct{}

func (tea) Call(context.Context, abi.Op, []byte) ([]byte, error) { return []byte(found), nil }

func alcove(b *testing.B) func() (string, error) {
	module := read(b, "../../sandbox/testdata/bench/small.wasm")
	s, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: b.TempDir() + "/cache"}})
	check(b, err)
	b.Cleanup(func() { s.Close() })
	m, err := s.Admit(context.Background(), module, sandbox.Options{Bare: true, Vetted: true})
	check(b, err)
	request := sandbox.Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}}
	return func() (string, error) {
		r, err := m.Call(context.Background(), request)
		if err != nil {
			return "", err
		}
		return string(r.Output), nil
	}
}

func compiled(b *testing.B, timeout time.Duration) *extism.CompiledPlugin {
	b.Helper()
	get := extism.NewHostFunctionWithStack("memory_get", func(_ context.Context, p *extism.CurrentPlugin, stack []uint64) {
		if _, err := p.ReadBytes(stack[0]); err != nil {
			panic(err)
		}
		at, err := p.WriteBytes([]byte(found))
		if err != nil {
			panic(err)
		}
		stack[0] = at
	}, []extism.ValueType{extism.ValueTypePTR}, []extism.ValueType{extism.ValueTypePTR})
	manifest := extism.Manifest{
		Wasm:    []extism.Wasm{extism.WasmData{Data: read(b, "testdata/extism.wasm")}},
		Timeout: uint64(timeout.Milliseconds()),
	}
	c, err := extism.NewCompiledPlugin(context.Background(), manifest, extism.PluginConfig{}, []extism.HostFunction{get})
	check(b, err)
	b.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func plugin(b *testing.B, timeout time.Duration) func() (string, error) {
	p, err := compiled(b, timeout).Instance(context.Background(), extism.PluginInstanceConfig{})
	check(b, err)
	request := kilobyte()
	return func() (string, error) {
		_, out, err := p.CallWithContext(context.Background(), "handle", request)
		return string(out), err
	}
}

func fresh(b *testing.B) func() (string, error) {
	c := compiled(b, 10*time.Second)
	request := kilobyte()
	return func() (string, error) {
		p, err := c.Instance(context.Background(), extism.PluginInstanceConfig{})
		if err != nil {
			return "", err
		}
		defer p.Close(context.Background())
		_, out, err := p.CallWithContext(context.Background(), "handle", request)
		return string(out), err
	}
}

func read(b *testing.B, path string) []byte {
	b.Helper()
	data, err := os.ReadFile(path)
	check(b, err)
	return data
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
