package family

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

func TestAToolThatOnlyReadsCanBeCalledInThePast(t *testing.T) {
	steps := []step{
		{"memory.get", `{"keys":["a","later"]}`}, {"memory.list", `{}`}, {"memory.search", `{"query":"apple"}`}, {"text.count", `{"terms":["appl"]}`},
		{"memory.history", `{"key":"a"}`}, {"record.get", `{"collection":"own","keys":["a","later"]}`}, {"record.list", `{"collection":"own"}`},
		{"record.list", `{"collection":"own","filters":[{"field":"text","op":"prefix","value":"apple"}],"order":"text"}`},
		{"record.search", `{"collection":"own","query":"apple"}`}, {"record.history", `{"collection":"own","key":"a"}`},
		{"link.list", `{"key":"a"}`}, {"log.read", `{}`}, {"log.verify", `{}`},
	}
	reads, yes := aFamily("reads"), true
	reads.Collections = []abi.Collection{{Name: "own", Searchable: []string{"text"}, Indexes: [][]string{{"text"}}}}
	reads.Tools[0].Annotations.ReadOnly = &yes
	w := open(t, nil).with(reads, script{steps: steps})
	write := func(key, when, link string) {
		t.Helper()
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		own, err := ops.CollectionOf(reads, reads.Collections[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := stage.PutRecord(t.Context(), own, "", key, json.RawMessage(`{"text":"apple `+when+`"}`), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := stage.Put(t.Context(), "", []memory.Item{{Key: key, Value: json.RawMessage(`"apple ` + when + `"`), Links: []string{link}}}); err != nil {
			t.Fatal(err)
		}
		if err := stage.Log("default", when, json.RawMessage(`1`)); err != nil {
			t.Fatal(err)
		}
		if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "then", "then-link")
	before, err := w.space.As(owner("")).Recall(t.Context(), memory.Location{}, "a", memory.AsOf{})
	if err != nil {
		t.Fatal(err)
	}
	write("a", "now", "now-link")
	write("later", "later", "a")
	for _, at := range []memory.AsOf{{Version: before.Version}, {Time: before.Timestamp}} {
		result, err := w.call(given{Tool: "reads_do", AsOf: at})
		if err != nil {
			t.Fatal(err)
		}
		got := responses(t, result.Output)
		for i, r := range got {
			if r.Error != nil || strings.Contains(string(r.OK), "now") || strings.Contains(string(r.OK), "later") {
				t.Errorf("%s sees %s, %v", steps[i].op, r.OK, r.Error)
			}
		}
		for _, i := range []int{0, 2, 5, 6, 7, 8, 9, 10, 11} {
			if !strings.Contains(string(got[i].OK), "then") {
				t.Errorf("%s sees %s", steps[i].op, got[i].OK)
			}
		}
		if verified := string(got[12].OK); !strings.Contains(verified, `"checked":1`) {
			t.Errorf("log.verify sees %s", verified)
		}
	}
	if got, _ := w.do("reads"); !strings.Contains(string(got[0].OK), "now") {
		t.Errorf("now it sees %s", got[0].OK)
	}
	for _, at := range []memory.AsOf{{Version: 1 << 40}, {Time: time.Now().Add(time.Hour)}} {
		if _, err := w.call(given{Tool: "reads_do", AsOf: at}); code(err) != memory.InvalidArgument {
			t.Errorf("as of %+v: %v", at, err)
		}
	}
}
