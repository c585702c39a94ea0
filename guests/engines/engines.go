// Package engines carries the engines of languages that are not compiled: guests that run a family's source.
//
// They are built from the sources of others, which the scripts beside them fetch, and are committed, so that a build of the program needs
// neither these nor a compiler of C. make engines compares them with what the scripts build.
package engines

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/abi"
)

//go:embed javascript/engine.wasm.gz
var javascript []byte

// Of returns the engine of a language, as a module without manifest and source.
func Of(language string) ([]byte, error) {
	if language != "javascript" {
		return nil, fmt.Errorf("there is no engine for the language %.40q", language)
	}
	z, err := gzip.NewReader(bytes.NewReader(javascript))
	if err != nil {
		return nil, fmt.Errorf("unpack the engine of %s: %w", language, err)
	}
	module, err := io.ReadAll(io.LimitReader(z, abi.DefaultModuleLimits().ModuleBytes))
	if err != nil {
		return nil, fmt.Errorf("unpack the engine of %s: %w", language, err)
	}
	return module, nil
}
