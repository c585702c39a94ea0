package audit

import (
	"fmt"
	"testing"
	"time"
)

func TestDenialsAreGroupedByTheirRule(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	l, err := Open(Options{Dir: dir, Clock: func() time.Time { at = at.Add(time.Second); return at }})
	if err != nil {
		t.Fatal(err)
	}
	l.Add(Entry{Kind: Refused, Family: "thief", Detail: "the digest is another"})
	for i := range 30 {
		l.Add(Entry{Kind: Called, Family: "notes", Agent: fmt.Sprint("agent", i), Work: "tool put", Denied: []Denial{{Op: "kv.put", Rule: "no grant", Count: 2}, {Op: "http.fetch", Rule: "no endpoint", Count: 1}}})
	}
	l.Add(Entry{Kind: Called, Family: "notes", Agent: "ann"})
	l.Add(Entry{Kind: Denied, Key: "k1", Denied: []Denial{{Op: "tool memory_store", Rule: "no grant", Count: 7}}})
	p, err := l.Denials(t.Context(), Query{})
	if err != nil || len(p.Denials) != 4 || p.Entries != 32 || p.Next != 0 || p.Left != 0 {
		t.Fatalf("got %+v, %v; want 4 rules of 32 entries", p, err)
	}
	client, put, fetch, load := p.Denials[0], p.Denials[1], p.Denials[2], p.Denials[3]
	if client.Family != "" || client.Count != 7 || fmt.Sprint(client.Agents) != "[k1]" {
		t.Errorf("of a client: %+v", client)
	}
	if put.Op != "kv.put" || put.Count != 60 || put.Work != "tool put" || len(put.Agents) != mostAgents || put.Agents[0] != "agent29" || put.Last.Sub(put.First) != 29*time.Second {
		t.Errorf("of a family: %+v", put)
	}
	if fetch.Op != "http.fetch" || fetch.Count != 30 || load.Family != "thief" || load.Op != "load" || load.Rule != "the digest is another" {
		t.Errorf("the others: %+v, %+v", fetch, load)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	some, err := FindDenials(t.Context(), dir, Query{Family: "notes", Limit: 1})
	if err != nil || len(some.Denials) != 1 || some.Left != 1 || some.Denials[0].Count != 60 {
		t.Errorf("one rule of a family: %+v, %v; want that one is left out", some, err)
	}
	if none, err := FindDenials(t.Context(), dir, Query{Since: at.Add(time.Hour)}); err != nil || none.Denials == nil || len(none.Denials) != 0 {
		t.Errorf("none: %+v, %v", none, err)
	}
}
