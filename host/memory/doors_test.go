package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

// asking are the methods whose changes of memories and records the store hooks decide about.
var asking = strings.Fields("Access.Store Access.Forget Access.SetState Access.Import Access.Receive Access.ReceiveHistory Access.Merge(delete) Access.Merge(value) Access.Stage Stage.Put Stage.Patch Stage.Delete Stage.DeleteSome Stage.PutRecord Stage.Keep Stage.AppendRecord Stage.DeleteRecords Stage.Commit")

// unasked are the methods that change memories or records without asking, and why.
var unasked = map[string]string{
	"Access.Merge": "what lies on the source passed the hooks there; what a resolution brings is asked about",
	"Access.Move":  "only operators move, and what lies in the namespace had passed the hooks",
	"Access.Undo":  "only operators undo, and what is restored had passed the hooks",
}

// merging are merges that bring something of their own.
var merging = []deed{
	{"Merge(value)", func(ctx context.Context, a *Access, say func(any, error)) {
		say(a.Merge(ctx, Merge{Source: "draft", Resolutions: []Resolution{{Namespace: "desk/work", Key: "k1", Take: "value", Value: item[0].Value}}}, Write{}))
	}},
	{"Merge(delete)", func(ctx context.Context, a *Access, say func(any, error)) {
		say(a.Merge(ctx, Merge{Source: "draft", Resolutions: []Resolution{{Namespace: "desk/work", Key: "k1", Take: "delete"}}}, Write{}))
	}},
}

// Nothing that a caller can do with an Access or a Stage changes a memory or a record past a store hook that refuses. The deeds are those by
// which TestEveryMethodOfAnAccessIsTestedForRights knows all methods, so that a new method cannot be forgotten here.
func TestEveryChangeOfAValuePassesTheStoreHooks(t *testing.T) {
	asked := map[string]bool{}
	for _, d := range slices.Concat(deeds, merging) {
		name := "Access." + d.method
		w, before, count := guardedWorld(t)
		d.do(t.Context(), w.As(ann), func(any, error) {})
		w.mustKeep(name, before)
		asked[name] = *count > 0
	}
	for _, d := range stageDeeds {
		name := "Stage." + d.method
		w, before, count := guardedWorld(t)
		stage, err := w.As(ann).Stage(t.Context(), "")
		w.must(nil, err)
		d.do(t.Context(), stage, func(any, error) {})
		stage.Commit(t.Context(), Commit{}) //nolint:errcheck // whether anything changed is what counts
		w.mustKeep(name, before)
		asked[name] = *count > 0
	}
	maps.DeleteFunc(asked, func(_ string, was bool) bool { return !was })
	if got, want := slices.Sorted(maps.Keys(asked)), slices.Sorted(slices.Values(asking)); !slices.Equal(got, want) {
		t.Errorf("hooks were asked by\n%s, not by\n%s", strings.Join(got, " "), strings.Join(want, " "))
	}
}

// guardedWorld opens a world whose store hook refuses everything. It returns what the world holds, and how often the hook was asked.
func guardedWorld(t *testing.T) (w *world, before []string, asked *int) {
	t.Helper()
	w, asked = openWorld(t, true), new(int)
	w.must(w.As(ann).Store(t.Context(), Location{"", "desk/work"}, []Item{{Key: "k1", Value: json.RawMessage(`"coffee"`)}}, Write{})) // clashes with the draft
	w.SetHooks(guard{hooks{storing: func(Storing) (Decision, error) {
		*asked++
		return Decision{}, &Error{Code: Denied, Message: "a guard refuses everything"}
	}}})
	return w, w.values(), asked
}

// guard are hooks that are asked about all changes.
type guard struct{ hooks }

func (guard) Asks(Change, string) bool { return true }

// values are the newest memories and records on each branch that callers share.
func (w *world) values() (list []string) {
	w.t.Helper()
	newest, err := w.Newest(w.t.Context())
	w.must(nil, err)
	for _, branch := range []string{"default", "draft", "own"} {
		b, err := w.branch(branch)
		w.must(nil, err)
		last := map[store.Key]string{}
		changes, _, err := w.engine.Changes(w.t.Context(), b.ID, 0, newest, 1<<20)
		w.must(nil, err)
		for _, c := range changes {
			if c.Key.Collection == memories || c.Key.Collection == records.Name {
				last[c.Key] = fmt.Sprint(c.Version)
			}
		}
		for key, version := range last {
			list = append(list, fmt.Sprintf("%s %s %s/%s at v%s", branch, key.Collection, key.Namespace, key.Name, version))
		}
	}
	slices.Sort(list)
	return list
}

// mustKeep expects the values of before, unless the method is one that does not ask.
func (w *world) mustKeep(method string, before []string) {
	w.t.Helper()
	now := w.values()
	changed := slices.DeleteFunc(slices.Clone(now), func(v string) bool { return slices.Contains(before, v) })
	if len(changed) > 0 && unasked[method] == "" {
		w.t.Errorf("%s passes a store hook that refuses everything: it changed %q", method, changed)
	}
	if len(now) < len(before) {
		w.t.Errorf("%s leaves %d values of %d", method, len(now), len(before))
	}
}
