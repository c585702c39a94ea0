package jsontext

import (
	"encoding/json"
	"testing"
)

// everything has a member of each kind.
type everything struct {
	Text   string                     `json:"text,omitempty"`
	TextAt *string                    `json:"text_at,omitempty"`
	Texts  []string                   `json:"texts,omitempty"`
	Whole  uint64                     `json:"whole,omitempty"`
	Count  uint64                     `json:"count"`
	Number *float64                   `json:"number,omitempty"`
	True   bool                       `json:"true,omitempty"`
	Value  json.RawMessage            `json:"value,omitempty"`
	Values map[string]json.RawMessage `json:"values,omitempty"`
	List   []json.RawMessage          `json:"list"`
	Any    any                        `json:"any"`
}

func (e everything) object(to []byte) (whole, list []byte, err error) {
	elements := make([][]byte, len(e.List))
	for i, element := range e.List {
		elements[i] = element
	}
	o := NewObject(to)
	o.Text("text", e.Text)
	o.TextAt("text_at", e.TextAt)
	o.Texts("texts", e.Texts)
	o.Whole("whole", e.Whole)
	o.Count("count", e.Count)
	o.NumberAt("number", e.Number)
	o.True("true", e.True)
	o.Value("value", e.Value)
	o.Values("values", e.Values)
	list = o.List("list", elements)
	o.Any("any", e.Any)
	whole, err = o.End()
	return whole, list, err
}

func FuzzAnObjectIsWrittenAsAStructIs(f *testing.F) {
	f.Add("a", "b", uint64(0), 0.0, true, `{"a": 1}`)
	f.Add("", "<\u2028\"\\\x01\xff>é", uint64(7), -1e-7, false, `"<a>"`)
	f.Add("\x7f", "\u2029 {", uint64(1<<63), 1e21, true, `[ null, 1e400 ]`)
	f.Add("{", "", uint64(1), 1.5, true, ``)
	f.Add("a", "b", uint64(1), 0.25, true, `{"a"`)
	f.Fuzz(func(t *testing.T, a, b string, n uint64, x float64, yes bool, value string) {
		if len(value) > 0 && value[0] == '"' && !json.Valid([]byte(value)) {
			return
		}
		compact, err := Compact([]byte(value))
		if err != nil {
			compact = json.RawMessage("1")
		}
		for _, e := range []everything{
			{List: []json.RawMessage{}},
			{Text: a, TextAt: &b, Texts: []string{b, a}, Whole: n, Count: n, Number: &x, True: yes, Value: json.RawMessage(value),
				Values: map[string]json.RawMessage{b: json.RawMessage(value), a: nil}, List: []json.RawMessage{compact, compact}, Any: map[string]any{a: x}},
		} {
			got, list, err := e.object([]byte("before "))
			want, wrong := Append([]byte("before "), e)
			if (err == nil) != (wrong == nil) || err == nil && string(got) != string(want) {
				t.Errorf("written as %s, %v, not %s, %v", got, err, want, wrong)
			}
			if all, _ := Append(nil, e.List); err == nil && string(list) != string(all) {
				t.Errorf("the list is %s, not %s", list, all)
			}
		}
	})
}
