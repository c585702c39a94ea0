package traces

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/testing/tracestest"
)

var surely = []string{
	"the first password", `she said "no" & left`, "naïve café – žluťoučký kůň", "a <b>bold</b> claim's end", "line one\nline two\ttabbed", "\U0001f600 face and \U0001f469\u200d\U0001f4bb work", `C:\temp\new folder`, "a+b=c and 100% sure",
}

func TestALongTextIsFoundHoweverItIsEncoded(t *testing.T) {
	for _, text := range surely {
		looked := New("the key")
		looked.Add(json.RawMessage(`{"secret":` + tracestest.JSON(text) + `}`))
		for name, encode := range tracestest.Encodings() {
			for _, record := range []string{`{"v":{"copy":` + tracestest.JSON(encode(text)) + `}}`, `{"v":{` + tracestest.JSON(encode(text)) + `:1}}`, `{"v":[1,` + tracestest.JSON("noted: "+encode(text)+" (end)") + `]}`} {
				if found := looked.Find([]byte(record)); !found.Copy() {
					t.Errorf("%q as %s is not found in %s", text, name, record)
				}
			}
			if found := looked.Find([]byte(`{"v":{"copy":` + tracestest.JSON(encode("something else entirely, of no concern")) + `}}`)); found.Copy() || found.Explanation() != "" {
				t.Errorf("%q is found in something else as %s: %+v", text, name, found)
			}
		}
	}
}

func TestShortAndCommonValuesAreCopiesOnlyWhenThatIsSure(t *testing.T) {
	const key = "card/anna"
	type is struct {
		copied   bool
		doubtful bool
	}
	no, named, yes := is{}, is{doubtful: true}, is{copied: true}
	for _, c := range []struct {
		payload, record string
		want            is
	}{
		{`"hunter2"`, `{"v":{"pw":"hunter2"}}`, yes},
		{`"hunter2"`, `{"v":{"pw":"my hunter2 is"}}`, no},
		{`"hunter2"`, `{"v":"{\"pw\":\"hunter2\"}"}`, yes},
		{`"hunter2"`, `{"v":"\"{\\\"pw\\\":\\\"hunter2\\\"}\""}`, yes},
		{`"hunter2"`, `{"v":"aHVudGVyMg=="}`, yes},
		{`"hunter2"`, `{"v":"68756e74657232"}`, yes},
		{`"a&b1"`, `{"v":"a&amp;b1"}`, yes},
		{`"a b1"`, `{"v":"a+b1"}`, yes},
		{`{"n":4155550133}`, `{"v":{"phone":4155550133}}`, yes},
		{`{"n":4155550133}`, `{"v":{"phone":"4155550133"}}`, yes},
		{`{"n":4155550133}`, `{"v":{"phone":4.155550133e9}}`, yes},
		{`{"n":4155550133}`, `{"v":{"phone":4155550134}}`, no},
		{`{"n":-12.3456789}`, `{"v":"[-12.34567890]"}`, yes},
		{`"blue"`, `{"v":{"colour":"blue"}}`, named},
		{`"blue"`, `{"v":{"of":"card/anna","colour":"blue"}}`, yes},
		{`"blue"`, `{"v":{"colour":"bluebell"}}`, no},
		{`{"n":404}`, `{"v":{"code":404}}`, named},
		{`{"n":404}`, `{"v":{"code":404,"of":"card/anna"}}`, yes},
		{`{"n":7}`, `{"v":{"code":7}}`, no},
		{`7`, `{"v":{"code":7,"more":[7,7]}}`, no},
		{`{"n":7}`, `{"v":{"code":7,"of":"card/anna"}}`, named},
		{`{"n":true,"m":null,"e":""}`, `{"v":{"x":true,"y":null,"z":""}}`, no},
		{`"x"`, `{"v":{"of":["card/anna"]}}`, named},
		{`"x"`, `{"v":{"card/anna":1}}`, named},
		{`"x"`, `{"v":"{\"card/anna\":1}"}`, named},
		{`{"Anna Müller":1}`, `{"v":{"Anna Müller":2}}`, yes},
		{`{"Anna Müller":1}`, `{"v":{"name":"Anna Müller"}}`, yes},
		{`{"description":1}`, `{"v":{"description":2}}`, no},
		{`{"description":1}`, `{"v":{"description":2,"of":"card/anna"}}`, yes},
		{`{"id-4711":1}`, `{"v":{"id-4711":2}}`, yes},
		{`"a long text of which only the beginning is kept somewhere"`, `{"v":{"title":"a long text of which only the begin…"}}`, named},
	} {
		looked := New(key)
		looked.Add(json.RawMessage(c.payload))
		found := looked.Find([]byte(c.record))
		if got := (is{found.Copy(), !found.Copy() && found.Explanation() != ""}); got != c.want {
			t.Errorf("%s in %s: %+v, not %+v (%+v)", c.payload, c.record, got, c.want, found)
		}
	}
}

