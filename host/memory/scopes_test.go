package memory

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/search"
)

// holder returns the holder of a key for everything.
func holder(agent string, further ...Right) Caller {
	return Caller{Agent: agent, Key: "key of " + agent, Rights: FullRights().LimitedTo(further)}
}

// putScope commits a change of a scope in the name of a caller.
func (w *world) putScope(c Caller, namespace string, change scope.Change) error {
	w.t.Helper()
	return w.stage(c, func(t *Stage) error {
		_, _, err := t.PutScope(w.t.Context(), namespace, change, CreateOrChangeScope)
		return err
	})
}

func (w *world) deleteScope(c Caller, namespace string, of DeletionOf) error {
	w.t.Helper()
	return w.stage(c, func(t *Stage) error { return t.DeleteScope(w.t.Context(), namespace, of) })
}

func (w *world) stage(c Caller, do func(t *Stage) error) error {
	w.t.Helper()
	stage, err := w.As(c).Stage(w.t.Context(), "")
	w.must(nil, err)
	if err := do(stage); err != nil {
		return err
	}
	_, err = stage.Commit(w.t.Context(), Commit{})
	return err
}

func (w *world) keep(c Caller, namespace, key string) error {
	_, err := w.As(c).Store(w.t.Context(), Location{Namespace: namespace}, []Item{{Key: key, Value: json.RawMessage(`"the vault has a kumquat"`)}}, Write{})
	return err
}

// sees reports whether a caller sees the namespace crew, by every way of looking at it. The ways must agree.
func (w *world) sees(a *Access) bool {
	w.t.Helper()
	ctx := w.t.Context()
	found, err := a.Recall(ctx, Location{Namespace: "crew"}, "k", AsOf{})
	w.must(nil, ignore(err, Denied, NotFound))
	recalled := found != nil
	hits, err := a.Search(ctx, Search{Text: "kumquat"})
	w.must(nil, ignore(err, Denied))
	stage, err := a.Stage(ctx, "")
	w.must(nil, err)
	names, err := stage.Namespaces(ctx)
	w.must(nil, err)
	page, err := a.ReadFeed(ctx, feed.Query{})
	w.must(nil, err)
	fed := slices.ContainsFunc(page.Notices, func(n feed.Notice) bool { return n.Namespace == "crew" })
	documents, counts, err := stage.CountTerms(ctx, Collection{Name: memories}, nil, []string{"kumquat"})
	w.must(documents, err)
	record, err := stage.Scope(ctx, "crew")
	w.must(nil, err)
	all, _ := stage.Scopes(ScopeQuery{})
	listed := slices.ContainsFunc(all, func(r *scope.Record) bool { return r.Namespace == "crew" })
	for way, saw := range map[string]bool{"search": len(hits.Hits) > 0, "namespaces": slices.Contains(names, "crew"), "feed": fed, "statistics": counts[0] > 0,
		"record": record != nil, "records": listed, "has": a.Has(ToRead, "crew") == nil} {
		if saw != recalled {
			w.t.Errorf("recall shows the namespace: %t, %s shows it: %t", recalled, way, saw)
		}
	}
	return recalled
}

func ignore(err error, codes ...Code) error {
	if slices.Contains(codes, codeOf(err)) {
		return nil
	}
	return err
}

