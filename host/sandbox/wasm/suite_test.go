package wasm_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/spectest"
)

// wide are limits that admit the suite's extremes.
var wide = wasm.Limits{Branches: 1 << 20, Locals: 1 << 20}

// stricter are modules of the suite that are refused deliberately.
var stricter = map[string]string{
	"binary-leb128:969": "an opcode behind a prefix is not in its shortest form, which wazero reads differently",
}

func TestTheDecoderAgreesWithTheOfficialSuite(t *testing.T) {
	counts := map[string]int{}
	for _, script := range spectest.Load(t) {
		for _, c := range script.Commands {
			if c.ModuleType == "text" {
				counts["text, which is not decoded here"]++
				continue
			}
			if c.Filename == "" {
				continue
			}
			counts[c.Type]++
			judge(t, script, c)
		}
	}
	t.Log(counts)
	if counts["module"] < 1500 || counts["assert_invalid"] < 2000 || counts["assert_malformed"] < 700 {
		t.Errorf("the suite was not all there: %v", counts)
	}
}

func judge(t *testing.T, script spectest.Script, c spectest.Command) {
	t.Helper()
	b := script.File(t, c.Filename)
	m, err := wasm.Decode(b, wide)
	var fault *wasm.Error
	if err != nil && !errors.As(err, &fault) {
		t.Errorf("%s:%d: the error is a %T", script.Name, c.Line, err)
	}
	if err == nil {
		_, err = wasm.Validate(m, wide)
	}
	switch c.Type {
	case "assert_invalid", "assert_malformed":
		if err == nil {
			t.Errorf("%s:%d: %s is accepted; it should be refused: %s", script.Name, c.Line, c.Filename, c.Text)
		}
	default:
		if why := stricter[fmt.Sprintf("%s:%d", script.Name, c.Line)]; why != "" {
			if err == nil {
				t.Errorf("%s:%d is accepted, though %s", script.Name, c.Line, why)
			}
			return
		}
		if err != nil {
			t.Errorf("%s:%d: %s is refused: %v", script.Name, c.Line, c.Filename, err)
			return
		}
		sameAgain(t, script.Name, m)
	}
}

// sameAgain encodes a module and decodes it.
func sameAgain(t *testing.T, name string, m *wasm.Module) {
	t.Helper()
	once := wasm.Encode(m)
	again, err := wasm.Parse(once, wide)
	if err != nil {
		t.Errorf("%s: encoded again it is refused: %v", name, err)
		return
	}
	bare := *m
	bare.Customs = nil // wazero rejects some well-formed ones
	if err := compiles(t, wasm.Encode(&bare)); err != nil {
		t.Errorf("%s: wazero refuses it encoded again: %v", name, err)
	}
	if twice := wasm.Encode(again.Module); string(twice) != string(once) {
		t.Errorf("%s: encoding twice gives other bytes than once", name)
	}
}

// compiles reports whether wazero accepts a module.
func compiles(t *testing.T, b []byte) error {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer func() { _ = r.Close(t.Context()) }()
	_, err := r.CompileModule(t.Context(), b)
	return err
}
