package mcp

import (
	"strings"
	"testing"
)

func TestForgettingDeletesOneOrMany(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"items":[{"key":"a","value":"apple"},{"key":"b","value":"apple"},{"key":"c","value":"apple"}]}`)
	if got := p.must("memory_forget", `{"key":"a"}`).text; got != `{"deleted":true,"count":1}` {
		t.Errorf("forgot %s", got)
	}
	if got := p.must("memory_forget", `{"key":["b","c","d"]}`).text; got != `{"deleted":true,"count":2,"note":"There is no memory under \"d\" in namespace default."}` {
		t.Errorf("forgot %s", got)
	}
	if got := p.must("memory_forget", `{"key":"a"}`).text; got != `{"deleted":false,"count":0,"note":"There is no memory under \"a\" in namespace default. It was forgotten at v3: as_of=v2 shows it."}` {
		t.Errorf("forgot %s", got)
	}
	if got := p.search(`{"query":"apple"}`).Total; got != 0 {
		t.Errorf("%d are still found", got)
	}
}

func TestAnArchivedMemoryIsSetAsideUntilItIsStoredAgain(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"a","value":"apple"}`)
	if got := p.must("memory_forget", `{"key":"a","archive":"true"}`).text; got != `{"deleted":false,"archived":true,"count":1}` {
		t.Errorf("archived %s", got)
	}
	if got := p.must("memory_recall", `{"key":"a"}`).field("state"); got != `"archived"` {
		t.Errorf("its state is %s", got)
	}
	if found, archived := p.search(`{"query":"apple"}`).Total, p.search(`{"query":"apple","state":"archived"}`).Total; found != 0 || archived != 1 {
		t.Errorf("%d found, %d in the archive", found, archived)
	}
	p.must("memory_store", `{"key":"a","value":"apple"}`)
	if got := p.search(`{"query":"apple"}`).Total; got != 1 {
		t.Errorf("stored again it is found %d times", got)
	}
}

func TestForgetSaysWhatIsMissing(t *testing.T) {
	p := use(t)
	for arguments, want := range map[string]string{
		`{}`:                        "memory_forget needs key",
		`{"key":[]}`:                "memory_forget needs key",
		`{"key":{}}`:                "key must be a list of texts",
		`{"key":"a","archive":"x"}`: "archive must be true or false",
	} {
		if got := p.refused("memory_forget", arguments).Message; !strings.Contains(got, want) || strings.Count(got, "key") > 4 {
			t.Errorf("memory_forget of %s: refused with %q, want %q", arguments, got, want)
		}
	}
}
