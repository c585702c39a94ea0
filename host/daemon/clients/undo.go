package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

// Journal keeps what setup wrote, in a file of the user's.
type Journal struct{ Path string }

// longestJournal is how long the file may be, in bytes.
const longestJournal = 64 << 20

// record is what setup wrote to a file.
type record struct {
	Client  string    `json:"client"`
	Scope   Scope     `json:"scope"`
	Folder  string    `json:"folder,omitempty"`
	Path    string    `json:"path"`
	Existed bool      `json:"existed"`          // the file, before
	Backup  string    `json:"backup,omitempty"` // of the file before; absent: it is not known what it was
	Sum     string    `json:"sum"`              // SHA-256 of what was written
	Entries []written `json:"entries"`
}

// journalFile is the journal's file.
type journalFile struct {
	Version int      `json:"version"`
	Files   []record `json:"files"`
}

func (j *Journal) read() (journalFile, error) {
	data, err := regular.Read(j.Path, longestJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return journalFile{Version: 1}, nil
	}
	var f journalFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err == nil && f.Version != 1 {
		err = fmt.Errorf("it is of version %d, not 1", f.Version)
	}
	if err != nil {
		return f, fmt.Errorf("read %s, which tells what setup wrote: %w", j.Path, err)
	}
	return f, nil
}

func (j *Journal) write(f journalFile) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err == nil {
		err = durable.WriteFile(j.Path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s, which tells what setup wrote: %w", j.Path, err)
	}
	return nil
}

// Patience with another setup that changes the journal.
const (
	lockPatience = 10 * time.Second
	lockPause    = 10 * time.Millisecond
)

// change changes the journal, while no other process does.
func (j *Journal) change(do func(*journalFile)) (err error) {
	if err := os.MkdirAll(filepath.Dir(j.Path), 0o700); err != nil {
		return fmt.Errorf("write %s, which tells what setup wrote: %w", j.Path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	lock := flock.New(j.Path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return fmt.Errorf("lock %s, which tells what setup wrote: %w: is another alcove setup stuck?", j.Path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	f, err := j.read()
	if err != nil {
		return err
	}
	do(&f)
	return j.write(f)
}

// add records a change.
func (j *Journal) add(c Change, backup string) error {
	return j.change(func(f *journalFile) { f.add(c, backup) })
}

func (j *Journal) remove(r record) error {
	return j.change(func(f *journalFile) {
		f.Files = slices.DeleteFunc(f.Files, func(o record) bool { return o.Path == r.Path && o.Client == r.Client })
	})
}

// add adds a change. What an earlier change of the file replaced is what undo brings back.
func (f *journalFile) add(c Change, backup string) {
	r := record{c.Client, c.scope, c.folder, c.Path, c.Before != nil, backup, sum(c.After), c.entries}
	i := slices.IndexFunc(f.Files, func(r record) bool { return r.Path == c.Path && r.Client == c.Client })
	if i < 0 {
		f.Files = append(f.Files, r)
		return
	}
	old := f.Files[i]
	r.Existed, r.Backup = old.Existed, old.Backup
	if old.Sum != sum(c.Before) { // its owner has edited it between
		r.Existed, r.Backup = true, ""
	}
	r.Entries = old.Entries
	for _, w := range c.entries {
		at := slices.IndexFunc(r.Entries, func(o written) bool { return o.same(w) })
		if at < 0 {
			r.Entries = append(r.Entries, w)
			continue
		}
		if o := &r.Entries[at]; c.holds(*o) { // else its owner removed it, and undo brings nothing back
			o.Value = w.Value
		} else {
			r.Entries[at] = w
		}
	}
	f.Files[i] = r
}

// same reports whether two entries are one.
func (w written) same(o written) bool {
	return w.Element == o.Element && slices.Equal(w.Path, o.Path) && (!w.Element || equal(w.Value, o.Value))
}

// holds reports whether the file had an entry before the change.
func (c Change) holds(w written) bool {
	v, err := present(w.Format, c.Before, w.Path)
	return err == nil && v != nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// Undo is what takes back what setup wrote: in the user's files, or in those of a project, and of the clients that are named, or of all. A
// file that nobody has edited since becomes what it was; of another, the entries alone are taken back.
func (j *Journal) Undo(m Machine, s Scope, names []string) (changes []Change, err error) {
	f, err := j.read()
	if err != nil {
		return nil, err
	}
	for _, r := range f.Files {
		if r.Scope != s || s == Project && r.Folder != m.Folder || len(names) > 0 && !slices.Contains(names, r.Client) {
			continue
		}
		change, errFile := r.undo()
		if err = errors.Join(err, errFile); errFile == nil {
			changes = append(changes, change)
		}
	}
	return changes, err
}

func (r record) undo() (Change, error) {
	change := Change{Client: r.Client, Path: r.Path, scope: r.Scope, mode: 0o600, undoes: &r}
	info, err := os.Stat(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return change, nil
	}
	if err == nil {
		change.mode = info.Mode().Perm()
		change.Before, err = regular.Read(r.Path, edit.Most)
	}
	if err != nil {
		return change, fmt.Errorf("undo: %w", err)
	}
	change.Before = append([]byte{}, change.Before...)
	if sum(change.Before) == r.Sum && r.asBefore(&change) {
		return change, nil
	}
	change.After = change.Before
	for _, w := range slices.Backward(r.Entries) {
		if err := change.takeBack(w); err != nil {
			return change, change.refused(Client{Name: r.Client}, err)
		}
	}
	return change, nil
}

// asBefore makes the change to what the file was, if that is known.
func (r record) asBefore(c *Change) bool {
	if !r.Existed {
		c.After, c.exact = nil, true
		return true
	}
	if r.Backup == "" {
		return false
	}
	data, err := regular.Read(r.Backup, edit.Most)
	if err != nil {
		return false // the backup is gone: the entries are taken back
	}
	c.After, c.exact = append([]byte{}, data...), true
	return true
}

// takeBack removes an entry, or gives it the value that it had.
func (c *Change) takeBack(w written) (err error) {
	path := w.Path
	if w.Element {
		list, err := elements(c.After, path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(raw json.RawMessage) bool { return equal(raw, w.Value) || ours(raw, c.Client) })
		if i < 0 {
			return nil
		}
		path = append(slices.Clone(path), strconv.Itoa(i))
	}
	if w.Before == nil {
		c.After, err = w.Format.Remove(c.After, path, w.Made)
		return err
	}
	c.After, _, err = w.Format.Set(c.After, path, w.Before)
	return err
}

// equal reports whether two values are the same JSON.
func equal(a, b json.RawMessage) bool {
	var x, y any
	return bytes.Equal(a, b) || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
