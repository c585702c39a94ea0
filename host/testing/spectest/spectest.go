// Package spectest reads the official core test suite of WebAssembly 2.0 in its compiled form, which ships inside
// wazero's module. It serves tests only.
package spectest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// Script is one file of the suite: commands to run in order.
type Script struct {
	Name     string
	Commands []Command
	dir      string
}

// Command is a step of a script; the fields that its type has are set.
type Command struct {
	Type       string `json:"type"`        // module, register, action, assert_return, assert_trap, assert_invalid …
	Line       int    `json:"line"`        // in the script's source
	Name       string `json:"name"`        // of a module or register, to be named later; may be empty: the last one
	As         string `json:"as"`          // register: the name under which others import it
	Filename   string `json:"filename"`    // of a module
	ModuleType string `json:"module_type"` // binary or text
	Text       string `json:"text"`        // of the expected error
	Action     Action `json:"action"`
	Expected   Values `json:"expected"`
}

// Action calls an exported function or reads an exported global.
type Action struct {
	Type   string `json:"type"`   // invoke or get
	Module string `json:"module"` // empty: the last one
	Field  string `json:"field"`
	Args   Values `json:"args"`
}

// Value is a value as the suite writes it.
type Value struct {
	Type  string          `json:"type"`
	Lane  string          `json:"lane_type"`
	Value json.RawMessage `json:"value"` // a string, or a list of strings for vectors; may be nan:canonical …
}

// Values are arguments or results.
type Values []Value

// Text is a number's decimal digits, or a word such as null or nan:canonical.
func (v Value) Text() string { return strings.Trim(string(v.Value), `"`) }

// Lanes are the texts of a vector's lanes, and the bits in each.
func (v Value) Lanes() (texts []string, bits int) {
	if err := json.Unmarshal(v.Value, &texts); err != nil || len(texts) == 0 {
		return nil, 0
	}
	return texts, 128 / len(texts)
}

// Bits returns the value as the words that a function takes: one, or two for a vector. A null reference is 0, others
// are their number plus one.
func (v Value) Bits() ([]uint64, error) {
	if v.Type == "v128" {
		return v.vector()
	}
	text := v.Text()
	if text == "null" {
		return []uint64{0}, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if strings.HasSuffix(v.Type, "ref") {
		n++
	}
	return []uint64{n}, err
}

func (v Value) vector() ([]uint64, error) {
	texts, bits := v.Lanes()
	words := make([]uint64, 2)
	for i, text := range texts {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, err
		}
		at := i * bits
		words[at/64] |= n << (at % 64)
	}
	return words, nil
}

// File reads a module of the script.
func (s Script) File(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Module is the directory of wazero's module.
func Module(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatalf("find wazero's module: %v (run: go mod download)", err)
	}
	return strings.TrimSpace(string(out))
}

// Load reads all scripts of the suite.
func Load(t testing.TB) []Script {
	t.Helper()
	dir := filepath.Join(Module(t), "internal", "integration_test", "spectest", "v2", "testdata")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 100 {
		t.Fatalf("the suite has %d scripts in %s (%v)", len(files), dir, err)
	}
	sort.Strings(files)
	var scripts []Script
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := Script{Name: strings.TrimSuffix(filepath.Base(file), ".json"), dir: dir}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("decode %s: %v", file, err)
		}
		scripts = append(scripts, s)
	}
	return scripts
}

// Host is the module that scripts import as spectest.
func Host(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Module(t), "internal", "integration_test", "spectest", "testdata", "spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
