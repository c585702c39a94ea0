package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/postgres"
	"github.com/alcove-memory/alcove/host/testing/await"

	server "github.com/alcove-memory/alcove/host/testing/postgres"
)

// relay is between an engine and its server, and can lose what one says to the other.
type relay struct {
	to string // the server's socket

	mu   sync.Mutex
	lose string // answer: commits reach the server, and their answers are lost. question: they do not reach it. both: nothing is said any more
	lost int

	meanwhile func() // called before an engine learns that an answer is lost; nil: nothing
}

const socketName = ".s.PGSQL.5432"

// through returns the URL of the same database through a relay.
func through(t *testing.T, text string) (*relay, string) {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "relay")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{to: filepath.Join(u.Query().Get("host"), socketName)}
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		os.RemoveAll(dir)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.relay(c)
		}
	}()
	query := u.Query()
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	return r, u.String()
}

func (r *relay) relay(client net.Conn) {
	defer client.Close()
	s, err := net.Dial("unix", r.to)
	if err != nil {
		return
	}
	defer s.Close()
	dropping := make(chan struct{})
	go func() { // what the server says
		data := make([]byte, 64<<10)
		for {
			n, err := s.Read(data)
			select {
			case <-dropping:
				if r.meanwhile != nil {
					r.meanwhile()
				}
				client.Close()
				return
			default:
			}
			if err != nil {
				client.Close()
				return
			}
			if _, err := client.Write(data[:n]); err != nil {
				return
			}
		}
	}()
	data := make([]byte, 64<<10)
	for {
		n, err := client.Read(data)
		if err != nil {
			return
		}
		switch r.take(string(data[:n])) {
		case "question":
			return
		case "both":
			_, _ = io.Copy(io.Discard, client)
			return
		case "answer":
			close(dropping)
			_, _ = s.Write(data[:n])
			_, _ = io.Copy(io.Discard, client) // until the other side has closed it
			return
		}
		if _, err := s.Write(data[:n]); err != nil {
			return
		}
	}
}

// marker is in the value of the commit that is lost.
const marker = "the value that is lost"

func (r *relay) take(said string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lose == "" || !strings.Contains(said, marker) {
		return ""
	}
	what := r.lose
	r.lose = ""
	r.lost++
	return what
}

// Whether the commit took effect cannot be found out any more: that nothing was changed would be wrong.
func TestACommitWhoseAnswerIsLostIsNotDeniedWhenTheSpaceIsTakenOverThen(t *testing.T) {
	ctx, at := t.Context(), database(t)
	r, relayed := through(t, at)
	e := open(t, driver(t, relayed), t.TempDir(), store.Options{})
	defer e.Close()
	if err := put(ctx, e, "k", "1"); err != nil {
		t.Fatal(err)
	}
	var next store.Engine
	var failed error
	r.meanwhile = func() { next, failed = driver(t, at).Open(ctx, t.TempDir(), store.Options{}) }
	r.mu.Lock()
	r.lose = "answer"
	r.mu.Unlock()
	err := put(ctx, e, "k", marker)
	if failed != nil {
		t.Fatalf("take the space over: got %v, want no error", failed)
	}
	defer next.Close()
	if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, store.ErrFenced) {
		t.Errorf("the commit whose answer was lost: got %v, want ErrUnavailable and ErrFenced", err)
	}
	if got := get(t, next, "k"); got != marker {
		t.Errorf("the next engine has %q: want the lost commit, or the test shows nothing", got)
	}
	if err := put(ctx, e, "k", "2"); !errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a later commit: got %v, want ErrFenced alone", err)
	}
}

