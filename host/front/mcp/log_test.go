package mcp

import (
	"strings"
	"testing"
)

func TestEventsAreNumberedInTheirOrder(t *testing.T) {
	p := use(t)
	if got := p.must("memory_log", `{"event":"started","data":null}`).field("sequence"); got != "1" {
		t.Errorf("the first event is number %s", got)
	}
	o := p.must("memory_log", `{"event":"stopped","data":{"why":"tired"}}`)
	if o.field("sequence") != "2" || o.field("timestamp") == "" {
		t.Errorf("the second event is %s", o.structured)
	}
	if got := p.must("memory_log", `{"event":"started","data":1,"namespace":"other"}`).field("sequence"); got != "1" {
		t.Errorf("the first event of another namespace is number %s", got)
	}
}

func TestLogSaysWhatIsMissing(t *testing.T) {
	p := use(t)
	got := p.refused("memory_log", `{}`)
	if !strings.Contains(got.Message, "needs event") || !strings.Contains(got.Message, "needs data") {
		t.Errorf("refused with %s", got.Message)
	}
}
