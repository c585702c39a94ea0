package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func mustParse(t *testing.T, line string) message {
	t.Helper()
	m, ok := parse([]byte(line))
	if !ok {
		t.Fatalf("not parsed: %s", line)
	}
	return m
}

func TestStampAddsARequestIDAndChangesNothingElse(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"no meta", `{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":12345678901234567890.10}}}`,
			`{"id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"R"},"name":"x","arguments":{"n":12345678901234567890.10}}}`},
		{"empty parameters", `{"params":{ },"method":"tools/call","id":"a"}`,
			`{"params":{"_meta":{"alcove/request-id":"R"} },"method":"tools/call","id":"a"}`},
		{"meta", `{"id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":7}}}`,
			`{"id":1,"method":"tools/call","params":{"name":"x","_meta":{"alcove/request-id":"R","progressToken":7}}}`},
		{"empty meta", `{"id":1,"method":"tools/call","params":{"_meta":{}}}`,
			`{"id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"R"}}}`},
		{"an id of the client's", `{"id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"mine"}}}`,
			`{"id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"mine"}}}`},
		{"meta of a wrong type", `{"id":1,"method":"tools/call","params":{"_meta":null}}`,
			`{"id":1,"method":"tools/call","params":{"_meta":null}}`},
		{"no parameters", `{"id":1,"method":"tools/call"}`, `{"id":1,"method":"tools/call"}`},
		{"parameters of a wrong type", `{"id":1,"method":"tools/call","params":[1]}`, `{"id":1,"method":"tools/call","params":[1]}`},
		{"a meta that is only text", `{"id":1,"method":"tools/call","params":{"arguments":{"value":"\"_meta\":{"}}}`,
			`{"id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"R"},"arguments":{"value":"\"_meta\":{"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(stamp(mustParse(t, c.line), "R")); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAnAnswerIsMatchedHoweverItsIDIsWritten(t *testing.T) {
	for _, same := range [][]string{{"1", "1.0", "1e0"}, {`"a"`, `"\u0061"`}, {"-7", "-7.0"}, {"9007199254740993"}, {`"1"`}, {"1.5"}} {
		for _, id := range same {
			if idKey([]byte(id)) != idKey([]byte(same[0])) {
				t.Errorf("%s and %s differ", id, same[0])
			}
		}
	}
	if idKey([]byte(`"1"`)) == idKey([]byte("1")) || idKey([]byte("9007199254740993")) == idKey([]byte("9007199254740992")) {
		t.Error("different ids have one key")
	}
}

func TestParseSeesTheEnvelopeOnly(t *testing.T) {
	m := mustParse(t, ` { "jsonrpc" : "2.0" , "result" : { "method" : "no", "id": 9 } , "id" : "x" } `+"\n")
	if !m.isAnswer() || m.key() != "sx" || m.failed {
		t.Errorf("got %+v", m)
	}
	if m = mustParse(t, `{"method":"m"}`); m.isAnswer() || m.isRequest() {
		t.Errorf("a notification is %+v", m)
	}
	if m = mustParse(t, `{"m\u0065thod":"m","id":0}`); !m.isRequest() {
		t.Errorf("an escaped name is not understood: %+v", m)
	}
}

func TestCallsThatMoveTheSessionAreRecognised(t *testing.T) {
	for line, want := range map[string]bool{
		`{"method":"tools/call","id":1,"params":{"name":"memory_branch","arguments":{"action":"switch","name":"b"}}}`:                            true,
		`{"method":"tools/call","id":1,"params":{"name":"memory_branch","arguments":{"action":"delete","name":"b"}}}`:                            true,
		`{"method":"tools/call","id":1,"params":{"name":"memory_branch","arguments":{"action":"fork","name":"b"}}}`:                              false,
		`{"method":"tools/call","id":1,"params":{"name":"memory_store","arguments":{"action":"switch","name":"b"}}}`:                             false,
		`{"method":"tools/call","id":1,"params":{"name":"memory_branch","arguments":"switch"}}`:                                                  false,
		`{"method":"tools/call","id":1,"params":{"name":"memory.branch","arguments":{"action":"switch"}}}`:                                       true,
		`{"method":"tools/call","id":1,"params":{"name":"memory_operation","arguments":{"method":"memory_store","params":{"action":"switch"}}}}`: false,
		`{"method":"tools/call","id":1,"params":{"name":"memory_operation","arguments":{"action":"switch"}}}`:                                    false,
		`{"method":"tools/call","id":1,"params":["memory_branch"]}`:                                                                              false,
		`{"method":"tools/call","id":1}`: false,
	} {
		if got := newRequest(mustParse(t, line)).moves; got != want {
			t.Errorf("%s moves: %t", line, got)
		}
	}
}

func TestTheIDOfALineThatIsTooLongIsFound(t *testing.T) {
	big := strings.Repeat("x", 5000)
	for line, want := range map[string]string{
		`{"id":7,"params":{"a":"` + big + `"}}`:                               `7`,
		`{"params":{"id":1,"a":"` + big + `"},"jsonrpc":"2.0","id":"q\"1"}`:   `"q\"1"`,
		`{"params":["id",{"id":3}],"x":"\"id\":4,` + big + `", "id" : 12.5 }`: `12.5`,
		`{"params":{"id":1,"a":"` + big + `"}}`:                               ``,
		`[{"id":1,"a":"` + big + `"}]`:                                        ``,
		`{"id":"` + big + `"}`:                                                ``,
		`{"` + big + `":1,"id":2}`:                                            `2`,
	} {
		_, err := newLines(strings.NewReader(line+"\nnext\n"), 1000).next(true)
		long, ok := err.(*longLine)
		if !ok || string(long.id) != want {
			t.Errorf("%.40s…: got %v with id %s, want %s", line, err, long.id, want)
		}
	}
}

func TestReadingGoesOnAfterALineThatIsTooLong(t *testing.T) {
	l := newLines(strings.NewReader(strings.Repeat("x", 200_000)+"\nnext\nlast"), 1000)
	if _, err := l.next(false); err == nil || !strings.Contains(err.Error(), "longer than 1000 bytes") {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"next\n", "last\n"} {
		if line, err := l.next(false); err != nil || string(line) != want {
			t.Errorf("got %q, %v", line, err)
		}
	}
}

func TestALineCutByABrokenConnectionIsNotTaken(t *testing.T) {
	l := newLines(strings.NewReader(`{"id":1,"result":12`), 1000)
	if line, err := l.next(true); err == nil {
		t.Errorf("got %q", line)
	}
}

// FuzzParse compares what parse sees with encoding/json, and stamps what it can.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"key":"k","value":[1,{"a":null}]},"_meta":{"a":1}}}`,
		`{"id":"x","result":{"content":[]}}`, `{"id":null,"error":{"code":-1}}`, `{}`, `[]`, `{"a":{"b":[}]}`, `{"\u0069d":1}`, "{\"id\":1", `{"id":}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var f idFinder
		f.feed(line)
		m, ok := parse(line)
		if !json.Valid(line) {
			return // it must only not crash
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(line, &want) != nil || want == nil {
			if ok {
				t.Fatalf("%q is no object", line)
			}
			return
		}
		if !ok || string(m.params.of(line)) != string(want["params"]) || string(m.id.of(line)) != string(want["id"]) {
			t.Fatalf("%q: %+v", line, m)
		}
		checkStamp(t, m, line)
	})
}

func checkStamp(t *testing.T, m message, line []byte) {
	t.Helper()
	stamped := stamp(m, "R")
	var before, after map[string]any
	if json.Unmarshal(line, &before) != nil {
		return // a number too large for encoding/json
	}
	if err := json.Unmarshal(stamped, &after); err != nil {
		t.Fatalf("%q became %q: %v", line, stamped, err)
	}
	delete(before, "params")
	delete(after, "params")
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("%q became %q", line, stamped)
	}
}

// FuzzLines reads any bytes as lines of at most 64 bytes: all come, whole and in order, but for those that are too long.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"id\":1}\n{}\nlast"))
	f.Add([]byte(`{"params":"` + strings.Repeat("x", 200) + `","id":7}` + "\n{}\n"))
	f.Add([]byte("\n\r\n\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 64
		l := newLines(bytes.NewReader(data), limit)
		var want [][]byte
		for _, line := range bytes.SplitAfter(data, []byte("\n")) {
			if len(line) > limit {
				want = append(want, nil)
			} else if bytes.HasSuffix(line, []byte("\n")) || len(bytes.TrimSpace(line)) > 0 {
				want = append(want, append(bytes.TrimSuffix(bytes.Clone(line), []byte("\n")), '\n'))
			}
		}
		for i := 0; ; i++ {
			line, err := l.next(false)
			var long *longLine
			if errors.Is(err, io.EOF) {
				if i != len(want) {
					t.Fatalf("%q has %d lines, not %d", data, i, len(want))
				}
				return
			}
			if i >= len(want) || (want[i] == nil) != errors.As(err, &long) || want[i] != nil && !bytes.Equal(line, want[i]) {
				t.Fatalf("%q: line %d is %q, %v", data, i, line, err)
			}
		}
	})
}
