package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/postgres"
)

func key(name string) store.Key { return store.Key{Namespace: "n", Collection: "c", Name: name} }

func put(ctx context.Context, e store.Engine, name, value string) error {
	_, err := e.Commit(ctx, store.Batch{Writes: []store.Write{{Branch: 1, Key: key(name), Value: []byte(value)}}})
	return err
}

func get(t *testing.T, e store.Engine, name string) string {
	t.Helper()
	found, err := e.GetAt(t.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, []store.Key{key(name)})
	if err != nil {
		t.Fatal(err)
	}
	return string(found[0].Value)
}

// Each stale engine writes right after another opened, at the same head, and has been told nothing: nothing but the epoch is in its way.
func TestAnEngineWhoseSpaceWasTakenOverCanWriteNothing(t *testing.T) {
	ctx, url := t.Context(), database(t)
	purger := func(e store.Engine) store.Purger { return e.(store.Purger) }
	stale := []byte("stale")
	for what, write := range map[string]func(e store.Engine) error{
		"a commit":  func(e store.Engine) error { return put(ctx, e, "k", "stale") },
		"a trim":    func(e store.Engine) error { return e.Trim(ctx, 1, 2, nil) },
		"a reclaim": func(e store.Engine) error { return e.Reclaim(ctx, 1) },
		"a purge": func(e store.Engine) error {
			return purger(e).Replace(ctx, []store.Replacement{{Branch: 1, Key: key("k"), Version: 2, Value: stale}})
		},
		"fewer notes":  func(e store.Engine) error { return e.DropNotes(ctx, []uint64{1}) },
		"purged notes": func(e store.Engine) error { return purger(e).PurgeNotes(ctx, []uint64{1}) },
		"a blob":       func(e store.Engine) error { _, err := e.PutBlob(ctx, "b", bytes.NewReader(stale)); return err },
		"no blob":      func(e store.Engine) error { return e.DropBlob(ctx, "b") },
	} {
		t.Run(what, func(t *testing.T) {
			at := url + "&space=" + strings.ReplaceAll(what, " ", "-")
			first := open(t, driver(t, at), t.TempDir(), store.Options{})
			defer first.Close()
			for _, value := range []string{"1", "2"} {
				if err := put(ctx, first, "k", value); err != nil {
					t.Fatal(err)
				}
			}
			second := open(t, driver(t, at), t.TempDir(), store.Options{})
			defer second.Close()
			if err := write(first); !errors.Is(err, store.ErrFenced) {
				t.Errorf("written: %v", err)
			}
			if err := first.(store.WriteChecker).Writable(); !errors.Is(err, store.ErrFenced) {
				t.Errorf("the first engine tells: %v", err)
			}
			if got := get(t, second, "k"); got != "2" {
				t.Errorf("the second sees %q", got)
			}
			if err := put(ctx, second, "k", "3"); err != nil {
				t.Fatal(err)
			}
			if list, _, err := second.Versions(ctx, store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{}, "", 10); err != nil || len(list) != 3 {
				t.Errorf("%d versions (%v)", len(list), err)
			}
			if err := second.Check(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSpacesOfADatabaseShareNothing(t *testing.T) {
	ctx, url := t.Context(), database(t)
	var engines []store.Engine
	for i := range 3 {
		e := open(t, driver(t, fmt.Sprintf("%s&space=s%d", url, i)), t.TempDir(), store.Options{})
		defer e.Close()
		engines = append(engines, e)
	}
	for i, e := range engines {
		for range i + 1 {
			if err := put(ctx, e, "k", fmt.Sprint("of ", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, e := range engines {
		head, err := e.Head(ctx)
		if got := get(t, e, "k"); err != nil || got != fmt.Sprint("of ", i) || head.Version != uint64(i+1) {
			t.Errorf("space %d has %q at version %d (%v)", i, got, head.Version, err)
		}
	}
}

func TestNoErrorContainsAPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://me:hushed@127.0.0.1:1/none", "postgres://me:hushed@127.0.0.1:1/none?space=a/b", "postgres://me:hushed@127.0.0.1:port/none",
		"postgres://me:hush/ed@127.0.0.1/none", "postgres://me:hushed@127.0.0.1:1/none?sslmode=hushed", "mysql://me:hushed@127.0.0.1/", "postgres://me@127.0.0.1:1/none?password=hushed",
	} {
		d, err := postgres.New(url, postgres.Options{Patience: 1})
		if err == nil {
			if strings.Contains(d.String(), "hushed") {
				t.Errorf("the location is %s", d)
			}
			_, err = d.Open(t.Context(), t.TempDir(), store.Options{})
		}
		if err == nil || strings.Contains(err.Error(), "hushed") || strings.Contains(err.Error(), "hush/ed") {
			t.Errorf("opening %s has the error %v, want one without the password", strings.Split(url, ":")[0], err)
		}
	}
}
