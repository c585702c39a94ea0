package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/tool"
)

type searched struct {
	Results []map[string]json.RawMessage
	Total   int
	Note    string
}

func (p *peer) search(arguments string) searched {
	p.t.Helper()
	var s searched
	o := p.must("memory_search", arguments)
	o.into(&s)
	var plain []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(o.text), &plain); err != nil || len(plain) != len(s.Results) {
		p.t.Fatalf("the text is %s", o.text)
	}
	if s.Note != strings.Join(o.notes, "") {
		p.t.Errorf("the note %q and the texts %q differ", s.Note, o.notes)
	}
	return s
}

func TestAQuestionInPlainWordsFindsItsAnswer(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"items":[{"key":"tz","value":"The user lives in Oslo, in the time zone CET","tags":["user"]},{"key":"x","value":"Bread needs flour"}]}`)
	s := p.search(`{"query":"In which time zone does the user live?"}`)
	if s.Total != 1 || len(s.Results) != 1 || string(s.Results[0]["key"]) != `"tz"` || string(s.Results[0]["tags"]) != `["user"]` || s.Results[0]["snippet"] != nil || s.Results[0]["updated"] == nil {
		t.Errorf("found %v", s)
	}
}

func TestSearchOfNothingIsAnEmptyList(t *testing.T) {
	o := use(t).must("memory_search", `{"query":"anything"}`)
	if o.text != "[]" || o.field("results") != "[]" {
		t.Errorf("found %s and %s", o.text, o.structured)
	}
}

func TestSearchFiltersTakeOneOrMany(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"items":[{"key":"a","value":"apple pie","type":"fact","tags":["x"]},{"key":"b","value":"apple tart","type":"plan","tags":["x","y"]}]}`)
	p.must("memory_store", `{"key":"c","value":"apple cake","namespace":"other"}`)
	for arguments, want := range map[string]int{
		`{"query":"apple"}`:                                  3,
		`{"query":"apple","type":"fact"}`:                    1,
		`{"query":"apple","type":["fact","plan"]}`:           2,
		`{"query":"apple","type":"[\"fact\",\"plan\"]"}`:     2,
		`{"query":"apple","tags":"x"}`:                       2,
		`{"query":"apple","tags":["x","y"]}`:                 1,
		`{"query":"apple","namespace":"other"}`:              1,
		`{"query":"apple","namespace":["other","default"]}`:  3,
		`{"query":"apple","state":["active","archived"]}`:    3,
		`{"query":"apple","state":"archived"}`:               0,
		`{"query":"apple","k":"2","unknown":{"field":true}}`: 3,
		`{"query":"apple","since":"1h ago","until":"now"}`:   3,
		`{"query":"apple","since":null,"tags":[],"type":""}`: 3,
	} {
		if got := p.search(arguments).Total; got != want {
			t.Errorf("%s found %d, not %d", arguments, got, want)
		}
	}
	if got := len(p.search(`{"query":"apple","k":2.0}`).Results); got != 2 {
		t.Errorf("k=2.0 gave %d results", got)
	}
	if got := len(p.search(`{"query":"apple","k":2,"offset":2}`).Results); got != 1 {
		t.Errorf("the last page has %d results", got)
	}
}

