package mcp

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// onWire is the core tools as tools/list shows them, if it does.
func onWire(t *testing.T) []json.RawMessage {
	t.Helper()
	var list []json.RawMessage
	for _, each := range coreTools(t).Core() {
		encoded, err := json.Marshal(wire(each))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, encoded)
	}
	return list
}

// wireTool is what a client reads of a tool.
type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations map[string]bool `json:"annotations"`
}

func wireTools(t *testing.T) []wireTool {
	t.Helper()
	var list []wireTool
	for _, encoded := range onWire(t) {
		var w wireTool
		if err := json.Unmarshal(encoded, &w); err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	return list
}

func tokenizer(t *testing.T) func(string) int {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	encoding, err := tiktoken.GetEncoding("cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) int { return len(encoding.Encode(text, nil, nil)) }
}

func TestToolsStayWithinTheirTokenBudgets(t *testing.T) {
	tokens := tokenizer(t)
	total, core := 0, coreTools(t).Core()
	var listed []any
	for i, w := range wireTools(t) {
		encoded, err := tool.Encode(map[string]any{"name": w.Name, "description": w.Description, "inputSchema": w.InputSchema})
		if err != nil {
			t.Fatal(err)
		}
		n := tokens(string(encoded))
		if !core[i].Unlisted {
			total, listed = total+n, append(listed, wire(core[i]))
		}
		t.Logf("%-19s %3d tokens, of which description %2d", w.Name, n, tokens(w.Description))
		if n > 150 {
			t.Errorf("%s takes %d tokens: at most 150 are allowed", w.Name, n)
		}
		if d := tokens(w.Description); d > 50 {
			t.Errorf("the description of %s takes %d tokens: at most 50 are allowed", w.Name, d)
		}
	}
	whole, err := tool.Encode(map[string]any{"tools": listed})
	if err != nil {
		t.Fatal(err)
	}
	n := tokens(string(whole))
	t.Logf("names, descriptions and inputs: %d tokens; the whole list: %d tokens, %d bytes", total, n, len(whole))
	if total > 1100 {
		t.Errorf("the tools take %d tokens: at most 1100 are allowed", total)
	}
	if n > 1400 {
		t.Errorf("the whole list takes %d tokens: at most 1400 are allowed", n)
	}
	p := connect(t, newServer(t, Options{}), Session{Profile: profile.Operation}).initialize("tester")
	if n := tokens(p.request("tools/list", `{}`)); n > 200 {
		t.Errorf("the list of the profile operation takes %d tokens: at most 200 are allowed", n)
	}
}

func TestTheWireIsAsRecorded(t *testing.T) {
	asRecorded(t, "tools.json", onWire(t))
}

func TestTheWireOfFamiliesIsAsRecorded(t *testing.T) {
	var list []json.RawMessage
	for _, f := range coreTools(t, newFake()).Snapshot().Sets {
		for _, each := range f.Offered(false) {
			encoded, err := json.Marshal(wire(each))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, encoded)
		}
	}
	asRecorded(t, "families.json", list)
}

func asRecorded(t *testing.T, name string, list []json.RawMessage) {
	t.Helper()
	got, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the advertised tools differ from %s; look at the difference, then run the test with -update:\n%s", golden, got)
	}
}

func TestToolsAreListedInTheirOrder(t *testing.T) {
	want := "memory_store, memory_recall, memory_search, memory_forget, memory_log, memory_branch, memory_history, memory_status, memory_capabilities, memory_load_family, memory_operation"
	if got := coreNames(t, false); got != want {
		t.Errorf("tools are %s, not %s", got, want)
	}
	if got := coreNames(t, true); got != "memory_recall, memory_search, memory_branch, memory_history, memory_status, memory_capabilities, memory_load_family, memory_operation" {
		t.Errorf("read-only tools are %s", got)
	}
}

// What each core tool that writes can lose. A tool without a reason is none that may lose anything.
func TestToolsThatCanLoseSomethingAreDestructive(t *testing.T) {
	loses := map[string]string{
		"memory_store":     "", // former versions stay
		"memory_log":       "", // it only adds
		"memory_forget":    "the memory leaves lists and searches",
		"memory_branch":    "delete with force drops what was not merged",
		"memory_operation": "it runs every tool",
	}
	for _, w := range wireTools(t) {
		if w.Annotations["readOnlyHint"] {
			continue
		}
		why, known := loses[w.Name]
		if got, want := w.Annotations["destructiveHint"], why != ""; !known || got != want {
			t.Errorf("%s has destructiveHint %t, want %t (%s; in the table: %t)", w.Name, got, want, why, known)
		}
	}
}

