package suggest

import (
	"encoding/json"
	"testing"
)

func TestTry(t *testing.T) {
	for _, text := range []string{
		"We decided to use PostgreSQL instead of MongoDB for the billing service, because transactions matter. PostgreSQL 16 runs in Frankfurt.",
		"The deploy of the checkout API failed with a timeout after 30 s; the connection pool was exhausted.",
		"Alice is allergic to peanuts.",
		"Always run the linter before committing Go code.",
		"TODO: migrate the Kubernetes cluster to v1.31 by 2026-03-14, costs about $4,000.",
		"Caroline went to the LGBTQ support group yesterday and met her friend Melanie Jones.",
		"User prefers dark mode in all editors",
		"Summary: in this session we discussed the memory server's storage engine, its compaction and the vector index.",
		"tea", "",
		"Die Datenbank läuft auf einem Server in Hamburg, und Müller kümmert sich um Sicherungen.",
	} {
		r := New().Read(text)
		out, _ := json.Marshal(r)
		t.Logf("%s\n%s\n%v", text, out, Statistics{}.Choose(r.Candidates, nil, 5))
	}
}