func TestSearchSaysWhatIsWrong(t *testing.T) {
	p := use(t)
	for arguments, want := range map[string]string{
		`{"after":"?"}`:                                 "begin again without it",
		`{"order":"best"}`:                              "order must be one of newest, oldest",
		`{"query":"q","after":"x"}`:                     "after continues a listing",
		`{"explain":true}`:                              "leave explain out",
		`{"query":"q","k":"many"}`:                      `k must be a whole number from 1 to 50, got "many"`,
		`{"query":"q","k":51}`:                          "k must be a whole number from 1 to 50, got 51",
		`{"query":"q","k":1.5}`:                         "k must be a whole number from 1 to 50, got 1.5",
		`{"query":"q","k":true}`:                        "k must be a whole number from 1 to 50, got true",
		`{"query":"q","offset":-1}`:                     "offset must be a whole number from 0 to 100000, got -1",
		`{"query":"q","state":"lost"}`:                  "state must be one or several of active, archived, merged, pruned",
		`{"query":"q","since":"whenever"}`:              "since: ",
		`{"query":"q","events":"perhaps"}`:              "events must be true or false",
		`{"query":{"text":"q"}}`:                        "query must be text",
		`{"query":"q","tags":[["a"]]}`:                  "tags must be a list of texts",
		`{"query":"` + strings.Repeat("q", 5000) + `"}`: "query has 5000 bytes",
	} {
		if got := p.refused("memory_search", arguments).Message; !strings.Contains(got, want) {
			t.Errorf("memory_search of %s: refused with %q, want %q", tool.Clip(arguments, 80), got, want)
		}
	}
}

