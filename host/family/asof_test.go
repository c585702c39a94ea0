package family

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

func TestAToolThatOnlyReadsCanBeCalledInThePast(t *testing.T) {
	steps := []step{
		{"memory.get", `{"keys":["a","later"]}`}, {"memory.list", `{}`}, {"memory.search", `{"query":"apple"}`}, {"text.count", `{"terms":["appl"]}`},
		{"memory.history", `{"key":"a"}`},
	}
	reads, yes := aFamily("reads"), true
	reads.Tools[0].Annotations.ReadOnly = &yes
	w := open(t, nil).with(reads, script{steps: steps})
	w.store("a", `"apple then"`)
	before, err := w.space.As(owner("")).Recall(t.Context(), memory.Location{}, "a", memory.AsOf{})
	if err != nil {
		t.Fatal(err)
	}
	w.store("a", `"apple now"`)
	w.store("later", `"apple later"`)
	for _, at := range []memory.AsOf{{Version: before.Version}, {Time: before.Timestamp}} {
		result, err := w.call(Call{Tool: "reads_do", AsOf: at})
		if err != nil {
			t.Fatal(err)
		}
		got := responses(t, result.Output)
		for i, r := range got {
			if r.Error != nil || strings.Contains(string(r.OK), "now") || strings.Contains(string(r.OK), "later") {
				t.Errorf("%s sees %s, %v", steps[i].op, r.OK, r.Error)
			}
		}
		if !strings.Contains(string(got[0].OK), "then") || !strings.Contains(string(got[2].OK), "then") {
			t.Errorf("seen is %s", result.Output)
		}
	}
	if got, _ := w.do("reads"); !strings.Contains(string(got[0].OK), "now") {
		t.Errorf("now it sees %s", got[0].OK)
	}
	for _, at := range []memory.AsOf{{Version: 1 << 40}, {Time: time.Now().Add(time.Hour)}} {
		if _, err := w.call(Call{Tool: "reads_do", AsOf: at}); code(err) != memory.InvalidArgument {
			t.Errorf("as of %+v: %v", at, err)
		}
	}
}

func TestAToolThatMayWriteIsRefusedInThePast(t *testing.T) {
	w := open(t, nil).with(aFamily("writes"), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}})
	w.store("a", `"then"`)
	_, err := w.call(Call{Tool: "writes_do", Arguments: json.RawMessage(`{}`), AsOf: memory.AsOf{Version: 1}})
	if code(err) != memory.InvalidArgument || !strings.Contains(err.Error(), "the past cannot be changed") || w.value("", "a") != `"then"` {
		t.Errorf("refused with %v, and a is %s", err, w.value("", "a"))
	}
}
