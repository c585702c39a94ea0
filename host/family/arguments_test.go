package family

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// reading reads arguments as a test says.
type reading struct {
	prepare func(tool string, arguments json.RawMessage) (Prepared, error)
	asked   []string
}

func (r *reading) Name(spelling string) string { return strings.ReplaceAll(spelling, ".", "_") }

func (r *reading) Core() []abi.ForeignTool { return nil }

func (r *reading) CallCore(context.Context, CoreCall) (json.RawMessage, []string, error) {
	return nil, nil, errors.New("there are no core tools")
}

func (r *reading) Prepare(tool string, arguments json.RawMessage) (Prepared, error) {
	r.asked = append(r.asked, tool+" "+string(arguments))
	return r.prepare(tool, arguments)
}

func (r *reading) Offered(memory.Rights) []abi.ForeignTool { return nil }

// strictTool is a family whose tool takes a whole number n and nothing else.
func strictTool(name string) *abi.Manifest {
	m := aFamily(name)
	m.Tools[0].InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)
	return m
}

func TestAGuestsCallOfAToolIsReadAsACallOfAClient(t *testing.T) {
	w := open(t, nil).with(strictTool("inner"), script{says: `"done"`}).
		with(aFamily("outer"), script{steps: []step{{"tools.call", `{"tool":"inner.do","arguments":{"N":"5"}}`}}})
	schema := strictTool("inner").Tools[0].InputSchema
	r := &reading{prepare: func(string, json.RawMessage) (Prepared, error) {
		return Prepared{Arguments: json.RawMessage(`{"n":5}`), Checked: schema}, nil
	}}
	w.SetCallable(r)
	if got, _ := w.do("outer"); string(got[0].OK) != `{"result":"done"}` || !slices.Equal(r.asked, []string{`inner.do {"N":"5"}`}) {
		t.Errorf("the call is answered with %+v; read were %q", got, r.asked)
	}
	r.prepare = func(string, json.RawMessage) (Prepared, error) {
		return Prepared{}, &memory.Error{Code: memory.InvalidArgument, Message: "inner_do needs m"}
	}
	if got, _ := w.do("outer"); got[0].Error == nil || got[0].Error.Message != "inner_do needs m" {
		t.Errorf("a refused call is answered with %+v", got)
	}
	r.prepare = func(string, json.RawMessage) (Prepared, error) { // of another version of the tool
		return Prepared{Arguments: json.RawMessage(`{"n":"five"}`), Checked: json.RawMessage(`{"type":"object"}`)}, nil
	}
	if got, _ := w.do("outer"); got[0].Error == nil || got[0].Error.Code != abi.CodeInvalidArgument {
		t.Errorf("arguments that fit another schema are answered with %+v", got)
	}
}

func TestASpellingReachesNoToolThatIsNotGranted(t *testing.T) {
	w := open(t, nil).with(aFamily("inner"), script{says: `"done"`})
	w.SetCallable(&reading{prepare: func(_ string, arguments json.RawMessage) (Prepared, error) {
		return Prepared{Arguments: arguments}, nil
	}})
	outer := aFamily("outer")
	outer.Capabilities = []abi.Request{{Name: abi.CanToolsCall, Scope: []string{"other_do", "inner.do"}, Reason: "to be tested"}}
	w.with(outer, script{steps: []step{{"tools.call", `{"tool":"inner_do"}`}, {"tools.call", `{"tool":"inner.do"}`}, {"tools.call", `{"tool":"inner..do"}`}}})
	got, _ := w.do("outer")
	for i, want := range []abi.Code{abi.CodeDenied, abi.CodeNotFound, abi.CodeDenied} {
		if got[i].Error == nil || got[i].Error.Code != want {
			t.Errorf("call %d is answered with %+v", i, got[i])
		}
	}
}

func TestArgumentsThatWereCheckedAreNotCheckedAgain(t *testing.T) {
	w := open(t, nil).with(strictTool("inner"), script{says: `"done"`})
	schema := strictTool("inner").Tools[0].InputSchema
	wrong := json.RawMessage(`{"n":"five"}`)
	if _, err := w.call(Call{Tool: "inner_do", Arguments: wrong}); code(err) != memory.InvalidArgument {
		t.Errorf("unchecked arguments: %v", err)
	}
	if _, err := w.call(Call{Tool: "inner_do", Arguments: wrong, Checked: json.RawMessage(`{"type":"object"}`)}); code(err) != memory.InvalidArgument {
		t.Errorf("arguments that fit another version's schema: %v", err)
	}
	if _, err := w.call(Call{Tool: "inner_do", Arguments: wrong, Checked: schema}); err != nil {
		t.Errorf("arguments that the caller vouches for: %v", err)
	}
}