func TestTheLogCanBeSearched(t *testing.T) {
	p := use(t)
	p.must("memory_log", `{"event":"deployed","data":{"service":"billing","build":9007199254740993}}`)
	p.must("memory_store", `{"key":"billing","value":"the billing service"}`)
	s := p.search(`{"query":"billing","events":true}`)
	if len(s.Results) != 1 {
		t.Fatalf("found %v", s.Results)
	}
	for name, want := range map[string]string{"event": `"deployed"`, "sequence": "1", "data": `{"service":"billing","build":9007199254740993}`, "key": "", "value": ""} {
		if got := string(s.Results[0][name]); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}

// why is how a hit explains itself.
type why struct {
	Branch    string
	Terms     []struct{ Term string }
	Documents int
	Features  map[string]float64
}

func TestAHitExplainsItself(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":"apple pie"}`)
	s := p.search(`{"query":"apple","explain":true}`)
	var w why
	if err := json.Unmarshal(s.Results[0]["why"], &w); err != nil || len(w.Terms) != 1 || w.Branch != "default" || w.Documents != 1 || w.Features["lexical"] == 0 {
		t.Errorf("explained as %s", s.Results[0]["why"])
	}
}

func TestALongAnswerShowsEveryHitAndSaysWhatItLeftOut(t *testing.T) {
	p := use(t)
	for i := range 12 {
		size := 100
		if i%2 == 0 {
			size = 20_000
		}
		p.must("memory_store", fmt.Sprintf(`{"key":"k%d","value":"apple %s"}`, i, strings.Repeat("x ", size/2)))
	}
	o := p.must("memory_search", `{"query":"apple","k":12,"verbose":true}`)
	if n := utf8.RuneCountInString(o.text); n > tool.MaxAnswer {
		t.Errorf("the answer has %d characters", n)
	}
	var s searched
	o.into(&s)
	omitted := 0
	for _, r := range s.Results {
		if r["key"] == nil || r["snippet"] == nil {
			t.Errorf("a hit does not show: %s", r)
		}
		if string(r["value_omitted"]) == "true" {
			omitted++
		} else if r["value"] == nil {
			t.Errorf("%s lost its value in silence", r["key"])
		}
	}
	if len(s.Results) != 12 || omitted != 4 {
		t.Errorf("%d hits, %d without their values: two of the large ones fit", len(s.Results), omitted)
	}
	if !strings.Contains(s.Note, "4 values were left out") || !strings.Contains(s.Note, "memory_recall") || len(o.notes) != 1 || o.notes[0] != s.Note {
		t.Errorf("the note says %q, the text %q", s.Note, o.notes)
	}
}

func TestDetailsAndThenHitsAreLeftOutLast(t *testing.T) {
	p := use(t)
	metadata := strings.Repeat("m", 40_000)
	for i := range 3 {
		p.must("memory_store", fmt.Sprintf(`{"key":"k%d","value":"apple","metadata":{"m":%q}}`, i, metadata))
	}
	s := p.search(`{"query":"apple"}`)
	if len(s.Results) != 3 || !strings.Contains(s.Note, "metadata") {
		t.Errorf("%d hits; the note says %q", len(s.Results), s.Note)
	}
	for _, r := range s.Results {
		if r["value"] == nil || r["metadata"] == nil && string(r["details_omitted"]) != "true" {
			t.Errorf("a hit lost %v", r)
		}
	}
}

func TestANoteSaysWhatElseToRepeat(t *testing.T) {
	p := use(t)
	for i := range 3 {
		p.must("memory_store", fmt.Sprintf(`{"key":"k%d","value":"apple %s"}`, i, strings.Repeat("x ", 12_000)))
	}
	if note := p.search(`{"query":"apple","branch":"default","as_of":"1h ago"}`).Note; strings.Contains(note, "the same branch") {
		t.Errorf("an hour ago there was nothing to recall, but the note says %q", note)
	}
	version := p.must("memory_status", `{}`).field("latest_version")
	if note := p.search(`{"query":"apple","branch":"default","as_of":"v` + version + `"}`).Note; !strings.Contains(note, "and the same branch and as_of") {
		t.Errorf("the note says %q", note)
	}
}

func TestWithoutAnEmbedderASearchIsByWordsAndMeaningIsRefused(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"pet","value":"a dog","vector":[1,2,3]}`)
	for _, arguments := range []string{`{"query":"dog"}`, `{"query":"dog","mode":"hybrid"}`, `{"query":"dog","mode":"lexical"}`} {
		if s := p.search(arguments); s.Total != 1 {
			t.Errorf("memory_search of %s = %v, want 1 result", arguments, s)
		}
	}
	for arguments, want := range map[string]string{
		`{"query":"dog","mode":"semantic"}`:   "no embedder",
		`{"query":"dog","vector":[1,2]}`:      "no embedder",
		`{"query":"dog","embedder":"other"}`:  "no embedder",
		`{"query":"dog","mode":"magic"}`:      "lexical",
		`{"query":"dog","vector":"x"}`:        "a list of numbers",
		`{"query":"dog","vector":[1,null]}`:   "a list of numbers",
		`{"query":"dog","vector":[1,"x"]}`:    "a list of numbers",
		`{"query":"dog","vector":[1e39,0,0]}`: "a list of numbers",
	} {
		if f := p.refused("memory_search", arguments); f.Code != "invalid_argument" || !strings.Contains(f.Message, want) {
			t.Errorf("memory_search of %s: refused with %+v, want an invalid argument, with %q", arguments, f, want)
		}
	}
	for _, item := range []string{`{"value":1,"vector":[0,0]}`, `{"items":[{"value":1}],"vector":[1]}`} {
		if f := p.refused("memory_store", item); f.Code != "invalid_argument" {
			t.Errorf("memory_store of %s: refused with %+v, want an invalid argument", item, f)
		}
	}
}

func TestResultsStayWithinABudgetOfTokens(t *testing.T) {
	p, tokens := use(t), tokenizer(t)
	for i := range 20 {
		p.must("memory_store", fmt.Sprintf(`{"key":"apple%d","value":"%s","tags":["fruit"]}`, i, strings.Repeat(fmt.Sprintf("An apple, number %d, in the garden of Zoë — 林檎. ", i), 20)))
	}
	for _, budget := range []int{500, 1500, 5000} {
		o := p.must("memory_search", fmt.Sprintf(`{"query":"apple garden","k":20,"budget_tokens":%d}`, budget))
		if n := tokens(o.text); n > budget || n < budget/8 {
			t.Errorf("with a budget of %d the results take %d tokens", budget, n)
		}
	}
	s := p.search(`{"query":"apple garden","distinct":true,"expand":true}`)
	if len(s.Results) != 1 || string(s.Results[0]["similar"]) != "19" {
		t.Errorf("found %v", s.Results)
	}
	if got := p.refused("memory_search", `{"query":"q","budget_tokens":5}`).Message; !strings.Contains(got, "budget_tokens must be a whole number from 200") {
		t.Errorf("memory_search of 5 tokens: refused with %q, want the bounds of budget_tokens", got)
	}
}
