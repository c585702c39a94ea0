package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/store"
)

// follow reads a feed page by page to its end.
func follow(t *testing.T, a *Access, q feed.Query) (notices []feed.Notice, end feed.Page) {
	t.Helper()
	for {
		page, err := a.ReadFeed(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if page.Watermark < q.After || page.More && page.Watermark == q.After && page.Within == q.Within {
			t.Fatalf("the page after %d, %d leads nowhere: %+v", q.After, q.Within, page)
		}
		notices = append(notices, page.Notices...)
		if q.After, q.Within = page.Watermark, page.Within; !page.More {
			return notices, page
		}
	}
}

// TestTheTailOfAFeedTellsWhatTheStoreTells reads the same feed from both, with each query, however the pages fall.
func TestTheTailOfAFeedTellsWhatTheStoreTells(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	ann, bob := s.As(Caller{Agent: "ann", Call: "1", Rights: FullRights()}), s.As(Caller{Agent: "bob", Call: "2", Rights: FullRights()})
	if page, err := ann.ReadFeed(t.Context(), feed.Query{}); err != nil || len(page.Notices) != 0 { // the tail begins here
		t.Fatalf("ReadFeed of an empty space = %+v, %v, want no notices", page, err)
	}
	for i := range 30 {
		a, ns := ann, []string{"default", "team/x", "team/y"}[i%3]
		if i%2 == 0 {
			a = bob
		}
		var items []Item
		for j := range 1 + i*7%90 {
			items = append(items, Item{Key: fmt.Sprintf("k%d-%d", i, j), Value: json.RawMessage(`"v"`)})
		}
		if _, err := a.Store(t.Context(), Location{Namespace: ns}, items, Write{}); err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			if _, err := a.Forget(t.Context(), Location{Namespace: ns}, []string{fmt.Sprintf("k%d-0", i)}, Write{RequestID: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Append(t.Context(), Location{Namespace: ns}, "happened", json.RawMessage(`1`), Write{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	queries := []feed.Query{{}, {Limit: 1}, {Limit: 7}, {Limit: 50, Most: 10}, {Limit: 3, Most: 1}, {Namespaces: []string{"team/*"}, Limit: 5}, {Agents: []string{"bob"}, Limit: 9, Most: 20},
		{Kinds: []string{string(feed.MemoryForgotten), string(feed.EventLogged)}, Limit: 2}, {Namespaces: []string{"none"}}}
	for _, q := range queries {
		warm, end := follow(t, ann, q)
		s.feeds.Clear()
		cold, coldEnd := follow(t, ann, q)
		if !slices.EqualFunc(warm, cold, sameNotice) || end.Watermark != coldEnd.Watermark {
			t.Errorf("%+v: the tail tells %d up to %d, the store %d up to %d", q, len(warm), end.Watermark, len(cold), coldEnd.Watermark)
		}
		if len(q.Namespaces) == 0 && len(warm) == 0 {
			t.Errorf("%+v finds nothing", q)
		}
	}
}

func sameNotice(a, b feed.Notice) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Key == b.Key && a.Watermark == b.Watermark && a.Timestamp.Equal(b.Timestamp) &&
		a.Agent == b.Agent && a.Agent != "" && a.Family == b.Family && string(a.Payload) == string(b.Payload)
}

func TestPurgedTextsLeaveTheTail(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	if _, err := s.Feed(t.Context(), "", nil, 0, 1); err != nil {
		t.Fatal(err)
	}
	stage, err := s.owner("ann").Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.Emit(t.Context(), "default", feed.Emission{Family: "bell", Kind: "bell.rang", Payload: json.RawMessage(`{"who":"` + secretWord + `"}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Commit(t.Context(), Commit{}); err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		page, err := s.Feed(t.Context(), "", nil, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(page.Notices, func(n feed.Notice) bool { return len(n.Payload) > 0 })
	}
	if !has() {
		t.Fatal("the notice is not there")
	}
	if _, err := s.Purge(t.Context(), purge.Request{Collection: "_feed", Key: store.SequenceName(1)}); err != nil {
		t.Fatal(err)
	}
	if has() {
		t.Error("a purged payload is still read")
	}
}

func TestAFeedTellsWhereItEnds(t *testing.T) {
	s, _, now, _ := retained(t)
	a := s.owner("ann")
	put(t, s, "", "k", "v")
	end, err := a.FeedEnd(t.Context(), "")
	page, err2 := a.ReadFeed(t.Context(), feed.Query{After: end})
	if err != nil || err2 != nil || len(page.Notices) != 0 || page.Watermark != end || page.Latest != end || page.Expired {
		t.Fatalf("after %d: %+v, %v, %v", end, page, err, err2)
	}
	now.Add(8 * 24 * time.Hour)
	if page, err := a.ReadFeed(t.Context(), feed.Query{After: end - 1}); err != nil || !page.Expired || page.Oldest != end {
		t.Errorf("a week later: %+v, %v", page, err)
	}
	if _, err := a.FeedEnd(t.Context(), "nothing"); err == nil {
		t.Error("there is a feed of no branch")
	}
}

// Notices for some agents, and on every branch, come to those and there alone, from the tail and from the store, however the pages fall.
func TestNoticesReachTheirRecipientsOnTheirBranches(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	agents := map[string]*Access{}
	for _, name := range []string{"ann", "bob", "eve", ""} {
		agents[name] = s.As(Caller{Agent: name, Call: name, Rights: FullRights()})
	}
	if _, err := agents["ann"].Fork(t.Context(), "", "side", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	emit := func(by, branch, text string, to []string, perSpace bool) {
		stage, err := agents[by].Stage(t.Context(), branch)
		if err != nil {
			t.Fatal(err)
		}
		if err := stage.Emit(t.Context(), "default", feed.Emission{Family: "f", Kind: "said", Payload: json.RawMessage(`"` + text + `"`), To: to, PerSpace: perSpace}); err != nil {
			t.Fatal(err)
		}
		if _, err := stage.Commit(t.Context(), Commit{}); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(by, branch string, limit int) (list []string) {
		notices, _ := follow(t, agents[by], feed.Query{Branch: branch, Kinds: []string{"said"}, Limit: limit})
		for _, n := range notices {
			if n.Key != "" && (n.To != nil || strings.HasPrefix(string(n.Payload), `"all `)) {
				t.Errorf("%s has the key %s", n.Payload, n.Key)
			}
			list = append(list, string(n.Payload))
		}
		return list
	}
	heard("ann", "", 10) // tails begin here
	heard("ann", "side", 10)
	emit("ann", "default", "here", nil, false)
	emit("ann", "side", "there", nil, false)
	for i := range 30 { // what is on every branch lies between other changes
		emit("ann", "side", fmt.Sprintf("all %d", i), nil, true)
		put(t, s, "", fmt.Sprintf("k%d", i), "v")
		emit("ann", "default", fmt.Sprintf("bob %d", i), []string{"bob"}, i%2 == 0)
	}
	want := func(by, branch string) (list []string) {
		if branch == "" {
			list = append(list, `"here"`)
		} else {
			list = append(list, `"there"`)
		}
		for i := range 30 {
			list = append(list, fmt.Sprintf(`"all %d"`, i))
			if (by == "ann" || by == "bob") && (i%2 == 0 || branch == "") {
				list = append(list, fmt.Sprintf(`"bob %d"`, i))
			}
		}
		return list
	}
	for _, by := range []string{"ann", "bob", "eve", ""} {
		for _, branch := range []string{"", "side"} {
			for _, limit := range []int{1, 7, 1000} {
				warm := heard(by, branch, limit)
				s.feeds.Clear()
				cold := heard(by, branch, limit)
				if expected := want(by, branch); !slices.Equal(warm, expected) || !slices.Equal(cold, expected) {
					t.Errorf("%q on %q, %d a page: %q, then %q", by, branch, limit, warm, cold)
				}
			}
		}
	}
	stage, err := agents["ann"].Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.Emit(t.Context(), "default", feed.Emission{Kind: "said", To: []string{""}}); err == nil {
		t.Error("a recipient without a name is accepted")
	}
}
