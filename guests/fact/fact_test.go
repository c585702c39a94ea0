package fact

import (
	"slices"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func TestIDsSortByTimeAndAreThoseOfTheirRequest(t *testing.T) {
	call := func(now, request string) *alcove.Call {
		return &alcove.Call{Context: alcove.Context{Now: now, RequestID: request}}
	}
	first, again := NewID(call("2026-06-01T12:00:00.001Z", "r1"), "rec", 0), NewID(call("2026-06-01T12:00:00.001Z", "r1"), "rec", 0)
	list := []string{first, NewID(call("2026-06-01T12:00:00.002Z", "r0"), "rec", 0), NewID(call("2026-06-01T12:00:01Z", "r1"), "rec", 0)}
	if first != again || !slices.IsSorted(list) || len(first) != len("rec:")+26 {
		t.Errorf("%q, again %q", list, again)
	}
	seen := map[string]bool{}
	for n := range 10_000 {
		seen[NewID(call("2026-06-01T12:00:00.001Z", "r1"), "rec", n)] = true
	}
	if len(seen) != 10_000 {
		t.Errorf("%d different ids of 10,000", len(seen))
	}
	at, err := alcove.ParseTime("2026-06-01T12:00:00.001Z")
	if got, ok := TimeOf(first); err != nil || !ok || got != at {
		t.Errorf("%s was made at %s", first, got)
	}
	if since := Since("rec", at); first < since || first > Since("rec", at.Add(alcove.Millisecond)) {
		t.Errorf("%s is not behind %s", first, since)
	}
	for _, id := range []string{"", "rec:", "rec:UUUUUUUUUUUUUUUUUUUUUUUUUU", "x"} {
		if _, ok := TimeOf(id); ok {
			t.Errorf("%q is an id", id)
		}
	}
}

func TestTheImportanceOfAFactCountsUseAndFeedback(t *testing.T) {
	m := &alcove.Memory{Importance: new(.5), Metadata: alcove.Metadata{BaseImportance: alcove.Raw("0.9")}}
	if Importance(m) != .5 {
		t.Errorf("without counters: %v", Importance(m))
	}
	m.Counters = &alcove.Counters{Accesses: 2, Health: -1}
	if got := Importance(m); got != .5+.1-.125 {
		t.Errorf("with counters: %v", got)
	}
	if m.Importance, m.Counters = nil, nil; Importance(m) != .9 {
		t.Errorf("by its metadata: %v", Importance(m))
	}
}

func TestMetadataOfAnotherTypeIsNone(t *testing.T) {
	for _, raw := range []string{``, `null`, `"1"`, `[1]`, `{`, `-`, `1x`} {
		if v, ok := Number(alcove.Raw(raw)); ok {
			t.Errorf("%s is the number %v", raw, v)
		}
	}
	for _, raw := range []string{``, `"a"`, `[1]`, `[`, `["a"`} {
		if list := Texts(alcove.Raw(raw)); list != nil {
			t.Errorf("%s is %q", raw, list)
		}
	}
}
