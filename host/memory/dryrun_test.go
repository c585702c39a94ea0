package memory

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// askedHooks refuse what says "no", put a tag on all else, and remember whether it was a dry run.
type askedHooks struct {
	Hooks
	dry  []bool
	sent error
}

func (h *askedHooks) Storing(ctx context.Context, s Storing) (Decision, error) {
	h.dry = append(h.dry, s.DryRun)
	if _, h.sent = effect.Of(ctx).Begin(ctx, "a letter"); h.sent != nil && !s.DryRun {
		return Decision{}, h.sent
	}
	if string(s.Items[0].Value) == `"no"` {
		return Decision{}, &Error{Code: Denied, Message: "it says no"}
	}
	s.Items[0].Tags = []string{"seen"}
	return Decision{Items: s.Items}, nil
}

func (*askedHooks) Asks(Change, string) bool { return false }

func TestADryRunChecksEverythingAndCommitsNothing(t *testing.T) {
	s := testSpace(t)
	ctx := t.Context()
	a := s.As(ann)
	was, err := a.Store(ctx, Location{}, []Item{{Key: "there", Value: json.RawMessage(`1`)}, {Key: "same", Value: json.RawMessage(`1`), Tags: []string{"seen"}}}, Write{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Fork(ctx, "", "draft", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	hooks := &askedHooks{}
	s.SetHooks(hooks)
	head, err := s.engine.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	dry := Write{DryRun: true, RequestID: "r"}

	stored, err := a.Store(ctx, Location{}, []Item{{Key: "there", Value: json.RawMessage(`2`)}, {Key: "new", Value: json.RawMessage(`2`)},
		{Key: "same", Value: json.RawMessage(`1`), Tags: []string{"seen"}}}, dry)
	version := was[0].Version
	if err != nil || len(stored) != 3 || stored[0].Replaces != version || stored[0].Version != 0 || stored[1].Replaces != 0 || stored[1].Version != 0 ||
		stored[2].Replaces != version || stored[2].Version != version {
		t.Errorf("a store would do %+v (%v)", stored, err)
	}
	if !slices.Equal(hooks.dry, []bool{true}) || codeOf(hooks.sent) != Unavailable {
		t.Errorf("the hooks were asked %v, and sent: %v", hooks.dry, hooks.sent)
	}
	for name, items := range map[string][]Item{"a refused value": {{Key: "k", Value: json.RawMessage(`"no"`)}}, "a long key": {{Key: string(make([]byte, 2000)), Value: json.RawMessage(`1`)}},
		"another version": {{Key: "there", Value: json.RawMessage(`3`), IfVersion: new(uint64)}}} {
		if _, err := a.Store(ctx, Location{}, items, dry); err == nil {
			t.Errorf("%s would be stored", name)
		}
	}
	if keys, err := a.Forget(ctx, Location{}, []string{"there", "absent"}, dry); err != nil || !slices.Equal(keys, []string{"there"}) {
		t.Errorf("of two keys %v would be forgotten (%v)", keys, err)
	}
	if keys, err := a.SetState(ctx, Location{}, []string{"there", "absent"}, Archived, dry); err != nil || !slices.Equal(keys, []string{"there"}) {
		t.Errorf("of two keys %v would be archived (%v)", keys, err)
	}
	if e, err := a.Append(ctx, Location{}, "said", json.RawMessage(`1`), dry); err != nil || e.Sequence != 1 || e.Agent != "ann" {
		t.Errorf("the event would be %+v (%v)", e, err)
	}
	if b, err := a.Fork(ctx, "", "next", AsOf{}, dry); err != nil || b.Name != "next" || b.Parent != Default || b.ForkedAt == 0 || b.Depth != 1 {
		t.Errorf("the fork would be %+v (%v)", b, err)
	}
	if _, err := a.Fork(ctx, "", "draft", AsOf{}, dry); codeOf(err) != Conflict {
		t.Errorf("a fork with a name that is taken: %v", err)
	}
	if m, err := a.Merge(ctx, Merge{Source: "draft"}, dry); err != nil || !m.DryRun || m.Merged {
		t.Errorf("the merge would be %+v (%v)", m, err)
	}
	if err := a.Delete(ctx, Deletion{Branch: "draft", Force: true}, dry); err != nil {
		t.Error(err)
	}
	if done, err := a.Import(ctx, "", []portable.Memory{{Key: "in", Value: json.RawMessage(`1`)}}, dry); err != nil || done.Stored != 1 {
		t.Errorf("the import would do %+v (%v)", done, err)
	}
	stage, err := a.Stage(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Put(ctx, "", item); err != nil {
		t.Fatal(err)
	}
	if done, err := stage.Commit(ctx, Commit{Write: dry, Proposal: "idea"}); err != nil || done.Version != 0 || done.Branch != "idea" {
		t.Errorf("the commit would be %+v (%v)", done, err)
	}
	if _, err := stage.Commit(ctx, Commit{Write: dry, Proposal: "draft"}); codeOf(err) != Conflict {
		t.Errorf("a proposal with a name that is taken: %v", err)
	}
	if now, err := s.engine.Head(ctx); err != nil || now != head {
		t.Errorf("after dry runs the newest version is %d, not %d (%v)", now.Version, head.Version, err)
	}
	if _, err := a.Store(ctx, Location{}, item, Write{RequestID: "r"}); err != nil { // the request was not used up
		t.Error(err)
	}
}
