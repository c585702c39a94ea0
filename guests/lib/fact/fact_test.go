package fact

import (
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func TestTheTimeOfAnIDIsThatOfItsRequest(t *testing.T) {
	c := &alcove.Call{Context: alcove.Context{Now: "2026-06-01T12:00:00.001Z", RequestID: "r1"}}
	id, at := c.NewID("rec:"), c.Time()
	if got, ok := TimeOf(id); !ok || got != at {
		t.Errorf("%s was made at %s", id, got)
	}
	if since := Since("rec:", at); id < since || id > Since("rec:", at.Add(alcove.Millisecond)) {
		t.Errorf("%s is not behind %s", id, since)
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