func TestAMemberSeesAScopeFromItsAdditionToItsRemoval(t *testing.T) {
	w := openWorld(t, false)
	w.must(nil, w.Ready(t.Context()))
	ann, bob := holder("ann"), holder("bob")
	opened := w.As(bob) // for as long as the test lasts
	w.must(nil, w.putScope(ann, "crew", scope.Change{}))
	w.must(nil, w.keep(ann, "crew", "k"))
	stale, err := opened.Stage(t.Context(), "")
	w.must(nil, err)
	for i, c := range []struct {
		change scope.Change
		want   bool
	}{
		{scope.Change{}, false}, {scope.Change{Add: []string{"bob"}}, true}, {scope.Change{Remove: []string{"bob"}}, false}, {scope.Change{Members: &[]string{"bob", "eve"}}, true},
		{scope.Change{Members: &[]string{"eve"}}, false}, {scope.Change{Read: policy(scope.Everyone)}, true}, {scope.Change{Read: policy(scope.Creator)}, false},
	} {
		w.must(nil, w.putScope(ann, "crew", c.change))
		if got := w.sees(opened); got != c.want {
			t.Errorf("after change %d the member sees it: %t", i, got)
		}
		if !w.sees(w.As(ann)) {
			t.Errorf("after change %d the creator does not see it", i)
		}
	}
	if _, err := stale.Get(t.Context(), "crew", []string{"k"}); codeOf(err) != Denied {
		t.Errorf("a stage that was open all the time: %v", err)
	}
	if !w.sees(w.As(Caller{Agent: "anybody", Rights: FullRights()})) {
		t.Error("the owner does not see it")
	}
}

func policy(p scope.Policy) *scope.Policy { return &p }

func TestAStageOfAFormerMemberIsNotCommitted(t *testing.T) {
	w := openWorld(t, false)
	ann, bob := holder("ann"), holder("bob")
	w.must(nil, w.putScope(ann, "crew", scope.Change{Add: []string{"bob"}}))
	for what, do := range map[string]func(*Stage) error{
		"a memory": func(t *Stage) error {
			_, err := t.Put(w.t.Context(), "crew", item)
			return err
		},
		"an event": func(t *Stage) error { return t.Log("crew", "said", json.RawMessage(`1`)) },
		"a record": func(t *Stage) error {
			return t.PutRecord(w.t.Context(), records, "crew", "k", json.RawMessage(`{}`), nil)
		},
	} {
		w.must(nil, w.putScope(ann, "crew", scope.Change{Add: []string{"bob"}}))
		err := w.stage(bob, func(stage *Stage) error {
			err := do(stage)
			w.must(nil, w.putScope(ann, "crew", scope.Change{Remove: []string{"bob"}}))
			return err
		})
		if codeOf(err) != Denied {
			t.Errorf("%s was committed: %v", what, err)
		}
	}
}

