package abi_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/abi"
)

func manifestSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(abi.ManifestSchema())))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("manifest.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func fits(t testing.TB, schema *jsonschema.Schema, data string) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func TestAManifestIsReadAndFitsItsSchema(t *testing.T) {
	data, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := abi.ParseManifest(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := fits(t, manifestSchema(t), string(data)); err != nil {
		t.Error(err)
	}
	if m.Name != "shout" || len(m.Tools) != 1 || m.Hooks.Rank == nil || m.Limits.HostCalls != 100 {
		t.Errorf("it was read as %+v", m)
	}
}

func TestAManifestSurvivesBeingWritten(t *testing.T) {
	data, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := abi.ParseManifest(data)
	if err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(data, &a) != nil || json.Unmarshal(written, &b) != nil {
		t.Fatal("no JSON")
	}
	before, _ := json.Marshal(a)
	after, _ := json.Marshal(b)
	if string(before) != string(after) {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

const head = `"abi":1,"name":"x","version":"1.0.0","description":"A family"`

func TestManifestsThatThePackageRefuses(t *testing.T) {
	for _, c := range []struct{ name, data, says string }{
		{"no JSON", `{`, "read the manifest"},
		{"not UTF-8", "{\"name\":\"\xff\"}", "not UTF-8"},
		{"two values", `{` + head + `} {}`, "something follows"},
		{"a later version", `{"abi":2,"name":"x","version":"1.0.0","description":"A family"}`, "version 2 of the ABI"},
		{"an unknown field", `{` + head + `,"limit":{}}`, `unknown field "limit"`},
		{"a field twice", `{` + head + `,"name":"y"}`, `"name" appears twice`},
		{"a field twice deep inside", `{` + head + `,"config":[{"key":"a","default":{"b":1,"b":2}}]}`, `"b" appears twice`},
		{"deep nesting", `{` + head + `,"config":[{"key":"a","default":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}]}`, "nests deeper"},
		{"a tool twice", `{` + head + `,"tools":[{"name":"a"},{"name":"a"}]}`, "tool a"},
		{"an alias that is a tool", `{` + head + `,"tools":[{"name":"a","input_schema":{}},{"name":"b","input_schema":{},"aliases":[{"name":"a"}]}]}`, "tool a"},
		{"an alias with an unknown argument", `{` + head + `,"tools":[{"name":"a","input_schema":{"properties":{"x":{}}},"aliases":[{"name":"b","arguments":{"y":1}}]}]}`, "argument y is no property"},
		{"a spelling that is a property", `{` + head + `,"tools":[{"name":"a","input_schema":{"properties":{"x":{},"y":{}}},"parameters":{"x":"y"}}]}`, "has a property of that name"},
		{"a spelling of nothing", `{` + head + `,"tools":[{"name":"a","input_schema":{"properties":{"x":{}}},"parameters":{"z":"y"}}]}`, `stands for "y"`},
		{"a condition on a setting that is not there", `{` + head + `,"config":[{"key":"weight_a","default":1}],"hooks":{"rank":{"features":["score"],"when":{"settings":["rules"]}}}}`, "hooks.rank.when.settings: config has no key rules"},
		{"a condition on settings of a prefix that no key has", `{` + head + `,"config":[{"key":"weight_a","default":1}],"hooks":{"store":{"when":{"settings":["wait*"]}}}}`, "config has no key wait*"},
		{"a condition on records that are not kept", `{` + head + `,"hooks":{"store":{"when":{"records":["judged"]}}}}`, "hooks.store.when.records: the family has no collection judged"},
		{"a condition on records after a store", `{` + head + `,"collections":[{"name":"judged"}],"hooks":{"stored":{"when":{"records":["judged"]}}}}`, "hooks.stored.when.records"},
		{"a condition on fields of what is ranked", `{` + head + `,"hooks":{"rank":{"features":["score"],"when":{"lacks":["type"]}}}}`, "hooks.rank.when.lacks"},
		{"types of records", `{` + head + `,"collections":[{"name":"judged"}],"hooks":{"stored":{"collections":["memory","judged"],"types":["plan"]}}}`, "hooks.stored.when.lacks: it and types are about memories"},
		{"a job twice", `{` + head + `,"hooks":{"jobs":[{"name":"a"},{"name":"a"}]}}`, "job a"},
		{"a setting twice", `{` + head + `,"config":[{"key":"a","default":1},{"key":"a","default":2}]}`, "config a"},
		{"a rule that is none", `{` + head + `,"config_rules":[{"rule":"max","keys":["a","b"]}]}`, `no rule "max"`},
		{"a rule about one key", `{` + head + `,"config":[{"key":"a","default":1}],"config_rules":[{"rule":"sum","keys":["a"]}]}`, "two keys at least"},
		{"a choice of three keys", `{` + head + `,"config_rules":[{"rule":"one_of","keys":["a","b","c"]}]}`, "this one has 3"},
		{"a rule about a key that is not there", `{` + head + `,"config":[{"key":"a","default":1}],"config_rules":[{"rule":"sum","keys":["a","b"]}]}`, "config has no key b"},
		{"a rule about a shared key and another", `{` + head + `,"config":[{"key":"a","default":1,"shared":true},{"key":"b","default":1}],"config_rules":[{"rule":"sum","keys":["a","b"]}]}`, "a and b differ"},
		{"a capability twice", `{` + head + `,"capabilities":[{"name":"embed","reason":"r"},{"name":"embed","reason":"r"}]}`, "capability embed"},
		{"an unknown capability", `{` + head + `,"capabilities":[{"name":"root","reason":"r"}]}`, `capability "root"`},
		{"a forgotten scope", `{` + head + `,"capabilities":[{"name":"http","reason":"r"}]}`, "name the endpoints"},
		{"a scope too many", `{` + head + `,"capabilities":[{"name":"embed","scope":["*"],"reason":"r"}]}`, "it has no scope"},
		{"the host's collection", `{` + head + `,"collections":[{"name":"memory"}]}`, "collection memory"},
		{"a collection twice", `{` + head + `,"collections":[{"name":"a"},{"name":"a"}]}`, "collection a"},
		{"an expiry that is none", `{` + head + `,"collections":[{"name":"a","expires":"soon"}]}`, "no duration"},
		{"a schedule that is none", `{` + head + `,"hooks":{"jobs":[{"name":"a","every":"0m"}]}}`, "no duration"},
		{"locations without a schedule", `{` + head + `,"hooks":{"jobs":[{"name":"a","each":"branch"}]}}`, "give every, too"},
		{"a limit beyond the most", `{` + head + `,"limits":{"wall_ms":300001}}`, "limit wall_ms"},
		{"a limit below 0", `{` + head + `,"limits":{"wall_ms":-1}}`, "limit wall_ms"},
		{"a limit of the host's", `{` + head + `,"limits":{"call_depth":5}}`, "cannot ask for it"},
		{"too many bytes", `{` + head + `,"docs":"` + strings.Repeat("x", 300000) + `"}`, "manifest_bytes is 262144"},
	} {
		if _, err := abi.ParseManifest([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

func TestManifestsThatTheSchemaRefuses(t *testing.T) {
	schema := manifestSchema(t)
	if err := fits(t, schema, `{`+head+`}`); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{
		`,"other":1`,
		`,"tools":[{"name":"a b","description":"d","input_schema":{"type":"object"}}]`,
		`,"tools":[{"name":"a","description":"d"}]`,
		`,"hooks":{"jobs":[{"name":"a","every":"1h","each":"agent"}]}`,
		`,"tools":[{"name":"a","description":"d","input_schema":{"type":"object"},"aliases":["b"]}]`,
		`,"tools":[{"name":"a","description":"d","input_schema":{"type":"object"},"aliases":[{"name":"b c"}]}]`,
		`,"tools":[{"name":"a","description":"d","input_schema":{"type":"object"},"parameters":{"x":1}}]`,
		`,"tools":[{"name":"a","description":"d","input_schema":{"type":"array"}}]`,
		`,"tools":[{"name":"a","description":"","input_schema":{"type":"object"}}]`,
		`,"hooks":{"rank":{"features":[]}}`,
		`,"hooks":{"store":{"on_failure":"ignore"}}`,
		`,"hooks":{"embed":{"model":"m","dimensions":0}}`,
		`,"limits":{"call_depth":5}`,
		`,"limits":{"fuel":0}`,
		`,"capabilities":[{"name":"memory.read","scope":["*"]}]`,
		`,"collections":[{"name":"a","per":"universe"}]`,
		`,"homepage":"javascript:alert(1)"`,
		`,"config_rules":[{"rule":"max","keys":["a","b"]}]`,
		`,"config_rules":[{"rule":"sum","keys":["a","b"],"within":-1}]`,
		`,"config":[{"key":"a","default":1,"category":"Two Words"}]`,
	} {
		if fits(t, schema, `{`+head+more+`}`) == nil {
			t.Errorf("it accepts %s", more)
		}
	}
}

// at walks into decoded JSON.
func at(t *testing.T, value any, path ...string) any {
	t.Helper()
	for _, p := range path {
		object, ok := value.(map[string]any)
		if !ok || object[p] == nil {
			t.Fatalf("there is no %s in %v", p, path)
		}
		value = object[p]
	}
	return value
}

func TestTheSchemaNamesWhatTheSourceNames(t *testing.T) {
	var schema any
	if err := json.Unmarshal(abi.ManifestSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	var capabilities []string
	for _, c := range abi.Capabilities() {
		capabilities = append(capabilities, string(c))
	}
	var named []string
	for _, n := range at(t, schema, "$defs", "request", "properties", "name", "enum").([]any) {
		named = append(named, n.(string))
	}
	if !slices.Equal(named, capabilities) {
		t.Errorf("capabilities: the schema has %v, abi.json %v", named, capabilities)
	}
	allowed := at(t, schema, "properties", "limits", "properties").(map[string]any)
	limits := abi.DefaultLimits()
	limits.Each(func(name string, _ *int64) {
		if _, ok := allowed[name]; ok != abi.InManifest(name) {
			t.Errorf("limit %s: the schema and abi.json disagree", name)
		}
	})
	most := abi.MaxLimits().EmbedDimensions
	if got := at(t, schema, "properties", "hooks", "properties", "embed", "properties", "dimensions", "maximum"); got != float64(most) {
		t.Errorf("dimensions: the schema has %v, abi.json %d", got, most)
	}
}

func FuzzParseManifest(f *testing.F) {
	data, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{` + head + `}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := abi.ParseManifest(data)
		if err != nil {
			return
		}
		written, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := abi.ParseManifest(written); err != nil {
			t.Fatalf("it was accepted, and written again it is not: %v\n%s", err, written)
		}
	})
}
