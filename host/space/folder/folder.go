// Package folder manages a folder of spaces: data directories that are named, created, renamed and deleted while no server has them open.
package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/durable"
)

// Folder is a folder of spaces. Each directory in it whose name is that of a space is one.
type Folder struct{ Path string }

// Space is a space as its folder shows it.
type Space struct {
	Name    string    `json:"name"`
	Dir     string    `json:"dir"`
	Bytes   int64     `json:"bytes"`             // of its files
	Deleted time.Time `json:"deleted,omitzero"`  // when; zero: it is not
	Process int       `json:"process,omitempty"` // that has it open; 0: none
}

// ErrExists and ErrNone are wrapped by errors about a name that is taken, or that no space has.
var (
	ErrExists = errors.New("there is such a space")
	ErrNone   = errors.New("there is no such space")
)

// deletedFolder is the folder of deleted spaces, each named with the time of its deletion.
const (
	deletedFolder = ".deleted"
	deletedLayout = "20060102T150405.000Z"
	retired       = ".audit" // behind it: there is nothing to restore
)

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })

// CheckName refuses a name that no space may have: it is part of addresses and of paths.
func CheckName(name string) error {
	if !nameForm().MatchString(name) {
		return fmt.Errorf("%.80q cannot be the name of a space: use 1 to 63 of a-z, 0-9 and -, which is neither first nor last", name)
	}
	return nil
}

// Dir returns the data directory of a space. The error wraps ErrNone if there is none; a symbolic link is none.
func (f Folder) Dir(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	dir := filepath.Join(f.Path, name)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
		return "", fmt.Errorf("space %s in %s: %w: make it with: alcove space create %s", name, f.Path, ErrNone, name)
	case err != nil:
		return "", fmt.Errorf("space %s: %w", name, err)
	}
	return dir, nil
}

// Create makes an empty space.
func (f Folder) Create(name string) (dir string, err error) {
	if err := f.checkNew(name); err != nil {
		return "", err
	}
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of spaces: %w", err)
	}
	dir = filepath.Join(f.Path, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the space %s: %w", name, err)
	}
	return dir, durable.SyncDir(f.Path)
}

func (f Folder) checkNew(name string) error {
	_, err := f.Dir(name)
	switch {
	case err == nil:
		return fmt.Errorf("space %s in %s: %w", name, f.Path, ErrExists)
	case errors.Is(err, ErrNone):
		return nil
	}
	return err
}

// List returns the spaces, by name.
func (f Folder) List() ([]Space, error) {
	entries, err := os.ReadDir(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the spaces: %w", err)
	}
	list := []Space{}
	for _, e := range entries {
		if !e.IsDir() || CheckName(e.Name()) != nil {
			continue
		}
		s := Space{Name: e.Name(), Dir: filepath.Join(f.Path, e.Name())}
		s.Bytes = size(s.Dir)
		var owned *owner.OwnedError
		if errors.As(owner.CheckFree(s.Dir), &owned) {
			s.Process = owned.PID
		}
		list = append(list, s)
	}
	return list, nil
}

// Deleted returns the spaces that can be restored, the latest first.
func (f Folder) Deleted() ([]Space, error) {
	entries, err := os.ReadDir(filepath.Join(f.Path, deletedFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the deleted spaces: %w", err)
	}
	list := []Space{}
	for _, e := range entries {
		name, at, _ := strings.Cut(e.Name(), "@")
		deleted, err := time.Parse(deletedLayout, at)
		if err != nil || !e.IsDir() || CheckName(name) != nil {
			continue
		}
		dir := filepath.Join(f.Path, deletedFolder, e.Name())
		list = append(list, Space{Name: name, Dir: dir, Bytes: size(dir), Deleted: deleted})
	}
	slices.SortFunc(list, func(a, b Space) int { return cmp.Or(b.Deleted.Compare(a.Deleted), cmp.Compare(a.Name, b.Name)) })
	return list, nil
}

// size is the number of bytes of the files in a directory, as far as they can be read.
func size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Rename gives a space another name. The error is an owner.OwnedError while a process has it open.
func (f Folder) Rename(name, to string) error {
	if err := f.checkNew(to); err != nil {
		return err
	}
	dir, err := f.Dir(name)
	if err != nil {
		return err
	}
	return move(dir, filepath.Join(f.Path, to))
}

// Delete sets a space aside, from where Restore brings it back, and returns the directory that has its files. The error is an
// owner.OwnedError while a process has the space open.
func (f Folder) Delete(name string, now time.Time) (aside string, err error) {
	return f.setAside(name, "@"+now.UTC().Format(deletedLayout))
}

// setAside moves a space into the folder of deleted ones.
func (f Folder) setAside(name, suffix string) (aside string, err error) {
	dir, err := f.Dir(name)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(f.Path, deletedFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of deleted spaces: %w", err)
	}
	aside = filepath.Join(folder, name+suffix)
	return aside, move(dir, aside)
}

// Retire sets aside what a server kept in the directory of a space whose database has it no more: its audit log. The rest is removed.
func (f Folder) Retire(name string, now time.Time) error {
	aside, err := f.setAside(name, "@"+now.UTC().Format(deletedLayout)+retired)
	if err != nil {
		return err
	}
	files, err := os.ReadDir(aside)
	for _, file := range files {
		if filepath.Join(aside, file.Name()) != owner.AuditPath(aside) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(aside, file.Name())))
		}
	}
	return err
}

// Restore brings back the latest deleted space with a name, under that name or another.
func (f Folder) Restore(name, to string) (dir string, err error) {
	if err := f.checkNew(to); err != nil {
		return "", err
	}
	list, err := f.Deleted()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(s Space) bool { return s.Name == name })
	if i < 0 {
		return "", fmt.Errorf("deleted space %.80q in %s: %w", name, f.Path, ErrNone)
	}
	dir = filepath.Join(f.Path, to)
	return dir, move(list[i].Dir, dir)
}

// move renames a data directory that no process has open, and keeps others from opening it meanwhile.
func move(from, to string) error {
	lock, err := owner.AcquireLock(from)
	if err != nil {
		return err
	}
	defer lock.Close()
	if runtime.GOOS == "windows" { // where nothing that is open is renamed
		lock.Close()
	}
	if err := durable.Place(from, to); err != nil {
		return fmt.Errorf("move the space %s: %w", filepath.Base(from), err)
	}
	return durable.SyncDir(filepath.Dir(from))
}
