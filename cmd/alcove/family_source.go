package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// sourceModule makes the module of a source that an engine runs, and the manifest that the source gives.
func (a *app) sourceModule(ctx context.Context, path, language string) (module, manifest []byte, err error) {
	engine, err := engines.Of(language)
	if err != nil {
		return nil, nil, err
	}
	if _, err := readFile(path, 1); err != nil {
		return nil, nil, err
	}
	source, err := script.Bundle(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the family:\n%w", err)
	}
	if module, err = script.Module(engine, source); err != nil {
		return nil, nil, err
	}
	cache, err := a.moduleCache()
	if err != nil {
		return nil, nil, err
	}
	// The engine that is compiled for this is in the cache for all families in the language.
	config := sandbox.Config{Cache: cache, Compiler: sandbox.Compiler{Args: []string{compileModule}}}
	manifest, err = script.Manifest(ctx, config, module)
	var failed *script.LoadError
	if errors.As(err, &failed) && failed.Printed != "" {
		a.notef("%s", terminal.Lines(failed.Printed))
	}
	return module, manifest, err
}
