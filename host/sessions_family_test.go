//go:build guests

package host_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/client"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
)

// firstParty are the families that the program carries.
func firstParty() (list []host.FamilyModule) {
	for _, g := range guests.All() {
		m := host.FamilyModule{Digest: g.Digest, Manifest: []byte(g.Manifest), Read: g.Read, Body: g.Body()}
		if n := g.Native(); n != nil {
			m.Native = &sandbox.Native{Code: n.Code, Engine: n.Engine, Name: n.Name, Sum: n.Sum, Open: n.Open}
		}
		list = append(list, m)
	}
	return list
}

// carryingServer is a server with the families that the program carries, on a directory that is new or was left by another.
func carryingServer(t *testing.T, dir string, clock func() time.Time) (k *keyed, stop func()) {
	t.Helper()
	return carryingServerOf(t, dir, clock, firstParty())
}

// carryingServerOf is one with families of its own.
func carryingServerOf(t *testing.T, dir string, clock func() time.Time, families []host.FamilyModule) (k *keyed, stop func()) {
	t.Helper()
	k = &keyed{t: t, dir: dir}
	var err error
	k.host, err = host.Open(t.Context(), host.Options{Dir: k.dir, Version: "test", Clock: clock, Families: families, Cache: sandbox.Cache{Dir: compiledHere()}, Driver: bolt.Driver{NoSync: true}})
	did(t, err)
	at, end := serving(t, k.host, host.Listen{HTTP: "127.0.0.1:0"})
	k.at, k.act = at, asOperator(t, k.dir)
	closed := false
	stop = func() {
		if !closed {
			closed = true
			end()
			k.host.Close()
		}
	}
	t.Cleanup(stop)
	return k, stop
}

// awake is the result of memory_wake.
type awake struct {
	CheckpointID, SessionID, Note string
	Unclean                       bool
	Context                       []struct{ Content string }
}

func (w awake) contents() (list []string) {
	for _, f := range w.Context {
		list = append(list, f.Content)
	}
	slices.Sort(list)
	return list
}

// answered calls a tool, and reads its result.
func answered[T any](t *testing.T, c *client.Client, tool string, arguments map[string]any) (out T) {
	t.Helper()
	text := told(c, tool, arguments)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s %v: %s", tool, arguments, text)
	}
	return out
}

