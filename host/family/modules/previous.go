package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/registry"
)

// previousFolder, in Folder, holds the grant that each installed family's previous version had, in the form of a lock file.
const previousFolder = "previous"

func (s *Store) previousPath(name string) string {
	return filepath.Join(s.o.Dir, Folder, previousFolder, name+".json")
}

// Previous returns the grant of the version that the present one of a family, with a digest, replaced; ok is false if there is none.
func (s *Store) Previous(name, present string) (g registry.Grant, ok bool) {
	data, err := regular.Read(s.previousPath(name), registry.FileLimit)
	if err == nil {
		var l registry.Lock
		if l, err = registry.Parse(data); err == nil {
			g, ok = l.Families[name]
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.o.Logger.Warn("the previous version of a family is not known", "family", name, "error", err)
	}
	return g, ok && g.Digest != present
}

// NotePrevious keeps the grant of a version that is about to be replaced.
func (s *Store) NotePrevious(name string, g registry.Grant) error {
	g.Guard = nil
	data, err := registry.Encode(registry.Lock{Families: map[string]registry.Grant{name: g}})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.previousPath(name)), 0o700)
	}
	if err == nil {
		err = s.o.Documents.Write(s.previousPath(name), data)
	}
	if err != nil {
		return fmt.Errorf("keep what the previous version was granted: %w", err)
	}
	return nil
}

// ForgetPrevious removes what is kept of the previous version of a family.
func (s *Store) ForgetPrevious(name string) { s.remove(s.previousPath(name)) }
