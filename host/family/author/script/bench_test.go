package script_test

import (
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// BenchmarkPack is what alcove family pack does of a source, without the start of the process.
func BenchmarkPack(b *testing.B) {
	for language, example := range examples() {
		b.Run(language, func(b *testing.B) {
			engine, err := engines.Of(language)
			must.Do(b, err)
			for b.Loop() {
				source, err := script.Bundle(example)
				must.Do(b, err)
				module, err := script.Module(engine, source)
				must.Do(b, err)
				manifest, err := script.Manifest(b.Context(), sandbox.Config{Interpret: true}, module)
				must.Do(b, err)
				_, err = sandbox.Pack(module, manifest)
				must.Do(b, err)
			}
		})
	}
}

func examples() map[string]string {
	return map[string]string{"javascript": "../../../../sdk/javascript/example/family.js", "python": "../../../../sdk/python/example/family.py"}
}

// BenchmarkLoad loads a family until it has answered: in a new sandbox whose cache has the engine, and in one that runs another family in
// the language.
func BenchmarkLoad(b *testing.B) {
	for language, example := range examples() {
		b.Run(language, func(b *testing.B) { benchmarkLoad(b, example) })
	}
}

func benchmarkLoad(b *testing.B, example string) {
	raw := module(b, example)
	manifest, err := script.Manifest(b.Context(), sandbox.Config{Interpret: true}, raw)
	must.Do(b, err)
	packed, err := sandbox.Pack(raw, manifest)
	must.Do(b, err)
	cache := sandbox.Cache{Dir: filepath.Join(b.TempDir(), "cache")}
	load := func(box *sandbox.Sandbox) {
		m, err := box.Admit(b.Context(), packed, sandbox.Options{Vetted: true})
		must.Do(b, err)
		_, err = m.Call(b.Context(), sandbox.Request{Kind: 1, Payload: []byte(`{"tool":"memory_greet","arguments":{}}`)})
		must.Do(b, err)
	}
	first, err := sandbox.New(sandbox.Config{Cache: cache})
	must.Do(b, err)
	defer first.Close()
	load(first)
	b.Run("from the cache", func(b *testing.B) {
		for b.Loop() {
			box, err := sandbox.New(sandbox.Config{Cache: cache})
			must.Do(b, err)
			load(box)
			must.Do(b, box.Close())
		}
	})
	b.Run("beside another", func(b *testing.B) {
		for b.Loop() {
			load(first)
		}
	})
}
