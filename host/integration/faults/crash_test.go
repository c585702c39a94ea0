package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	crashClients = 3
	crashRounds  = 10  // kills that are told apart by when they come, without ALCOVE_KILLS
	crashAcks    = 100 // acknowledged writes between two kills
)

// ledger is what the clients of a crash test know: each write that they began, and what was acknowledged.
type ledger struct {
	mu     sync.Mutex
	stored map[string]uint64 // version by key
	logged map[string]uint64 // sequence by what was logged
	acks   atomic.Int64
}

func newLedger() *ledger {
	return &ledger{stored: map[string]uint64{}, logged: map[string]uint64{}}
}

// copy is the ledger as it is now.
func (l *ledger) copy() (stored, logged map[string]uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.stored), maps.Clone(l.logged)
}

// crash is a data directory whose owner is killed again and again under load.
type crash struct {
	*server.Process
	t      *testing.T
	ledger *ledger
}

func newCrash(t *testing.T) *crash { return newCrashIn(t, "") }

func newCrashIn(t *testing.T, dir string) *crash {
	t.Helper()
	return &crash{server.NewProcess(t, dir), t, newLedger()}
}

// load writes through one client until ctx ends, and then finishes what it began.
func (c *crash) load(ctx context.Context, name string) {
	session, err := server.Session(context.WithoutCancel(ctx), c.Dial)
	if err != nil {
		c.t.Errorf("client %s: %v", name, err)
		return
	}
	defer session.Close()
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("%s/%d", name, n)
		if err := c.store(session, id); err != nil {
			c.t.Errorf("store %s: %v", id, err)
			return
		}
		if err := c.log(session, id); err != nil {
			c.t.Errorf("log %s: %v", id, err)
			return
		}
	}
}

func (c *crash) store(session *client.Session, key string) error {
	r, err := session.Call(context.Background(), "memory_store", map[string]any{"key": key, "value": key})
	var receipt struct{ Version uint64 }
	if err = errors.Join(err, server.Decode(r, &receipt)); err != nil {
		return err
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	c.ledger.stored[key] = receipt.Version
	c.ledger.acks.Add(1)
	return nil
}

func (c *crash) log(session *client.Session, id string) error {
	r, err := session.Call(context.Background(), "memory_log", map[string]any{"event": "crash", "data": id})
	var receipt struct{ Sequence uint64 }
	if err = errors.Join(err, server.Decode(r, &receipt)); err != nil {
		return err
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	c.ledger.logged[id] = receipt.Sequence
	c.ledger.acks.Add(1)
	return nil
}

// start begins the load; stop ends it and waits.
func (c *crash) start() (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	var clients sync.WaitGroup
	for i := range crashClients {
		clients.Go(func() { c.load(ctx, fmt.Sprintf("client%d", i)) })
	}
	return func() { cancel(); clients.Wait() }
}

// await waits until so many more writes are acknowledged.
func (c *crash) await(more int64) {
	c.t.Helper()
	target, deadline := c.ledger.acks.Load()+more, await.Deadline()
	for c.ledger.acks.Load() < target {
		if c.t.Failed() || time.Now().After(deadline) {
			c.t.Fatalf("the load got no further than %d acknowledged writes", c.ledger.acks.Load())
		}
		time.Sleep(time.Millisecond)
	}
}

// check compares what the data directory holds with the ledger and says what is wrong. h is closed.
func (c *crash) check(h *host.Host, engine store.Engine, stored, logged map[string]uint64) []string {
	var wrong []string
	if err := engine.Check(c.t.Context()); err != nil {
		wrong = append(wrong, "the store is inconsistent: "+err.Error())
	}
	wrong = append(wrong, checkStored(c.t.Context(), h.Memory(), stored)...)
	wrong = append(wrong, checkLogged(c.t.Context(), h.Memory(), logged)...)
	if err := h.Close(); err != nil {
		wrong = append(wrong, "close: "+err.Error())
	}
	return wrong
}

func checkStored(ctx context.Context, s *memory.Space, stored map[string]uint64) (wrong []string) {
	for key, version := range stored {
		versions, _, err := server.As(s, "").History(ctx, memory.Location{}, key, memory.AsOf{}, 10)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("history of %s: %v", key, err))
		case len(versions) == 0:
			wrong = append(wrong, fmt.Sprintf("lost: %s, acknowledged as v%d", key, version))
		case len(versions) > 1:
			wrong = append(wrong, fmt.Sprintf("doubled: %s has %d versions", key, len(versions)))
		case versions[0].Version != version || string(versions[0].Value) != fmt.Sprintf("%q", key):
			wrong = append(wrong, fmt.Sprintf("changed: %s is %s at v%d, acknowledged as v%d", key, versions[0].Value, versions[0].Version, version))
		}
	}
	return wrong
}

