package tool

import (
	"encoding/json"
	"testing"

	"github.com/alcove-memory/alcove/host/tool/request"
)

// BenchmarkPrepare reads the arguments of a family's tool: 25 words of text and a few other members.
func BenchmarkPrepare(b *testing.B) {
	schema := json.RawMessage(`{"type":"object","required":["content"],"properties":{"content":{"type":"string"},"factType":{"type":"string","enum":["decision","plan"]},"tags":{"type":"array","items":{"type":"string"}},"importance":{"type":"number","minimum":0,"maximum":1}},"additionalProperties":false}`)
	t := New(Spec{Name: "memory_store_fact", Family: "facts", Input: schema})
	arguments := json.RawMessage(`{"content":"We moved the billing database to Lisbon on Tuesday because the old host in Porto was too slow at night, and everybody agreed that this was right.","factType":"decision","tags":["billing","lisbon"],"importance":0.5}`)
	for b.Loop() {
		if _, err := t.Prepare(arguments); err != nil {
			b.Fatalf("prepare %s: %v", arguments, err)
		}
	}
}

func TestArgumentsReachAFamilyAsEncodingJSONWritesThem(t *testing.T) {
	tool := New(Spec{Name: "any", Family: "any"})
	for _, given := range []string{
		`{}`, `{"b":1,"a":{"z":[1, 2 ],"y":"<&>"}}`, `{"é\n\u0022":"\u2028 \u00e9"," ":"<b>"}`, `{"big":12345678901234567890,"e":1E+2,"no":null,"":"", "l":[ ]}`,
	} {
		a, err := request.Parse(tool.Names(), json.RawMessage(given))
		if err != nil {
			t.Fatalf("parse %s: %v", given, err)
		}
		want, err := Encode(a.Given())
		if err != nil {
			t.Fatalf("encode %s: %v", given, err)
		}
		if got, err := tool.object(a.Given()); err != nil || string(got) != string(want) {
			t.Errorf("of %s the family gets %s, %v, want %s", given, got, err, want)
		}
	}
}
