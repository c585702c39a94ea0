package tool

import (
	"encoding/json"
	"testing"
)

func TestAnAnswerHasAnIDBesideItsFormerName(t *testing.T) {
	for output, want := range map[string]string{
		`{"factId":"default#a","version":1}`:           `{"id":"default#a","factId":"default#a","version":1}`,
		`{"created":true,"memory_id":"default#a"}`:     `{"id":"default#a","created":true,"memory_id":"default#a"}`,
		`{"id":"x","factId":"default#a"}`:              `{"id":"x","factId":"default#a"}`,
		`{"factId":"default#a","handoffId":"h"}`:       `{"factId":"default#a","handoffId":"h"}`,
		`{"factId":""}`:                                `{"factId":""}`,
		`{"entityId":null}`:                            `{"entityId":null}`,
		`{"agentId":"ann","scopeId":"team"}`:           `{"agentId":"ann","scopeId":"team"}`,
		`{"facts":[{"factId":"default#a"}],"count":1}`: `{"facts":[{"factId":"default#a"}],"count":1}`,
		`[{"factId":"default#a"}]`:                     `[{"factId":"default#a"}]`,
		`{}`:                                           `{}`,
	} {
		a := Spec{Family: "facts"}.Answer(Result{Output: json.RawMessage(output)})
		if got, _ := Encode(a.Value); string(got) != want {
			t.Errorf("%s: got %s, want %s", output, got, want)
		}
	}
}

func TestIDIsAnotherNameOfTheOnlyRequiredID(t *testing.T) {
	for _, c := range []struct{ name, schema, arguments, want string }{
		{"of a fact", `{"properties":{"factId":{"type":"string"},"text":{"type":"string"}},"required":["factId"]}`, `{"id":"a"}`, `{"factId":"a"}`},
		{"in another case", `{"properties":{"memory_id":{"type":"string"}},"required":["memory_id"]}`, `{"ID":"a"}`, `{"memory_id":"a"}`},
		{"beside where and for whom", `{"properties":{"entityId":{"type":"string"},"agentId":{"type":"string"}},"required":["agentId","entityId"]}`, `{"id":"a","agentId":"b"}`, `{"agentId":"b","entityId":"a"}`},
		{"of a tool that has it", `{"properties":{"id":{"type":"string"},"factId":{"type":"string"}},"required":["factId"]}`, `{"id":"a","factId":"b"}`, `{"factId":"b","id":"a"}`},
	} {
		p, err := newTool(Spec{Name: "t", Input: json.RawMessage(`{"type":"object",` + c.schema[1:])}).Prepare(json.RawMessage(c.arguments))
		if err != nil || string(p.JSON) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, p.JSON, err, c.want)
		}
	}
	two := newTool(Spec{Name: "t", Input: json.RawMessage(`{"type":"object","properties":{"source_id":{"type":"string"},"target_id":{"type":"string"}},"required":["source_id","target_id"]}`)})
	if _, err := two.Prepare(json.RawMessage(`{"id":"a","target_id":"b"}`)); err == nil {
		t.Error("of two required ids, id is one: want a refusal")
	}
}

func TestEveryToolHasATitle(t *testing.T) {
	for name, want := range map[string]string{"memory_store_fact": "Store fact", "site.shop.get-order": "Site shop get order", "memory_kv": "Kv", "memory_": "memory_"} {
		if got := newTool(Spec{Name: name}).Title; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := newTool(Spec{Name: "x", Title: "Its own"}).Title; got != "Its own" {
		t.Errorf("a title of its own: got %q", got)
	}
}
