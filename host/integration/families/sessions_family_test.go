//go:build guests

package families_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/sdk/client"
)

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

// Ann's client goes away without a goodbye after it saved a checkpoint on a branch. On another connection she wakes with the same facts,
// after they changed and were deleted, and is told that nobody closed the session. When retention has dropped the version, the answer says so.
func TestAnAgentWhoseClientIsGoneWakesWithTheSameFacts(t *testing.T) {
	t.Parallel()
	now := testclock.At(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	k := server.Carrying(t, host.Options{Clock: now.Now})
	put := func(namespace, text string) {
		_, err := server.Owner(k.Host, "").Store(t.Context(), memory.Location{Namespace: namespace}, []memory.Item{{Key: "k", Value: json.RawMessage(`"` + text + `"`)}}, memory.Write{})
		must.Do(t, err)
	}
	put("team/a", "tea of the team")
	_, err := operator.Call(t.Context(), k.Acts, operator.GrantFamily, operator.GrantRequest{Family: "sessions", Hooks: map[abi.Hook]registry.On{abi.HookSessionEnd: {}}})
	must.Do(t, err)
	all := []operator.Right{"read", "write", "branch", "family:*"}
	ann, bob, eve := k.Issue("ann", all, "team/*"), k.Issue("bob", all, "team/a"), k.Issue("eve", all, "team/b")
	dial := func(key operator.IssuedKey) *client.Session {
		c, err := k.Connect(owner.Hello{Key: key.Secret, Namespace: "team/a"})
		must.Do(t, err)
		return c
	}
	first, err := server.Session(t.Context(), func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		return owner.Connect(ctx, k.At.Socket, owner.Hello{Key: ann.Secret, Namespace: "team/a"})
	})
	must.Do(t, err)
	server.Answered[any](t, first, "memory_branch", map[string]any{"action": "fork", "name": "trial"})
	server.Answered[any](t, first, "memory_branch", map[string]any{"action": "switch", "name": "trial"})
	server.Answered[any](t, first, "memory_store", map[string]any{"key": "rule", "value": "Never deploy on Friday.", "importance": 0.9})
	server.Answered[any](t, first, "memory_record_handoff", map[string]any{"toAgent": "bob", "contextSummary": "the review"})
	server.Answered[any](t, first, "memory_session_start", map[string]any{"contextSummary": "the release"})
	saved := server.Answered[struct {
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
		found, err := server.Owner(k.Host, "").Feed(t.Context(), "trial", []string{"team/a"}, saved.Version, 0)
		must.Do(t, err)
		for _, n := range found.Notices {
			if n.Kind == "session_ended" {
				return string(n.Payload)
			}
		}
		return ""
	}
	await.That(t, "the session is abandoned", func() bool { return strings.Contains(status(), `"abandoned"`) })
	server.Answered[any](t, second, "memory_store", on(map[string]any{"key": "rule", "value": "Deploy at will."}))
	server.Answered[any](t, second, "memory_forget", on(map[string]any{"key": "k"}))
	want := []string{"Never deploy on Friday.", "tea of the team"}
	w := server.Answered[awake](t, second, "memory_wake", on(map[string]any{}))
	if !w.Unclean || w.CheckpointID != saved.CheckpointID || w.Note != "" || !slices.Equal(w.contents(), want) {
		t.Errorf("ann wakes with %+v, want %q", w, want)
	}
	if text := server.AnswerText(second, "memory_wake", nil); !strings.HasPrefix(text, "error: ") {
		t.Errorf("another branch has the checkpoint: %s", text)
	}

	reviewer := dial(bob)
	begun := server.Answered[struct {
		Handoffs []struct{ ContextSummary string }
		Unclean  bool
	}](t, reviewer, "memory_session_start", on(map[string]any{}))
	if len(begun.Handoffs) != 1 || begun.Handoffs[0].ContextSummary != "the review" || begun.Unclean {
		t.Errorf("bob begins with %+v", begun)
	}
	for _, tool := range []string{"memory_get_handoffs", "memory_close_session"} {
		if text := server.AnswerText(reviewer, tool, on(map[string]any{"agentId": "ann", "sessionId": saved.SessionID})); !strings.Contains(text, "denied") && !strings.Contains(text, "may not act as") {
			t.Errorf("bob calls %s for ann: %s", tool, text)
		}
	}
	outsider := dial(eve)
	for _, tool := range []string{"memory_wake", "memory_pack_context", "memory_session_start", "memory_get_handoffs"} {
		if text := server.AnswerText(outsider, tool, on(map[string]any{"checkpointId": saved.CheckpointID, "topic": "deploy", "namespace": "team/a"})); !strings.HasPrefix(text, "error: ") || strings.Contains(text, "Friday") {
			t.Errorf("eve calls %s: %s", tool, text)
		}
	}

	server.Answered[any](t, second, "memory_close_session", on(map[string]any{"sessionId": w.SessionID}))
	if w := server.Answered[awake](t, second, "memory_wake", on(map[string]any{})); w.Unclean {
		t.Error("the closed session is unclean")
	}
	// A merge brings the checkpoint to the other branch, and it is told that its facts are not those.
	if _, err := server.Owner(k.Host, "").Merge(t.Context(), memory.Merge{Source: "trial", Strategy: "source"}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if w := server.Answered[awake](t, second, "memory_wake", nil); !strings.Contains(w.Note, "trial") {
		t.Errorf("after a merge ann wakes with %+v", w)
	}
	_, err = operator.Call(t.Context(), k.Acts, operator.SetRetention, operator.Retention{Keep: 3600})
	must.Do(t, err)
	now.Add(3 * 24 * time.Hour)
	server.Answered[any](t, second, "memory_store", on(map[string]any{"key": "rule", "value": "Deploy on Monday.", "importance": 0.9}))
	_, err = operator.Query(t.Context(), k.Acts, operator.Retain)
	must.Do(t, err)
	if w := server.Answered[awake](t, second, "memory_wake", on(map[string]any{})); !strings.Contains(w.Note, "no longer kept") || !slices.Equal(w.contents(), []string{"Deploy on Monday."}) {
		t.Errorf("after retention ann wakes with %+v", w)
	}
}
