// Package engines carries the engines of languages that are not compiled: guests that run a family's source.
//
// They are built from the sources of others, which the scripts beside them fetch, and are committed, so that a build of the program needs
// neither these nor a compiler of C. make engines compares them with what the scripts build.
package engines

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/abi"
)

//go:embed javascript/engine.wasm.gz python/engine.wasm.gz
var packed embed.FS

// Part is what an engine was built from.
type Part struct{ Name, Version, URL string }

// Parts are what the engines were built from, beside what is in this repository.
func Parts() []Part {
	return []Part{
		{"quickjs", "2025.04.26-1", "pkg:deb/debian/quickjs@2025.04.26-1"},
		{"micropython", "1.25.0+ds-1", "pkg:deb/debian/micropython@1.25.0%2Bds-1"},
		{"wasi-libc", "0.0~git20220510.9886d3d-2", "pkg:deb/debian/wasi-libc@0.0~git20220510.9886d3d-2"},
		{"libclang-rt-14-dev-wasm32", "1:14.0.6-12", "pkg:deb/debian/libclang-rt-14-dev-wasm32@1%3A14.0.6-12"},
	}
}

// Languages are those that have an engine.
func Languages() []string { return []string{"javascript", "python"} }

// Of returns the engine of a language, as a module without manifest and source.
func Of(language string) ([]byte, error) {
	file, err := packed.ReadFile(language + "/engine.wasm.gz")
	if err != nil {
		return nil, fmt.Errorf("there is no engine for the language %.40q", language)
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("unpack the engine of %s: %w", language, err)
	}
	module, err := io.ReadAll(io.LimitReader(z, abi.DefaultModuleLimits().ModuleBytes))
	if err != nil {
		return nil, fmt.Errorf("unpack the engine of %s: %w", language, err)
	}
	return module, nil
}
