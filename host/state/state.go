// Package state keeps the documents of a space: keys, grants, modules and embedders. They are files of its data directory, and, where the
// store is a database, rows as well, so that they follow the space to the next server.
//
// A file and its row differ after a crash, while another server led the space, and when somebody edited the file. The directory records
// what both had in common last: a row that changed since is newer, and replaces the file; a file that alone changed was edited.
package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	recordFile   = "documents.json" // what files and rows had in common
	recordLimit  = 16 << 20         // bytes
	editedFolder = "edited"         // in store.SetAside, for edited files that a newer row replaced
)

// Options configure Open. Dir and Driver are required.
type Options struct {
	Dir    string
	Driver store.Driver // without store.Documented, documents are files alone
	// Files are the documents, as paths in the directory with slashes, and Folders those of which every file is one.
	Files, Folders []string
	// Server are those of Files that the server alone writes: changes of theirs that did not reach the database give way to a newer row.
	Server []string
	// Replace replaces a file by a newer row, with what has to be done beside; nil data removes it. Nil: the function of that name does.
	Replace func(name string, data []byte) error
	Clock   func() time.Time
	Logger  *slog.Logger
}

// Documents are the documents of a space. Its methods may be called concurrently.
type Documents struct {
	o    Options
	from store.Documented // nil: they are files alone

	mu       sync.Mutex
	to       store.Documenting // nil: the space is not open yet
	common   map[string]common // by name
	revision map[string]uint64 // of rows, by name
}

// common is what a file and its row had in common.
type common struct {
	Revision uint64 `json:"revision"`
	Digest   string `json:"sha256,omitempty"` // empty: there is no file
}

// Open brings the files of a directory up to date, before its space is opened.
func Open(ctx context.Context, o Options) (*Documents, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	d := &Documents{o: o, common: map[string]common{}, revision: map[string]uint64{}}
	if d.o.Replace == nil {
		d.o.Replace = func(name string, data []byte) error { return Replace(d.path(name), data) }
	}
	d.from, _ = o.Driver.(store.Documented)
	if d.from == nil {
		return d, nil
	}
	if err := d.readRecord(); err != nil {
		return nil, err
	}
	rows, err := d.from.Documents(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := d.pull(ctx, row); err != nil {
			return nil, err
		}
	}
	return d, d.writeRecord()
}

// pull brings the file of a row up to date, unless it alone was changed.
func (d *Documents) pull(ctx context.Context, row store.Document) error {
	if !d.is(row.Name) || !fs.ValidPath(row.Name) {
		return fmt.Errorf("the database has a document %.200q, which this program does not know: use the newer one that made it", row.Name)
	}
	d.revision[row.Name] = row.Revision
	was, known := d.common[row.Name]
	if known && was.Revision == row.Revision {
		return nil
	}
	row, err := d.from.Document(ctx, d.o.Dir, row.Name)
	if err != nil {
		return err
	}
	d.revision[row.Name] = row.Revision
	have, err := digestOf(d.path(row.Name))
	if err != nil {
		return err
	}
	digest := digest(row)
	if have != "" && have != digest && (!known || have != was.Digest) && !slices.Contains(d.o.Server, row.Name) {
		if err := d.setAside(row.Name); err != nil {
			return err
		}
	}
	if have != digest {
		if err := d.o.Replace(row.Name, row.Data); err != nil {
			return fmt.Errorf("take %s over from the database: %w", row.Name, err)
		}
	}
	d.common[row.Name] = common{row.Revision, digest}
	return nil
}

// setAside keeps an edited file that a newer row replaces.
func (d *Documents) setAside(name string) error {
	to := filepath.Join(d.o.Dir, store.SetAside, editedFolder, d.o.Clock().UTC().Format("20060102T150405.000Z"), filepath.FromSlash(name))
	data, err := regular.Read(d.path(name), store.DocumentLimit)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = durable.WriteFile(to, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("set the edited %s aside: %w", name, err)
	}
	d.o.Logger.Warn("a file was edited here, and changed by another server of the space meanwhile: that one is in force", "file", name, "edited", to)
	return nil
}

// Replace replaces a file, durably; nil data removes it.
func Replace(path string, data []byte) error {
	if data == nil {
		return remove(path)
	}
	return write(path, data)
}

