package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/postgres"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// in returns the driver of another space of the database.
func in(d *postgres.Driver, name string) *postgres.Driver {
	return must.Get(d.In(name)).(*postgres.Driver)
}

// rows counts what each table has of all spaces but the driver's own.
func rows(t *testing.T, url, but string) map[string]int {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), url))
	defer c.Close(context.Background())
	tables := must.Get(pgx.CollectRows(must.Get(c.Query(t.Context(), `
SELECT table_name FROM information_schema.columns WHERE table_schema = 'alcove' AND column_name = 'space' AND table_name <> 'former_names'`)), pgx.RowTo[string]))
	if len(tables) < 10 {
		t.Fatalf("got the tables %q, want those of a space", tables)
	}
	left := map[string]int{}
	for _, table := range tables {
		n := 0
		must.Do(t, c.QueryRow(t.Context(), `SELECT count(*) FROM alcove.`+table+` WHERE space NOT IN (SELECT space FROM alcove.names WHERE name = $1)`, but).Scan(&n))
		if n > 0 {
			left[table] = n
		}
	}
	return left
}

func isFormer(err error, to string) bool {
	var was *store.FormerError
	return errors.As(err, &was) && was.To == to
}

func TestARenamedSpaceKeepsWhatItHasAndFencesWhatHadItOpen(t *testing.T) {
	ctx, d := t.Context(), driver(t, database(t))
	table, work := servers(t, d), in(d, "work")
	must.Do(t, table.Add(ctx, "work"))
	if err := table.Add(ctx, "work"); !errors.Is(err, store.ErrExists) {
		t.Errorf("create it again: got %v, want ErrExists", err)
	}
	must.Do(t, table.Add(ctx, "taken"))
	e := open(t, work, t.TempDir(), store.Options{})
	defer e.Close()
	must.Do(t, put(ctx, e, "k", "walnut"))
	must.Get(e.(store.Documenting).PutDocument(ctx, store.Document{Name: "keys.json", Data: []byte("keys")}))
	before := must.Get(table.Identify(ctx, []string{"work"}, nil))
	if err := table.Rename(ctx, "work", "taken", ""); !errors.Is(err, store.ErrExists) {
		t.Errorf("rename it to a name that is taken: got %v, want ErrExists", err)
	}
	must.Do(t, put(ctx, e, "k", "walnut tree")) // that took nothing
	for name, want := range map[string]string{"": "cannot be the name", "a/b": "cannot be the name", strings.Repeat("x", 64): "cannot be the name"} {
		if err := table.Rename(ctx, "work", name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rename it to %q: got %v, want an error with %q", name, err, want)
		}
	}
	must.Do(t, table.Rename(ctx, "work", "job", ""))
	if err := put(ctx, e, "k", "stale"); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a write of what had it open: got %v, want ErrFenced", err)
	}
	job := open(t, in(d, "job"), t.TempDir(), store.Options{})
	defer job.Close()
	if got := get(t, job, "k"); got != "walnut tree" {
		t.Errorf("by its new name: got %q, want what was stored", got)
	}
	if got := must.Get(in(d, "job").Document(ctx, "", "keys.json")); string(got.Data) != "keys" {
		t.Errorf("its documents: got %q, want the keys", got.Data)
	}
	if after := must.Get(table.Identify(ctx, nil, []string{before[0].Identity})); len(after) != 1 || after[0].Name != "job" {
		t.Errorf("who has its identity: got %v, want job", after)
	}
	if _, err := work.Open(ctx, t.TempDir(), store.Options{}); !isFormer(err, "job") {
		t.Errorf("open it by its former name: got %v, want that it is job now", err)
	}
	if _, err := table.Lead(ctx, "work", "a"); !isFormer(err, "job") {
		t.Errorf("lead it by its former name: got %v, want that it is job now", err)
	}
	must.Do(t, table.Rename(ctx, "job", "post", ""))
	if err := table.Former(ctx, "work"); !isFormer(err, "post") {
		t.Errorf("after another rename: got %v, want that it is post now", err)
	}
	must.Do(t, table.Add(ctx, "work"))
	if err := table.Former(ctx, "work"); err != nil {
		t.Errorf("once somebody asked for the name: got %v, want none", err)
	}
}

