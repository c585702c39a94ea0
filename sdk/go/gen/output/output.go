// Package output has the files that are generated for a family, as the generator hands them to the program that checks and writes them.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CodeFile is the file that is written into the package.
const CodeFile = "alcove_gen.go"

// Files are what is generated for a family. Without CodePath there is no code.
type Files struct {
	Manifest     []byte `json:"manifest"`
	ManifestPath string `json:"manifest_path"`
	Code         []byte `json:"code"`
	CodePath     string `json:"code_path"`
}

// In returns files whose paths are relative to a directory with paths that begin with it.
func (f Files) In(dir string) *Files {
	f.ManifestPath, f.CodePath = filepath.Join(dir, f.ManifestPath), filepath.Join(dir, f.CodePath)
	return &f
}

// Write writes the files that are not up to date. Only regular files are replaced.
func (f *Files) Write() error {
	for path, data := range f.byPath() {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("write what was generated: %s is not a regular file: remove it", path)
		}
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
func (f *Files) Check() error {
	var stale []error
	for path, data := range f.byPath() {
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, data) {
			stale = append(stale, fmt.Errorf("%s is not what the source says: run alcove family gen", path))
		}
	}
	return errors.Join(stale...)
}

func (f *Files) byPath() map[string][]byte {
	files := map[string][]byte{f.ManifestPath: f.Manifest}
	if f.CodePath != "" {
		files[f.CodePath] = f.Code
	}
	return files
}
