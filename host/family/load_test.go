package family

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestCallersWhoAppendAtOnceAllSucceed(t *testing.T) {
	m := aFamily("notes")
	m.Collections = []abi.Collection{{Name: "calls"}}
	w := open(t, nil).with(m, script{steps: noteCall})
	const callers, each = 8, 5
	var ended sync.WaitGroup
	failed := make(chan error, callers*each)
	for range callers {
		ended.Go(func() {
			for range each {
				if _, err := w.Call(t.Context(), given{Tool: "notes_do", Arguments: json.RawMessage(`{}`), Caller: owner("")}); err != nil {
					failed <- err
				}
			}
		})
	}
	ended.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := stage.ListRecords(t.Context(), memory.Collection{Name: "notes/calls"}, "default", "", "", 0)
	if err != nil || len(list) != callers*each {
		t.Errorf("%d records, %v", len(list), err)
	}
}

func TestCloseDoesNotWaitForALoadThatHangs(t *testing.T) {
	w := open(t, nil)
	if _, err := w.Install(pack(t, onStore("tagger", ""), script{says: `{}`})); err != nil {
		t.Fatal(err)
	}
	x := w.catalogue.Known("tagger")
	x.Loading <- struct{}{} // as if it took long to load
	if _, err := w.Grant(grants.Request{Family: "tagger", All: true, Hooks: hookOn(abi.HookStore)}); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, _, err := w.keep("k", `"tea"`); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := w.catalogue.Acquire(ctx, x); code(err) != memory.Timeout {
		t.Errorf("a call that waited ended with %v", err)
	}
	closed := make(chan error)
	go func() { closed <- w.Close() }()
	t.Cleanup(func() { <-x.Loading }) // what waits for it, if the test fails, comes to its end
	if err := await.Value(t, "Close ends", closed); err != nil {
		t.Error(err)
	}
}

func TestAHookOnSkipIsAwaited(t *testing.T) {
	w := open(t, nil)
	if _, err := w.Install(pack(t, onStore("tagger", ""), script{says: `{"entries":[{"value":"seen"}]}`})); err != nil {
		t.Fatal(err)
	}
	x := w.catalogue.Known("tagger")
	x.Loading <- struct{}{} // as if it took long to load
	if _, err := w.Grant(grants.Request{Family: "tagger", All: true, Hooks: hookOn(abi.HookStore)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error)
	go func() { given <- w.AwaitHooks(ctx, "tagger") }()
	cancel()
	if err := await.Value(t, "a caller that gives up gets an answer", given); code(err) != memory.Timeout {
		t.Errorf("it ended with %v", err)
	}
	go func() { given <- w.AwaitHooks(t.Context(), "tagger") }()
	if _, notes, err := w.keep("early", `"tea"`); err != nil || len(notes) != 1 {
		t.Errorf("a store while it is loaded: %q, %v", notes, err)
	}
	<-x.Loading
	if err := await.Value(t, "the hook is awaited", given); err != nil {
		t.Fatal(err)
	}
	if m, notes, err := w.keep("first", `"tea"`); err != nil || len(notes) != 0 || string(m.Value) != `"seen"` {
		t.Errorf("the first store: %+v, %q, %v", m, notes, err)
	}
	if err := w.AwaitHooks(t.Context(), "nobody"); err != nil {
		t.Errorf("a family that is not there: %v", err)
	}
}

func TestAFamilyWhoseHookATypeCallsForIsLoadedByTheFirstStoreOfIt(t *testing.T) {
	w := open(t, nil)
	m := onStore("tagger", "")
	m.Hooks.Store.Types = []string{"note"}
	if _, err := w.Install(pack(t, m, script{says: `{"entries":[{"value":"seen"}]}`})); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Grant(grants.Request{Family: "tagger", All: true, Hooks: hookOn(abi.HookStore)}); err != nil {
		t.Fatal(err)
	}
	if err := w.AwaitHooks(t.Context(), "tagger"); err != nil {
		t.Fatal(err)
	}
	x := w.catalogue.Known("tagger")
	w.catalogue.Preload(t.Context())
	if _, notes, err := w.keep("other", `"tea"`); err != nil || len(notes) != 0 {
		t.Fatalf("a memory without a type: %q, %v", notes, err)
	}
	w.waitIdle()
	if x.IsLoaded() {
		t.Error("it is loaded before a memory of its types comes")
	}
	if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{}, []memory.Item{{Key: "note", Type: "note", Value: json.RawMessage(`"tea"`)}}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if got, err := w.space.As(owner("")).Recall(t.Context(), memory.Location{}, "note", memory.AsOf{}); err != nil || string(got.Value) != `"seen"` || !x.IsLoaded() {
		t.Errorf("the first note is %+v, %v, loaded: %v", got, err, x.IsLoaded())
	}
}

func TestAHookThatCannotBeLoadedIsNamed(t *testing.T) {
	w := open(t, func(o *Options) {
		o.Admit = func(context.Context, []byte, string) (catalogue.Guest, error) { return nil, errors.New("no room") }
	})
	if _, err := w.Install(pack(t, onStore("tagger", ""), script{says: `{}`})); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Grant(grants.Request{Family: "tagger", Hooks: hookOn(abi.HookStore)}); err != nil {
		t.Fatal(err)
	}
	if err := w.AwaitHooks(t.Context(), "tagger"); err == nil || !strings.Contains(err.Error(), "the grant of family tagger holds") || !strings.Contains(err.Error(), "no room") {
		t.Errorf("it says %v", err)
	}
}
