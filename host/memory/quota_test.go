package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/scope"
)

// limit sets the quota of a namespace.
func limit(t *testing.T, s *Space, namespace string, q scope.Quota) {
	t.Helper()
	stage, err := s.As(Caller{Rights: FullRights()}).Stage(t.Context(), "")
	if err == nil {
		err = stage.SetQuota(t.Context(), namespace, q)
	}
	if err == nil {
		_, err = stage.Commit(t.Context(), Commit{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func uses(t *testing.T, a *Access, agent string) map[string]Spent {
	t.Helper()
	list, err := a.QuotaUses(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Spent{}
	for _, u := range list {
		u.Spent.Day = ""
		found[u.Namespace+" "+u.Agent] = u.Spent
	}
	return found
}

func exhausted(err error) bool {
	var known *Error
	return errors.As(err, &known) && known.Code == Exhausted && known.Details["limit"] != nil
}

func TestAQuotaIsExactUnderSixteenClients(t *testing.T) {
	s := testSpace(t)
	const most, clients, each = 40, 16, 10
	limit(t, s, "work", scope.Quota{Memories: most})
	var mu sync.Mutex
	var group sync.WaitGroup
	stored, refused := 0, 0
	for c := range clients {
		group.Go(func() {
			a := s.As(Caller{Agent: "ann", Rights: FullRights()})
			for i := range each {
				err := storeIn(context.Background(), a, c, i)
				mu.Lock()
				switch {
				case err == nil:
					stored++
				case exhausted(err):
					refused++
				default:
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	all, _, err := s.As(Caller{Rights: FullRights()}).List(t.Context(), Location{Namespace: "work"}, "", "", AsOf{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if stored != most || stored+refused != clients*each || len(all) != most {
		t.Errorf("%d were stored, %d refused, and there are %d", stored, refused, len(all))
	}
	if got := uses(t, s.As(Caller{Rights: FullRights()}), "")["work ann"]; got.Memories != most {
		t.Errorf("%+v are counted", got)
	}
}

// storeIn stores a memory: half of them blind, half in a stage that commits.
func storeIn(ctx context.Context, a *Access, c, i int) error {
	key, value := fmt.Sprintf("k%d-%d", c, i), json.RawMessage(fmt.Sprint(i))
	if c%2 == 0 {
		_, err := a.Store(ctx, Location{Namespace: "work"}, []Item{{Key: key, Value: value}}, Write{})
		return err
	}
	stage, err := a.Stage(ctx, "")
	if err != nil {
		return err
	}
	if _, err := stage.Put(ctx, "work", []Item{{Key: key, Value: value}}); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, Commit{})
	return err
}

func TestAQuotaCountsWhatIsStoredAndARefusedWriteNothing(t *testing.T) {
	s := testSpace(t)
	limit(t, s, "work", scope.Quota{Memories: 3, Links: 2, Bytes: 100})
	ann, bob := s.As(Caller{Agent: "ann", Rights: FullRights()}), s.As(Caller{Agent: "bob", Rights: FullRights()})
	at := Location{Namespace: "work"}
	put := func(a *Access, key, value string, links ...string) error {
		_, err := a.Store(t.Context(), at, []Item{{Key: key, Value: json.RawMessage(value), Links: links}}, Write{})
		return err
	}
	step := func(what string, err error, refused bool, want Spent) {
		t.Helper()
		if exhausted(err) != refused || err != nil && !refused {
			t.Errorf("%s: %v, want it refused: %t", what, err, refused)
		}
		if got := uses(t, ann, "ann")["work ann"]; got != want {
			t.Errorf("%s: %+v are counted, not %+v", what, got, want)
		}
	}
	step("a memory", put(ann, "a", `"12345678"`), false, Spent{Memories: 1, Bytes: 10})
	step("the same", put(ann, "a", `"12345678"`), false, Spent{Memories: 1, Bytes: 10})
	step("a longer version", put(ann, "a", `"1234567890"`), false, Spent{Memories: 2, Bytes: 12})
	step("too many bytes", put(ann, "b", `"`+string(make([]byte, 0))+fmt.Sprintf("%0100d", 1)+`"`), true, Spent{Memories: 2, Bytes: 12})
	step("links", put(ann, "a", `"1234567890"`, "x", "y"), false, Spent{Memories: 2, Links: 2, Bytes: 14})
	step("another link", put(ann, "a", `"1234567890"`, "x", "y", "z"), true, Spent{Memories: 2, Links: 2, Bytes: 14})
	step("fewer links", put(ann, "a", `"1234567890"`, "x"), false, Spent{Memories: 2, Links: 2, Bytes: 13})
	step("two at once, of which one fits", func() error {
		_, err := ann.Store(t.Context(), at, []Item{{Key: "c", Value: json.RawMessage("1")}, {Key: "d", Value: json.RawMessage("2")}}, Write{})
		return err
	}(), true, Spent{Memories: 2, Links: 2, Bytes: 13})
	step("another agent", put(bob, "b", `"bob"`), false, Spent{Memories: 2, Links: 2, Bytes: 13})
	step("the last", put(ann, "c", `"c"`), false, Spent{Memories: 3, Links: 2, Bytes: 16})
	step("one more", put(ann, "d", `"d"`), true, Spent{Memories: 3, Links: 2, Bytes: 16})
	step("a dry run", func() error {
		_, err := ann.Store(t.Context(), at, []Item{{Key: "e", Value: json.RawMessage("1")}}, Write{DryRun: true})
		return err
	}(), true, Spent{Memories: 3, Links: 2, Bytes: 16})
	_, err := ann.Store(t.Context(), Location{Namespace: "else"}, []Item{{Key: "e", Value: json.RawMessage("1")}}, Write{})
	step("another namespace", err, false, Spent{Memories: 3, Links: 2, Bytes: 16})
	_, err = bob.Forget(t.Context(), at, []string{"a"}, Write{})
	step("forgotten by another", err, false, Spent{Memories: 3, Links: 2, Bytes: 3})
	limit(t, s, "work", scope.Quota{})
	if err := put(ann, "d", `"d"`); err != nil || len(uses(t, ann, "")) != 0 {
		t.Errorf("without a quota: %v, %v", err, uses(t, ann, ""))
	}
}

func TestARequestWithinItsQuotaIsRepeatedBeyondIt(t *testing.T) {
	s := testSpace(t)
	limit(t, s, "work", scope.Quota{Memories: 1})
	a := s.As(Caller{Agent: "ann", Rights: FullRights()})
	commit := func(id string) error {
		stage, err := a.Stage(t.Context(), "")
		if err == nil {
			_, err = stage.Put(t.Context(), "work", []Item{{Key: "k", Value: json.RawMessage("1")}})
		}
		if err == nil {
			_, err = stage.Commit(t.Context(), Commit{Write: Write{RequestID: id}, Operation: "op"})
		}
		return err
	}
	if err := commit("r"); err != nil {
		t.Fatal(err)
	}
	if err := commit("r"); err != nil {
		t.Errorf("the same request: %v", err)
	}
}

func TestAModelCannotWidenItsQuota(t *testing.T) {
	s := testSpace(t)
	limit(t, s, "work", scope.Quota{Memories: 1})
	ann := Caller{Agent: "ann", Key: "1", Rights: RightsTo(nil, []string{"work", "mine"})}
	change := func(do func(*Stage) error) error {
		stage, err := s.As(ann).Stage(t.Context(), "")
		if err == nil {
			err = do(stage)
		}
		if err == nil {
			_, err = stage.Commit(t.Context(), Commit{})
		}
		return err
	}
	for _, do := range []func(*Stage) error{
		func(t2 *Stage) error {
			_, _, err := t2.PutScope(context.Background(), "work", scope.Change{}, CreateScope)
			return err
		},
		func(t2 *Stage) error { return t2.DeleteScope(context.Background(), "work", AnyScope) },
		func(t2 *Stage) error {
			_, _, err := t2.PutScope(context.Background(), "work", scope.Change{}, CreateOrChangeScope)
			return err
		},
	} {
		if err := change(do); err != nil {
			t.Fatal(err)
		}
		if q := s.quotaOf("work"); q.Memories != 1 {
			t.Fatalf("the quota is %+v", q)
		}
	}
	other := Caller{Agent: "bob", Key: "2", Rights: RightsTo(nil, []string{"else"})}
	if got := uses(t, s.As(other), ""); len(got) != 0 {
		t.Errorf("another caller sees %v", got)
	}
}
