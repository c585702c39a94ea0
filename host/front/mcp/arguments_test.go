package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// wrongFor gives a value that no parameter of a schema's type can be.
func wrongFor(property map[string]any) string {
	if property["type"] == nil && property["anyOf"] == nil {
		return "" // anything goes
	}
	return `[[{"wrong":[]}]]`
}

// The limits of what is taken apart.
const maxElements, maxMembers = 10_000, 10_000

func TestEveryAdvertisedParameterIsRead(t *testing.T) {
	p := use(t)
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	for _, w := range wireTools(t) {
		required := map[string]json.RawMessage{}
		for name, value := range map[string]string{"key": `"k"`, "value": "1", "query": `"q"`, "event": `"e"`, "data": "1", "action": `"list"`, "method": `"memory_status"`} {
			required[name] = json.RawMessage(value)
		}
		for name, property := range properties(t, w.InputSchema) {
			wrong := wrongFor(property)
			if wrong == "" {
				continue
			}
			given := map[string]json.RawMessage{}
			for n := range properties(t, w.InputSchema) {
				if required[n] != nil {
					given[n] = required[n]
				}
			}
			if given[name] = json.RawMessage(wrong); w.Name == "memory_recall" && name != "key" {
				delete(given, "key") // one of key, query and topic
			}
			if name == "topic" {
				delete(given, "query")
			}
			arguments, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.refused(w.Name, string(arguments)); !strings.Contains(got.Message, name) || got.Code != memory.InvalidArgument {
				t.Errorf("%s: a wrong %s is answered with %q", w.Name, name, got.Message)
			}
		}
	}
}

func TestWhatTheWireRequiresIsEnforcedAndWhatItAllowsIsAccepted(t *testing.T) {
	full := map[string]string{
		"memory_store":   `{"key":"k","value":{"a":[1]},"tags":["t"],"type":"fact","importance":0.5,"metadata":{"m":1},"expires":"2h","supersedes":"s","links":["l"],"namespace":"n","branch":"default","if_version":0}`,
		"memory_recall":  `{"query":"q","fields":["version"],"verbose":true,"limit":50,"as_of":"1s ago","namespace":"n","branch":"default"}`,
		"memory_search":  `{"query":"q","k":50,"offset":1,"tags":["t"],"type":["a","b"],"state":"active","since":"1h ago","until":"2030-01-01","namespace":"n","branch":"default","as_of":"1s ago","events":true,"explain":true,"expand":true,"distinct":true,"budget_tokens":1000}`,
		"memory_forget":  `{"key":["k","l"],"archive":false,"namespace":"n","branch":"default"}`,
		"memory_log":     `{"event":"e","data":[1],"namespace":"n","branch":"default"}`,
		"memory_branch":  `{"action":"list","name":"n","source":"s","target":"t","compare":"c","strategy":"newest","resolutions":[{"key":"k","take":"source"}],"preview":true,"force":true,"deleted":true,"merges":true,"as":"b","as_of":"v1","namespace":"n","branch":"default"}`,
		"memory_history": `{"key":"k","fields":["version"],"verbose":true,"limit":50,"as_of":"1s ago","namespace":"n","branch":"default"}`,
		"memory_status":  `{"namespace":"n","branch":"default"}`,

		"memory_capabilities": `{"family":"core","include_schema":true,"verbose":true}`,
		"memory_load_family":  `{"family":"","intent":"tag","unload":false}`,
		"memory_poll_events":  `{"agentId":"tester","lastWatermark":0,"eventTypes":["memory_stored"],"agents":["tester"],"limit":500,"namespace":"n","branch":"default"}`,
		"memory_operation":    `{"method":"memory_status","params":{},"options":{"timeout_ms":600000,"dry_run":true,"namespace":"n","branch":"default"}}`,
	}
	p := use(t)
	for _, w := range wireTools(t) {
		schema := compileSchema(t, w.InputSchema)
		var given map[string]any
		if err := json.Unmarshal([]byte(full[w.Name]), &given); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(any(given)); err != nil {
			t.Errorf("%s: the schema refuses %s: %v", w.Name, full[w.Name], err)
		}
		alternatives := map[string]int{"memory_store": 1, "memory_recall": 2} // items excludes value; query excludes key and topic
		if len(given) < len(properties(t, w.InputSchema))-alternatives[w.Name] {
			t.Errorf("%s: the example lacks some of %v", w.Name, properties(t, w.InputSchema))
		}
		p.must(w.Name, full[w.Name])
		given["a_field_from_the_future"] = map[string]any{"x": 1}
		if err := schema.Validate(any(given)); err != nil {
			t.Errorf("%s: the schema refuses unknown fields: %v", w.Name, err)
		}
		var required struct{ Required []string }
		if err := json.Unmarshal(w.InputSchema, &required); err != nil {
			t.Fatal(err)
		}
		for _, name := range required.Required {
			less := map[string]any{}
			for n, value := range given {
				if n != name {
					less[n] = value
				}
			}
			arguments, err := json.Marshal(less)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.refused(w.Name, string(arguments)); !strings.Contains(got.Message, w.Name+" needs "+name) {
				t.Errorf("%s without %s: %s", w.Name, name, got.Message)
			}
		}
	}
}

func TestListsAndObjectsWithManyElementsAreRefusedBeforeTheyAreTakenApart(t *testing.T) {
	p := use(t)
	many := "1" + strings.Repeat(",1", maxElements)
	var members strings.Builder
	for i := range maxMembers {
		fmt.Fprintf(&members, `,"m%d":0`, i)
	}
	for arguments, want := range map[string]string{
		`{"key":"k","value":1,"tags":[` + many + `]}`:               "tags has 10001 elements: at most 10000 are allowed",
		`{"key":"k","value":1,"tags":"[` + many + `]"}`:             "tags has 10001 elements: at most 10000 are allowed",
		`{"items":[` + many + `]}`:                                  "items has 10001 elements: at most 10000 are allowed",
		`{"key":"k","value":1` + members.String() + `}`:             "more than 10000 members",
		`{"items":[{"key":"k","value":1` + members.String() + `}]}`: "more than 10000 members",
	} {
		if refusal := p.refused("memory_store", arguments); !strings.Contains(refusal.Message, want) {
			t.Errorf("memory_store of %.60s: refused with %q, want %q", arguments, refusal.Message, want)
		}
	}
	p.must("memory_store", `{"key":"k","value":[`+many+`]}`)
}