// Ann's client goes away without a goodbye after it saved a checkpoint on a branch. On another connection she wakes with the same facts,
// after they changed and were deleted, and is told that nobody closed the session. When retention has dropped the version, the answer says so.
func TestAnAgentWhoseClientIsGoneWakesWithTheSameFacts(t *testing.T) {
	now := testclock.At(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	k, _ := carryingServer(t, t.TempDir(), now.Now)
	put := func(namespace, text string) {
		_, err := owned(host.Space(k.host), "").Store(t.Context(), memory.Location{Namespace: namespace}, []memory.Item{{Key: "k", Value: json.RawMessage(`"` + text + `"`)}}, memory.Write{})
		did(t, err)
	}
	put("team/a", "tea of the team")
	_, err := k.act.GrantFamily(t.Context(), operator.GrantRequest{Family: "sessions", Hooks: map[abi.Hook]registry.On{abi.HookSessionEnd: {}}})
	did(t, err)
	all := []operator.Right{"read", "write", "branch", "family:*"}
	ann, bob, eve := k.issue("ann", all, "team/*"), k.issue("bob", all, "team/a"), k.issue("eve", all, "team/b")
	dial := func(key operator.IssuedKey) *client.Client {
		c, err := k.dial(owner.Hello{Key: key.Secret, Namespace: "team/a"})
		did(t, err)
		return c
	}
	first, err := client.Open(t.Context(), "test", func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		return owner.Connect(ctx, k.at.Socket, owner.Hello{Key: ann.Secret, Namespace: "team/a"})
	})
	did(t, err)
	answered[any](t, first, "memory_branch", map[string]any{"action": "fork", "name": "trial"})
	answered[any](t, first, "memory_branch", map[string]any{"action": "switch", "name": "trial"})
	answered[any](t, first, "memory_store", map[string]any{"key": "rule", "value": "Never deploy on Friday.", "importance": 0.9})
	answered[any](t, first, "memory_record_handoff", map[string]any{"toAgent": "bob", "contextSummary": "the review"})
	answered[any](t, first, "memory_session_start", map[string]any{"contextSummary": "the release"})
	saved := answered[struct {
		CheckpointID, SessionID string
		Version                 uint64
	}](t, first, "memory_save_checkpoint", nil)
	first.Close()

	second := dial(ann)
	on := func(arguments map[string]any) map[string]any {
		arguments["branch"] = "trial"
		return arguments
	}
	status := func() string {
		found, err := owned(host.Space(k.host), "").Feed(t.Context(), "trial", []string{"team/a"}, saved.Version, 0)
		did(t, err)
		for _, n := range found.Notices {
			if n.Kind == "session_ended" {
				return string(n.Payload)
			}
		}
		return ""
	}
	await.That(t, "the session is abandoned", func() bool { return strings.Contains(status(), `"abandoned"`) })
	answered[any](t, second, "memory_store", on(map[string]any{"key": "rule", "value": "Deploy at will."}))
	answered[any](t, second, "memory_forget", on(map[string]any{"key": "k"}))
	want := []string{"Never deploy on Friday.", "tea of the team"}
	w := answered[awake](t, second, "memory_wake", on(map[string]any{}))
	if !w.Unclean || w.CheckpointID != saved.CheckpointID || w.Note != "" || !slices.Equal(w.contents(), want) {
		t.Errorf("ann wakes with %+v, want %q", w, want)
	}
	if text := told(second, "memory_wake", nil); !strings.HasPrefix(text, "error: ") {
		t.Errorf("another branch has the checkpoint: %s", text)
	}

	reviewer := dial(bob)
	begun := answered[struct {
		Handoffs []struct{ ContextSummary string }
		Unclean  bool
	}](t, reviewer, "memory_session_start", on(map[string]any{}))
	if len(begun.Handoffs) != 1 || begun.Handoffs[0].ContextSummary != "the review" || begun.Unclean {
		t.Errorf("bob begins with %+v", begun)
	}
	for _, tool := range []string{"memory_get_handoffs", "memory_close_session"} {
		if text := told(reviewer, tool, on(map[string]any{"agentId": "ann", "sessionId": saved.SessionID})); !strings.Contains(text, "denied") && !strings.Contains(text, "may not act as") {
			t.Errorf("bob calls %s for ann: %s", tool, text)
		}
	}
	outsider := dial(eve)
	for _, tool := range []string{"memory_wake", "memory_pack_context", "memory_session_start", "memory_get_handoffs"} {
		if text := told(outsider, tool, on(map[string]any{"checkpointId": saved.CheckpointID, "topic": "deploy", "namespace": "team/a"})); !strings.HasPrefix(text, "error: ") || strings.Contains(text, "Friday") {
			t.Errorf("eve calls %s: %s", tool, text)
		}
	}

	answered[any](t, second, "memory_close_session", on(map[string]any{"sessionId": w.SessionID}))
	if w := answered[awake](t, second, "memory_wake", on(map[string]any{})); w.Unclean {
		t.Error("the closed session is unclean")
	}
	// A merge brings the checkpoint to the other branch, and it is told that its facts are not those.
	if _, err := owned(host.Space(k.host), "").Merge(t.Context(), memory.Merge{Source: "trial", Strategy: "source"}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if w := answered[awake](t, second, "memory_wake", nil); !strings.Contains(w.Note, "trial") {
		t.Errorf("after a merge ann wakes with %+v", w)
	}
	_, err = k.act.SetRetention(t.Context(), operator.Retention{Keep: 3600})
	did(t, err)
	now.Add(3 * 24 * time.Hour)
	answered[any](t, second, "memory_store", on(map[string]any{"key": "rule", "value": "Deploy on Monday.", "importance": 0.9}))
	_, err = k.act.Retain(t.Context())
	did(t, err)
	if w := answered[awake](t, second, "memory_wake", on(map[string]any{})); !strings.Contains(w.Note, "no longer kept") || !slices.Equal(w.contents(), []string{"Deploy on Monday."}) {
		t.Errorf("after retention ann wakes with %+v", w)
	}
}
