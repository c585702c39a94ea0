package gen_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/gen"
	"github.com/alcove-memory/alcove/sdk/go/gen/output"
	"github.com/alcove-memory/alcove/sdk/go/gen/testdata/sample"
)

var update = flag.Bool("update", false, "write what is generated for the sample")

func TestTheSampleIsGenerated(t *testing.T) {
	out, err := gen.Generate("testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := out.Write(); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Check(); err != nil {
		t.Error(err)
	}
}

// host answers nothing that matters, and keeps what it is asked.
type host struct{ asked []string }

func (h *host) Call(op alcove.Op, request []byte) ([]byte, error) {
	h.asked = append(h.asked, string(op)+string(request))
	return []byte(`{"memories":[{"key":"a"}],"next":"a","id":"j1"}`), nil
}

func (h *host) Log(string) {}

// tool calls a tool of the sample.
func tool(t *testing.T, name, arguments, config string) (string, error) {
	t.Helper()
	request := fmt.Sprintf(`{"tool":%q,"arguments":%s,"config":%s,"context":{"namespace":"here","now":"2026-06-01T12:00:00Z"}}`, name, arguments, config)
	out, err := sample.Family().Handle(&host{}, alcove.KindTool, []byte(request))
	return string(out), err
}

func TestArgumentsAreReadAndResultsWrittenAsTheTypesSay(t *testing.T) {
	for name, c := range map[string]struct{ arguments, config, says string }{
		"nothing": {`{}`, `{}`, `{"content":"","level":"low","tags":[],"refers":[],"replaces":"","count":null,"limit":20,"since":"","extra":{},"any":null,"raw":null,` +
			`"nested":{"factId":"","saysA":"","weights":{"lexical":0,"semantic":0}},"more":[],"each":{},"floats":[],"done":false,"big":0,"id":"here#k","at":"2026-06-01T12:00:00Z",` +
			`"removed":{"success":false,"entityId":""},"state":null,` +
			`"config":{"max_tags":5,"set_type":true,"endpoint":"","mode":"report","namespaces":[],"ranking":{"lexical":0.5,"semantic":0.5},"decay":{"other":0.5,"plan":0.9}}}`},
		"everything": {
			`{"content":"a\u00e9","level":"high","labels":"one","refers":["work#a","b"],"supersedes":"work#c","weight":0.5,"label_list":["x"],"count":7,"limit":1,"since":"2026-01-02T03:04:05Z",` +
				`"extra":{"a":[1]},"any":{"b":null},"raw":[true],"loose":{"weights":{"lexical":3}},"nested":{"factId":"n#k","deeper":{"saysA":"z"},"weights":{"semantic":1}},"more":[{}],"each":{"e":{}},"floats":[0.5],"done":true,"big":18446744073709551615,"Hidden":"h","hidden":"h"}`,
			`{"max_tags":3,"set_type":false,"endpoint":"e","mode":"newest","namespaces":["*"],"ranking_weight_lexical":1,"decay_plan":0.25,"unknown":1}`,
			`{"content":"aé","level":"high","tags":["one"],"refers":["work#a","b"],"replaces":"work#c","weight":0.5,"label_list":["x"],"count":7,"limit":1,"since":"2026-01-02T03:04:05Z",` +
				`"extra":{"a":[1]},"any":{"b":null},"raw":[true],"loose":{"factId":"","saysA":"a","weights":{"lexical":3,"semantic":0.5}},"nested":{"factId":"n#k","saysA":"a","deeper":{"factId":"","saysA":"z","weights":{"lexical":0,"semantic":0}},"weights":{"lexical":0.5,"semantic":1}},` +
				`"more":[{"factId":"","saysA":"a","weights":{"lexical":0,"semantic":0}}],"each":{"e":{"factId":"","saysA":"a","weights":{"lexical":0,"semantic":0}}},"floats":[0.5],"done":true,"big":18446744073709551615,` +
				`"id":"here#k","at":"2026-06-01T12:00:00Z","removed":{"success":false,"entityId":""},"state":null,` +
				`"config":{"max_tags":3,"set_type":false,"endpoint":"e","mode":"newest","namespaces":["*"],"ranking":{"lexical":1,"semantic":0.5},"decay":{"other":0.5,"plan":0.25}}}`},
		"nulls": {`{"level":null,"tags":null,"weight":null,"label_list":null,"count":null,"limit":null,"nested":null,"extra":null}`, `{}`, `"level":"low","tags":[],"refers":[],"replaces":"","weight":null,"count":null,"limit":20`},
	} {
		got, err := tool(t, "memory_store_note", c.arguments, c.config)
		if err != nil || !strings.Contains(got, c.says) || !json.Valid([]byte(got)) {
			t.Errorf("%s: it says\n%s, want\n%s (%v)", name, got, c.says, err)
		}
	}
	for _, arguments := range []string{`{"limit":"many"}`, `{"count":1.5}`, `{"nested":[]}`, `[]`, `{"extra":{"a":}}`} {
		if _, err := tool(t, "memory_store_note", arguments, "{}"); alcove.CodeOf(err) != alcove.InvalidArgument {
			t.Errorf("memory_store_note of %s: %v, want %s", arguments, err, alcove.InvalidArgument)
		}
	}
	if got, err := tool(t, "count_notes", "{}", "{}"); err != nil || got != `{"total":0}` {
		t.Errorf("count_notes = %s (%v), want a total of 0", got, err)
	}
	if got, err := tool(t, "memory_forget", "{}", "{}"); err != nil || got != `{}` {
		t.Errorf("memory_forget = %s (%v), want {}", got, err)
	}
}

