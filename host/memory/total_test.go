package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

// put stores texts as an agent, each under itself.
func putTexts(t *testing.T, a *Access, namespace string, texts ...string) error {
	t.Helper()
	for _, text := range texts {
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Store(t.Context(), Location{Namespace: namespace}, []Item{{Key: text, Value: value}}, Write{}); err != nil {
			return err
		}
	}
	return nil
}

func names(t *testing.T, err error, texts ...string) {
	t.Helper()
	var known *Error
	if !errors.As(err, &known) || known.Code != Exhausted {
		t.Errorf("got %v, want that a quota is exhausted", err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(known.Message+" "+known.Rule, text) {
			t.Errorf("the error %q with the rule %q has no %q", known.Message, known.Rule, text)
		}
	}
}

func TestAllAgentsTogetherFillTheTotalQuotaOfANamespace(t *testing.T) {
	s := testSpace(t)
	ann, bob := s.As(Caller{Agent: "ann", Rights: FullRights()}), s.As(Caller{Agent: "bob", Rights: FullRights()})
	if err := putTexts(t, ann, "acme", "a", "b"); err != nil {
		t.Fatal(err)
	}
	limit(t, s, "acme", scope.Quota{Total: scope.Total{Memories: 4}})
	if err := putTexts(t, bob, "acme", "c", "d"); err != nil {
		t.Fatalf("two more than those that were there: %v", err)
	}
	names(t, putTexts(t, ann, "acme", "e"), `namespace "acme" would hold 5 memories, and its quota for all agents together is 4`, "quota total_memories")
	if err := putTexts(t, ann, "other", "e"); err != nil {
		t.Errorf("in a namespace without a quota: %v", err)
	}
	if err := putTexts(t, ann, "acme", "c"); err != nil {
		t.Errorf("a new version of what is there: %v", err)
	}
	if _, err := bob.Forget(t.Context(), Location{Namespace: "acme"}, []string{"a"}, Write{}); err != nil {
		t.Fatal(err)
	}
	if err := putTexts(t, ann, "acme", "e"); err != nil {
		t.Errorf("in the place of one that was forgotten: %v", err)
	}
	list, err := s.As(Caller{Rights: FullRights()}).QuotaUses(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Holds.Memories != 4 || list[0].Agent != "" {
		t.Errorf("the uses are %+v, %v, want one of 4 memories and of no agent", list, err)
	}
}

func TestATotalQuotaCountsBytesAndLinks(t *testing.T) {
	s := testSpace(t)
	a := s.As(Caller{Agent: "ann", Rights: FullRights()})
	limit(t, s, "acme", scope.Quota{Total: scope.Total{Bytes: 2000, Links: 1}})
	long := json.RawMessage(`"` + strings.Repeat("x", 3000) + `"`)
	_, err := a.Store(t.Context(), Location{Namespace: "acme"}, []Item{{Key: "long", Value: long}}, Write{})
	names(t, err, "bytes", "quota total_bytes")
	if err := putTexts(t, a, "acme", "x", "y"); err != nil {
		t.Fatal(err)
	}
	_, err = a.Store(t.Context(), Location{Namespace: "acme"}, []Item{{Key: "z", Value: json.RawMessage("1"), Links: []string{"x", "y"}}}, Write{})
	names(t, err, "links", "quota total_links")
}

func TestATotalQuotaIsExactUnderSixteenClients(t *testing.T) {
	s := testSpace(t)
	const most = 40
	limit(t, s, "work", scope.Quota{Total: scope.Total{Memories: most}})
	var group sync.WaitGroup
	for c := range 16 {
		group.Go(func() {
			a := s.As(Caller{Agent: fmt.Sprint("agent", c), Rights: FullRights()})
			for i := range 10 {
				if err := storeIn(t.Context(), a, c, i); err != nil && !exhausted(err) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	all, _, err := s.As(Caller{Rights: FullRights()}).List(t.Context(), Location{Namespace: "work"}, "", "", AsOf{}, 1000)
	if err != nil || len(all) != most {
		t.Errorf("there are %d memories, %v, want %d", len(all), err, most)
	}
}

func TestTheQuotaOfAKeyHoldsInAllNamespacesAndForKeysThatItDelegated(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := testSpace(t)
	s.clock = clock.Now
	s.keyQuotas = func(id string) []KeyQuota {
		parent := KeyQuota{ID: "parent", Quota: scope.Quota{Memories: 3}}
		if id == "child" {
			return []KeyQuota{{ID: "child"}, parent}
		}
		return []KeyQuota{parent}
	}
	parent := s.As(Caller{Agent: "ann", Key: "parent", Rights: FullRights()})
	child := s.As(Caller{Agent: "ann/helper", Key: "child", Rights: FullRights()})
	if err := errors.Join(putTexts(t, parent, "work", "a"), putTexts(t, parent, "home", "b"), putTexts(t, child, "work", "c")); err != nil {
		t.Fatal(err)
	}
	names(t, putTexts(t, child, "elsewhere", "d"), "the holders of the key parent would store 4 memories today, and its quota is 3", "quota key_memories_a_day")
	if err := putTexts(t, s.As(Caller{Agent: "owner", Rights: FullRights()}), "work", "d"); err != nil {
		t.Errorf("without a key: %v", err)
	}
	clock.Add(24 * time.Hour)
	if err := putTexts(t, parent, "work", "e"); err != nil {
		t.Errorf("a day later: %v", err)
	}
}
