package requestlog

import (
	"fmt"
	"testing"
	"time"
)

func TestEntriesAreFoundNewestFirstInPages(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	begin := time.Now().UTC().Truncate(time.Second)
	for i := range 50 {
		e := Entry{Time: begin.Add(time.Duration(i/2) * time.Second), Tool: fmt.Sprint("tool", i%5), Agent: "ann", Outcome: Succeeded} // two at each instant
		if i%10 == 0 {
			e.Outcome = "denied"
		}
		l.Add(e)
	}
	seen, q := 0, Query{Limit: 7}
	for pages := 0; ; pages++ {
		p, err := Find(dir, q)
		if err != nil || pages > 10 {
			t.Fatalf("page %d: %v", pages, err)
		}
		seen += len(p.Entries)
		if q.Before = p.Next; q.Before.IsZero() {
			break
		}
	}
	if seen != 50 {
		t.Errorf("the pages have %d entries, want 50", seen)
	}
	for name, c := range map[string]struct {
		q    Query
		want int
	}{
		"of a tool": {Query{Tool: "tool1"}, 10},
		"failed":    {Query{Failed: true}, 5},
		"since":     {Query{Since: begin.Add(20 * time.Second)}, 10},
		"of a key":  {Query{Key: "k"}, 0},
	} {
		if p, err := Find(dir, c.q); err != nil || len(p.Entries) != c.want {
			t.Errorf("%s: %d entries, %v, want %d", name, len(p.Entries), err, c.want)
		}
	}
}
