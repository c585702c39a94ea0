package mcp

import (
	"strings"
	"testing"
)

func TestRecallOfNothingSaysSo(t *testing.T) {
	o := use(t).must("memory_recall", `{"key":"nothing"}`)
	if want := `{"found":false,"key":"nothing","note":"There is no memory under \"nothing\" in namespace default."}`; o.text != want || string(o.structured) != want {
		t.Errorf("recalled %s and %s, want %s", o.text, o.structured, want)
	}
}

func TestRecallSeesThePast(t *testing.T) {
	p := use(t)
	first := p.must("memory_store", `{"key":"k","value":"old"}`)
	p.must("memory_store", `{"key":"k","value":"new"}`)
	for _, moment := range []string{`"v` + first.field("version") + `"`, first.field("timestamp")} {
		if got := p.must("memory_recall", `{"key":"k","as_of":`+moment+`}`).field("value"); got != `"old"` {
			t.Errorf("as of %s it was %s", moment, got)
		}
	}
	if got := p.must("memory_recall", `{"key":"k","as_of":""}`).field("value"); got != `"new"` {
		t.Errorf("now it is %s", got)
	}
}

func TestRecallSaysWhatIsWrong(t *testing.T) {
	p := use(t)
	for arguments, want := range map[string]string{
		`{}`:                            "memory_recall needs key",
		`{"key":null}`:                  "memory_recall needs key",
		`{"key":true}`:                  "key must be text, got true",
		`{"key":"k","as_of":"soonish"}`: "as_of",
		`{"key":"k","as_of":[1]}`:       "as_of must be text, got [1]",
	} {
		if got := p.refused("memory_recall", arguments).Message; !strings.Contains(got, want) {
			t.Errorf("memory_recall of %s: refused with %q, want %q", arguments, got, want)
		}
	}
}

func TestANumberIsTakenForAKey(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":42,"value":"v"}`)
	if got := p.must("memory_recall", `{"key":"42"}`).field("value"); got != `"v"` {
		t.Errorf("recalled %s", got)
	}
}
