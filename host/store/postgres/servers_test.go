package postgres_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/postgres"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

func servers(t *testing.T, d *postgres.Driver) store.Catalog {
	t.Helper()
	s := must.Get(d.Servers(t.Context()))
	t.Cleanup(func() { s.Close() })
	return s
}

const long = time.Hour

func TestOneServerLeadsASpaceUntilItReleasesItOrIsGone(t *testing.T) {
	ctx, table := t.Context(), servers(t, driver(t, database(t)))
	a, b := store.Server{ID: "a", Address: "10.0.0.1:1"}, store.Server{ID: "b", Address: "10.0.0.2:1"}
	must.Get(table.Renew(ctx, a, long))
	must.Get(table.Renew(ctx, b, long))
	if l := must.Get(table.Lead(ctx, "work", "a")); l.Server != "a" || l.Address != a.Address || l.Gone {
		t.Errorf("the first to ask: got the lease %+v, want a's", l)
	}
	if l := must.Get(table.Lead(ctx, "work", "b")); l.Server != "a" {
		t.Errorf("while a runs: got the lease %+v, want a's", l)
	}
	must.Do(t, table.Release(ctx, "work", "b")) // not its own
	if led := ledBy(t, table, a, time.Millisecond); !slices.Equal(led, []string{"work"}) {
		t.Errorf("a leads %q, want work", led)
	}
	await.That(t, "a is gone", func() bool { return must.Get(table.Lead(ctx, "work", "b")).Server == "b" })
	if led := ledBy(t, table, a, long); len(led) > 0 {
		t.Errorf("a, which renewed too late, leads %q, want nothing", led)
	}
	must.Do(t, table.Release(ctx, "work", "b"))
	if l := must.Get(table.Lead(ctx, "work", "a")); l.Server != "a" {
		t.Errorf("after a release: got the lease %+v, want a's", l)
	}
	if all := must.Get(table.List(ctx)); len(all.Servers) != 2 || len(all.Leases) != 1 || all.Leases[0].Space != "work" {
		t.Errorf("got %+v, want two servers and the lease of work", all)
	}
	must.Do(t, table.Leave(ctx, "a"))
	if l := must.Get(table.Lead(ctx, "work", "b")); l.Server != "b" {
		t.Errorf("after a left: got the lease %+v, want b's", l)
	}
}

// ledBy renews a server, and returns what it leads.
func ledBy(t *testing.T, table store.Servers, s store.Server, term time.Duration) (spaces []string) {
	t.Helper()
	for _, l := range must.Get(table.Renew(t.Context(), s, term)).Leases {
		if l.Server == s.ID {
			spaces = append(spaces, l.Space)
		}
	}
	return spaces
}

// A server whose term is over leads on what nobody took: a database that was away for a while ends no lead.
func TestAServerThatRenewsTooLateLeadsOnWhatNobodyTook(t *testing.T) {
	ctx, table := t.Context(), servers(t, driver(t, database(t)))
	a := store.Server{ID: "a", Address: "10.0.0.1:1"}
	must.Get(table.Renew(ctx, a, time.Microsecond))
	must.Get(table.Lead(ctx, "work", "a"))
	if led := ledBy(t, table, a, long); !slices.Equal(led, []string{"work"}) {
		t.Errorf("it leads %q, want work", led)
	}
}

func TestASpaceThatAnotherServerLeadsIsNotOpened(t *testing.T) {
	ctx, d := t.Context(), driver(t, database(t))
	table := servers(t, d)
	must.Get(table.Renew(ctx, store.Server{ID: "a", Address: "10.0.0.1:1"}, long))
	must.Get(table.Lead(ctx, d.Space(), "a"))
	e := open(t, d, t.TempDir(), store.Options{Server: "a"})
	defer e.Close()
	for _, server := range []string{"", "b"} {
		var led *store.LedError
		if _, err := d.Open(ctx, t.TempDir(), store.Options{Server: server}); !errors.As(err, &led) || led.Address != "10.0.0.1:1" {
			t.Errorf("opened by %q: got %v, want an error that names the leader", server, err)
		}
	}
	if err := put(ctx, e, "k", "the leader writes on"); err != nil {
		t.Errorf("the leader's write: got %v, want none", err)
	}
	must.Do(t, table.Leave(ctx, "a"))
	other := open(t, d, t.TempDir(), store.Options{})
	defer other.Close()
	if err := put(ctx, e, "k", "stale"); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a write of the former leader: got %v, want ErrFenced", err)
	}
}

func TestDocumentsAreReplacedByRevisionAndByTheLeaderAlone(t *testing.T) {
	ctx, d := t.Context(), driver(t, database(t))
	dir := t.TempDir()
	if list := must.Get(d.Documents(ctx, dir)); len(list) > 0 {
		t.Errorf("without a space: got %+v, want no documents", list)
	}
	e := open(t, d, dir, store.Options{}).(store.Documenting)
	one := must.Get(e.PutDocument(ctx, store.Document{Name: "keys.json", Data: []byte("one")}))
	two := must.Get(e.PutDocument(ctx, store.Document{Name: "keys.json", Revision: one, Data: []byte("two")}))
	if _, err := e.PutDocument(ctx, store.Document{Name: "keys.json", Revision: one, Data: []byte("three")}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("with an old revision: got %v, want ErrConflict", err)
	}
	if again := must.Get(e.PutDocument(ctx, store.Document{Name: "keys.json", Revision: one, Data: []byte("two")})); again != two {
		t.Errorf("a change that was done: got revision %d, want %d", again, two)
	}
	if got := must.Get(d.Document(ctx, dir, "keys.json")); string(got.Data) != "two" || got.Revision != two {
		t.Errorf("got %+v, want two at revision %d", got, two)
	}
	if _, err := d.Document(ctx, dir, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a document that never was: got %v, want ErrNotFound", err)
	}
	must.Get(e.PutDocument(ctx, store.Document{Name: "keys.json", Revision: two, Removed: true}))
	if list := must.Get(d.Documents(ctx, dir)); len(list) != 1 || !list[0].Removed {
		t.Errorf("after its removal: got %+v, want that it is removed", list)
	}
	large := store.Document{Name: "large", Data: make([]byte, store.DocumentLimit+1)}
	if _, err := e.PutDocument(ctx, large); err == nil {
		t.Error("a document above the limit: got no error, want one")
	}
	next := open(t, d, t.TempDir(), store.Options{})
	defer next.Close()
	if _, err := e.PutDocument(ctx, store.Document{Name: "late", Data: []byte("late")}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a former leader's document: got %v, want ErrFenced", err)
	}
}

func TestCopiesAreOutdatedByTheDocumentsThatReadsDependOn(t *testing.T) {
	ctx, d := t.Context(), driver(t, database(t))
	e := open(t, d, t.TempDir(), store.Options{})
	look := func() string {
		t.Helper()
		return must.Get(e.(store.Following).Look(ctx, "sessions", "heads/")).Mark
	}
	for _, c := range []struct {
		name    string
		changes bool
	}{{"sessions", false}, {"heads/a.jsonl", false}, {"heads", true}, {"headsman/a", true}, {"keys.json", true}} {
		before := look()
		must.Get(e.(store.Documenting).PutDocument(ctx, store.Document{Name: c.name, Data: []byte("x")}))
		if got := look() != before; got != c.changes {
			t.Errorf("after a change of %s: got that copies are outdated: %t, want %t", c.name, got, c.changes)
		}
	}
}
