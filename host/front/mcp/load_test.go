package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const tagging = "memory_auto_tag memory_tag_suggest"

// loaded is what memory_load_family answers.
type loaded struct {
	Family      string
	Loaded      []string
	Tools       []toolRow
	Suggestions []struct {
		Family, Description, Why, Fault string
		Matched                         []string
		Score                           float64
	}
	Note string
}

func TestElevenToolsAtFirstAndAFamilysOnceItIsLoaded(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	if got := p.listed(`{}`); len(got) != 11 {
		t.Errorf("listed are %s", got)
	}
	o := p.must("memory_load_family", `{"family":"auto-tag"}`)
	if got := p.line(); !strings.Contains(got, `"notifications/tools/list_changed"`) {
		t.Errorf("the client was told %s", got)
	}
	var r loaded
	o.into(&r)
	if r.Family != "auto-tag" || len(r.Tools) != 2 || r.Tools[0].Name != "memory_auto_tag" || strings.Join(r.Loaded, " ") != "auto-tag" || !strings.Contains(r.Note, "memory_operation") {
		t.Errorf("loaded with %s", o.text)
	}
	want := `{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"most":{"type":"integer","minimum":1,"maximum":20,"default":5},"deep":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},"style":{"enum":["plain","fine"]},"more":{"type":"object"}}}`
	if got := string(r.Tools[0].InputSchema); got != want {
		t.Errorf("its schema is %s", got)
	}
	if got := p.beyondCore(`{}`); got != tagging {
		t.Errorf("listed are %s", got)
	}
	if len(f.loads) != 1 || f.loads[0] != "auto-tag" {
		t.Errorf("loaded were %s", f.loads)
	}
}

func TestAFamilyIsNamedInAnyCaseAndUnloadedByItsName(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	for _, c := range []struct{ arguments, family, loaded string }{
		{`{"family":"Auto-Tag"}`, "auto-tag", "auto-tag"},
		{`{"unload":"AUTO-TAG"}`, "auto-tag", ""},
		{`{"family":"auto-tag","unload":"false"}`, "auto-tag", "auto-tag"},
		{`{"family":"Auto-tag","unload":true}`, "auto-tag", ""},
	} {
		var r loaded
		p.must("memory_load_family", c.arguments).into(&r)
		if r.Family != c.family || strings.Join(r.Loaded, " ") != c.loaded {
			t.Errorf("%s: got %q with %q loaded, want %q with %q", c.arguments, r.Family, r.Loaded, c.family, c.loaded)
		}
	}
	if got := p.refused("memory_load_family", `{"unload":"nosuch"}`); !strings.Contains(got.Message, "true or false") {
		t.Errorf("an unknown family: refused with %s", got.Message)
	}
}

func TestAFamilyThatIsUnloadedLeavesTheList(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	p.must("memory_load_family", `{"family":"auto-tag"}`)
	p.line()
	p.must("memory_load_family", `{"family":"site"}`)
	p.line()
	var r loaded
	p.must("memory_load_family", `{"family":"auto-tag","unload":true}`).into(&r)
	if got := p.line(); !strings.Contains(got, "list_changed") || strings.Join(r.Loaded, " ") != "site" {
		t.Errorf("unloaded with %+v, then %s", r, got)
	}
	if got := p.beyondCore(`{}`); got != "site_memory_recall" {
		t.Errorf("listed are %s", got)
	}
	p.must("memory_load_family", `{"family":"auto-tag","unload":true}`).into(&r)
	if r.Note != "It was not loaded." {
		t.Errorf("unloaded again with %+v", r)
	}
	p.quiet()
}

func TestLoadingAgainTellsNobody(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	p.must("memory_load_family", `{"family":"auto-tag"}`)
	p.line()
	p.must("memory_load_family", `{"family":"auto-tag"}`)
	p.quiet()
}

func TestOnlyTheClientThatLoadedIsTold(t *testing.T) {
	s := newServer(t, Options{}, newFake())
	p, other := connect(t, s, Session{}).initialize("a"), connect(t, s, Session{}).initialize("b")
	p.must("memory_load_family", `{"family":"auto-tag"}`)
	p.line()
	other.quiet()
	if got := other.beyondCore(`{}`); got != "" {
		t.Errorf("the other client's list has %s", got)
	}
}

