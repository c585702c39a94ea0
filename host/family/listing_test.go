package family

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

func TestAListingIsOfWhatTheCallerMayReadAlone(t *testing.T) {
	w := open(t, nil).with(aFamily("facts"), script{steps: []step{
		{"memory.list", `{"namespace":"closed","filter":{"types":["fact"]},"count":"only"}`},
		{"memory.list", `{"namespace":"closed","order":"accesses"}`},
		{"memory.get", `{"namespace":"closed","keys":["k"],"expired":true}`},
		{"memory.patch", `{"patches":[{"namespace":"closed","key":"k","type":"rule"}],"expired":true}`},
		{"memory.delete", `{"namespace":"closed","keys":["k"],"expired":true}`},
		{"memory.search", `{"query":"","namespaces":["closed"]}`},
		{"memory.list", `{"filter":{"types":["fact"]},"count":"also"}`},
		{"memory.search", `{"query":"","namespaces":["*"],"order":"key"}`},
		{"memory.search", `{"query":"secret","namespaces":["*"],"order":"newest"}`},
		{"memory.namespaces", `{}`},
	}})
	for _, namespace := range []string{"open", "closed"} {
		items := []memory.Item{{Key: "k", Type: "fact", Value: json.RawMessage(`"a secret of ` + namespace + `"`)}, {Key: "l", Type: "fact", Value: json.RawMessage(`"another secret"`)}}
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{Namespace: namespace}, items, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	result, err := w.call(given{Tool: "facts_do", Location: memory.Location{Namespace: "open"}, Caller: memory.Caller{Rights: memory.RightsTo(nil, []string{"open"})}})
	if err != nil {
		t.Fatal(err)
	}
	got := responses(t, result.Output)
	for i, r := range got[:6] {
		if !denied(r) {
			t.Errorf("call %d was answered with %s, %v", i, r.OK, r.Error)
		}
	}
	for i, r := range got[6:9] {
		if r.Error != nil || !strings.Contains(string(r.OK), `"total":2`) || strings.Contains(string(r.OK), "closed") {
			t.Errorf("call %d was answered with %s, %v", 6+i, r.OK, r.Error)
		}
	}
	if r := got[9]; string(r.OK) != `{"namespaces":["open"]}` {
		t.Errorf("the namespaces are %s, %v", r.OK, r.Error)
	}
}

func TestAGuestListsWhatItJustWroteAndNotWhatItDeleted(t *testing.T) {
	w := open(t, nil)
	w.store("old", `{"n":1}`)
	w.store("gone", `{"n":1}`)
	w.with(aFamily("facts"), script{steps: []step{
		{"memory.put", `{"items":[{"key":"new","value":{"n":1.0}}]}`},
		{"memory.patch", `{"patches":[{"key":"old","type":"fact"}]}`},
		{"memory.delete", `{"keys":["gone"]}`},
		{"memory.list", `{"filter":{"fields":[{"field":"value.n","equals":1}]},"order":"key","count":"also"}`},
		{"memory.list", `{"filter":{"types":["fact"]},"count":"only"}`},
		{"memory.list", `{"order":"updated","limit":1,"after":""}`},
	}})
	got, _ := w.do("facts")
	var page struct {
		Memories []struct{ Key string }
		Total    int
		Next     string
	}
	if err := json.Unmarshal(got[3].OK, &page); err != nil || page.Total != 2 || len(page.Memories) != 2 || page.Memories[0].Key != "new" || page.Memories[1].Key != "old" {
		t.Errorf("listed %s, %v", got[3].OK, got[3].Error)
	}
	if string(got[4].OK) != `{"memories":[],"total":1}` {
		t.Errorf("counted %s, %v", got[4].OK, got[4].Error)
	}
	if err := json.Unmarshal(got[5].OK, &page); err != nil || page.Next == "" {
		t.Errorf("the first page is %s, %v", got[5].OK, got[5].Error)
	}
}