func TestACommitWhoseAnswerIsLostIsDoneOnce(t *testing.T) {
	for _, lose := range []string{"answer", "question"} {
		t.Run(lose, func(t *testing.T) {
			ctx, at := t.Context(), database(t)
			r, relayed := through(t, at)
			e := open(t, driver(t, relayed), t.TempDir(), store.Options{})
			defer e.Close()
			if err := put(ctx, e, "k", "1"); err != nil {
				t.Fatal(err)
			}
			r.mu.Lock()
			r.lose = lose
			r.mu.Unlock()
			request := store.Request{Caller: "c", ID: "r", Digest: [32]byte{1}}
			batch := store.Batch{Request: request, Writes: []store.Write{{Branch: 1, Key: key("k"), Value: []byte(marker)}}}
			done, err := e.Commit(ctx, batch)
			if err != nil || done.Version != 2 || done.Replayed || r.lost != 1 {
				t.Fatalf("version %d, replayed %t, lost %d (%v)", done.Version, done.Replayed, r.lost, err)
			}
			again, err := e.Commit(ctx, batch)
			if err != nil || !again.Replayed || again.Version != 2 {
				t.Errorf("repeated: version %d, replayed %t (%v)", again.Version, again.Replayed, err)
			}
			list, _, err := e.Versions(ctx, store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{}, "", 10)
			if err != nil || len(list) != 2 {
				t.Errorf("%d versions (%v)", len(list), err)
			}
			if err := e.Check(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// acked is what writers were told, by key.
type acked struct {
	mu      sync.Mutex
	values  map[string]uint64 // the versions of acknowledged writes
	unknown map[string]store.Request
}

// TestKillsOfTheDatabaseLoseNothing kills the server again and again while several write, and then compares what is there with what was
// acknowledged. Each write that was not is looked up by its request: it was done once or not at all.
func TestKillsOfTheDatabaseLoseNothing(t *testing.T) {
	s := server.Start(t, "fsync=on")
	at, err := s.Database()
	if err != nil {
		t.Fatal(err)
	}
	d, err := postgres.New(at, postgres.Options{Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, d, t.TempDir(), store.Options{})
	defer e.Close()
	ledger := acked{values: map[string]uint64{}, unknown: map[string]store.Request{}}
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				ledger.write(e, fmt.Sprintf("%d-%d", w, i))
			}
		})
	}
	for range 5 {
		ledger.more(20)
		if err := errors.Join(s.Kill(), s.Run()); err != nil {
			t.Fatal(err)
		}
	}
	ledger.more(20)
	cancel()
	writers.Wait()
	for name, version := range ledger.values {
		if found, err := e.GetAt(t.Context(), store.Lineage{{Branch: 1, At: version}}, []store.Key{key(name)}); err != nil || found[0].Version != version {
			t.Errorf("%s was acknowledged at version %d, and is at %d (%v)", name, version, found[0].Version, err)
		}
	}
	lost := 0
	for name, request := range ledger.unknown {
		_, done, err := e.Requested(t.Context(), request)
		found, errGet := e.GetAt(t.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, []store.Key{key(name)})
		if err != nil || errGet != nil || done != found[0].Exists() {
			t.Errorf("%s: its request was done: %t, and it exists: %t (%v, %v)", name, done, found[0].Exists(), err, errGet)
		}
		if !done {
			lost++
		}
	}
	t.Logf("%d acknowledged; of %d others, %d were not done", len(ledger.values), len(ledger.unknown), lost)
	if err := e.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func (l *acked) write(e store.Engine, name string) {
	request := store.Request{Caller: "w", ID: name, Digest: [32]byte{1}}
	done, err := e.Commit(context.Background(), store.Batch{Request: request, Writes: []store.Write{{Branch: 1, Key: key(name), Value: []byte(name)}}})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.unknown[name] = request
		return
	}
	l.values[name] = done.Version
}

// more waits for some acknowledged writes.
func (l *acked) more(n int) {
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.values)
	}
	for until := count() + n; count() < until; {
		time.Sleep(time.Millisecond)
	}
}

func TestADatabaseThatRefusesWritesSaysWhy(t *testing.T) {
	ctx, at := t.Context(), database(t)
	e := open(t, driver(t, at+"&statement_timeout=5000"), t.TempDir(), store.Options{})
	defer e.Close()
	if err := put(ctx, e, "k", "1"); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(mustParse(t, at).Path, "/")
	if err := common().Exec(ctx, "postgres", "ALTER DATABASE "+name+" SET default_transaction_read_only = on", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'"); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, e, "k", "2"); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a write to a read-only database: %v", err)
	}
	if got := get(t, e, "k"); got != "1" {
		t.Errorf("it has %q", got)
	}
	if err := common().Exec(ctx, "postgres", "ALTER DATABASE "+name+" SET default_transaction_read_only = off", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'"); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, e, "k", "3"); err != nil {
		t.Errorf("a write afterwards: %v", err)
	}
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The database holds a space for a server that is frozen in a transaction for a while, and not until an operator ends it.
func TestASpaceWhoseServerIsFrozenInATransactionIsTakenOver(t *testing.T) {
	at := database(t)
	r, relayed := through(t, at+"&idle_in_transaction_session_timeout=0")
	frozen := open(t, driver(t, relayed), t.TempDir(), store.Options{})
	defer frozen.Close()
	r.mu.Lock()
	r.lose = "both"
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	put := make(chan error)
	go func() {
		_, err := frozen.PutBlob(ctx, marker, strings.NewReader("frozen"))
		put <- err
	}()
	await.That(t, "the server is frozen in a transaction", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.lost == 1
	})
	next := open(t, driver(t, at), t.TempDir(), store.Options{})
	defer next.Close()
	cancel()
	if err := <-put; err == nil {
		t.Error("what the frozen server wrote: got no error, want one")
	}
	if list, err := next.Blobs(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("blobs of the next server: got %v (%v), want none", list, err)
	}
}
