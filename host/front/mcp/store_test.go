package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

func TestWhatIsStoredIsRecalledToTheByte(t *testing.T) {
	p := use(t)
	values := []string{
		`"text"`, `null`, `true`, `0`, `-0`, `1.0`, `1e400`, `9007199254740993`, `123456789012345678901234567890`, `0.1000`,
		`{"b":1,"a":{"c":[1,2,{}]}}`, `[]`, `"<b>&amp;\u2028 é 日本"`, `"\ud800"`, `{"a":1,"a":2}`,
	}
	for _, value := range values {
		p.must("memory_store", `{"key":"k","value":`+value+`}`)
		o := p.must("memory_recall", `{"key":"k"}`)
		var plain map[string]json.RawMessage
		if err := json.Unmarshal([]byte(o.text), &plain); err != nil {
			t.Fatal(err)
		}
		if got := string(plain["value"]); got != value {
			t.Errorf("stored %s, recalled %s", value, got)
		}
	}
}

// receipt is what memory_store answers.
type receipt struct {
	Key       string
	Version   uint64
	Timestamp string
	Notes     []string
}

func TestStoringAnswersWithAReceipt(t *testing.T) {
	o := use(t).must("memory_store", `{"key":"user/timezone","value":"CET"}`)
	var r receipt
	o.into(&r)
	if r.Key != "user/timezone" || r.Version == 0 || !strings.HasSuffix(r.Timestamp, "Z") || len(r.Timestamp) != len("2026-01-01T00:00:00.000000Z") {
		t.Errorf("the receipt is %s", o.structured)
	}
	if want := fmt.Sprintf(`{"key":"user/timezone","version":%d}`, r.Version); o.text != want {
		t.Errorf("the text is %s, not %s", o.text, want)
	}
}

func TestStoringWithoutAKeyTwiceIsOneMemory(t *testing.T) {
	p := use(t)
	first, second := p.must("memory_store", `{"value":{"a":1,"b":2}}`), p.must("memory_store", `{"value":{"b":2,"a":1}}`)
	if first.field("key") == "" || first.field("key") != second.field("key") {
		t.Errorf("the keys are %s and %s", first.field("key"), second.field("key"))
	}
}

func TestABatchIsStoredAsAWholeOrNotAtAll(t *testing.T) {
	p := use(t)
	o := p.must("memory_store", `{"items":[{"key":"a","value":1,"tags":["x"]},{"key":"b","value":null},{"value":"keyless"}]}`)
	var r struct{ Stored []receipt }
	o.into(&r)
	if len(r.Stored) != 3 || r.Stored[0].Key != "a" || r.Stored[2].Key == "" || !strings.HasPrefix(o.text, "[") {
		t.Errorf("stored %s", o.text)
	}
	refusal := p.refused("memory_store", `{"items":[{"key":"c","value":1},{"key":"d","value":1,"importance":2}]}`)
	if !strings.Contains(refusal.Message, "items[1].importance") {
		t.Errorf("the error does not say where: %s", refusal.Message)
	}
	if got := p.must("memory_recall", `{"key":"c"}`).field("found"); got != "false" {
		t.Errorf("half a batch was stored: %s", got)
	}
}

func TestWhatIsSaidBesideItemsCountsForEach(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"items":[{"key":"a","value":1},{"key":"b","value":2,"type":"plan"}],"tags":["x"],"type":"fact","value":null}`)
	a, b := p.must("memory_recall", `{"key":"a"}`), p.must("memory_recall", `{"key":"b"}`)
	if a.field("tags") != `["x"]` || a.field("type") != `"fact"` || b.field("tags") != `["x"]` || b.field("type") != `"plan"` {
		t.Errorf("stored %s and %s", a.text, b.text)
	}
	if got := p.must("memory_store", `{"key":"c","value":3,"items":[]}`).field("key"); got != `"c"` {
		t.Errorf("with no items the value is stored under %s", got)
	}
	if got := p.refused("memory_store", `{"items":[{"value":1}],"key":"k"}`).Message; !strings.Contains(got, "key cannot be given beside items") {
		t.Errorf("refused with %s", got)
	}
}

func TestStoreKeepsAllThatIsSaidOfAMemory(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":"v","tags":["t1","t2"],"type":"fact","importance":0.7,"metadata":{"n":9007199254740993},`+
		`"expires":"in 2h","supersedes":"old","links":["a","b"]}`)
	o := p.must("memory_recall", `{"key":"k"}`)
	for name, want := range map[string]string{
		"tags": `["t1","t2"]`, "type": `"fact"`, "importance": "0.7", "metadata": `{"n":9007199254740993}`, "supersedes": `["old"]`,
		"links": `["a","b"]`, "agent": `"tester"`, "found": "true", "state": "",
	} {
		if got := o.field(name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
	if o.field("expires_at") == "" {
		t.Error("it does not say when it expires")
	}
}

func TestAConditionalStoreFailsWhenTheKeyMovedOn(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":1,"if_version":0}`)
	refusal := p.refused("memory_store", `{"key":"k","value":2,"if_version":0}`)
	if refusal.Code != memory.Conflict {
		t.Errorf("refused with %+v", refusal)
	}
	version := p.must("memory_recall", `{"key":"k"}`).field("version")
	p.must("memory_store", `{"key":"k","value":2,"if_version":"v`+version+`"}`)
}

func TestStoreSaysWhatIsMissing(t *testing.T) {
	p := use(t)
	for arguments, want := range map[string]string{
		`{}`:                                "memory_store needs value",
		`{"key":"k"}`:                       "memory_store needs value",
		`{"items":[]}`:                      "memory_store needs items",
		`{"items":[{"key":"k"}]}`:           "memory_store needs items[0].value",
		`{"items":["a"]}`:                   "items[0] must be an object",
		`{"items":[{"value":1}],"value":2}`: "value cannot be given beside items",
		`{"value":1,"tags":{}}`:             "tags must be a list of texts, got {}",
		`{"value":1,"importance":"high"}`:   `importance must be a number from 0 to 1, got "high"`,
		`{"value":1,"metadata":[1]}`:        "metadata must be an object, got [1]",
		`{"value":1,"if_version":-1}`:       "if_version must be a version",
		`{"value":1,"expires":"someday"}`:   "expires: ",
		`{"value":1,"namespace":"a b"}`:     "namespace",
		`{"value":1,"branch":"nowhere"}`:    "nowhere",
		`{"value":1,"key":{"a":1}}`:         `key must be text, got {"a":1}`,
		`{"value":1,"key":"a","key":"b"}`:   `"key" is given twice`,
		`[1]`:                               "must be a JSON object: got [1]",
		`{"value":1,"tags":5.5,"key":[],"type":{},"links":false,"metadata":1,"importance":[],"expires":"x"}`: "and 1 more",
	} {
		refusal := p.refused("memory_store", arguments)
		if !strings.Contains(refusal.Message, want) {
			t.Errorf("%s: the error %q does not say %q", arguments, refusal.Message, want)
		}
	}
}