// Attach has changes kept by the engine of the open space from now on, and keeps what the files alone have.
func (d *Documents) Attach(ctx context.Context, e store.Engine) error {
	to, ok := e.(store.Documenting)
	if d.from == nil || !ok {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	names, err := d.files()
	if err != nil {
		return err
	}
	for name := range d.common {
		names[name] = true
	}
	for name := range names {
		if err := d.push(ctx, to, name); err != nil {
			return err
		}
	}
	d.to = to
	return d.writeRecord()
}

// Copy copies the documents of a directory to where put keeps them, and records what both have in common.
func Copy(ctx context.Context, o Options, put func(context.Context, store.Document) (revision uint64, err error)) error {
	d := &Documents{o: o, common: map[string]common{}}
	names, err := d.files()
	if err != nil {
		return err
	}
	for name := range names {
		data, err := regular.Read(d.path(name), store.DocumentLimit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the document %s: %w", name, err)
		}
		row := store.Document{Name: name, Data: data}
		if row.Revision, err = put(ctx, row); err != nil {
			return err
		}
		d.common[name] = common{row.Revision, digest(row)}
	}
	return d.writeRecord()
}

// push keeps a file that alone was changed.
func (d *Documents) push(ctx context.Context, to store.Documenting, name string) error {
	have, err := digestOf(d.path(name))
	if err != nil {
		return err
	}
	if was, known := d.common[name]; known && was.Digest == have || !known && have == "" {
		return nil
	}
	row := store.Document{Name: name, Revision: d.revision[name], Removed: have == ""}
	if have != "" {
		if row.Data, err = regular.Read(d.path(name), store.DocumentLimit); err != nil {
			return fmt.Errorf("read the document %s: %w", name, err)
		}
	}
	if row.Revision, err = to.PutDocument(ctx, row); err != nil {
		return err
	}
	d.revision[name], d.common[name] = row.Revision, common{row.Revision, digest(row)}
	return nil
}

// files returns the names of the documents that may be files.
func (d *Documents) files() (map[string]bool, error) {
	names := map[string]bool{}
	for _, name := range d.o.Files {
		names[name] = true
	}
	var err error
	for _, folder := range d.o.Folders {
		err = errors.Join(err, fs.WalkDir(os.DirFS(d.o.Dir), folder, func(name string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && e.Type().IsRegular() && d.is(name) {
				names[name] = true
			}
			return err
		}))
	}
	if err != nil {
		return nil, fmt.Errorf("list the documents of %s: %w", d.o.Dir, err)
	}
	return names, nil
}

// Write replaces a file of the directory, durably, and its row before.
func (d *Documents) Write(path string, data []byte) error {
	return d.change(path, store.Document{Data: data}, func() error { return write(path, data) })
}

// Remove removes a file of the directory, and its row before. Removing one that does not exist succeeds.
func (d *Documents) Remove(path string) error {
	return d.change(path, store.Document{Removed: true}, func() error { return remove(path) })
}

// Follow reports whether documents follow the space to other servers, by way of a database.
func (d *Documents) Follow() bool { return d.from != nil }

// Edited keeps a file of the directory that somebody edited.
func (d *Documents) Edited(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.to == nil {
		return nil
	}
	name, err := d.name(path)
	if err == nil {
		err = d.push(context.Background(), d.to, name)
	}
	if err == nil {
		err = d.writeRecord()
	}
	return err
}

// name returns the name of the document at a path.
func (d *Documents) name(path string) (string, error) {
	name, err := filepath.Rel(d.o.Dir, path)
	if name = filepath.ToSlash(name); err == nil && !d.is(name) {
		err = fmt.Errorf("%s is not a document", name)
	}
	return name, err
}

// change changes a row, then its file. After a crash in between, the row is newer.
func (d *Documents) change(path string, row store.Document, file func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.to == nil {
		return file()
	}
	name, err := d.name(path)
	if err != nil {
		return err
	}
	row.Name, row.Revision = name, d.revision[name]
	if row.Removed && row.Revision == 0 {
		return file()
	}
	if row.Revision, err = d.to.PutDocument(context.Background(), row); err != nil {
		return err
	}
	d.revision[row.Name] = row.Revision
	if err := file(); err != nil {
		return err
	}
	d.common[row.Name] = common{row.Revision, digest(row)}
	return d.writeRecord()
}

func (d *Documents) path(name string) string { return filepath.Join(d.o.Dir, filepath.FromSlash(name)) }

func (d *Documents) readRecord() error {
	data, err := regular.Read(filepath.Join(d.o.Dir, recordFile), recordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &d.common)
	}
	if err != nil {
		return fmt.Errorf("read what the directory and its database have in common: %w: remove %s, and the database's documents are in force", err, filepath.Join(d.o.Dir, recordFile))
	}
	return nil
}

func (d *Documents) writeRecord() error {
	data, err := json.MarshalIndent(d.common, "", "\t")
	if err == nil {
		err = durable.WriteFile(filepath.Join(d.o.Dir, recordFile), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what the directory and its database have in common: %w", err)
	}
	return nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(path, data, 0o600)
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// digest returns the digest of a row; empty if it was removed.
func digest(row store.Document) string {
	if row.Removed {
		return ""
	}
	sum := sha256.Sum256(row.Data)
	return hex.EncodeToString(sum[:])
}

// digestOf returns the digest of a file; empty if there is none.
func digestOf(path string) (string, error) {
	data, err := regular.Read(path, store.DocumentLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return digest(store.Document{Data: data}), nil
}

// is reports whether a path in the directory is a document. Files whose names begin with a dot are being written.
func (d *Documents) is(name string) bool {
	return slices.Contains(d.o.Files, name) || slices.ContainsFunc(d.o.Folders, func(folder string) bool {
		return strings.HasPrefix(name, folder+"/") && !strings.HasPrefix(path.Base(name), ".")
	})
}
