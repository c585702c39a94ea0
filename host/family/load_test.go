package family

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/await"
	"github.com/alcove-memory/alcove/host/memory"
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
				if _, err := w.Call(t.Context(), Call{Tool: "notes_do", Arguments: json.RawMessage(`{}`), Caller: owner("")}); err != nil {
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
	x := w.knownNow("tagger")
	x.loading <- struct{}{} // as if it took long to load
	if _, err := w.Grant(GrantRequest{Family: "tagger", All: true, Hooks: hookOn(abi.HookStore)}); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, _, err := w.keep("k", `"tea"`); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := w.acquire(ctx, x); code(err) != memory.Timeout {
		t.Errorf("a call that waited ended with %v", err)
	}
	closed := make(chan error)
	go func() { closed <- w.Close() }()
	t.Cleanup(func() { <-x.loading }) // what waits for it, if the test fails, comes to its end
	if err := await.Value(t, "Close ends", closed); err != nil {
		t.Error(err)
	}
}
