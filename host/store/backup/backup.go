// Package backup stores a space as a folder of parts, a full one and its increments, or as a single file.
//
// A part gets its name once it is complete and synced, and is valid once the manifest lists it: an interrupted backup
// leaves the folder unchanged.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/alcove-memory/alcove/host/store/sealing"
)

// Source writes a part: a space, or its changes since a base, as Write does.
type Source func(ctx context.Context, since Base, w io.Writer) error

// Writer writes backups. The zero value encrypts nothing.
type Writer struct{ Sealer *sealing.Sealer }

// Full is Writer.Full without encryption.
func Full(ctx context.Context, dir string, from Source, now time.Time) (Part, error) {
	return Writer{}.Full(ctx, dir, from, now)
}

// Increment is Writer.Increment without encryption.
func Increment(ctx context.Context, dir string, from Source, now time.Time) (Part, error) {
	return Writer{}.Increment(ctx, dir, from, now)
}

// ToFile is Writer.ToFile without encryption.
func ToFile(ctx context.Context, path string, from Source, now time.Time) (Part, error) {
	return Writer{}.ToFile(ctx, path, from, now)
}

// Full writes a full backup to a folder, and then removes the parts of an earlier backup of the same space.
func (w Writer) Full(ctx context.Context, dir string, from Source, now time.Time) (Part, error) {
	old, err := ReadManifest(dir)
	if err != nil && !errors.Is(err, ErrNone) && !errors.Is(err, ErrBroken) {
		return Part{}, err
	}
	f := &folder{dir: dir, before: old, now: now, sealer: w.Sealer}
	p, err := f.add(ctx, Manifest{}, from, func(p Part) error { return sameSpace(dir, old, p) })
	if err == nil {
		err = f.removeOthers(p)
	}
	if err != nil {
		return p, fmt.Errorf("back up: %w", err)
	}
	return p, nil
}

// ErrOccupied means that the destination has the backup of another space, which a full backup would remove.
var ErrOccupied = errors.New("it has the backup of another store, which would be removed: choose another place, or delete that backup first")

func sameSpace(dir string, old Manifest, p Part) error {
	if !old.SameSpace(p) {
		return fmt.Errorf("into %s: %w", dir, ErrOccupied)
	}
	return nil
}

// SameSpace reports whether a part is of the space that a backup is of, if it is of any.
func (m Manifest) SameSpace(p Part) bool {
	root := m.Base().History.Root()
	return root == "" || root == p.History.Root()
}

// ErrUnchanged means that there is nothing to add to a backup.
var ErrUnchanged = errors.New("nothing changed since the newest part")

// Increment adds a part with the changes since the newest part. With ErrUnchanged it returns that part, and adds none.
func (w Writer) Increment(ctx context.Context, dir string, from Source, now time.Time) (Part, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return Part{}, err
	}
	if len(m.Parts) == 0 {
		return Part{}, fmt.Errorf("%w in %s: make a full one first", ErrNone, dir)
	}
	f := &folder{dir: dir, before: m, now: now, sealer: w.Sealer}
	if err := w.seals(m, dir); err != nil {
		return Part{}, err
	}
	last := m.Parts[len(m.Parts)-1]
	p, err := f.add(ctx, m, from, func(p Part) error { return p.follows(last) })
	if errors.Is(err, ErrUnchanged) {
		return last, err
	}
	if err != nil {
		return p, fmt.Errorf("back up what changed since version %d: %w", m.Base().Version, err)
	}
	return p, nil
}

// seals checks that parts after encrypted ones are encrypted, too.
func (w Writer) seals(m Manifest, place string) error {
	if len(m.Parts) > 0 && m.Parts[len(m.Parts)-1].Sealed && w.Sealer == nil {
		return fmt.Errorf("the backup in %s is encrypted, and so must its increments be: give the recipients or the passphrase again", place)
	}
	return nil
}

// Next writes the part that follows those of a manifest, a full one if it has none, to a file, syncs it and closes it. place is named in
// errors. With ErrUnchanged the part adds nothing.
func (w Writer) Next(ctx context.Context, f *os.File, m Manifest, place string, from Source, now time.Time) (Part, error) {
	if err := w.seals(m, place); err != nil {
		return Part{}, errors.Join(err, f.Close())
	}
	p, err := writePart(ctx, f, w.Sealer, m.Base(), from, now)
	if err == nil && len(m.Parts) > 0 {
		err = p.follows(m.Parts[len(m.Parts)-1])
	}
	if err == nil && p.repeats(m.Parts) {
		err = ErrUnchanged
	}
	return p, err
}

// writePart writes a part to a file, syncs it and closes it.
func writePart(ctx context.Context, f *os.File, by *sealing.Sealer, since Base, from Source, now time.Time) (Part, error) {
	w, err := newPartFile(f, by)
	if err != nil {
		return Part{}, err
	}
	if err := w.finish(from(ctx, since, w)); err != nil {
		return Part{}, err
	}
	p := w.parser.part()
	p.Made, p.Sealed = now.UTC(), by != nil
	if p.Since != since.Version {
		return p, fmt.Errorf("an increment from version %d was given instead of one from %d", p.Since, since.Version)
	}
	return p, nil
}

// part returns the manifest's description of a validated part.
func (p *parser) part() Part {
	kind := "full"
	if p.header.Since.Version > 0 {
		kind = fmt.Sprintf("from-%012d", p.header.Since.Version)
	}
	return Part{
		File:  fmt.Sprintf("%s-to-%012d-%s%s", kind, p.header.Until.Version, p.end.SHA256[:8], extension),
		Since: p.header.Since.Version, SinceTime: p.header.Since.Time, Until: p.header.Until.Version, UntilTime: p.header.Until.Time,
		History: p.header.Until.History, Pieces: p.end.Pieces, Bytes: p.bytes, SHA256: p.end.SHA256, Blobs: p.blobs.carried, Files: p.files.list,
		State: p.header.Until.State,
	}
}

// makeFolder creates a folder and syncs its parent.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

// syncFolder syncs a folder's entries. A folder that this user cannot read is skipped.
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