func TestWhoMayChangeAScope(t *testing.T) {
	w := openWorld(t, false)
	ann := holder("ann")
	readOnly := holder("ann")
	readOnly.Rights = readOnly.Rights.ReadOnly()
	elsewhere := Caller{Agent: "ann", Key: "k", Rights: RightsTo([]string{"crew"}, []string{"desk/*"})}
	reads := Caller{Agent: "cleo", Key: "c", Rights: RightsTo([]string{"crew"}, []string{"desk/*"}).LimitedTo([]Right{ToAdministerScopes})}
	w.must(nil, w.putScope(ann, "crew", scope.Change{Members: &[]string{"bob", "cleo", "dan"}}))
	w.must(nil, w.putScope(ann, "read", scope.Change{Members: &[]string{"dan"}, Write: policy(scope.Creator)}))
	more := scope.Change{Add: []string{"eve"}}
	for _, c := range []struct {
		who       string
		caller    Caller
		namespace string
		change    scope.Change
		want      Code
		says      string
	}{
		{"the creator", ann, "crew", more, "", ""},
		{"a member", holder("bob"), "crew", more, Denied, "scope.admin"},
		{"a stranger", holder("zoe"), "crew", more, Denied, "may not write namespace"},
		{"an administrator who is no member", holder("zoe", ToAdministerScopes), "crew", more, Denied, "may not write namespace"},
		{"an administrator who is a member", holder("dan", ToAdministerScopes), "crew", scope.Change{Add: []string{"fay"}}, "", ""},
		{"an administrator who may only read, adding a writer", reads, "crew", scope.Change{Add: []string{"gus"}}, Denied, "which it lacks"},
		{"an administrator who may only read, removing one", reads, "crew", scope.Change{Remove: []string{"fay"}}, "", ""},
		{"an administrator whom the record only lets read, adding a reader", holder("dan", ToAdministerScopes), "read", more, "", ""},
		{"the same, adding writers", holder("dan", ToAdministerScopes), "read", scope.Change{Write: policy(scope.Members)}, Denied, "which it lacks"},
		{"the creator with a key that only reads", readOnly, "crew", more, Denied, "may not write"},
		{"the creator with a key that does not write there", elsewhere, "crew", scope.Change{Add: []string{"hal"}}, Denied, "which it lacks"},
		{"a key that does not cover it", Caller{Agent: "ann", Key: "k", Rights: RightsTo(nil, []string{"desk/*"})}, "crew", more, Denied, "may not write namespace"},
		{"a private one, by its agent", ann, "private-ann", scope.Change{}, "", ""},
		{"a private one, by another agent", holder("bob"), "private-eve", scope.Change{}, Denied, "reserved"},
		{"a private one, by an administrator", holder("bob", ToAdministerScopes), "private-eve", scope.Change{}, "", ""},
		{"a namespace that is in use", holder("bob"), "shelf/library", scope.Change{}, Denied, "scope.admin"},
		{"a namespace that is in use, by an administrator", holder("bob", ToAdministerScopes), "shelf/library", scope.Change{}, "", ""},
		{"the owner", Caller{Agent: "zoe", Rights: FullRights()}, "crew", scope.Change{Add: []string{"ida"}}, "", ""},
		{"an unknown policy", ann, "crew", scope.Change{Read: policy("some")}, InvalidArgument, "policy"},
		{"a member without a name", ann, "crew", scope.Change{Add: []string{""}}, InvalidArgument, "member"},
		{"the creator's removal", ann, "crew", scope.Change{Remove: []string{"ann"}}, InvalidArgument, "creator"},
		{"a name of a namespace that is none", ann, "a b", more, InvalidArgument, "only letters"},
	} {
		if err := w.putScope(c.caller, c.namespace, c.change); codeOf(err) != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s changes it: %v, want code %q", c.who, err, c.want)
		}
	}
}

func TestADeletedScopeStaysClosed(t *testing.T) {
	w := openWorld(t, false)
	w.must(nil, w.Ready(t.Context()))
	ann, bob := holder("ann"), holder("bob", ToAdministerScopes)
	w.must(nil, w.putScope(ann, "crew", scope.Change{Add: []string{"bob"}}))
	w.must(nil, w.keep(ann, "crew", "k"))
	if err := w.deleteScope(ann, "crew", EmptyScope); codeOf(err) != Conflict {
		t.Errorf("with memories: %v", err)
	}
	for _, namespace := range []string{"crew", "nothing"} { // alike
		if err := w.deleteScope(holder("zoe"), namespace, AnyScope); codeOf(err) != NotFound {
			t.Errorf("by a stranger, %s: %v", namespace, err)
		}
	}
	if err := w.deleteScope(bob, "crew", AnyScope); err != nil {
		t.Errorf("by an administrator: %v", err)
	}
	w.must(nil, w.putScope(ann, "crew", scope.Change{Add: []string{"bob"}}))
	if err := w.deleteScope(holder("zoe"), "crew", AnyScope); codeOf(err) != NotFound {
		t.Errorf("by a stranger: %v", err)
	}
	w.must(nil, w.deleteScope(ann, "crew", AnyScope))
	for _, c := range []Caller{ann, bob} {
		if w.sees(w.As(c)) {
			t.Errorf("%s sees it", c.Agent)
		}
		if err := w.keep(c, "crew", "more"); codeOf(err) != Denied {
			t.Errorf("%s writes it: %v", c.Agent, err)
		}
	}
	if err := w.putScope(bob, "crew", scope.Change{}); codeOf(err) != Denied {
		t.Errorf("another makes it again: %v", err)
	}
	w.must(nil, w.putScope(ann, "crew", scope.Change{}))
	if !w.sees(w.As(ann)) || w.sees(w.As(bob)) {
		t.Error("made again, it is not its creator's alone")
	}
}

