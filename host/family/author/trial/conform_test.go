package trial

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/author/conform"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// guestOf is a family with one tool. Its handler gets a kind and a length as locals 0 and 1, and may write what say makes of a text.
func guestOf(t *testing.T, outputs string, handle func(say func(string) asm.Code, random, call uint32) asm.Code) []byte {
	t.Helper()
	m := &asm.Module{}
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	random := m.Import("wasi_snapshot_preview1", "random_get", asm.I32s(2), asm.I32s(1))
	m.Memory(4)
	m.Put(0, []byte("memory.list{}"))
	at := int32(1024)
	say := func(text string) asm.Code {
		m.Put(at, []byte(text))
		begin := at
		at += int32(len(text)) + 8
		return asm.Drop(asm.Call(write, asm.I32(0), asm.I32(begin), asm.I32(int32(len(text)))))
	}
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: handle(say, random, call)}))
	manifest := abi.Manifest{
		ABI: abi.Version, Name: "tried", Version: "1.0.0", Description: "Is tried.", Limits: abi.Limits{Fuel: 1 << 20},
		Capabilities: []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "to list"}},
		Tools: []abi.Tool{{
			Name: "try_it", Description: "Tries it.", OutputSchema: json.RawMessage(outputs),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		}},
	}
	data, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := sandbox.Pack(m.Bytes(), data)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

const anyObject = `{"type":"object"}`

// refusing answers an error to what is no tool request, and goes on otherwise.
func refusing(say func(string) asm.Code, then ...asm.Code) asm.Code {
	other := asm.Two(wasm.OpI32Ne, asm.Get(0), asm.I32(int32(abi.KindTool)))
	return asm.Seq(asm.If(other, say(`{"code":"not_found","message":"no such kind"}`), asm.I32(1), asm.Op(wasm.OpReturn)), asm.Seq(then...))
}

func answering(say func(string) asm.Code) asm.Code { return asm.Seq(say(`{"done":true}`), asm.I32(0)) }

// Each family but the first breaks one promise, and exactly the checks of that promise fail.
func TestAFamilyThatBreaksItsContract(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	for _, c := range []struct {
		name   string
		module []byte
		fails  []string
		says   string
	}{
		{"keeps it", guestOf(t, anyObject, func(say func(string) asm.Code, _, _ uint32) asm.Code { return refusing(say, answering(say)) }), nil, ""},
		{"answers in another form", guestOf(t, `{"type":"object","required":["text"]}`, func(say func(string) asm.Code, _, _ uint32) asm.Code { return refusing(say, answering(say)) }),
			[]string{"answers", "much text", "without capabilities"}, "missing property 'text'"},
		{"traps on long arguments", guestOf(t, anyObject, func(say func(string) asm.Code, _, _ uint32) asm.Code {
			return refusing(say, asm.If(asm.Two(wasm.OpI32GtS, asm.Get(1), asm.I32(100_000)), asm.Unreachable()), answering(say))
		}), []string{"much text"}, "trap"},
		{"answers any kind", guestOf(t, anyObject, func(say func(string) asm.Code, _, _ uint32) asm.Code { return answering(say) }), []string{"damaged requests"}, "with class answer"},
		{"spins on an empty request", guestOf(t, anyObject, func(say func(string) asm.Code, _, _ uint32) asm.Code {
			return refusing(say, asm.If(asm.Two(wasm.OpI32Eq, asm.Get(1), asm.I32(0)), asm.Loop(asm.Br(0))), answering(say))
		}), []string{"damaged requests"}, "fuel"},
		{"is random", guestOf(t, anyObject, func(say func(string) asm.Code, random, _ uint32) asm.Code {
			const at = 64 << 10
			even := asm.Two(wasm.OpI32And, asm.Load(wasm.OpI32Load, asm.I32(at)), asm.I32(1))
			return refusing(say, asm.Drop(asm.Call(random, asm.I32(at), asm.I32(4))), asm.If(even, say(`{"even":true}`), asm.I32(0), asm.Op(wasm.OpReturn)), answering(say))
		}), []string{"cancellation", "no state"}, "randomness"},
		{"cannot do without its capabilities", guestOf(t, anyObject, func(say func(string) asm.Code, _, call uint32) asm.Code {
			denied := asm.Two(wasm.OpI32LtS, asm.Call(call, asm.I32(0), asm.I32(11), asm.I32(11), asm.I32(2)), asm.I32(0))
			return refusing(say, asm.If(denied, asm.Unreachable()), answering(say))
		}), []string{"damaged requests", "without capabilities"}, "trap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := Test(t.Context(), Conformance{Sandbox: box, Module: c.module, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			told := ""
			for _, check := range report.Checks {
				if check.Status == conform.Fail {
					failed = append(failed, check.Name)
					told += check.Problems[0].Message + "\n"
				}
				if check.Status == conform.Skip && check.Reason == "" {
					t.Errorf("%s was skipped for no reason", check.Name)
				}
			}
			slices.Sort(failed)
			if !slices.Equal(failed, c.fails) || !strings.Contains(told, c.says) || report.Failed() != (c.fails != nil) {
				t.Errorf("%q failed: %s", failed, told)
			}
			if len(report.Checks) != 6 || len(report.Costs) != 1 || report.Costs[0].Fuel == 0 {
				t.Errorf("report %+v, want 6 checks and one cost", report)
			}
		})
	}
}

func TestAModuleThatIsNotAdmittedIsNotTested(t *testing.T) {
	var refused *sandbox.Refusal
	if _, err := Test(t.Context(), Conformance{Module: []byte("no module")}); !errors.As(err, &refused) {
		t.Errorf("Test of no module: %v, want a Refusal", err)
	}
	module := guestOf(t, anyObject, func(say func(string) asm.Code, _, _ uint32) asm.Code { return answering(say) })
	if _, err := Test(t.Context(), Conformance{Module: module, Tool: "other"}); err == nil || !strings.Contains(err.Error(), "no tool other") {
		t.Errorf("Test of an unknown tool: %v, want the error that there is no tool other", err)
	}
}

func TestAMisspelledToolIsRecognised(t *testing.T) {
	m := &abi.Manifest{Name: "tea", Tools: []abi.Tool{{Name: "tea_keep"}, {Name: "tea_pour"}}}
	for name, want := range map[string]string{
		"tea_kep": `has no tool "tea_kep" (did you mean tea_keep?): it has tea_keep, tea_pour`, "coffee": `has no tool "coffee": it has`, "": "say which tool of family tea: it has tea_keep, tea_pour",
		strings.Repeat("tea_keep", 20): `has no tool "tea_keep`,
	} {
		if _, err := onlyTool(m, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("onlyTool(%.20q): got the error %v, want %q", name, err, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
