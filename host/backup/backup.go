// Package backup keeps a space as a folder of bundles: a full one, and increments that go on from it.
//
// A part gets its name when it is whole and on the disk, and counts once the manifest names it, so an interrupted backup
// leaves the folder as it was.
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/bundle"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	manifestName = "backup.json"
	format       = 1
	manifestSize = 16 << 20 // bytes of a manifest, at most
	partial      = ".partial"
)

// Part is a bundle in the folder.
type Part struct {
	File    string    `json:"file"`
	Since   uint64    `json:"since"` // the version it goes on from; 0: it is whole
	Until   uint64    `json:"until"` // the newest version in it
	Entries int       `json:"entries"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"` // that the bundle ends with
	Made    time.Time `json:"made"`
}

// Manifest is what a folder holds: a full part and its increments, in order.
type Manifest struct {
	Alcove string `json:"alcove"` // "backup"
	Format int    `json:"format"`
	Parts  []Part `json:"parts"`
}

// Until is the newest version that a restore would have.
func (m Manifest) Until() uint64 {
	if len(m.Parts) == 0 {
		return 0
	}
	return m.Parts[len(m.Parts)-1].Until
}

// Source writes a bundle of a space, of what is newer than a version.
type Source func(ctx context.Context, since uint64, w io.Writer) error

// ErrNone says that a folder has no backup.
var ErrNone = errors.New("there is no backup")

// ReadManifest reads what a folder holds.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	f, err := os.Open(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w in %s: make a full one first", ErrNone, dir)
	}
	if err != nil {
		return m, fmt.Errorf("read the backup's manifest: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, manifestSize))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil || m.Alcove != "backup" {
		return m, fmt.Errorf("%s is not the manifest of a backup (%w)", f.Name(), err)
	}
	if m.Format != format {
		return m, fmt.Errorf("the backup has format %d and this program knows %d: use a newer program", m.Format, format)
	}
	return m, m.check()
}

// check makes sure that parts are files of the folder and go on from one another.
func (m Manifest) check() error {
	last := uint64(0)
	for i, p := range m.Parts {
		if p.File != filepath.Base(p.File) || !strings.HasSuffix(p.File, ".jsonl") {
			return fmt.Errorf("the backup's manifest names %q, which is not a part", p.File)
		}
		if p.Since != last || p.Until < p.Since || i > 0 && p.Since == 0 {
			return fmt.Errorf("part %s goes from version %d to %d and should go on from %d: make a full backup", p.File, p.Since, p.Until, last)
		}
		last = p.Until
	}
	return nil
}

// Full makes a full backup in a folder, and then removes the parts of an earlier one.
func Full(ctx context.Context, dir string, from Source, now time.Time) (Part, error) {
	old, err := ReadManifest(dir)
	if err != nil && !errors.Is(err, ErrNone) {
		return Part{}, err
	}
	p, err := add(ctx, dir, Manifest{}, 0, from, now)
	if err != nil {
		return p, fmt.Errorf("back up: %w", err)
	}
	for _, o := range old.Parts {
		if o.File != p.File {
			err = errors.Join(err, os.Remove(filepath.Join(dir, o.File)))
		}
	}
	return p, err
}

// Increment adds what changed since the newest part.
func Increment(ctx context.Context, dir string, from Source, now time.Time) (Part, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return Part{}, err
	}
	p, err := add(ctx, dir, m, m.Until(), from, now)
	if err != nil {
		return p, fmt.Errorf("back up what changed since version %d: %w", m.Until(), err)
	}
	return p, nil
}

// add writes a part and names it in the manifest.
func add(ctx context.Context, dir string, m Manifest, since uint64, from Source, now time.Time) (Part, error) {
	if err := makeFolder(dir); err != nil {
		return Part{}, err
	}
	f, err := os.CreateTemp(dir, "*"+partial)
	if err != nil {
		return Part{}, err
	}
	err = from(ctx, since, &steady{f: f})
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return Part{}, errors.Join(err, os.Remove(f.Name()))
	}
	p, err := describe(ctx, f.Name(), now)
	if err != nil {
		return p, errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, p.File)); err != nil {
		return p, err
	}
	if err := syncFolder(dir); err != nil { // before anything names the part
		return p, err
	}
	m.Alcove, m.Format, m.Parts = "backup", format, append(slices.Clone(m.Parts), p)
	return p, writeManifest(dir, m)
}

// steady syncs a file every now and then: one long sync at the end would keep the store's own commits waiting.
type steady struct {
	f       *os.File
	written int
}

const syncEvery = 8 << 20 // bytes

func (s *steady) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	if s.written += n; err == nil && s.written >= syncEvery {
		s.written = 0
		err = s.f.Sync()
	}
	return n, err
}

// describe reads a part back, which also proves that it can be.
func describe(ctx context.Context, path string, now time.Time) (Part, error) {
	f, err := os.Open(path)
	if err != nil {
		return Part{}, err
	}
	defer f.Close()
	s, err := bundle.Read(ctx, f, nil, nil)
	if err != nil {
		return Part{}, err
	}
	kind := "full"
	if s.Since > 0 {
		kind = fmt.Sprintf("from-%012d", s.Since)
	}
	name := fmt.Sprintf("%s-to-%012d-%s.jsonl", kind, s.Until, s.SHA256[:8])
	return Part{File: name, Since: s.Since, Until: s.Until, Entries: s.Entries, Bytes: s.Bytes, SHA256: s.SHA256, Made: now.UTC()}, nil
}

func writeManifest(dir string, m Manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, manifestName+"*"+partial)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, manifestName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(dir) // or the manifest before it, whose parts may be removed now, would be back after a power failure
}

// makeFolder makes a folder, whose name is on the disk too.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

// syncFolder makes sure that the names in a folder are on the disk. A folder that this user may only search stays as it
// is.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read gives the pieces of all parts, in order. They count only if there is no error. progress is told how many bytes
// were read of how many; it may be nil.
func Read(ctx context.Context, dir string, add func(store.Piece) error, progress func(done, all int64)) (Manifest, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return m, err
	}
	var done, all int64
	for _, p := range m.Parts {
		all += p.Bytes
	}
	for _, p := range m.Parts {
		tell := func(n int64) {
			if progress != nil {
				progress(done+n, all)
			}
		}
		if err := readPart(ctx, dir, p, add, tell); err != nil {
			return m, fmt.Errorf("read %s: %w", p.File, err)
		}
		done += p.Bytes
		tell(0)
	}
	return m, nil
}

func readPart(ctx context.Context, dir string, p Part, add func(store.Piece) error, progress func(int64)) error {
	f, err := os.Open(filepath.Join(dir, p.File))
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := bundle.Read(ctx, f, add, progress)
	if err != nil {
		return err
	}
	if s.SHA256 != p.SHA256 || s.Since != p.Since || s.Until != p.Until {
		return fmt.Errorf("it is another bundle than the manifest says: from version %d to %d with the sum %s", s.Since, s.Until, s.SHA256)
	}
	return nil
}
