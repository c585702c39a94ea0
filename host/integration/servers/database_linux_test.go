package servers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// These tests have, for each row of "When the database fails" in docs/guides/scale-out.md, a real database do what the row says.

// stored is a server without a cluster key, and its database.
type stored struct {
	*server.Server
	t   *testing.T
	db  *postgres.Server
	url string
}

func newStored(t *testing.T, parameters string) stored {
	t.Helper()
	db := postgres.Start(t)
	url := must.Get(db.Database())
	s := server.StartOn(t, host.Options{Driver: must.Get(space.DriverFor(url + parameters))}, host.Listen{HTTP: "127.0.0.1:0"})
	d := stored{s, t, db, url}
	d.stores("k", "walnut")
	return d
}

func (d stored) store(key, value string) (status int, answer string) {
	d.t.Helper()
	return told(ask(d.t, d.URL(), d.Token(), "memory_store", map[string]any{"key": key, "value": value}))
}

// told is an answer whose status is 0 if the operation was refused, with its code as elsewhere: such an answer has 200, and the error in its body.
func told(status int, answer string) (int, string) {
	if strings.Contains(answer, `"error":{"code"`) {
		return 0, strings.NewReplacer("E_UNAVAILABLE", "unavailable", "E_EXHAUSTED", "exhausted", "E_INTERNAL", "internal").Replace(answer)
	}
	return status, answer
}

func (d stored) stores(key, value string) {
	d.t.Helper()
	if status, answer := d.store(key, value); status != http.StatusOK {
		d.t.Errorf("store %s: got %d %s, want 200", key, status, answer)
	}
}

// refuses stores in vain, and finds what was there unchanged.
func (d stored) refuses(what string, want ...string) {
	d.t.Helper()
	status, answer := d.store("k", "hazel")
	for _, w := range want {
		if status == http.StatusOK || !strings.Contains(answer, w) {
			d.t.Errorf("store, %s: got %d %s, want %s", what, status, answer, w)
		}
	}
	d.recalls(what)
}

func (d stored) recalls(what string) {
	d.t.Helper()
	if status, answer := told(ask(d.t, d.URL(), d.Token(), "memory_recall", map[string]any{"key": "k"})); status != http.StatusOK || !strings.Contains(answer, "walnut") {
		d.t.Errorf("recall, %s: got %d %s, want walnut", what, status, answer)
	}
}

// exec runs statements in the database.
func (d stored) exec(statements ...string) {
	d.t.Helper()
	must.Do(d.t, d.db.Exec(d.t.Context(), "test1", statements...))
}

// What refusals have.
const (
	retryable   = `"retryable":true`
	unavailable = `"unavailable"`
	exhausted   = `"exhausted"`
	internal    = `"internal"`
)

func TestADatabaseThatIsReadOnlyRefusesWritesAndIsRead(t *testing.T) {
	t.Parallel()
	d := newStored(t, "")
	n := 0
	d.exec(`ALTER SYSTEM SET default_transaction_read_only = on`, `SELECT pg_reload_conf()`)
	until(t, "the database takes no writes", func() (bool, string) {
		n++
		status, answer := d.store("probe", fmt.Sprint(n)) // what is there already is not written
		return status != http.StatusOK, answer
	})
	d.refuses("while the database is read-only", unavailable, retryable, "its database takes no writes")
	d.exec(`SET default_transaction_read_only = off`, `ALTER SYSTEM RESET default_transaction_read_only`, `SELECT pg_reload_conf()`)
	until(t, "writes go on", func() (bool, string) {
		n++
		status, answer := d.store("probe", fmt.Sprint(n))
		return status == http.StatusOK, answer
	})
}

func TestAStatementThatTakesTooLongChangesNothing(t *testing.T) {
	t.Parallel()
	d := newStored(t, "&statement_timeout=1000")
	c := must.Get(pgx.Connect(t.Context(), d.url))
	defer c.Close(context.Background())
	hold := must.Get(c.Begin(t.Context()))
	must.Get(hold.Exec(t.Context(), `SELECT FROM alcove.spaces FOR UPDATE`))
	d.refuses("while its row is held", unavailable, retryable)
	must.Do(t, hold.Rollback(t.Context()))
	d.stores("after", "walnut")
	d.recalls("afterwards")
}