func checkLogged(ctx context.Context, s *memory.Space, logged map[string]uint64) (wrong []string) {
	found := map[string]uint64{}
	next := uint64(1)
	for {
		events, err := server.As(s, "").Events(ctx, memory.Location{}, memory.AsOf{}, next, 1000)
		if err != nil {
			return append(wrong, "read the log: "+err.Error())
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			var id string
			if err := json.Unmarshal(e.Data, &id); err != nil || found[id] != 0 || e.Sequence != next {
				wrong = append(wrong, fmt.Sprintf("log: #%d where #%d is due: %s, seen before as #%d", e.Sequence, next, e.Data, found[id]))
			}
			found[id], next = e.Sequence, e.Sequence+1
		}
	}
	for id, sequence := range logged {
		if found[id] != sequence {
			wrong = append(wrong, fmt.Sprintf("lost: event %s, acknowledged as #%d, is #%d", id, sequence, found[id]))
		}
	}
	return wrong
}

func TestNoAcknowledgedWriteIsLostOrDoubledWhenTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	rounds := kills(t, 4, crashRounds)
	c := newCrash(t)
	stop := c.start()
	for _, round := range rounds {
		c.await(crashAcks)
		time.Sleep(time.Duration(round*7919%5000) * time.Microsecond) // kill at another point of the work each time
		c.Gate.Lock()
		stored, logged := c.ledger.copy()
		h, engine := c.Kill()
		wrong := c.check(h, engine, stored, logged)
		c.Gate.Unlock()
		if len(wrong) > 0 {
			stop()
			t.Fatalf("after kill %d:\n%s", round+1, strings.Join(wrong, "\n"))
		}
	}
	stop()
	c.Gate.Lock()
	defer c.Gate.Unlock()
	stored, logged := c.ledger.copy()
	h, engine := c.Kill()
	if wrong := c.check(h, engine, stored, logged); len(wrong) > 0 {
		t.Errorf("at the end:\n%s", strings.Join(wrong, "\n"))
	}
	t.Logf("%d kills, %d stores and %d events acknowledged, none lost or doubled", len(rounds), len(stored), len(logged))
}

// TestTheCrashTestNoticesLosses runs the same load and check against an owner that acknowledges writes before
// they are on the disk, and takes away what was not: the check must find losses.
func TestTheCrashTestNoticesLosses(t *testing.T) {
	t.Setenv(server.NoSync, "1")
	c := newCrash(t)
	stop := c.start()
	c.await(crashAcks)
	c.Gate.Lock()
	h, _ := c.Kill()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	synced := c.files()
	c.Gate.Unlock()
	c.await(crashAcks)
	c.Gate.Lock()
	stored, logged := c.ledger.copy()
	h, _ = c.Kill()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	c.loseAllBut(synced)
	h, engine := c.Kill()
	wrong := c.check(h, engine, stored, logged)
	c.Gate.Unlock()
	stop()
	lost := slices.DeleteFunc(wrong, func(s string) bool { return !strings.HasPrefix(s, "lost: ") })
	if len(lost) == 0 {
		t.Error("the check found no losses, though the disk forgot what was not synced")
	}
	t.Logf("%d of %d acknowledged writes were found to be lost", len(lost), len(stored)+len(logged))
}

// files are the store's files as they are on the disk.
func (c *crash) files() map[string][]byte {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.Dir, "alcove.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	return map[string][]byte{"alcove.db": bytes.Clone(data)}
}

// loseAllBut puts the store's files back as they were when they were last synced, as a power failure may.
func (c *crash) loseAllBut(synced map[string][]byte) {
	c.t.Helper()
	for name, data := range synced {
		if err := os.WriteFile(filepath.Join(c.Dir, name), data, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}