func TestADeletedSpaceIsGoneAtOnceAndItsRowsInTime(t *testing.T) {
	ctx, url := t.Context(), database(t)
	d := driver(t, url)
	table, work := servers(t, d), in(d, "work")
	own := open(t, d, t.TempDir(), store.Options{})
	defer own.Close()
	must.Do(t, put(ctx, own, "k", "stays"))
	e := open(t, work, t.TempDir(), store.Options{})
	defer e.Close()
	for i := range 40 { // and blobs, notes, documents
		must.Do(t, put(ctx, e, fmt.Sprint("k", i), "walnut"))
	}
	must.Get(e.PutBlob(ctx, "b", strings.NewReader(strings.Repeat("x", 3<<20))))
	must.Get(e.(store.Documenting).PutDocument(ctx, store.Document{Name: "keys.json", Data: []byte("keys")}))
	if list := must.Get(table.Spaces(ctx)); len(list) != 2 || list[1].Name != "work" || list[1].Bytes < 3<<20 || list[1].Version != 40 || list[1].Written.IsZero() {
		t.Errorf("the spaces: got %+v, want work with its size", list)
	}
	must.Get(table.Renew(ctx, store.Server{ID: "a", Address: "10.0.0.1:1"}, long))
	must.Get(table.Lead(ctx, "work", "a"))
	if list := must.Get(table.Spaces(ctx)); list[1].Leader != "10.0.0.1:1" {
		t.Errorf("the spaces: got %+v, want the leader of work", list)
	}
	for what, do := range map[string]func(server string) error{
		"delete": func(server string) error { return table.Delete(ctx, "work", server) },
		"rename": func(server string) error { return table.Rename(ctx, "work", "job", server) },
	} {
		for _, server := range []string{"", "b"} {
			if err := do(server); !errors.As(err, new(*store.LedError)) {
				t.Errorf("%s it by %q while a leads it: got %v, want a LedError", what, server, err)
			}
		}
	}
	must.Do(t, table.Delete(ctx, "work", "a"))
	if err := table.Delete(ctx, "work", "a"); !isFormer(err, "") {
		t.Errorf("delete it again: got %v, want that it was deleted", err)
	}
	if err := put(ctx, e, "k", "stale"); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a write of what had it open: got %v, want ErrFenced", err)
	}
	if there := must.Get(work.Exists("")); there {
		t.Error("a deleted space: got that it exists, want not")
	}
	if _, err := work.Open(ctx, t.TempDir(), store.Options{}); !isFormer(err, "") {
		t.Errorf("open it: got %v, want that it was deleted", err)
	}
	if list := must.Get(table.Spaces(ctx)); len(list) != 1 {
		t.Errorf("the spaces: got %+v, want one", list)
	}
	again, stop := context.WithCancel(ctx)
	stop() // who erases it was killed
	if _, err := table.Sweep(again); err == nil {
		t.Error("an interrupted sweep: got no error, want one")
	}
	await.That(t, "its rows are gone", func() bool { return !must.Get(table.Sweep(ctx)) })
	if left := rows(t, url, d.Space()); len(left) > 0 {
		t.Errorf("rows of the deleted space: got %v, want none", left)
	}
	if got := get(t, own, "k"); got != "stays" {
		t.Errorf("another space: got %q, want what it had", got)
	}
	must.Do(t, table.Add(ctx, "work"))
	fresh := open(t, work, t.TempDir(), store.Options{})
	defer fresh.Close()
	if head := must.Get(fresh.Head(ctx)); head.Version != 0 {
		t.Errorf("a space with the name of a deleted one: got version %d, want an empty one", head.Version)
	}
}
