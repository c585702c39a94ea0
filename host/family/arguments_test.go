package family

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/memory"
)

// reading decides calls as a test says.
type reading struct {
	exact
	prepare func(c ToolCall) (Prepared, error)
	asked   []string
}

func (r *reading) Name(spelling string) string { return strings.ReplaceAll(spelling, ".", "_") }

func (r *reading) Prepare(c ToolCall) (Prepared, error) {
	r.asked = append(r.asked, c.Tool+" "+string(c.Arguments))
	return r.prepare(c)
}

// strictTool is a family whose tool takes a whole number n and nothing else.
func strictTool(name string) *abi.Manifest {
	m := aFamily(name)
	m.Tools[0].InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)
	return m
}

func TestAGuestsCallOfAToolIsReadAsACallOfAClient(t *testing.T) {
	r := &reading{}
	w := open(t, func(o *Options) { o.Callable = r }).with(strictTool("inner"), script{says: `"done"`}).
		with(aFamily("outer"), script{steps: []step{{"tools.call", `{"tool":"inner.do","arguments":{"N":"5"}}`}}})
	found := func(name string) *catalogue.Tool {
		x, err := w.Find(owner(""), name)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	r.prepare = func(ToolCall) (Prepared, error) {
		return Prepared{Tool: found("inner_do"), Arguments: json.RawMessage(`{"n":5}`)}, nil
	}
	if got, _ := w.do("outer"); string(got[0].OK) != `{"result":"done"}` || !slices.Equal(r.asked, []string{`inner.do {"N":"5"}`}) {
		t.Errorf("the call is answered with %+v; read were %q", got, r.asked)
	}
	r.prepare = func(ToolCall) (Prepared, error) {
		return Prepared{}, &memory.Error{Code: memory.InvalidArgument, Message: "inner_do needs m"}
	}
	if got, _ := w.do("outer"); got[0].Error == nil || got[0].Error.Message != "inner_do needs m" {
		t.Errorf("a refused call is answered with %+v", got)
	}
	r.prepare = func(ToolCall) (Prepared, error) { return Prepared{Tool: found("outer_do")}, nil }
	if got, _ := w.do("outer"); got[0].Error == nil || got[0].Error.Code != abi.CodeUnavailable {
		t.Errorf("a call of a name that means another tool than the one that may be called is answered with %+v", got)
	}
}

func TestASpellingReachesNoToolThatIsNotGranted(t *testing.T) {
	r := &reading{}
	w := open(t, func(o *Options) { o.Callable = r }).with(aFamily("inner"), script{says: `"done"`})
	r.prepare = func(c ToolCall) (Prepared, error) {
		return exact{proxy: w.o.Proxy}.Prepare(c)
	}
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
