package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/postgres"
	"github.com/alcove-memory/alcove/host/testing/storetest"

	server "github.com/alcove-memory/alcove/host/testing/postgres"
)

// shared is the server of all tests that do not need one of their own.
type shared struct {
	once sync.Once
	*server.Server
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	runNaive()
	code := m.Run()
	if shared := common(); shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

var common = sync.OnceValue(func() *shared { return &shared{} })

// database returns the URL of a new database.
func database(t testing.TB) string {
	t.Helper()
	s := common()
	s.once.Do(func() { s.Server, s.stop, s.err = server.New("max_connections=200") })
	if errors.Is(s.err, server.ErrMissing) {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	url, err := s.Database()
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func driver(t testing.TB, url string) *postgres.Driver {
	t.Helper()
	d, err := postgres.New(url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t testing.TB, d *postgres.Driver, dir string, o store.Options) store.PortableEngine {
	t.Helper()
	e, err := d.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return e.(store.PortableEngine)
}

func TestPostgresIsAnEngine(t *testing.T) {
	url := database(t)
	spaces := map[string]string{}
	storetest.Run(t, func(t *testing.T, dir string, now func() time.Time) store.Engine {
		if spaces[dir] == "" {
			spaces[dir] = fmt.Sprint("space", len(spaces))
		}
		return open(t, driver(t, url+"&space="+spaces[dir]), dir, store.Options{Clock: now})
	})
}

func TestSpacesOfADatabaseShareConnectionsAndNothingElse(t *testing.T) {
	d := driver(t, database(t))
	engines := map[string]store.Engine{}
	for _, name := range []string{"red", "blue"} {
		in, err := d.In(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := in.Open(t.Context(), t.TempDir(), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		engines[name] = e
		if err := put(t.Context(), e, "k", name); err != nil {
			t.Fatalf("store in %s: %v", name, err)
		}
	}
	for name, e := range engines {
		if got := get(t, e, "k"); got != name {
			t.Errorf("the space %s has %q, want its own value", name, got)
		}
	}
	for _, name := range []string{"", "default", "a/b", "..", strings.Repeat("a", 64)} {
		if _, err := d.In(name); err == nil {
			t.Errorf("the space %q of a driver of the space default: got no error, want one", name)
		}
	}
}
