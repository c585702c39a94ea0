package family

import (
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

func TestWhatGoesWrongWithAFamilyIsCounted(t *testing.T) {
	denied := aFamily("nosy")
	denied.Capabilities = without(abi.CanHTTP)
	w := open(t, nil).with(aFamily("traps"), script{traps: true}).with(denied, script{steps: []step{{"http.fetch", `{"endpoint":"web","method":"GET","path":"/"}`}}})
	for range 2 {
		if _, err := w.call(given{Tool: "traps_do", Caller: owner("")}); err == nil {
			t.Fatal("it does not trap")
		}
		w.as(owner(""), "nosy")
	}
	uses, err := w.Uses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"traps": "trap", "nosy": Ungranted} {
		i := slices.IndexFunc(uses, func(u Use) bool { return u.Family == name })
		if i < 0 || len(uses[i].Troubles) != 1 || uses[i].Troubles[0].Kind != want || uses[i].Troubles[0].Count != 2 || uses[i].Troubles[0].Says == "" || strings.Contains(uses[i].Troubles[0].Says, "\n") {
			t.Errorf("troubles of %s: %+v, want %s twice", name, uses, want)
		}
	}
}
