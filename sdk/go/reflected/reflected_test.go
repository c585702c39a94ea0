package reflected

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// echo gives the same answer to each operation, and keeps what it was asked.
type echo struct {
	answer  []byte
	op      alcove.Op
	request []byte
}

func (e *echo) Call(op alcove.Op, request []byte) ([]byte, error) {
	e.op, e.request = op, request
	return e.answer, nil
}

func (e *echo) Log(string) {}

// call is a call of a host.
func call(t *testing.T, host alcove.Host) (made *alcove.Call) {
	t.Helper()
	f := alcove.New()
	f.HandleTool("call", func(c *alcove.Call, _ alcove.Raw) (alcove.Raw, error) {
		made = c
		return nil, nil
	})
	if _, err := f.Handle(host, alcove.KindTool, []byte(`{"tool":"call","arguments":{}}`)); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestTypesAreMetBeforeTheFirstRequest(t *testing.T) {
	f := alcove.New()
	Tool(f, "greet", func(_ *alcove.Call, in struct{ Name string }) (struct{ Text string }, error) {
		return struct{ Text string }{"hello " + in.Name}, nil
	})
	Meet(alcove.MemoryListResponse{}, &alcove.Memory{}, nil)
	out, err := f.Handle(&echo{}, alcove.KindTool, []byte(`{"tool":"greet","arguments":{"name":"ann"}}`))
	if err != nil || string(out) != `{"Text":"hello ann"}` {
		t.Errorf("%s (%v)", out, err)
	}
}

func TestGoValuesBecomeRequests(t *testing.T) {
	for _, c := range []struct {
		answer, want string
		run          func(c *alcove.Call) error
	}{
		{`{"stored":2}`, `record.put{"collection":"notes","items":[{"key":"a","value":{"Tag":"x"}},{"key":"b","value":null}]}`, func(c *alcove.Call) error {
			return PutRecords(c, "notes", "", map[string]any{"b": nil, "a": struct{ Tag string }{"x"}})
		}},
		{`{"sequences":[7,8]}`, `record.append{"collection":"notes","namespace":"n","values":["x",{"a":1}]}`, func(c *alcove.Call) error {
			sequences, err := AppendRecords(c, "notes", "n", "x", json.RawMessage(`{"a":1}`))
			if !slices.Equal(sequences, []uint64{7, 8}) {
				return fmt.Errorf("the sequence numbers are %v", sequences)
			}
			return err
		}},
		{`{"config":{}}`, `config.set{"values":{"a":0.5,"b":null}}`, func(c *alcove.Call) error {
			return SetConfig(c, map[string]any{"a": .5, "b": nil})
		}},
		{`{}`, `caller.progress{"done":3,"message":"reading"}`, func(c *alcove.Call) error { return c.Progress(3, 0, "reading") }},
		{`{"id":"7"}`, `job.enqueue{"job":"tidy","payload":{"Key":"k"},"after_s":1.5}`, func(c *alcove.Call) error {
			id, err := Enqueue(c, "tidy", struct{ Key string }{"k"}, 1500*time.Millisecond)
			if id != "7" {
				return fmt.Errorf("the id is %s", id)
			}
			return err
		}},
		{`{"id":"8"}`, `job.enqueue{"job":"tidy"}`, func(c *alcove.Call) error {
			_, err := Enqueue(c, "tidy", nil, 0)
			return err
		}},
		{`{"result":{"n":3}}`, `tools.call{"tool":"count","arguments":{"a":1}}`, func(c *alcove.Call) error {
			var out struct{ N int }
			if err := CallTool(c, "count", map[string]int{"a": 1}, &out); err != nil || out.N != 3 {
				return fmt.Errorf("the result is %v (%w)", out, err)
			}
			return nil
		}},
		{`{"result":[]}`, `tools.call{"tool":"count"}`, func(c *alcove.Call) error { return CallTool(c, "count", nil, nil) }},
		{`{"later":true}`, `memory.later{"a":1}`, func(c *alcove.Call) error {
			var out struct{ Later bool }
			if err := Ask(c, "memory.later", map[string]int{"a": 1}, &out); err != nil || !out.Later {
				return fmt.Errorf("the response is %v (%w)", out, err)
			}
			return nil
		}},
	} {
		host := &echo{answer: []byte(c.answer)}
		if err := c.run(call(t, host)); err != nil || string(host.op)+string(host.request) != c.want {
			t.Errorf("asked %s%s, want %s (%v)", host.op, host.request, c.want, err)
		}
	}
}

func TestAValueThatIsNoJSONIsAnError(t *testing.T) {
	c := call(t, &echo{})
	_, appended := AppendRecords(c, "notes", "", 1, math.NaN())
	_, queued := Enqueue(c, "tidy", make(chan int), 0)
	for says, err := range map[string]error{
		"put records of notes: a":  PutRecords(c, "notes", "", map[string]any{"a": func() {}}),
		"append record 1 to notes": appended,
		"set the configuration: a": SetConfig(c, map[string]any{"a": math.Inf(1)}),
		"queue the job tidy":       queued,
		"call count":               CallTool(c, "count", make(chan int), nil),
		"read the result of count": CallTool(call(t, &echo{answer: []byte(`{"result":"many"}`)}), "count", nil, new(int)),
		"write the request of x.y": Ask(c, "x.y", math.NaN(), nil),
		"read the response of x.y": Ask(call(t, &echo{answer: []byte(`7`)}), "x.y", nil, new(string)),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %s", err, says)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a channel became JSON")
		}
	}()
	JSON(make(chan int))
}