func TestAnUnknownFamilyIsAnsweredWithThoseThereAre(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	for _, arguments := range []string{`{"family":"autotag"}`, `{"family":"autotag","unload":true}`} {
		refusal := p.refused("memory_load_family", arguments)
		if refusal.Code != memory.NotFound || !strings.Contains(refusal.Message, "auto-tag, broken, odd, site") {
			t.Errorf("refused with %+v", refusal)
		}
	}
	if refusal := p.refused("memory_load_family", `{"family":"memory_auto_tag"}`); !strings.Contains(refusal.Message, "memory_auto_tag is a tool of auto-tag") {
		t.Errorf("refused with %+v", refusal)
	}
	if refusal := p.refused("memory_load_family", `{}`); !strings.Contains(refusal.Message, "needs family") {
		t.Errorf("refused with %+v", refusal)
	}
	if refusal := p.refused("memory_load_family", `{"unload":true,"intent":"tags"}`); !strings.Contains(refusal.Message, "needs family") {
		t.Errorf("refused with %+v", refusal)
	}
	if refusal := p.refused("memory_load_family", `{"intent":"`+strings.Repeat("x", 4096+1)+`"}`); !strings.Contains(refusal.Message, "4096 bytes") {
		t.Errorf("refused with %+v", refusal)
	}
}

func TestAServerWithoutFamiliesSaysSo(t *testing.T) {
	p := use(t)
	if refusal := p.refused("memory_load_family", `{"family":"auto-tag"}`); !strings.Contains(refusal.Message, "this server has none") {
		t.Errorf("refused with %+v", refusal)
	}
	if got := p.must("memory_load_family", `{"intent":"tag this"}`).field("note"); !strings.Contains(got, "no families") {
		t.Errorf("answered %s", got)
	}
}

func TestAnIntentLoadsTheFamilyThatIsClearlyMeant(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	var r loaded
	p.must("memory_smart_load", `{"intent":"I want to find the key phrases of my notes and tag them"}`).into(&r)
	if r.Family != "auto-tag" || len(r.Tools) != 2 || len(r.Suggestions) == 0 {
		t.Fatalf("loaded with %+v", r)
	}
	why := r.Suggestions[0]
	if why.Family != "auto-tag" || strings.Join(why.Matched, " ") != "find key phrases tag" || !strings.Contains(why.Why, "4 words") {
		t.Errorf("the reason is %+v", why)
	}
	p.line()
	if got := p.beyondCore(`{}`); got != tagging {
		t.Errorf("listed are %s", got)
	}
}

func TestAnIntentThatFitsSeveralFamiliesNamesTheOthers(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	var r loaded
	p.must("memory_load_family", `{"intent":"memory"}`).into(&r)
	if r.Family != "auto-tag" || len(r.Suggestions) < 2 || r.Suggestions[1].Family == "auto-tag" {
		t.Errorf("got family %q with suggestions %+v, want auto-tag and others", r.Family, r.Suggestions)
	}
}

func TestAnIntentThatNoFamilyFitsLoadsNone(t *testing.T) {
	for _, intent := range []string{"buy flowers and paint walls and then tag", "xyzzy"} {
		p := withFamilies(t, newFake(), Session{})
		var r loaded
		p.must("memory_load_family", `{"intent":"`+intent+`"}`).into(&r)
		if r.Family != "" || len(r.Tools) != 0 || !strings.Contains(r.Note, "auto-tag, broken, odd, site") {
			t.Errorf("%s: got family %q, %d tools and the note %q, want none, and the families that there are", intent, r.Family, len(r.Tools), r.Note)
		}
		p.quiet()
	}
}

func TestAFamilyAtFaultIsSuggestedWithItsFaultAndNotLoaded(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	var r loaded
	p.must("memory_load_family", `{"intent":"it crashes"}`).into(&r)
	if r.Family != "" || r.Suggestions[0].Family != "broken" || !strings.Contains(r.Suggestions[0].Fault, "out of memory") {
		t.Errorf("answered %+v", r)
	}
	if refusal := p.refused("memory_load_family", `{"family":"broken"}`); refusal.Code != memory.Unavailable || !strings.Contains(refusal.Message, "out of memory") {
		t.Errorf("refused with %+v", refusal)
	}
	if len(f.loads) != 0 {
		t.Errorf("loaded were %s", f.loads)
	}
}

