package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/tool"
)

// historyAnswer is what memory_history answers.
type historyAnswer struct {
	Versions []struct {
		Value     json.RawMessage
		Omitted   bool `json:"value_omitted"`
		Version   uint64
		Timestamp string
		Deleted   bool
		Tags      []string
	}
	More, Note string
}

func TestAHistoryListsVersionsNewestFirst(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":"one"}`)
	p.must("memory_store", `{"key":"k","value":"two"}`)
	p.must("memory_forget", `{"key":"k"}`)
	o := p.must("memory_history", `{"key":"k"}`)
	var h historyAnswer
	o.into(&h)
	if len(h.Versions) != 3 || !h.Versions[0].Deleted || string(h.Versions[1].Value) != `"two"` || string(h.Versions[2].Value) != `"one"` || h.More != "" {
		t.Errorf("the history is %s", o.text)
	}
	if !strings.HasPrefix(o.text, "[{") {
		t.Errorf("the text is %s", o.text)
	}
}

func TestALongHistoryIsReadPageByPage(t *testing.T) {
	p := use(t)
	for i := range 25 {
		p.must("memory_store", fmt.Sprintf(`{"key":"k","value":%d}`, i))
	}
	var h historyAnswer
	o := p.must("memory_history", `{"key":"k"}`)
	o.into(&h)
	if len(h.Versions) != 20 || h.More == "" || !strings.Contains(h.Note, "as_of="+h.More) || len(o.notes) != 1 {
		t.Fatalf("%d versions, more %q, note %q", len(h.Versions), h.More, h.Note)
	}
	var rest historyAnswer
	p.must("memory_history", `{"key":"k","as_of":"`+h.More+`"}`).into(&rest)
	if len(rest.Versions) != 5 || string(rest.Versions[0].Value) != "4" || rest.More != "" || rest.Note != "" {
		t.Errorf("the rest is %+v", rest)
	}
}

func TestALargeHistoryLeavesOutTheLargestValuesAndSaysSo(t *testing.T) {
	p := use(t)
	for i := range 8 {
		p.must("memory_store", fmt.Sprintf(`{"key":"k","value":"%d%s"}`, i, strings.Repeat("x", 9_000)))
	}
	o := p.must("memory_history", `{"key":"k","verbose":true}`)
	var h historyAnswer
	o.into(&h)
	if utf8.RuneCountInString(o.text) > tool.MaxAnswer || len(h.Versions) != 8 || !strings.Contains(h.Note, "3 values were left out") {
		t.Errorf("%d characters, %d versions, note %q", utf8.RuneCountInString(o.text), len(h.Versions), h.Note)
	}
}

func TestWithoutAKeyTheHistoryIsHowFarBackOneCanRead(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":"one"}`)
	var e map[string]any
	o := p.must("memory_history", `{}`)
	o.into(&e)
	if e["branch"] != "default" || e["oldest"] == nil || e["latest"] == nil {
		t.Errorf("the extent is %s", o.text)
	}
}

func TestAnUnknownKeyHasAnEmptyHistory(t *testing.T) {
	if got := use(t).must("memory_history", `{"key":"nothing"}`).text; got != "[]" {
		t.Errorf("the history is %s", got)
	}
}

func TestHistorySaysWhatIsWrong(t *testing.T) {
	got := use(t).refused("memory_history", `{"key":"k","limit":51,"as_of":{}}`)
	if !strings.Contains(got.Message, "limit must be a whole number from 1 to 50, got 51") || !strings.Contains(got.Message, "as_of") {
		t.Errorf("refused with %s", got.Message)
	}
	if details, _ := json.Marshal(got.Details); string(details) != `{"parameters":["limit","as_of"]}` {
		t.Errorf("the details are %s", details)
	}
}
