package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
)

// replace stores a memory that replaces others.
func replace(t *testing.T, s *Space, at Location, key, text string, old ...string) Stored {
	t.Helper()
	out, err := s.Store(t.Context(), at, []Item{{Key: key, Value: []byte(fmt.Sprintf("%q", text)), Supersedes: old}}, Write{})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// marked are the keys of a search's hits, those that are superseded with their successors.
func marked(t *testing.T, s *Space, q Search) (keys []string) {
	t.Helper()
	found, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range found.Hits {
		if h.SupersededBy != "" {
			h.Key += "<" + h.SupersededBy
		}
		keys = append(keys, h.Key)
	}
	return keys
}

func TestWhatIsSupersededFollowsItsSuccessorInEverySearch(t *testing.T) {
	s := testSpace(t)
	before := put(t, s, "", "limit20", "connection limit limit limit")
	put(t, s, "", "pool", "the connection limit belongs to the pool of connections")
	if got := marked(t, s, Search{Text: "connection limit"}); !slices.Equal(got, []string{"limit20", "pool"}) {
		t.Fatalf("hits = %q, want limit20 and pool", got)
	}
	replace(t, s, Location{}, "limit40", "the limit of each connection that the pool gives out is now forty, as was decided", "limit20")
	replace(t, s, Location{}, "limit50", "since spring the connection limit of the pool, which clients and jobs and the nightly report share, is fifty", "default#limit40")
	want := []string{"pool", "limit50", "limit40<limit50", "limit20<limit40"}
	if got := marked(t, s, Search{Text: "connection limit"}); !slices.Equal(got, want) {
		t.Errorf("hits = %q, want %q", got, want)
	}
	for i := range want {
		if got := marked(t, s, Search{Text: "connection limit", K: 1, Offset: i}); !slices.Equal(got, want[i:i+1]) {
			t.Errorf("page %d of one hit = %q, want %q", i, got, want[i])
		}
	}
	if got := marked(t, s, Search{Text: "connection limit", Order: ByOldest}); len(got) != 4 || got[0] != "limit20<limit40" {
		t.Errorf("in the order of time = %q, want limit20 first, marked", got)
	}
	if got := marked(t, s, Search{Text: "connection limit", AsOf: AsOf{Version: before.Version}}); !slices.Equal(got, []string{"limit20"}) {
		t.Errorf("before it was superseded = %q, want it unmarked", got)
	}
	fork(t, s, "", "past")
	if got := marked(t, s, Search{Text: "connection limit", Branch: "past"}); !slices.Equal(got, want) {
		t.Errorf("on a fork = %q, want %q", got, want)
	}
	if _, err := s.Forget(t.Context(), Location{}, []string{"limit50"}, Write{}); err != nil {
		t.Fatal(err)
	}
	if got := marked(t, s, Search{Text: "connection limit"}); slices.Contains(got, "limit40<limit50") || slices.Index(got, "limit20<limit40") != slices.Index(got, "limit40")+1 {
		t.Errorf("after the successor was deleted = %q, want limit40 unmarked and limit20 behind it", got)
	}
	if got := marked(t, s, Search{Text: "connection limit", Branch: "past"}); !slices.Equal(got, want) {
		t.Errorf("on the fork, where it is not deleted = %q, want %q", got, want)
	}
}

func TestAMemoryOfAnotherNamespaceOrOneThatIsNotActiveSupersedesNothing(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "old", "green tea")
	replace(t, s, Location{Namespace: "other"}, "new", "green tea", "default#old", "old")
	replace(t, s, Location{}, "self", "green tea and milk", "self")
	later := time.Now().Add(time.Hour)
	if _, err := s.Store(t.Context(), Location{}, []Item{{Key: "brief", Value: []byte(`"green"`), Supersedes: []string{"old"}, ExpiresAt: later}}, Write{}); err != nil {
		t.Fatal(err)
	}
	if got := marked(t, s, Search{Text: "tea", Namespaces: []string{"default", "other"}}); len(got) != 3 || slices.Contains(got, "old<new") || slices.Contains(got, "self<self") {
		t.Errorf("hits = %q, want neither superseded from another namespace nor by itself", got)
	}
	if _, err := s.SetState(context.Background(), Location{}, []string{"brief"}, Archived, Write{}); err != nil {
		t.Fatal(err)
	}
	if got := marked(t, s, Search{Text: "tea", Namespaces: []string{Default}}); !slices.Equal(got, []string{"old", "self"}) {
		t.Errorf("hits after the successor was archived = %q, want old unmarked", got)
	}
}

func TestHitsKeepTheirOrderButForThoseThatAreSuperseded(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"a b c", "a b c"},
		{"a<c b c", "b c a<c"},
		{"a<b b<c c d", "c b<c a<b d"},
		{"a<b b<a", "b<a a<b"},
		{"a<x b", "a<x b"},
		{"a b<a", "a b<a"},
		{"a<c b<c c", "c a<c b<c"},
	} {
		var hits []search.Hit
		for name := range strings.FieldsSeq(c.given) {
			key, by, _ := strings.Cut(name, "<")
			hits = append(hits, search.Hit{Key: key, SupersededBy: by})
		}
		demote(hits)
		got := ""
		for _, h := range hits {
			if got != "" {
				got += " "
			}
			if got += h.Key; h.SupersededBy != "" {
				got += "<" + h.SupersededBy
			}
		}
		if got != c.want {
			t.Errorf("demote(%s) = %s, want %s", c.given, got, c.want)
		}
	}
}
