package memory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// browsed lists keys page by page, with do between two pages.
func browsed(t *testing.T, s *Access, q Search, do func()) (keys []string) {
	t.Helper()
	for {
		found, err := s.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("Search(%+v): %v", q, err)
		}
		for _, h := range found.Hits {
			keys = append(keys, h.Namespace+"#"+h.Key)
		}
		if q.After = found.Next; q.After == "" {
			return keys
		}
		do()
	}
}

func TestAListShowsWhatThereWasAtItsFirstPage(t *testing.T) {
	s := testSpace(t)
	owner, narrow := s.As(Caller{Rights: FullRights()}), s.As(Caller{Rights: RightsTo([]string{"b"}, nil)})
	for i := range 7 {
		for _, namespace := range []string{"a", "b"} {
			if _, err := owner.Store(t.Context(), Location{Namespace: namespace}, []Item{{Key: fmt.Sprint("k", i), Value: []byte("1")}}, Write{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fork(t, s, "", "side")
	change := func() {
		for _, branch := range []string{"", "side"} {
			if _, err := owner.Store(t.Context(), Location{Branch: branch, Namespace: "b"}, []Item{{Key: "k0x", Value: []byte("2")}, {Key: "k3", Value: []byte("3")}}, Write{}); err != nil {
				t.Fatal(err)
			}
			if _, err := owner.Forget(t.Context(), Location{Branch: branch, Namespace: "b"}, []string{"k5"}, Write{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	newest := must.Get(s.engine.Head(t.Context())).Version
	all := "a#k0 a#k1 a#k2 a#k3 a#k4 a#k5 a#k6 b#k0 b#k1 b#k2 b#k3 b#k4 b#k5 b#k6"
	for name, c := range map[string]struct {
		access *Access
		q      Search
		want   string
	}{
		"with all rights":       {owner, Search{}, all},
		"of two namespaces":     {owner, Search{Namespaces: []string{"b", "a"}}, all},
		"with narrow rights":    {narrow, Search{}, all[len(all)/2+1:]},
		"on a branch":           {owner, Search{Branch: "side"}, all},
		"of the past":           {owner, Search{AsOf: AsOf{Version: newest}}, all},
		"of the past, narrowly": {narrow, Search{Branch: "side", AsOf: AsOf{Version: newest}}, all[len(all)/2+1:]},
	} {
		c.q.Order, c.q.K = ByKey, 3
		if got := strings.Join(browsed(t, c.access, c.q, func() {}), " "); got != c.want {
			t.Errorf("%s: listed %s, not %s", name, got, c.want)
		}
	}
	if got := strings.Join(browsed(t, owner, Search{Order: ByKey, K: 3, Namespaces: []string{"b"}}, change), " "); got != all[len(all)/2+1:] {
		t.Errorf("beside writers: listed %s", got)
	}
	if got := strings.Join(browsed(t, owner, Search{Order: ByKey, K: 3, Branch: "side", AsOf: AsOf{Version: newest - 4}}, change), " "); got == "" {
		t.Errorf("the past is listed as %s", got)
	}
}

func TestACursorBelongsToItsList(t *testing.T) {
	s := testSpace(t)
	for i := range 5 {
		put(t, s, "", fmt.Sprint("k", i), fmt.Sprint(i))
	}
	first, err := s.Search(t.Context(), Search{Order: ByKey, K: 2})
	if err != nil || first.Next == "" || first.Total != 5 {
		t.Fatalf("the first page is %+v, %v", first, err)
	}
	fork(t, s, "", "side")
	for name, c := range map[string]struct {
		q    Search
		want string
	}{
		"another order":     {Search{Order: ByNewest, After: first.Next}, "of another listing"},
		"another filter":    {Search{Order: ByKey, Tags: []string{"x"}, After: first.Next}, "of another listing"},
		"another branch":    {Search{Order: ByKey, Branch: "side", After: first.Next}, "of another listing"},
		"other namespaces":  {Search{Order: ByKey, Namespaces: []string{"x"}, After: first.Next}, "of another listing"},
		"no cursor":         {Search{Order: ByKey, After: "%%"}, "begin again without it"},
		"a short one":       {Search{Order: ByKey, After: first.Next[:16]}, "begin again without it"},
		"a ranked search":   {Search{Text: "x", After: first.Next}, "after continues a listing"},
		"beside an offset":  {Search{Order: ByKey, Offset: 2, After: first.Next}, "leave offset out"},
		"a foreign listing": {Search{Order: ByKey, After: cursor{version: 1}.String()}, "begin again without it"},
	} {
		if _, err := s.Search(t.Context(), c.q); codeOf(err) != InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Search: %v, want an invalid argument, with %q", name, err, c.want)
		}
	}
	next, err := s.Search(t.Context(), Search{Order: ByKey, K: 50, After: first.Next})
	if err != nil || len(next.Hits) != 3 || next.Next != "" || next.Total != 5 {
		t.Errorf("the second page is %+v, %v", next, err)
	}
	later := time.Now().Add(time.Hour)
	if began := SearchBegan(first.Next, later); !began.Before(later) || !SearchBegan("", later).Equal(later.UTC().Truncate(time.Microsecond)) {
		t.Errorf("it began at %s", began)
	}
}

func FuzzCursorOfABrowse(f *testing.F) {
	f.Add(browseCursor{version: 7, began: time.UnixMicro(5), now: time.UnixMicro(9), total: 3, position: position{-4, "n", "k\x00"}}.String())
	f.Add("AAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseBrowseCursor(text)
		if err != nil {
			return
		}
		if again, err := parseBrowseCursor(c.String()); err != nil || again.position != c.position || again.version != c.version || !again.now.Equal(c.now) || again.total != c.total {
			t.Errorf("%q is %+v, and then %+v: %v", text, c, again, err)
		}
	})
}
