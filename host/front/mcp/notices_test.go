package mcp

import (
	"context"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// takingPart are hooks that skip one of theirs, and rank the other way round.
type takingPart struct{}

func (takingPart) Storing(_ context.Context, s memory.Storing) (memory.Decision, error) {
	return memory.Decision{Items: s.Items, Notes: []string{"auto-tag was skipped: it was stopped"}}, nil
}

func (takingPart) Asks(memory.Change, string) bool { return false }

func (takingPart) Ranker(context.Context, memory.Ranking) (memory.Ranker, int) {
	return func(context.Context, memory.Ranking) ([]float32, bool, error) { return nil, false, errNo }, 10
}

func TestAStoreSaysWhichHookWasSkippedAndWhy(t *testing.T) {
	space := newSpaceWith(t, takingPart{})
	p := connect(t, newServerOf(t, space, Options{}), Session{}).initialize("tester")
	const skipped = "auto-tag was skipped: it was stopped"
	o := p.must("memory_store", `{"key":"k","value":1}`)
	if o.field("notes") != `["`+skipped+`"]` || !strings.Contains(o.text, skipped) || len(o.notes) != 0 {
		t.Errorf("stored with %s %s", o.text, o.notes)
	}
	o = p.must("memory_store", `{"items":[{"key":"a","value":1},{"key":"b","value":2}]}`)
	if o.field("notes") != `["`+skipped+`"]` || len(o.notes) != 1 || o.notes[0] != skipped {
		t.Errorf("stored with %s %s", o.structured, o.notes)
	}
	if r, o := p.operation(`{"method":"memory_store","params":{"items":[{"key":"c","value":1}]}}`); len(r.Metadata.Notes) != 1 || r.Metadata.Notes[0] != skipped {
		t.Errorf("stored with %s", o.text)
	}
}

func TestASearchSaysWhenItsRankingFailed(t *testing.T) {
	space := newSpaceWith(t, takingPart{})
	p := connect(t, newServerOf(t, space, Options{}), Session{}).initialize("tester")
	p.must("memory_store", `{"items":[{"key":"a","value":"apple"},{"key":"b","value":"apple pie"}]}`)
	o := p.must("memory_search", `{"query":"apple"}`)
	if len(o.notes) != 1 || o.field("note") == "" {
		t.Errorf("noted %s: %s", o.notes, o.text)
	}
}