func TestAnnotationsSayWhatEachToolDoes(t *testing.T) {
	want := map[string][3]bool{ // read-only, destructive, idempotent
		"memory_store":   {false, false, true},
		"memory_recall":  {true, false, true},
		"memory_search":  {true, false, true},
		"memory_forget":  {false, true, true},
		"memory_log":     {false, false, false},
		"memory_branch":  {false, true, false},
		"memory_history": {true, false, true},
		"memory_status":  {true, false, true},

		"memory_capabilities": {true, false, true},
		"memory_load_family":  {true, false, true},
		"memory_operation":    {false, true, false},
		"memory_poll_events":  {true, false, true},
	}
	for _, w := range wireTools(t) {
		if len(w.Annotations) != 4 {
			t.Errorf("%s has the hints %v: all four are needed, clients assume the worst", w.Name, w.Annotations)
		}
		got := [3]bool{w.Annotations["readOnlyHint"], w.Annotations["destructiveHint"], w.Annotations["idempotentHint"]}
		if got != want[w.Name] || w.Annotations["openWorldHint"] != (w.Name == operationName) {
			t.Errorf("%s has the hints %v", w.Name, w.Annotations)
		}
	}
}

func compileSchema(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestSchemasCompileWholeAndTrimmed(t *testing.T) {
	for i, w := range wireTools(t) {
		full := coreTools(t).Core()[i]
		for _, raw := range []json.RawMessage{w.InputSchema, full.Input, full.Output} {
			if compileSchema(t, raw) == nil {
				t.Errorf("a schema of %s does not compile", w.Name)
			}
		}
	}
}

// properties of a schema, at the top.
func properties(t *testing.T, raw json.RawMessage) map[string]map[string]any {
	t.Helper()
	var s struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s.Properties
}

func TestEveryParameterIsDescribedInTheCodeAndBareOnTheWire(t *testing.T) {
	for i, w := range wireTools(t) {
		bare := properties(t, w.InputSchema)
		for name, property := range properties(t, coreTools(t).Core()[i].Input) {
			if text, _ := property["description"].(string); text == "" && name != "action" {
				t.Errorf("%s of %s has no description", name, w.Name)
			}
			if _, there := bare[name]["description"]; there {
				t.Errorf("%s of %s has its description on the wire", name, w.Name)
			}
			if property["x-advanced"] == true {
				if bare[name] != nil {
					t.Errorf("%s of %s, which few need, is on the wire", name, w.Name)
				}
				continue
			}
			delete(property, "description")
			if !equalJSON(t, property, bare[name]) {
				t.Errorf("%s of %s lost more than its description: %v became %v", name, w.Name, property, bare[name])
			}
		}
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func TestTheWireNeverForbidsWhatIsTolerated(t *testing.T) {
	for _, encoded := range onWire(t) {
		if bytes.Contains(encoded, []byte("additionalProperties")) {
			t.Errorf("unknown fields are tolerated, but the schema says otherwise: %s", encoded)
		}
	}
}

func TestADescriptionThatLooksLikeAHeadingStaysOne(t *testing.T) {
	all := tool.NewRegistry(nil)
	if err := all.Add(tool.Spec{Name: "odd", Description: "#123 consolidates", Input: json.RawMessage(`{"type":"object","properties":{"a":{"description":"#908 agent"}}}`)}); err != nil {
		t.Fatal(err)
	}
	if advertised := wire(all.Core()[0]); advertised.Description != "#123 consolidates" || advertised.Title != "Odd" {
		t.Errorf("the description became %q, the title %q", advertised.Description, advertised.Title)
	}
}

func TestExportedToolsAreInTheFormOfModelInterfaces(t *testing.T) {
	encoded, err := json.Marshal(core.Export())
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, each := range list {
		if len(each) != 3 || each["input_schema"] == nil || each["description"] == nil {
			t.Errorf("exported %s", each)
		}
		compileSchema(t, each["input_schema"])
		got = append(got, strings.Trim(string(each["name"]), `"`))
	}
	if strings.Join(got, ", ") != coreNames(t, false) {
		t.Errorf("exported %s", got)
	}
}

func TestToolNamesSuitModelInterfaces(t *testing.T) {
	for _, each := range coreTools(t).Core() {
		outside := strings.Trim(each.Name, "abcdefghijklmnopqrstuvwxyz_")
		if outside != "" || len(each.Name) > 64 || each.Docs == "" {
			t.Errorf("the name %q or the docs of a tool do not do", each.Name)
		}
	}
}
