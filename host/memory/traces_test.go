package memory

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// asJSON is a text as JSON writes it.
func asJSON(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// asciiJSON is the same with escapes for all that is not ASCII.
func asciiJSON(text string) string {
	var out strings.Builder
	for _, r := range asJSON(text) {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04X\u%04X`, high, low)
		}
	}
	return out.String()
}

// encodings are ways in which a guest may keep a text within a JSON string.
var encodings = map[string]func(text string) string{
	"as it is":            func(text string) string { return text },
	"JSON":                asJSON,
	"JSON twice":          func(text string) string { return asJSON(asJSON(text)) },
	"JSON three times":    func(text string) string { return asJSON(asJSON(asJSON(text))) },
	"a member":            func(text string) string { return `{"kept":` + asJSON(text) + `}` },
	"ASCII escapes":       asciiJSON,
	"ASCII escapes twice": func(text string) string { return asciiJSON(asciiJSON(text)) },
	"escapes of programs": strconv.QuoteToASCII,
	"HTML":                html.EscapeString,
	"HTML twice":          func(text string) string { return html.EscapeString(html.EscapeString(text)) },
	"URL query":           url.QueryEscape,
	"URL path":            url.PathEscape,
	"base64":              func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
	"base64 for URLs":     func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) },
	"base64 of JSON":      func(text string) string { return base64.StdEncoding.EncodeToString([]byte(`[` + asJSON(text) + `]`)) },
	"JSON of base64":      func(text string) string { return asJSON(base64.StdEncoding.EncodeToString([]byte(text))) },
	"base64 in a line": func(text string) string {
		return "kept/" + base64.StdEncoding.EncodeToString([]byte("x"+text)) + ", see there"
	},
	"base64 in lines": func(text string) string {
		var lines strings.Builder
		for i, c := range base64.StdEncoding.EncodeToString([]byte(text)) {
			if i > 0 && i%12 == 0 {
				lines.WriteString("\r\n")
			}
			lines.WriteRune(c)
		}
		return lines.String()
	},
	"hexadecimal": func(text string) string { return hex.EncodeToString([]byte(text)) },
	"HEXADECIMAL": func(text string) string { return strings.ToUpper(hex.EncodeToString([]byte(text))) },
}

var surely = []string{
	"the first password", `she said "no" & left`, "naïve café – žluťoučký kůň", "a <b>bold</b> claim's end", "line one\nline two\ttabbed", "\U0001f600 face and \U0001f469\u200d\U0001f4bb work", `C:\temp\new folder`, "a+b=c and 100% sure",
}

func TestALongTextIsFoundHoweverItIsEncoded(t *testing.T) {
	for _, text := range surely {
		looked := newTraces("the key")
		looked.add(json.RawMessage(`{"secret":` + asJSON(text) + `}`))
		for name, encode := range encodings {
			for _, record := range []string{`{"v":{"copy":` + asJSON(encode(text)) + `}}`, `{"v":{` + asJSON(encode(text)) + `:1}}`, `{"v":[1,` + asJSON("noted: "+encode(text)+" (end)") + `]}`} {
				if found := looked.in([]byte(record)); !found.copied() {
					t.Errorf("%q as %s is not found in %s", text, name, record)
				}
			}
			if found := looked.in([]byte(`{"v":{"copy":` + asJSON(encode("something else entirely, of no concern")) + `}}`)); found.copied() || found.doubtful() != "" {
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
		looked := newTraces(key)
		looked.add(json.RawMessage(c.payload))
		found := looked.in([]byte(c.record))
		if got := (is{found.copied(), !found.copied() && found.doubtful() != ""}); got != c.want {
			t.Errorf("%s in %s: %+v, not %+v (%+v)", c.payload, c.record, got, c.want, found)
		}
	}
}

func TestAMatcherFindsWhatOneByOneIsFound(t *testing.T) {
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

// TestLookingTakesTimeInProportion looks in records that are made to take long: what is not looked through is said to be unread.
func TestLookingTakesTimeInProportion(t *testing.T) {
	const size = 1 << 20
	many := make([]string, 20000)
	for i := range many {
		many[i] = fmt.Sprintf("prefix-of-all-%06d", i)
	}
	all, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	looked := newTraces("the key")
	looked.add(all)
	looked.add(json.RawMessage(`"` + strings.Repeat("a", size) + `"`))
	for name, c := range map[string]struct {
		record string
		copied bool
	}{
		"nearly the text": {`{"v":"` + strings.Repeat("a", size-1) + `"}`, false},
		"many beginnings": {`{"v":"` + strings.Repeat("prefix-of-all-", size/14) + `"}`, false},
		"one at the end":  {`{"v":"` + strings.Repeat("x", size) + `prefix-of-all-019999"}`, true},
		"escapes":         {`{"v":` + asJSON(strings.Repeat(`\\\\\\\\%25%25&amp;amp;+`, size/24)) + `}`, false},
		"base64":          {`{"v":"` + base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("abcd+%", size/10))))) + `"}`, false},
		"deep JSON":       {`{"v":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, false},
		"many strings":    {`{"v":[` + strings.Repeat(`"[1,2]",`, size/8) + `1]}`, false},
	} {
		if found := looked.in([]byte(c.record)); found.copied() != c.copied {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := looked.in([]byte(`{"v":"` + strings.Repeat("a", size-1) + `"}`)); !found.unread && !found.part {
		t.Errorf("what was not looked through is not said: %+v", found)
	}
}

func FuzzTraces(f *testing.F) {
	f.Add([]byte(`{"v":"aHVudGVyMg=="}`), []byte(`"hunter2"`))
	f.Add([]byte(`{"v":"\ud83d\ude00%41&amp;\\u0041"}`), []byte(`{"a":[1e400,"long enough to be one"]}`))
	f.Fuzz(func(t *testing.T, record, payload []byte) {
		looked := newTraces("key")
		looked.add(payload)
		looked.in(record)
		if utf8.Valid(payload) && json.Valid(payload) && len(looked.texts) > 0 {
			if found := looked.in(payload); !found.copied() {
				t.Errorf("%s is not found in itself", payload)
			}
		}
	})
}