func TestAFamilyThatDoesNotLoadIsNotListed(t *testing.T) {
	f := newFake()
	f.refuses["auto-tag"] = errNo
	p := withFamilies(t, f, Session{})
	if refusal := p.refused("memory_load_family", `{"family":"auto-tag"}`); refusal.Code != memory.Unavailable || refusal.Message != "no" {
		t.Errorf("refused with %+v", refusal)
	}
	if got := p.beyondCore(`{}`); got != "" {
		t.Errorf("listed are %s", got)
	}
}

func TestAToolThatIsNotLoadedIsLoadedByACall(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{Namespace: "ns", Agent: "me"})
	o := p.must("memory_auto_tag", `{"id":"k"}`)
	if o.field("tool") != `"memory_auto_tag"` || o.field("given") != `{"id":"k"}` {
		t.Errorf("answered %s", o.text)
	}
	if got := p.line(); !strings.Contains(got, "list_changed") {
		t.Errorf("the client was told %s", got)
	}
	if got := p.beyondCore(`{}`); got != tagging {
		t.Errorf("listed are %s", got)
	}
	c := f.last(t)
	if c.Tool != "memory_auto_tag" || c.Namespace != "ns" || c.Branch != "default" || c.Agent != "me" || c.ReadOnly || c.DryRun || c.Progress != nil {
		t.Errorf("called with %+v", c)
	}
}

func TestACallThatFailsLoadsNothing(t *testing.T) {
	f := newFake()
	f.answers["memory_auto_tag"] = func(context.Context, familyCall) (tool.Result, error) { return tool.Result{}, errNo }
	p := withFamilies(t, f, Session{})
	if refusal := p.refused("memory_auto_tag", `{"id":"k"}`); refusal.Code != memory.Unavailable {
		t.Errorf("refused with %+v", refusal)
	}
	p.quiet()
}

func TestBothSpellingsOfANameAreTheSameTool(t *testing.T) {
	f := newFake()
	f.change(func(all []tool.Family) []tool.Family { return all[:2] }) // without the one that is written alike
	p := withFamilies(t, f, Session{})
	for _, name := range []string{"site.memory.store", "site_memory_store", "site_memory.store"} {
		p.must(name, `{"content":"x"}`)
		if got := f.last(t).Tool; got != "site.memory.store" {
			t.Errorf("%s called %s", name, got)
		}
	}
	p.must("memory.store", `{"key":"k","value":1}`)
	if got := p.must("memory.recall", `{"key":"k"}`).field("value"); got != "1" {
		t.Errorf("recalled %s", got)
	}
}

func TestWhatIsWrongWithAToolIsItsOwnFault(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{Profile: profile.Full})
	want := "memory_auto_tag memory_tag_suggest site_memory_store odd_loose odd_far site_memory_recall"
	got := strings.Fields(p.beyondCore(`{}`))
	if len(got) != 6 || strings.Join(got, " ") != "memory_auto_tag memory_tag_suggest site_memory_store odd_loose odd_far site_memory_recall" {
		t.Errorf("listed are %s, not %s", got, want)
	}
	// The tool of that very name is meant, and the other one by its own.
	p.must("site_memory_store", `{}`)
	if c := f.last(t); c.Tool != "site_memory_store" {
		t.Errorf("called %s", c.Tool)
	}
	p.must("site.memory.store", `{"content":"x"}`)
	if c := f.last(t); c.Tool != "site.memory.store" {
		t.Errorf("called %s", c.Tool)
	}
	p.must("memory_store", `{"key":"k","value":1}`)
	if f.last(t).Tool != "site.memory.store" {
		t.Error("a family has taken the place of a core tool")
	}
	var r struct{ Tools []toolRow }
	p.must("memory_capabilities", `{"family":"odd","include_schema":true}`).into(&r)
	faults := map[string]string{}
	for _, each := range r.Tools {
		faults[each.Name] = each.Fault
	}
	for name, want := range map[string]string{
		"odd_list": "type object", "odd_text": "must be an object", "odd_" + strings.Repeat("x", 80): "1 to 64", "memory_store": "core tool", "memory.recall": "core tool", "site_memory_store": "", "odd_loose": "",
	} {
		if got := faults[name]; (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("the fault of %.20s is %q", name, got)
		}
	}
	if refusal := p.refused("broken_tool", `{}`); refusal.Code != memory.Unavailable || !strings.Contains(refusal.Message, "out of memory") {
		t.Errorf("refused with %+v", refusal)
	}
}

