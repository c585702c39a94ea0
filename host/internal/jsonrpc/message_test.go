package jsonrpc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTheEnvelopeIsReadAndNothingElse(t *testing.T) {
	m, fault := Parse([]byte(` { "jsonrpc" : "2.0" , "result" : { "method" : "no", "id": 9 } , "id" : "x" } ` + "\n"))
	if fault != nil || !m.IsAnswer() || m.IsRequest() || m.Key() != "sx" || m.Failed() {
		t.Errorf("Parse of an answer = %+v, %v, want a result for \"x\" that is no error", m, fault)
	}
	m, fault = Parse([]byte(`{"jsonrpc":"2.0","m\u0065thod":"m","\u0069d":0,"params":{"id":5}}`))
	if fault != nil || !m.IsRequest() || m.Method != "m" || m.Key() != "n0" || string(m.Field(m.Params, "id").Of(m.Line)) != "5" {
		t.Errorf("Parse of escaped names = %+v, %v, want a request m with id 0", m, fault)
	}
	m, fault = Parse([]byte(`{"jsonrpc":"2.0","method":"m","params":null}`))
	if fault != nil || m.IsRequest() || m.IsAnswer() || m.Params != (Span{}) {
		t.Errorf("Parse of a notification = %+v, %v, want neither a request nor an answer, and no params", m, fault)
	}
	m, fault = Parse([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1}}`))
	if fault != nil || !m.IsAnswer() || !m.Failed() {
		t.Errorf("Parse of an error = %+v, %v, want an answer that failed", m, fault)
	}
}

func TestALineThatIsNoMessageHasNoOutline(t *testing.T) {
	for _, line := range []string{``, `{`, `[]`, `{}`, `{"jsonrpc":"2.0","id":1,"result":{}`, `{"jsonrpc":"2.0","id":1,"result":{}} {}`, `{"jsonrpc":"2.0","id":1,"result":"}`, `{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`, "started\n"} {
		if m, ok := Outline([]byte(line)); ok {
			t.Errorf("%q has the outline %+v", line, m)
		}
	}
}

func TestNamesOfMembersAreCaseSensitive(t *testing.T) {
	m, fault := Parse([]byte(`{"jsonrpc":"2.0","id":1,"ID":2,"method":"a","METHOD":"b","params":{"name":"x","NAME":"y"},"Params":{}}`))
	if fault != nil || m.Key() != "n1" || m.Method != "a" || string(m.Field(m.Params, "name").Of(m.Line)) != `"x"` {
		t.Errorf("Parse = %+v, %v, want id 1, method a and name x", m, fault)
	}
	if _, fault := Parse([]byte(`{"jsonrpc":"2.0","ID":1,"Method":"a"}`)); fault == nil || !strings.Contains(fault.Text, "no method") {
		t.Errorf("Parse of ID and Method: %v, want the fault that there is no method", fault)
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	long := `"` + strings.Repeat("x", MaxID) + `"`
	for _, c := range []struct {
		line string
		code int
		id   string // to answer with; empty: null
		says string
	}{
		{`{"id":1,`, CodeParse, "1", "not valid JSON"},
		{`{"id":1,"method":"x",}`, CodeParse, "1", "not valid JSON"},
		{"{\"id\":1,\"method\":\"\xff\"}", CodeParse, "1", "not valid UTF-8"},
		{``, CodeParse, "", "not valid JSON"},
		{`[{"jsonrpc":"2.0","id":1,"method":"x"}]`, CodeInvalid, "", "no batches"},
		{`"x"`, CodeInvalid, "", "not a JSON object"},
		{`{"jsonrpc":"2.0","id":1,"id":1,"method":"x"}`, CodeInvalid, "", `"id" twice`},
		{`{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"x"}`, CodeInvalid, "", `"id" twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}`, CodeInvalid, "1", `"method" twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","method":"y","id":2}`, CodeInvalid, "", `"method" twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{}}`, CodeInvalid, "1", `"params" twice`},
		{`{"jsonrpc":"2.0","jsonrpc":"1.0","id":1,"method":"x"}`, CodeInvalid, "1", `"jsonrpc" twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","other":1,"other":1}`, CodeInvalid, "1", `"other" twice`},
		{`{"jsonrpc":"2.0","id":null,"method":"x"}`, CodeInvalid, "", "text or a number"},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"x"}`, CodeInvalid, "", "text or a number"},
		{`{"jsonrpc":"2.0","id":[1],"result":{}}`, CodeInvalid, "", "text or a number"},
		{`{"jsonrpc":"2.0","id":true,"method":"x"}`, CodeInvalid, "", "text or a number"},
		{`{"jsonrpc":"2.0","id":` + long + `,"method":"x"}`, CodeInvalid, "", "at most 1024"},
		{`{"jsonrpc":"1.0","id":1,"method":"x"}`, CodeInvalid, "1", `jsonrpc must be "2.0"`},
		{`{"jsonrpc":2.0,"id":1,"method":"x"}`, CodeInvalid, "1", `jsonrpc must be "2.0"`},
		{`{"id":"a","method":"x"}`, CodeInvalid, `"a"`, `jsonrpc must be "2.0"`},
		{`{"jsonrpc":"2.0","id":1}`, CodeInvalid, "1", "has no method"},
		{`{"jsonrpc":"2.0","id":1,"method":5}`, CodeInvalid, "1", "method must be text"},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, CodeInvalid, "1", "method must be text"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","result":1}`, CodeInvalid, "1", "not both"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`, CodeInvalidParams, "1", "params must be an object"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","n\u0061me":"b"}}`, CodeInvalidParams, "1", `params has the member "name" twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"k":1,"k":2}}}`, CodeInvalidParams, "1", `params._meta has the member "k" twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, CodeParse, "1", "not valid JSON"},
	} {
		_, fault := Parse([]byte(c.line))
		if fault == nil || fault.Code != c.code || string(fault.ID) != c.id || !strings.Contains(fault.Text, c.says) {
			t.Errorf("Parse(%.80q): %+v, want code %d for id %s that says %q", c.line, fault, c.code, c.id, c.says)
		}
	}
}

func TestAnIDIsTheSameHoweverItIsWritten(t *testing.T) {
	for _, same := range [][]string{{"1", "1.0", "1e0"}, {`"a"`, `"\u0061"`}, {"-7", "-7.0"}, {"0", "-0"}} {
		for _, id := range same {
			if Key([]byte(id)) != Key([]byte(same[0])) {
				t.Errorf("%s and %s differ", id, same[0])
			}
		}
	}
	others := []string{"1", `"1"`, "1.5", "9007199254740993", "9007199254740992", "1e400", "1e401", "123456789012345678901234567890"}
	for i, id := range others {
		for _, other := range others[:i] {
			if Key([]byte(id)) == Key([]byte(other)) {
				t.Errorf("%s and %s are the same", id, other)
			}
		}
	}
}

func TestTheIDOfAMessageThatCannotBeReadIsItsOwn(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"method":"x"}`: "1", `{"method":"x","id":"a,b}"}`: `"a,b}"`, `{"params":{"id":2},"id":3}`: "3", `{"params":[{"id":2}],"x":"\"id\":4"}`: "",
		`{ "id" : 5 , "x":1}`: "5", `{"iid":6}`: "", `{"id":null}`: "", `{"id":[7]}`: "", `{"x":"id","id":8}`: "8", `{"id":9`: "",
		`{"\u0069d":10}`: "10", `{"ID":11}`: "", `{"id":12,"id":13}`: "", `{"id":14,"\u0069\u0064":15}`: "", `[{"id":16}]`: "", `["id":17]`: "",
		`{"id":18}{"id":19}`: "18", "{\"id\":\"\xd1\"}": "", ` {"id":1.5e3 }`: "1.5e3", `{"id":01}`: "", `{"` + strings.Repeat("x", 5000) + `":1,"id":20}`: "20",
		`{"id":"` + strings.Repeat("x", MaxID) + `"}`: "", `{"id":"` + strings.Repeat("x", MaxID-2) + `"}`: `"` + strings.Repeat("x", MaxID-2) + `"`,
	} {
		if got := string(FindID([]byte(line))); got != want {
			t.Errorf("%.60s: found %.60q, not %.60q", line, got, want)
		}
	}
}

// manyMembers are the members of an object, with names of their own.
func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return b.String()
}

func TestObjectsWithManyMembersAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"x"` + manyMembers(maxMembers-3) + `}`:                              "",
		`{"jsonrpc":"2.0","id":1,"method":"x"` + manyMembers(maxMembers-2) + `}`:                              "the message has more than 1000 members",
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1` + manyMembers(maxMembers-1) + `}}`:             "",
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1` + manyMembers(maxMembers) + `}}`:               "params has more than 1000 members",
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"a":1` + manyMembers(100*maxMembers) + `}}}`: "params._meta has more than 1000 members",
	} {
		_, fault := Parse([]byte(line))
		if (fault == nil) != (want == "") || fault != nil && (!strings.Contains(fault.Text, want) || string(fault.ID) != "1") {
			t.Errorf("Parse(%.60q): %v, want a fault that says %q, or none for \"\"", line, fault, want)
		}
	}
}

