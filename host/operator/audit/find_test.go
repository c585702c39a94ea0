package audit

import (
	"fmt"
	"testing"
	"time"
)

func TestEntriesAreFoundNewestFirstAcrossFiles(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	l, err := Open(Options{Dir: dir, Bytes: 4 << 10, Clock: func() time.Time { at = at.Add(time.Second); return at }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		e := Entry{Kind: Called, Family: fmt.Sprint("f", i%2), Agent: "ann"}
		if i%10 == 0 {
			e.Denied = []Denial{{Op: "kv.put", Rule: "no grant", Count: 1}}
		}
		l.Add(e)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := folder(dir).List()
	if err != nil || len(list) < 3 {
		t.Fatalf("the log has %d files, %v, want 3 or more", len(list), err)
	}
	all, before := []Entry{}, uint64(0)
	for pages := 0; ; pages++ {
		p, err := Find(t.Context(), dir, Query{Before: before, Limit: 30, Kinds: []Kind{Called}})
		if err != nil || pages > 10 {
			t.Fatalf("page %d: %v", pages, err)
		}
		all = append(all, p.Entries...)
		if before = p.Next; before == 0 {
			break
		}
	}
	if len(all) != 200 {
		t.Fatalf("the pages have %d entries, want 200", len(all))
	}
	for i := range all[1:] {
		if all[i].Seq != all[i+1].Seq+1 {
			t.Fatalf("entry %d is followed by %d", all[i].Seq, all[i+1].Seq)
		}
	}
	for name, c := range map[string]struct {
		q    Query
		want int
	}{
		"of a family": {Query{Family: "f1"}, 100},
		"denied":      {Query{Denied: true}, 20},
		"by an agent": {Query{Agent: "bob"}, 0},
		"since":       {Query{Since: all[9].Time, Kinds: []Kind{Called}}, 10},
	} {
		if p, err := Find(t.Context(), dir, c.q); err != nil || len(p.Entries) != c.want {
			t.Errorf("%s: %d entries, %v, want %d", name, len(p.Entries), err, c.want)
		}
	}
}
