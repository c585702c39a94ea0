// Package channel makes what each way to install takes: archives, packages of systems, and descriptions for package managers.
package channel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/cmd/release/licences"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

// Material is what channels are made from.
type Material struct {
	product.Release
	Platforms []product.Platform // those with a program in the release's folder
	Source    string             // folder of the repository
	Manual    string             // folder with the manual pages and completions, as alcove manual writes it
	texts     map[product.Platform]map[string][]byte
}

// Channel is a way to install. Make writes its artefacts into the release's folder; it may read those of channels before it.
type Channel struct {
	Name string
	Make func(context.Context, *Material) error
}

// All are the channels, in the order in which they are made.
func All() []Channel {
	return []Channel{{"archives", archives}, {"deb", debs}, {"rpm", rpms}, {"homebrew", homebrew}, {"scoop", scoop}, {"winget", winget}}
}

// Find returns the platforms that the release's folder has programs for.
func Find(r product.Release) (list []product.Platform, err error) {
	for _, p := range product.Platforms() {
		info, err := os.Stat(r.Program(p))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find the programs of the release: %w", err)
		}
		if info.Mode().IsRegular() {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no program such as %s: build the programs first", r.Dir, filepath.Base(r.Program(product.Platforms()[0])))
	}
	return list, nil
}

// file is one file of an artefact.
type file struct {
	name string // with slashes
	mode fs.FileMode
	data []byte
}

// documents are the files that every artefact of a platform has beside the program, by names with slashes.
func (m *Material) documents(ctx context.Context, p product.Platform) ([]file, error) {
	var list []file
	for _, name := range []string{"README.md", "LICENSE", "NOTICE", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(m.Source, name))
		if err != nil {
			return nil, fmt.Errorf("read what is packed beside the program: %w", err)
		}
		list = append(list, file{name, 0o644, data})
	}
	texts, err := m.licences(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		list = append(list, file{"licences/" + name, 0o644, texts[name]})
	}
	return list, nil
}

func (m *Material) licences(ctx context.Context, p product.Platform) (map[string][]byte, error) {
	if texts := m.texts[p]; texts != nil {
		return texts, nil
	}
	texts, err := licences.Of(ctx, m.Program(p), p.OS, p.Arch, m.Source)
	if err != nil {
		return nil, err
	}
	if m.texts == nil {
		m.texts = map[product.Platform]map[string][]byte{}
	}
	m.texts[p] = texts
	return texts, nil
}

// manual are the manual pages and completions.
func (m *Material) manual() (list []file, err error) {
	err = filepath.WalkDir(m.Manual, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(m.Manual, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		list = append(list, file{filepath.ToSlash(name), 0o644, data})
		return err
	})
	if err == nil && len(list) == 0 {
		err = errors.New("it is empty: write it with alcove manual")
	}
	if err != nil {
		return nil, fmt.Errorf("read the manual in %s: %w", m.Manual, err)
	}
	return list, nil
}

func (m *Material) program(p product.Platform, name string) (file, error) {
	data, err := os.ReadFile(m.Program(p))
	if err != nil {
		return file{}, fmt.Errorf("read the program: %w", err)
	}
	return file{name, 0o755, data}, nil
}

// artefact names a platform's artefact. The name has no version, so that the address of the latest one stays the same.
func artefact(p product.Platform, extension string) string {
	return product.Name + "-" + p.String() + extension
}

// digest is the SHA-256 of an artefact, in hexadecimal.
func (m *Material) digest(name string) (string, error) {
	f, err := os.Open(filepath.Join(m.Dir, name))
	if err != nil {
		return "", fmt.Errorf("read the artefact %s: %w", name, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read the artefact %s: %w", name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// write writes an artefact, complete or not at all.
func (m *Material) write(name string, write func(io.Writer) error) (err error) {
	path := filepath.Join(m.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	if err = errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("make %s: %w", name, err), os.Remove(path))
	}
	return nil
}

// text writes an artefact of text.
func (m *Material) text(name, content string) error {
	return m.write(name, func(w io.Writer) error {
		_, err := io.Copy(w, strings.NewReader(content))
		return err
	})
}

// has reports whether the release has a program for a platform.
func (m *Material) has(p product.Platform) bool { return slices.Contains(m.Platforms, p) }