func TestJobsAndHooksAreServedAsTheTypesSay(t *testing.T) {
	h := &host{}
	out, err := sample.Family().Handle(h, alcove.KindHook, []byte(`{"hook":"job","job":"tidy","payload":{"namespace":"n","done":3},"context":{}}`))
	if err != nil || string(out) != `{"done":4,"changed":1,"next":"j1"}` {
		t.Errorf("the job answers %s (%v)", out, err)
	}
	want := []string{
		`memory.list{"namespace":"n"}`, `record.put{"collection":"visits","namespace":"n","items":[{"key":"last","value":{"page":"a","last":""}}]}`,
		`caller.progress{"done":4,"message":"tidy"}`, `job.enqueue{"job":"tidy","payload":{"namespace":"n","after":"a","done":4,"changed":1}}`,
	}
	if fmt.Sprint(h.asked) != fmt.Sprint(want) {
		t.Errorf("it asks\n%q, want\n%q", h.asked, want)
	}
	for entries, want := range map[string]string{
		`[{"key":"draft","value":1},{"key":"secret","value":1}]`:           `{"refuse":"no secrets"}`,
		`[{"key":"a","value":1},{"key":"draft","value":1},{"key":"plan"}]`: `{"propose":"look at the draft"}`,
		`[{"key":"a","value":1}]`:                                          ``,
	} {
		out, err = sample.Family().Handle(h, alcove.KindHook, []byte(`{"hook":"store","entries":`+entries+`}`))
		if err != nil || string(out) != want {
			t.Errorf("of %s the guard answers %s (%v)", entries, out, err)
		}
	}
	if _, err := sample.Family().Handle(h, alcove.KindHook, []byte(`{"hook":"stored","entries":[]}`)); err != nil {
		t.Error(err)
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"content":"a","tags":["b"],"nested":{"deeper":{"deeper":{}}}}`)
	f.Add(`{"weight":null,"extra":{"a":1},"any":[{}]}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		if !json.Valid([]byte(arguments)) {
			return
		}
		first, err := tool(t, "memory_store_note", arguments, "{}")
		if err != nil {
			return
		}
		if second, err := tool(t, "memory_store_note", first, "{}"); err != nil || second != first {
			t.Errorf("%s is written as\n%s and read again as\n%s (%v)", arguments, first, second, err)
		}
	})
}