func TestValuesAreWrittenAsEncodingJSONDoes(t *testing.T) {
	for _, v := range []any{nil, "", "é\n\"", 7, .5, true, []string{"a"}, map[string]int{"b": 1}, json.RawMessage(`{"a":1}`)} {
		want, err := json.Marshal(v)
		if got := JSON(v); err != nil || string(got) != string(want) {
			t.Errorf("%v became %s, want %s (%v)", v, got, want, err)
		}
	}
}

// counting is a host that checks requests as the real one does, and counts what they are made of.
type counting struct{ puts, appends []int }

func (c *counting) Log(string) {}

func (c *counting) Call(op alcove.Op, request []byte) ([]byte, error) {
	switch abi.Op(op) {
	case abi.OpRecordPut:
		var r abi.RecordPutRequest
		err := abi.DecodeRequest(request, &r)
		c.puts = append(c.puts, len(r.Items))
		return []byte(`{}`), err
	case abi.OpRecordAppend:
		var r abi.RecordAppendRequest
		err := abi.DecodeRequest(request, &r)
		c.appends = append(c.appends, len(r.Values))
		return []byte(`{"sequences":[1]}`), err
	}
	return nil, errors.New("another operation")
}

func TestRecordsAreStagedAsManyAtATimeAsTheHostTakes(t *testing.T) {
	host := &counting{}
	c, values, list := call(t, host), map[string]any{}, []any{}
	for i := range 2*mostItems + 1 {
		values[fmt.Sprint(i)], list = i, append(list, i)
	}
	if err := PutRecords(c, "notes", "", values); err != nil || !slices.Equal(host.puts, []int{mostItems, mostItems, 1}) {
		t.Errorf("put %v (%v)", host.puts, err)
	}
	if sequences, err := AppendRecords(c, "notes", "", list...); err != nil || !slices.Equal(host.appends, []int{mostItems, mostItems, 1}) || len(sequences) != 3 {
		t.Errorf("appended %v: %v (%v)", host.appends, sequences, err)
	}
	if err := PutRecords(c, "notes", "", nil); err != nil || len(host.puts) != 3 {
		t.Errorf("nothing was put %v (%v)", host.puts, err)
	}
	more := abi.RecordPutRequest{Items: make([]abi.RecordItem, mostItems+1)}
	if more.Check() == nil {
		t.Errorf("the host takes more than %d at a time", mostItems)
	}
}
