// Package gen writes the manifest of a family in Go, and the code that reads and writes its types, from the types and comments of
// its package. It runs nothing of the package.
package gen

import (
	"fmt"
	"go/format"
	"path/filepath"

	"github.com/alcove-memory/alcove/sdk/go/gen/output"
)

// Generate reads the package in a directory.
func Generate(dir string) (*output.Files, error) {
	p, err := load(dir)
	if err != nil {
		return nil, err
	}
	return p.generate()
}

func (p *pkg) generate() (*output.Files, error) {
	f, err := p.family()
	if err != nil {
		return nil, err
	}
	manifest, err := f.manifest()
	if err != nil {
		return nil, err
	}
	source, err := f.code()
	if err != nil {
		return nil, err
	}
	code, err := format.Source(source)
	if err != nil {
		return nil, fmt.Errorf("format the code: %w", err)
	}
	return &output.Files{Manifest: manifest, ManifestPath: filepath.Join(p.dir, f.manifestPath), Code: code, CodePath: filepath.Join(p.dir, output.CodeFile)}, nil
}