func TestAFieldThatIsGivenTwiceNeverReachesAFamily(t *testing.T) {
	f := newFake()
	p := connect(t, newServer(t, Options{}, f), Session{}).initialize("tester")
	for arguments, named := range map[string]string{
		`{"id":"a","id":"b"}`: "id", `{"id":"a","more":{"x":1,"x":2}}`: "more.x", `{"id":"a","more":{"list":[{"\u0078":1,"x":2}]}}`: "more.list.x", `{"id":"a","more":"{\"x\":1,\"x\":2}"}`: "more.x",
	} {
		for _, refusal := range []tool.Failure{p.refused("memory_auto_tag", arguments), p.refused("memory_operation", `{"method":"memory_auto_tag","params":`+arguments+`}`)} {
			if !strings.Contains(refusal.Message, `"`+named+`" is given twice`) || refusal.Code != memory.InvalidArgument {
				t.Errorf("memory_auto_tag of %s: refused with %q, want %q given twice", arguments, refusal.Message, named)
			}
		}
	}
	if len(f.calls) != 0 {
		t.Errorf("%d calls reached it", len(f.calls))
	}
}

func TestASchemaNeverReadsFiles(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	if refusal := p.refused("odd_far", `{"a":"x"}`); refusal.Code != memory.Internal {
		t.Errorf("refused with %+v", refusal)
	}
}

func TestLoadingWhereNothingLastsGivesTheToolsAndLeavesTheList(t *testing.T) {
	p := connect(t, newServer(t, Options{}, newFake()), Session{})
	answer := p.request("tools/call", `{"name":"memory_load_family","arguments":{"family":"auto-tag"},`+modernMeta+`}`)
	o := parseOutcome(t, "memory_load_family", []byte(answer))
	var r loaded
	o.into(&r)
	if len(r.Tools) != 2 || r.Tools[1].InputSchema == nil || !strings.Contains(r.Note, "stays as it is") {
		t.Errorf("loaded with %s", o.text)
	}
	p.quiet()
	if got := p.beyondCore(`{` + modernMeta + `}`); got != "" {
		t.Errorf("listed are %s", got)
	}
	answer = p.request("tools/call", `{"name":"memory_auto_tag","arguments":{"id":"k"},`+modernMeta+`}`)
	if o := parseOutcome(t, "memory_auto_tag", []byte(answer)); o.field("tool") != `"memory_auto_tag"` {
		t.Errorf("called with %s", o.text)
	}
	p.quiet()
	if got := p.beyondCore(`{` + modernMeta + `}`); got != "" {
		t.Errorf("listed are %s", got)
	}
}

func TestAFamilyTooLargeForAnAnswerKeepsItsTools(t *testing.T) {
	f := newFake()
	f.change(func(all []tool.Family) []tool.Family {
		big := tool.Family{Name: "big", Description: "Large schemas."}
		for i := range 8 {
			schema := `{"type":"object","properties":{"a":{"enum":["` + strings.Repeat("x", 10_000) + `"]}}}`
			big.Tools = append(big.Tools, tool.Spec{Name: "big_" + string(rune('a'+i)), Description: "Big.", Input: json.RawMessage(schema)})
		}
		return append(all, big)
	})
	p := withFamilies(t, f, Session{})
	o := p.must("memory_load_family", `{"family":"big"}`)
	var r loaded
	o.into(&r)
	omitted := 0
	for _, each := range r.Tools {
		if each.Omitted {
			omitted++
		}
	}
	if len(r.Tools) != 8 || omitted == 0 || len(o.text) > tool.MaxAnswer+2000 || !strings.Contains(r.Note, "schemas were left out") {
		t.Errorf("%d tools, %d without schema, %d bytes: %s", len(r.Tools), omitted, len(o.text), r.Note)
	}
}