func TestTheLengthOfAListIsCounted(t *testing.T) {
	for list, want := range map[string]int{`[]`: 0, `[ ]`: 0, `[1]`: 1, `[[1,2],{"a":[3,4]}, "]," ]`: 3, `[null,true , -1.5e3]`: 3, `[1,}`: 1, `[,`: 0, `[1 2]`: 2, `[`: 0, ``: 0} {
		if got := Length([]byte(list)); got != want {
			t.Errorf("%s: %d, not %d", list, got, want)
		}
	}
}

func TestMembersThatAreGivenTwiceAreFoundAtAnyDepth(t *testing.T) {
	for value, want := range map[string]string{
		`{"a":1,"b":2}`: "", `{"a":1,"a":2}`: "a", `{"a":{"b":[{"c":1},{"c":1,"d":{"e":0,"\u0065":1}}]}}`: "a.b.d.e", `[1,[{"x":1,"x":1}]]`: "x", `"a"`: "", ` {"a":[[],{},""]} `: "",
		`{"a":{"x":1},"b":{"x":1}}`: "", `7`: "", `{}`: "", `[]`: "",
	} {
		if got := Twice([]byte(value)); got != want {
			t.Errorf("%s: %q, not %q", value, got, want)
		}
	}
}

// FuzzParse compares what Parse sees with encoding/json, where that has only one way to read it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"key":"k","value":[1,{"a":null}]},"_meta":{"a":1}}}`,
		`{"jsonrpc":"2.0","id":"x","result":{"content":[]}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-1}}`, `{}`, `[]`, `{"a":{"b":[}]}`, `{"\u0069d":1}`, "{\"id\":1", `{"id":}`,
		`{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, fault := Parse(line)
		id := FindID(line)
		if fault != nil {
			if fault.Text == "" || fault.ID != nil && (!json.Valid(fault.ID) || !Plain(fault.ID)) {
				t.Fatalf("Parse(%q): %+v, want a fault with a text and a plain id", line, fault)
			}
			return
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(line, &want) != nil {
			t.Fatalf("%q is not an object", line)
		}
		var method string
		json.Unmarshal(want["method"], &method)
		if string(m.RawID()) != string(want["id"]) || m.Method != method || string(m.Result.Of(m.Line)) != string(want["result"]) || string(m.Error.Of(m.Line)) != string(want["error"]) {
			t.Fatalf("Parse(%q) = %+v, want what encoding/json reads", line, m)
		}
		if outlined, ok := Outline(line); !ok || string(outlined.RawID()) != string(m.RawID()) || outlined.Method != m.Method || outlined.Result != m.Result || outlined.Error != m.Error {
			t.Fatalf("%q has the outline %+v, not %+v", line, outlined, m)
		}
		if params := string(m.Params.Of(m.Line)); params != string(want["params"]) && !(params == "" && string(want["params"]) == "null") {
			t.Fatalf("%q: params %s", line, params)
		}
		if Plain(m.RawID()) && string(id) != string(m.RawID()) {
			t.Fatalf("%q: the id is %s, and found is %s", line, m.RawID(), id)
		}
	})
}

// FuzzTwice compares with a decoder that tells all names.
func FuzzTwice(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":2}`, `[{"a":{"b":1,"b":1}}]`, `{"a":[{"x":"{"}],"b":"\"a\""}`, `[[],[{}],1]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if !json.Valid(value) {
			return
		}
		if got, want := Twice(value) != "", twiceByTokens(json.NewDecoder(strings.NewReader(string(value)))); got != want && !strings.Contains(string(value), `""`) {
			t.Fatalf("%q: %t, not %t", value, got, want)
		}
	})
}

// twiceByTokens reads one value.
func twiceByTokens(d *json.Decoder) (twice bool) {
	token, err := d.Token()
	if err != nil {
		return false
	}
	seen := map[string]bool{}
	for open, isOpen := token.(json.Delim); isOpen && d.More(); {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return twice
			}
			text, _ := name.(string)
			twice = twice || seen[text]
			seen[text] = true
		}
		twice = twiceByTokens(d) || twice
	}
	if _, isOpen := token.(json.Delim); isOpen {
		d.Token()
	}
	return twice
}

func TestAStringEndsAtAQuoteThatIsNotEscaped(t *testing.T) {
	for _, text := range []string{`""`, `"a"`, `"\\"`, `"\""`, `"\\\""`, `"a\\\\"`, `"{\"b\":\"\\\"\"}"`} {
		line := []byte(`{"a":` + text + `,"b":"\\"}`)
		var got []string
		end, ok := Members(line, 0, func(name string, value Span) { got = append(got, name+" "+string(value.Of(line))) })
		if want := []string{"a " + text, `b "\\"`}; !ok || end != len(line) || !slices.Equal(got, want) {
			t.Errorf("%s has %q up to %d, %t", line, got, end, ok)
		}
	}
	for _, open := range []string{`{"a":"`, `{"a":"\`, `{"a":"\"`, `{"a":"\"}`, `{"`} {
		if _, ok := Members([]byte(open), 0, func(string, Span) {}); ok {
			t.Errorf("%s is an object", open)
		}
	}
}
