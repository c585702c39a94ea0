package state_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/state"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// database has the documents of one space.
type database struct {
	store.Driver
	store.Engine
	rows map[string]store.Document
	last uint64
	fail error
}

func (d *database) Documents(context.Context, string) (list []store.Document, err error) {
	for _, row := range d.rows {
		row.Data = nil
		list = append(list, row)
	}
	return list, nil
}

func (d *database) Document(_ context.Context, _, name string) (store.Document, error) {
	return d.rows[name], nil
}

func (d *database) PutDocument(_ context.Context, o store.Document) (uint64, error) {
	if d.fail != nil {
		return 0, d.fail
	}
	if d.rows[o.Name].Revision != o.Revision {
		return 0, store.ErrConflict
	}
	d.last++
	o.Revision = d.last
	d.rows[o.Name] = o
	return d.last, nil
}

// directory is a data directory whose space is in a database.
type directory struct {
	t    *testing.T
	path string
	*database
}

func (d directory) file(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

func (d directory) open() *state.Documents {
	d.t.Helper()
	o := state.Options{Dir: d.path, Driver: d.database, Files: []string{"keys.json", "alcove.lock"}, Folders: []string{"families"}}
	return must.Get(state.Open(d.t.Context(), o))
}

// serve brings the directory up to date, and opens its space.
func (d directory) serve() *state.Documents {
	d.t.Helper()
	all := d.open()
	must.Do(d.t, all.Attach(d.t.Context(), d.database))
	return all
}

func (d directory) has(name, want string) {
	d.t.Helper()
	got, err := os.ReadFile(d.file(name))
	if err != nil && want != "" || string(got) != want {
		d.t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
	}
}

func (d directory) edit(name, text string) {
	d.t.Helper()
	must.Do(d.t, os.MkdirAll(filepath.Dir(d.file(name)), 0o700))
	must.Do(d.t, os.WriteFile(d.file(name), []byte(text), 0o600))
}

func two(t *testing.T) (a, b directory) {
	db := &database{rows: map[string]store.Document{}}
	return directory{t, t.TempDir(), db}, directory{t, t.TempDir(), db}
}

func TestDocumentsFollowASpaceToTheNextServer(t *testing.T) {
	a, b := two(t)
	a.edit("keys.json", "before the database had any")
	a.edit("families/one.wasm", "module")
	a.edit("other.json", "of the server alone")
	first := a.serve()
	second := b.serve()
	b.has("keys.json", "before the database had any")
	b.has("families/one.wasm", "module")
	b.has("other.json", "")
	must.Do(t, second.Write(b.file("keys.json"), []byte("changed by the second")))
	must.Do(t, second.Remove(b.file("families/one.wasm")))
	must.Do(t, second.Write(b.file("families/previous/one.json"), []byte("grant")))
	_ = first
	a.serve()
	a.has("keys.json", "changed by the second")
	a.has("families/one.wasm", "")
	a.has("families/previous/one.json", "grant")
}

func TestAFileThatWasEditedIsKept(t *testing.T) {
	a, b := two(t)
	a.edit("alcove.lock", "1")
	a.serve()
	a.edit("alcove.lock", "2") // while nobody serves
	serving := a.serve()
	a.has("alcove.lock", "2")
	a.edit("alcove.lock", "3") // while it is served
	must.Do(t, serving.Edited(a.file("alcove.lock")))
	b.serve()
	b.has("alcove.lock", "3")
}

func TestAnEditThatAnotherServerOvertookIsSetAside(t *testing.T) {
	a, b := two(t)
	a.edit("alcove.lock", "1")
	a.serve()
	must.Do(t, b.serve().Write(b.file("alcove.lock"), []byte("the second's")))
	a.edit("alcove.lock", "edited")
	a.serve()
	a.has("alcove.lock", "the second's")
	aside, err := filepath.Glob(filepath.Join(a.path, store.SetAside, "edited", "*", "alcove.lock"))
	if err != nil || len(aside) != 1 || string(must.Get(os.ReadFile(aside[0]))) != "edited" {
		t.Errorf("set aside: got %q (%v), want the edited file", aside, err)
	}
}

func TestWhatTheServerAloneWritesGivesWay(t *testing.T) {
	a, b := two(t)
	open := func(d directory) *state.Documents {
		all := must.Get(state.Open(t.Context(), state.Options{Dir: d.path, Driver: d.database, Files: []string{"sessions"}, Server: []string{"sessions"}}))
		must.Do(t, all.Attach(t.Context(), d.database))
		return all
	}
	a.edit("sessions", "1")
	open(a)
	must.Do(t, open(b).Write(b.file("sessions"), []byte("2")))
	a.edit("sessions", "1, and what was not kept")
	open(a)
	a.has("sessions", "2")
	if aside, err := os.ReadDir(filepath.Join(a.path, store.SetAside)); err == nil {
		t.Errorf("set aside: got %v, want nothing", aside)
	}
}

// A crash between the row and the file must not bring the former file back: a revoked key would hold again.
func TestAChangeWhoseFileWasNotWrittenIsInForce(t *testing.T) {
	a, _ := two(t)
	a.edit("keys.json", "1")
	a.serve()
	row := a.rows["keys.json"]
	row.Data = []byte("2")
	must.Get(a.PutDocument(t.Context(), row))
	a.serve()
	a.has("keys.json", "2")
}

func TestAChangeThatTheDatabaseRefusesChangesNoFile(t *testing.T) {
	a, _ := two(t)
	a.edit("keys.json", "1")
	all := a.serve()
	a.fail = errors.New("fenced")
	if err := all.Write(a.file("keys.json"), []byte("2")); !errors.Is(err, a.fail) {
		t.Errorf("Write: got %v, want %v", err, a.fail)
	}
	a.has("keys.json", "1")
}

func TestADocumentOutsideTheKnownOnesIsRefused(t *testing.T) {
	for _, name := range []string{"../keys.json", "owner.lock", "families", "families/../token", "/keys.json", "families/.partial"} {
		a, _ := two(t)
		a.rows[name] = store.Document{Name: name, Revision: 1, Data: []byte("x")}
		_, err := state.Open(t.Context(), state.Options{Dir: a.path, Driver: a.database, Files: []string{"keys.json"}, Folders: []string{"families"}})
		if err == nil || !strings.Contains(err.Error(), "does not know") {
			t.Errorf("a document %q: got %v, want an error", name, err)
		}
	}
}

func TestWithoutADatabaseDocumentsAreFiles(t *testing.T) {
	dir := t.TempDir()
	all := must.Get(state.Open(t.Context(), state.Options{Dir: dir, Files: []string{"keys.json"}}))
	must.Do(t, all.Attach(t.Context(), nil))
	path := filepath.Join(dir, "keys.json")
	must.Do(t, all.Write(path, []byte("1")))
	if got := string(must.Get(os.ReadFile(path))); got != "1" {
		t.Errorf("the file: got %q, want 1", got)
	}
	must.Do(t, all.Remove(path))
	if entries := must.Get(os.ReadDir(dir)); len(entries) > 0 {
		t.Errorf("the directory has %v, want nothing", entries)
	}
}