// module makes a module of one package that has this one beside it, and returns its directory.
func module(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.com/facts\n\ngo 1.26\n\nrequire github.com/alcove-memory/alcove v0.0.0\n\nreplace github.com/alcove-memory/alcove => " + root + "\n",
		"go.sum": string(sums), "facts.go": source,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-mod=mod -buildvcs=false")
	t.Setenv("GOPROXY", "off")
	return dir
}

func TestWhatCannotBeGeneratedIsNamed(t *testing.T) {
	const head = "// Package facts keeps facts.\npackage facts\n\nimport alcove \"github.com/alcove-memory/alcove/sdk/go\"\n\n\n"
	dir := module(t, head+"func Family() *alcove.Family { return alcove.New() }\n")
	generate, err := gen.Again(dir)
	if err != nil {
		t.Fatal(err)
	}
	for says, body := range map[string]string{
		"nothing calls alcove.New":                                     `func Family() *alcove.Family { return alcove.New() }`,
		"facts.go:7: A has none of the methods Call":                   `type A struct{}; func Family() *alcove.Family { return alcove.New(A{}) }`,
		"facts.go:7: its first parameter is no *alcove.Call":           `type A struct{}; func (A) Call(n int) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }`,
		"A: it has no comment: its first sentence is the tool's":       `type A struct{}; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }`,
		"A.N: the tag has \"most=3\": known are required":              "// A is a.\ntype A struct{ N int `alcove:\"most=3\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: advanced is for arguments that are not required":         "// A is a.\ntype A struct{ N int `alcove:\"required,advanced\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"R.N: writeonly is for arguments":                              "// A is a.\ntype A struct{}\n// R is r.\ntype R struct{ N int `alcove:\"writeonly\"` }; func (A) Call(*alcove.Call) (R, error) { return R{}, nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: opaque is for structs and maps":                          "// A is a.\ntype A struct{ N int `alcove:\"opaque\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: committed is for a whole number of a tool's result":      "// A is a.\ntype A struct{ N int `alcove:\"committed\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: items. is for lists":                                     "// A is a.\ntype A struct{ N int `alcove:\"items.max=1\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: items: above= is for numbers":                            "// A is a.\ntype A struct{ N []string `alcove:\"items.above=1\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: default=1.5 is no int":                                   "// A is a.\ntype A struct{ N int `alcove:\"default=1.5\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.C: chan int cannot be JSON":                                 "// A is a.\ntype A struct{ C chan int }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.X has a type that does not resolve":                         "// A is a.\ntype A struct{ X Missing }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N and A.M are both \"n\" in JSON":                           "// A is a.\ntype A struct{ N int; M int `json:\"n\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"the result int of Call is no struct":                          "// A is a.\ntype A struct{}; func (A) Call(*alcove.Call) (int, error) { return 0, nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"a map has a pattern for its keys and a default for each":      "// A is a.\ntype A struct{}; type C struct{ M map[string]int }; func (A) Call(*alcove.Call, C) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		`//alcove:tool says "readonly": known are memory_a, read-only`: "// A is a.\n//\n//alcove:tool memory_a readonly\ntype A struct{}; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		`//alcove:job says "evry=1d": known are a, every=, each=`:      "// A is a.\n//\n//alcove:job evry=1d\ntype A struct{}; func (A) Run(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"//alcove:stored generations=9: give a number from 1 to 8":     "// A is a.\n//\n//alcove:stored generations=9\ntype A struct{}; func (A) Stored(*alcove.Call, []alcove.Entry) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"//alcove:alias b x=1: the tool has no parameter x":            "// A is a.\n//\n//alcove:alias b x=1\ntype A struct{}; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"//alcove:alias b n=true: n: true is no int":                   "// A is a.\n//\n//alcove:alias b n=true\ntype A struct{ N int }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"config has no key b":                                          "// A is a.\ntype A struct{}\n// C is c.\n//\n//alcove:rule less_than a b\ntype C struct{ A int }; func (A) Call(*alcove.Call, C) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"C.A: category= is for shared settings":                        "// A is a.\ntype A struct{}\ntype C struct{ A int `alcove:\"category=a\"` }; func (A) Call(*alcove.Call, C) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"the records have no field b to index":                         "// A is a.\ntype A struct{ C []int }; func (A) Call(*alcove.Call) error { return nil }; var r = alcove.Records[A]{Name: \"r\", Indexes: [][]string{{\"b\"}}}; func Family() *alcove.Family { return alcove.New(A{}) }",
		"field c: []int cannot be indexed":                             "// A is a.\ntype A struct{ C []int }; func (A) Call(*alcove.Call) error { return nil }; var r = alcove.Records[A]{Name: \"r\", Indexes: [][]string{{\"c\"}}}; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: //alcove:max 3 is no directive of a field":               "// A is a.\ntype A struct{\n//alcove:max 3\nN int }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: it has a default in its tag and one in its comment":      "// A is a.\ntype A struct{\n//alcove:default 3\nN int `alcove:\"default=3\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"A.N: the name \"a\\\\b\" has characters that JSON escapes":    "// A is a.\ntype A struct{ N int `json:\"a\\\\b\"` }; func (A) Call(*alcove.Call) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"an array of 2 has a default with 1 names":                     "// A is a.\ntype A struct{}; type C struct{ M [2]int `alcove:\"key=m_*,default=a:1\"` }; func (A) Call(*alcove.Call, C) error { return nil }; func Family() *alcove.Family { return alcove.New(A{}) }",
		"the collection has no Name":                                   "// A is a.\ntype A struct{}; func (A) Call(*alcove.Call) error { return nil }; var r = alcove.Records[A]{}; func Family() *alcove.Family { return alcove.New(A{}) }",
		"//alcove:tool is for parts of the family, and B is no arg":    "// A is a.\ntype A struct{}; func (A) Call(*alcove.Call) error { return nil }\n// B is b.\n//\n//alcove:tool\ntype B struct{}; func Family() *alcove.Family { return alcove.New(A{}) }",
	} {
		t.Run(says, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "facts.go"), []byte(head+body+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := generate(); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAnArrayOfTheConfigurationHasAKeyForEachElement(t *testing.T) {
	dir := module(t, "// Package facts keeps facts.\npackage facts\n\nimport alcove \"github.com/alcove-memory/alcove/sdk/go\"\n\n// A is a.\ntype A struct{}\n\n"+
		"type C struct { Steps [2]int `alcove:\"key=step_*,min=0,default=first:1 second:2\"` } // The * step\n\n"+
		"func (A) Call(*alcove.Call, C) error { return nil }\n\nfunc Family() *alcove.Family { return alcove.New(A{}) }\n")
	out, err := gen.Generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{`{"key": "step_second", "schema": {"type": "integer", "minimum": 0}, "default": 2}`: out.Manifest, `{Name: "step_second", Value: scan.Int(&x.Steps[1])}`: out.Code} {
		if !strings.Contains(string(data), what) {
			t.Errorf("there is no %s in\n%s", what, data)
		}
	}
}

func TestAStaleFileIsNamed(t *testing.T) {
	dir := module(t, "// Package facts keeps facts.\npackage facts\n\nimport alcove \"github.com/alcove-memory/alcove/sdk/go\"\n\n// A is a.\ntype A struct{ N int }\n\nfunc (A) Call(*alcove.Call) error { return nil }\n\nfunc Family() *alcove.Family { return alcove.New(A{}) }\n")
	out, err := gen.Generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Check(); err == nil || !strings.Contains(err.Error(), "manifest.json") || !strings.Contains(err.Error(), output.CodeFile) {
		t.Errorf("nothing was written yet: %v", err)
	}
	if err := out.Write(); err != nil {
		t.Fatal(err)
	}
	again, err := gen.Generate(dir)
	if err != nil || again.Check() != nil {
		t.Errorf("what was written is not current: %v, %v", err, again.Check())
	}
}
