// Package gen writes the manifest of a family in Go, and the code that reads and writes its types, from the types and comments of
// its package. It runs nothing of the package.
package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

// CodeFile is the file that is written into the package.
const CodeFile = "alcove_gen.go"

// Output is what is written for a family.
type Output struct {
	Manifest     []byte
	ManifestPath string
	Code         []byte
	CodePath     string
}

// Generate reads the package in a directory.
func Generate(dir string) (*Output, error) {
	p, err := load(dir)
	if err != nil {
		return nil, err
	}
	return p.generate()
}

func (p *pkg) generate() (*Output, error) {
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
	return &Output{manifest, filepath.Join(p.dir, f.manifestPath), code, filepath.Join(p.dir, CodeFile)}, nil
}

// Write writes the files that are not up to date.
func (o *Output) Write() error {
	for path, data := range o.files() {
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, data) {
			continue
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return fmt.Errorf("write what was generated: %w", err)
		}
	}
	return nil
}

// Check is an error that names the files that are not up to date.
func (o *Output) Check() error {
	var stale []error
	for path, data := range o.files() {
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, data) {
			stale = append(stale, fmt.Errorf("%s is not what the package says: run alcove family gen", path))
		}
	}
	return errors.Join(stale...)
}

func (o *Output) files() map[string][]byte {
	return map[string][]byte{o.ManifestPath: o.Manifest, o.CodePath: o.Code}
}