func TestAnArchivedScopeIsReadOnly(t *testing.T) {
	w := openWorld(t, false)
	ann, yes, no := holder("ann"), true, false
	w.must(nil, w.putScope(ann, "crew", scope.Change{Archived: &yes}))
	if err := w.keep(ann, "crew", "k"); codeOf(err) != Denied {
		t.Errorf("written while archived: %v", err)
	}
	w.must(nil, w.putScope(ann, "crew", scope.Change{Archived: &no}))
	w.must(nil, w.keep(ann, "crew", "k"))
}

func TestADelegatedKeyHasTheMembershipsOfItsPrincipal(t *testing.T) {
	w := openWorld(t, false)
	w.must(nil, w.Ready(t.Context()))
	ann, child := holder("ann"), holder("ann/task")
	child.Principal = "ann"
	w.must(nil, w.putScope(ann, "crew", scope.Change{Members: &[]string{"bob"}}))
	w.must(nil, w.keep(child, "crew", "k"))
	if !w.sees(w.As(child)) {
		t.Error("it does not see the scope of its principal")
	}
	child.Principal = "eve"
	if w.sees(w.As(child)) {
		t.Error("it sees the scope of another")
	}
}

func TestScopesOutliveTheServer(t *testing.T) {
	w := openWorld(t, false)
	w.must(nil, w.putScope(holder("ann"), "crew", scope.Change{}))
	again, err := Open(t.Context(), Options{Engine: w.engine, Index: search.New(search.Options{})})
	w.must(nil, err)
	defer again.Close(t.Context())
	if err := again.As(holder("bob")).Has(ToRead, "crew"); codeOf(err) != Denied {
		t.Errorf("after a start: %v", err)
	}
}

func TestAListOfRightsIsAListOfNamespaces(t *testing.T) {
	w := openWorld(t, false)
	w.must(nil, w.Ready(t.Context()))
	bob := Caller{Agent: "bob", Key: "k", Rights: RightsTo(nil, []string{"team/*"})}
	for _, namespace := range []string{"team/open", "team/crew"} {
		w.must(nil, w.keep(holder("ann"), namespace, "k"))
	}
	w.must(nil, w.putScope(holder("ann", ToAdministerScopes), "team/crew", scope.Change{}))
	a := w.As(bob)
	list, all := a.Caller().Rights.Readable()
	if all || !slices.Equal(list, []string{"!team/crew", "team/*"}) {
		t.Fatalf("bob may read %q", list)
	}
	for _, namespaces := range [][]string{nil, list, {"team/*"}, {"*"}} {
		found, err := a.Search(t.Context(), Search{Text: "kumquat", Namespaces: namespaces})
		if err != nil || len(found.Hits) != 1 || found.Total != 1 || found.Hits[0].Namespace != "team/open" {
			t.Errorf("in %q: %+v, %v", namespaces, found, err)
		}
	}
	for _, namespaces := range [][]string{{"team/crew"}, {"!team/open"}} {
		if found, err := a.Search(t.Context(), Search{Text: "kumquat", Namespaces: namespaces}); err == nil && len(found.Hits) > 0 {
			t.Errorf("in %q: %+v", namespaces, found)
		}
	}
}

