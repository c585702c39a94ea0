package tool

import (
	"encoding/json"
	"testing"
)

func TestAResultWhoseChangesAreProposedSaysSo(t *testing.T) {
	for output, want := range map[string]string{
		`{}`:                             `{"applied":false,"proposal":"proposals/x"}`,
		`{"merged":2}`:                   `{"applied":false,"proposal":"proposals/x","merged":2}`,
		`{"applied":true,"weights":[1]}`: `{"proposal":"proposals/x","applied":false,"weights":[1]}`,
		`{"applied":3}`:                  `{"proposal":"proposals/x","applied":3}`, // the tool's own figure
		`{"proposal":"p"}`:               `{"applied":false,"proposal":"p"}`,
		`["a"]`:                          `{"applied":false,"proposal":"proposals/x","result":["a"]}`,
		`null`:                           `{"applied":false,"proposal":"proposals/x","result":null}`,
	} {
		a := Spec{Family: "f"}.Answer(Result{Output: json.RawMessage(output), Proposal: "proposals/x"})
		if got, err := Encode(a.Structured); err != nil || string(got) != want {
			t.Errorf("%s: structured %s, %v, want %s", output, got, err, want)
		}
	}
	a := Spec{Family: "f"}.Answer(Result{Output: json.RawMessage(`{"merged":2}`)})
	if got, err := Encode(a.Structured); err != nil || string(got) != `{"merged":2}` {
		t.Errorf("without a proposal: %s, %v, want it as it was", got, err)
	}
}