func TestAMatcherAgreesWithSearchingTextByText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(least, most int) string {
		out := make([]byte, least+r.IntN(most-least))
		for i := range out {
			out[i] = "ab"[r.IntN(2)]
		}
		return string(out)
	}
	for range 3000 {
		var texts []string
		for range 1 + r.IntN(20) {
			texts = append(texts, word(leastText, 24))
		}
		in, want := word(0, 60), false
		for _, text := range texts {
			want = want || strings.Contains(in, text)
		}
		budget := 1 << 20
		if found, ok := newMatcher(texts).find([]byte(in), &budget); !ok || found.whole != want {
			t.Fatalf("%q in %q: %t, not %t", texts, in, found.whole, want)
		}
	}
}

// TestFindTakesTimeInProportion reads records that are made to take long: one beyond the budget is reported as unread.
func TestFindTakesTimeInProportion(t *testing.T) {
	const size = 1 << 20
	many := make([]string, 20000)
	for i := range many {
		many[i] = fmt.Sprintf("prefix-of-all-%06d", i)
	}
	all, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	looked := New("the key")
	looked.Add(all)
	looked.Add(json.RawMessage(`"` + strings.Repeat("a", size) + `"`))
	for name, c := range map[string]struct {
		record string
		copied bool
	}{
		"nearly the text": {`{"v":"` + strings.Repeat("a", size-1) + `"}`, false},
		"many beginnings": {`{"v":"` + strings.Repeat("prefix-of-all-", size/14) + `"}`, false},
		"one at the end":  {`{"v":"` + strings.Repeat("x", size) + `prefix-of-all-019999"}`, true},
		"escapes":         {`{"v":` + tracestest.JSON(strings.Repeat(`\\\\\\\\%25%25&amp;amp;+`, size/24)) + `}`, false},
		"base64":          {`{"v":"` + base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("abcd+%", size/10))))) + `"}`, false},
		"deep JSON":       {`{"v":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, false},
		"many strings":    {`{"v":[` + strings.Repeat(`"[1,2]",`, size/8) + `1]}`, false},
	} {
		if found := looked.Find([]byte(c.record)); found.Copy() != c.copied {
			t.Errorf("%s: Find = %+v, want a copy: %t", name, found, c.copied)
		}
	}
	if found := looked.Find([]byte(`{"v":"` + strings.Repeat("a", size-1) + `"}`)); !found.unread && !found.Part {
		t.Errorf("a record beyond the budget is not reported: %+v", found)
	}
}

func FuzzTraces(f *testing.F) {
	f.Add([]byte(`{"v":"aHVudGVyMg=="}`), []byte(`"hunter2"`))
	f.Add([]byte(`{"v":"\ud83d\ude00%41&amp;\\u0041"}`), []byte(`{"a":[1e400,"long enough to be one"]}`))
	f.Fuzz(func(t *testing.T, record, payload []byte) {
		looked := New("key")
		looked.Add(payload)
		looked.Find(record)
		if utf8.Valid(payload) && json.Valid(payload) && len(looked.texts) > 0 {
			if found := looked.Find(payload); !found.Copy() {
				t.Errorf("%s is not found in itself", payload)
			}
		}
	})
}