// A scope closes a namespace on every branch, and its past. So whoever has no right to administer scopes cannot make one over what
// another agent wrote, wherever and in whatever form.
func TestAScopeIsNotMadeOverWhatAnotherWrote(t *testing.T) {
	ann := holder("ann")
	elsewhere := Location{Branch: "side", Namespace: "board"}
	branched := func(w *world) {
		w.must(w.As(holder("bob", ToBranch)).Create(t.Context(), "side", Write{}))
	}
	for what, wrote := range map[string]func(w *world) error{
		"a memory": func(w *world) error { return w.keep(ann, "board", "k") },
		"a memory, read on a branch that was forked before": func(w *world) error {
			branched(w)
			return w.keep(ann, "board", "k")
		},
		"a memory on another branch": func(w *world) error {
			branched(w)
			_, err := w.As(ann).Store(t.Context(), elsewhere, item, Write{})
			return err
		},
		"a memory on a branch that was deleted": func(w *world) error {
			branched(w)
			_, err := w.As(ann).Store(t.Context(), elsewhere, item, Write{})
			w.must(nil, err)
			return w.As(Caller{Rights: FullRights()}).Delete(t.Context(), Deletion{Branch: "side", Force: true}, Write{})
		},
		"a memory that was forgotten": func(w *world) error {
			w.must(nil, w.keep(ann, "board", "k"))
			return w.stage(ann, func(t *Stage) error {
				_, err := t.Delete(w.t.Context(), "board", []string{"k"})
				return err
			})
		},
		"an event": func(w *world) error {
			return w.stage(ann, func(t *Stage) error { return t.Log("board", "said", json.RawMessage(`1`)) })
		},
		"a record": func(w *world) error {
			return w.stage(ann, func(t *Stage) error {
				return t.PutRecord(w.t.Context(), records, "board", "k", json.RawMessage(`{}`), nil)
			})
		},
		"a record that all branches share": func(w *world) error {
			shared := records
			shared.Name, shared.PerSpace = "shared", true
			return w.stage(ann, func(t *Stage) error {
				return t.PutRecord(w.t.Context(), shared, "board", "k", json.RawMessage(`{}`), nil)
			})
		},
		"a message": func(w *world) error {
			return w.stage(ann, func(t *Stage) error {
				return t.Emit(w.t.Context(), "board", feed.Emission{Kind: "message", To: []string{"mal"}, Payload: json.RawMessage(`1`)})
			})
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := openWorld(t, false)
			w.must(nil, wrote(w))
			for _, branch := range []string{"", "side"} {
				if branch != "" && w.catalogue.Named(branch) == nil {
					continue
				}
				stage, err := w.As(holder("mal")).Stage(t.Context(), branch)
				w.must(nil, err)
				_, _, err = stage.PutScope(t.Context(), "board", scope.Change{}, CreateScope)
				if codeOf(err) != Denied || !strings.Contains(err.Error(), "what others wrote") {
					t.Errorf("on branch %q mal makes a scope of ann's namespace: got %v, want it denied", branch, err)
				}
			}
			if err := w.keep(ann, "board", "more"); err != nil {
				t.Errorf("ann cannot write afterwards: %v", err)
			}
			if err := w.putScope(ann, "board", scope.Change{}); err != nil {
				t.Errorf("the only writer cannot make a scope of it: %v", err)
			}
		})
	}
}

func TestTheOwnerReopensAScopeThatWasDeleted(t *testing.T) {
	w := openWorld(t, false)
	w.must(nil, w.Ready(t.Context()))
	w.must(nil, w.putScope(holder("mal"), "crew", scope.Change{}))
	w.must(nil, w.deleteScope(holder("mal"), "crew", AnyScope))
	if err := w.keep(holder("ann"), "crew", "k"); codeOf(err) != Denied {
		t.Fatalf("ann writes a deleted scope: got %v, want it denied", err)
	}
	w.must(nil, w.putScope(Caller{Rights: FullRights()}, "crew", scope.Change{Read: policy(scope.Everyone), Write: policy(scope.Everyone)}))
	if err := w.keep(holder("ann"), "crew", "k"); err != nil || !w.sees(w.As(holder("ann"))) {
		t.Errorf("ann is still excluded from the reopened scope: %v", err)
	}
}
