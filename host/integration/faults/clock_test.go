package faults_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

type saying struct {
	Version   uint64
	Timestamp time.Time
	Found     bool
	Value     string
	Results   []struct{ Key string }
	Versions  []saying
}

func say(t *testing.T, c *client.Session, tool string, arguments map[string]any) saying {
	t.Helper()
	r, err := c.Call(t.Context(), tool, arguments)
	if err != nil {
		t.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
	var s saying
	if err := server.Decode(r, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAClockThatJumpsBackAnHourConfusesNothing(t *testing.T) {
	t.Parallel()
	var back atomic.Int64
	clock := func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
	dir := t.TempDir()
	h, err := host.Open(t.Context(), host.Options{Dir: dir, Version: "test", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, stop := server.Serve(t, h, host.Listen{})
	defer stop()
	c := server.Connected(t, dir)
	put := func(value string) saying {
		t.Helper()
		return say(t, c, "memory_store", map[string]any{"key": "k", "value": value})
	}
	recall := func(asOf string) string {
		t.Helper()
		return say(t, c, "memory_recall", map[string]any{"key": "k", "as_of": asOf}).Value
	}
	one := put("one word")
	say(t, c, "memory_store", map[string]any{"key": "short", "value": "lived", "expires": "2h"})
	back.Store(int64(time.Hour))
	two, three := put("two words"), put("three words")
	if !(one.Version < two.Version && two.Version < three.Version && one.Timestamp.Before(two.Timestamp) && two.Timestamp.Before(three.Timestamp)) {
		t.Errorf("written at %v, %v, %v", one, two, three)
	}
	for at, want := range map[string]string{
		"":                                       "three words",
		"now":                                    "three words",
		fmt.Sprintf("v%d", two.Version):          "two words",
		one.Timestamp.Format(time.RFC3339Nano):   "one word",
		two.Timestamp.Format(time.RFC3339Nano):   "two words",
		three.Timestamp.Format(time.RFC3339Nano): "three words",
		"2h ago":                                 "",
	} {
		if got := recall(at); got != want {
			t.Errorf("as of %q: %q, not %q", at, got, want)
		}
	}
	if found := say(t, c, "memory_search", map[string]any{"query": "words"}); len(found.Results) != 1 {
		t.Errorf("found %v", found)
	}
	if found := say(t, c, "memory_search", map[string]any{"query": "words", "as_of": one.Timestamp.Format(time.RFC3339Nano)}); len(found.Results) != 1 {
		t.Errorf("found then %v", found) // "word" has the same stem
	}
	if m := say(t, c, "memory_recall", map[string]any{"key": "short"}); !m.Found {
		t.Error("what expires in two hours is gone")
	}
	if _, err := c.Call(t.Context(), "memory_recall", map[string]any{"key": "k", "as_of": time.Now().Add(time.Hour).Format(time.RFC3339)}); err == nil || !strings.Contains(err.Error(), "future") {
		t.Errorf("as of the real future: %v", err)
	}
	say(t, c, "memory_branch", map[string]any{"action": "fork", "name": "f", "as_of": two.Timestamp.Format(time.RFC3339Nano)})
	if got := say(t, c, "memory_recall", map[string]any{"key": "k", "branch": "f"}).Value; got != "two words" {
		t.Errorf("forked from then: %q", got)
	}
}

func TestTheBranchThatASessionIsOnCanBeDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	c := server.Connected(t, dir)
	say(t, c, "memory_store", map[string]any{"key": "k", "value": "on default"})
	say(t, c, "memory_branch", map[string]any{"action": "fork", "name": "b"})
	say(t, c, "memory_branch", map[string]any{"action": "switch", "name": "b"})
	say(t, c, "memory_store", map[string]any{"key": "k", "value": "on b"})
	other := server.Connected(t, dir)
	say(t, other, "memory_branch", map[string]any{"action": "switch", "name": "b"})
	r, err := c.Call(t.Context(), "memory_branch", map[string]any{"action": "delete", "name": "b", "force": true})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("deleted: %s", r.Structured)
	if got := say(t, c, "memory_recall", map[string]any{"key": "k"}).Value; got != "on default" {
		t.Errorf("afterwards the session recalls %q", got)
	}
	for tool, arguments := range map[string]map[string]any{
		"memory_recall": {"key": "k"}, "memory_store": {"key": "k", "value": 1}, "memory_search": {"query": "x"},
	} {
		_, err := other.Call(t.Context(), tool, arguments)
		if err == nil || !strings.Contains(err.Error(), `no branch "b"`) {
			t.Errorf("%s of another session on the deleted branch: %v", tool, err)
		}
	}
	say(t, other, "memory_branch", map[string]any{"action": "switch", "name": "default"})
	if got := say(t, other, "memory_recall", map[string]any{"key": "k"}).Value; got != "on default" {
		t.Errorf("back on the default branch: %q", got)
	}
}