func TestADatabaseThatIsRestartedOrDropsConnectionsCostsTime(t *testing.T) {
	t.Parallel()
	d := newStored(t, "")
	d.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'test1' AND pid <> pg_backend_pid()`)
	d.stores("after the connections", "walnut")
	d.recalls("after its connections ended")

	must.Do(t, d.db.Stop())
	status, answer := told(storeOnce(t, d.URL(), d.Token(), "once"))
	if status == http.StatusOK || !strings.Contains(answer, unavailable) || !strings.Contains(answer, retryable) {
		t.Errorf("store without a database: got %d %s, want unavailable, retryable", status, answer)
	}
	must.Do(t, d.db.Run())
	for range 2 {
		until(t, "the same request is answered", func() (bool, string) {
			status, answer := told(storeOnce(t, d.URL(), d.Token(), "once"))
			return status == http.StatusOK, answer
		})
	}
	if status, answer := told(ask(t, d.URL(), d.Token(), "memory_history", map[string]any{"key": "once"})); status != http.StatusOK || strings.Count(answer, "walnut") != 1 {
		t.Errorf("the history of what was asked for again: got %d %s, want one version", status, answer)
	}
}

func TestADamagedRowIsNotAnsweredAndIsFound(t *testing.T) {
	t.Parallel()
	d := newStored(t, "")
	d.stores("whole", "hazel")
	d.exec(`UPDATE alcove.entries SET sum = sum + 1 WHERE position('whole' IN encode(key, 'escape')) = 0 AND position('walnut' IN encode(value, 'escape')) > 0`)
	d.Restart() // what it has read is in memory
	if status, answer := told(ask(t, d.URL(), d.Token(), "memory_recall", map[string]any{"key": "k"})); status == http.StatusOK || !strings.Contains(answer, internal) {
		t.Errorf("recall what is damaged: got %d %s, want internal", status, answer)
	}
	if status, answer := told(ask(t, d.URL(), d.Token(), "memory_recall", map[string]any{"key": "whole"})); status != http.StatusOK || !strings.Contains(answer, "hazel") {
		t.Errorf("recall the rest: got %d %s, want hazel", status, answer)
	}
	d.Stop()
	if faults, err := must.Get(space.DriverFor(d.url)).Examine(d.Dir); err != nil || !strings.Contains(fmt.Sprint(faults), "checksum") {
		t.Errorf("the faults of the database: got %v, %v, want the damaged row", faults, err)
	}
}

func TestAServerWhoseSpaceAnotherOneTookOverWritesNothing(t *testing.T) {
	t.Parallel()
	d := newStored(t, "")
	next := d
	next.Server = server.StartOn(t, host.Options{Driver: must.Get(space.DriverFor(d.url))}, host.Listen{HTTP: "127.0.0.1:0"})
	next.recalls("by the server that took it over")
	if status, answer := d.store("k", "hazel"); status == http.StatusOK || !strings.Contains(answer, "another server has taken this memory over") || !strings.Contains(answer, retryable) {
		t.Errorf("store by the other one: got %d %s, want that it is not its any more", status, answer)
	}
	next.stores("next", "hazel")
	next.recalls("after what the other one was asked for")
}

// smallSpace is a tablespace on a small disk, and what frees some of it again.
func smallSpace(t *testing.T, db *postgres.Server) (name string, disk string) {
	t.Helper()
	disk = t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d,mode=777", 32<<20)); err != nil {
		t.Skipf("a small disk cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() {
		must.Do(t, db.Kill())
		must.Do(t, syscall.Unmount(disk, syscall.MNT_DETACH))
	})
	for at := disk; at != "/tmp" && at != "/"; at = filepath.Dir(at) { // the database has another user
		must.Do(t, os.Chmod(at, 0o777))
	}
	must.Do(t, db.Exec(t.Context(), "postgres", `CREATE TABLESPACE small LOCATION '`+must.Get(db.Folder(disk, "rows"))+`'`, `CREATE DATABASE crowded TABLESPACE small`))
	return "crowded", disk
}

func TestADatabaseWhoseDiskIsFullIsReadAndGoesOn(t *testing.T) {
	t.Parallel()
	db := postgres.Start(t)
	name, disk := smallSpace(t, db)
	url := db.URL(name)
	s := server.NewSharing(t, url)
	key := issue(t, s)
	d := map[string]any{"key": "k", "value": "walnut"}
	if status, answer := told(ask(t, s.URL(), key, "memory_store", d)); status != http.StatusOK {
		t.Fatalf("store: got %d %s, want 200", status, answer)
	}
	filler := fill(t, disk)
	long := strings.Repeat("hazel ", 10_000)
	n := 0
	until(t, "nothing can be stored", func() (bool, string) {
		n++
		status, answer := told(ask(t, s.URL(), key, "memory_store", map[string]any{"key": fmt.Sprint("n", n), "value": long + fmt.Sprint(n)}))
		if status != http.StatusOK && (!strings.Contains(answer, exhausted) || !strings.Contains(answer, retryable) || !strings.Contains(answer, "that of its database")) {
			t.Errorf("store on a full disk: got %d %s, want exhausted, retryable", status, answer)
		}
		return status != http.StatusOK, answer
	})
	for what, asked := range map[string]string{"walnut": "k", `"found":false`: fmt.Sprint("n", n)} {
		if status, answer := told(ask(t, s.URL(), key, "memory_recall", map[string]any{"key": asked})); status != http.StatusOK || !strings.Contains(answer, what) {
			t.Errorf("recall %s from a full disk: got %d %s, want %s", asked, status, answer, what)
		}
	}
	must.Do(t, os.Remove(filler))
	until(t, "storing goes on", func() (bool, string) {
		status, answer := told(ask(t, s.URL(), key, "memory_store", map[string]any{"key": "after", "value": long}))
		return status == http.StatusOK, answer
	})
}

// fill leaves a disk no space, and returns the file that takes it.
func fill(t *testing.T, disk string) (filler string) {
	t.Helper()
	filler = filepath.Join(disk, "filler")
	f := must.Get(os.Create(filler))
	defer f.Close()
	for {
		if _, err := f.Write(make([]byte, 4096)); errors.Is(err, syscall.ENOSPC) {
			return filler
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAServerOfSeveralAnswersNothingWhenItCannotRenew has the database take no writes, and then answer too late, which both keep a server from
// renewing its lease.
func TestAServerOfSeveralAnswersNothingWhenItCannotRenew(t *testing.T) {
	t.Parallel()
	db := postgres.Start(t)
	url := must.Get(db.Database())
	s := server.NewSharingOn(t, url, server.Machine{Address: "127.0.0.1", HTTP: "127.0.0.1"})
	key := issue(t, s)
	goesOn := func(what string) {
		until(t, what, func() (bool, string) {
			status, answer := told(ask(t, s.URL(), key, "memory_store", map[string]any{"key": "k", "value": "walnut"}))
			return status == http.StatusOK, answer
		})
	}
	goesOn("it leads its space")
	ends := func(what string) {
		until(t, what, func() (bool, string) {
			status, text := readyz(t, s)
			return status == http.StatusServiceUnavailable && strings.Contains(text, "could not renew its lease"), text
		})
		status, answer := told(ask(t, s.URL(), key, "memory_recall", map[string]any{"key": "k"}))
		if status == http.StatusOK || !strings.Contains(answer, unavailable) || !strings.Contains(answer, retryable) {
			t.Errorf("recall, %s: got %d %s, want unavailable, retryable", what, status, answer)
		}
		await.That(t, "it says why", func() bool { return s.Cluster().Failure != "" })
		if got := must.Get(http.Get(s.URL() + "/healthz")); got.StatusCode != http.StatusOK {
			t.Errorf("/healthz, %s: got %d, want 200: a restart would not help", what, got.StatusCode)
		}
	}
	must.Do(t, db.Exec(t.Context(), "postgres", `ALTER SYSTEM SET default_transaction_read_only = on`, `SELECT pg_reload_conf()`))
	ends("the database takes no writes")
	must.Do(t, db.Exec(t.Context(), "postgres", `SET default_transaction_read_only = off`, `ALTER SYSTEM RESET default_transaction_read_only`, `SELECT pg_reload_conf()`))
	goesOn("it takes writes again")

	c := must.Get(pgx.Connect(t.Context(), url))
	defer c.Close(context.Background())
	hold := must.Get(c.Begin(t.Context()))
	must.Get(hold.Exec(t.Context(), `SELECT FROM alcove.servers FOR UPDATE`))
	ends("the database is slow")
	must.Do(t, hold.Rollback(t.Context()))
	goesOn("the database answers in time again")
}
