package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/tool"
)

// described is what memory_capabilities answers.
type described struct {
	Families []familyRow
	Tools    []toolRow
	Note     string
}

type familyRow struct {
	Name, Description            string
	Tools, Hooks, Missing        []string
	Loaded                       bool
	Fault, Version, Digest, Docs string
}

type toolRow struct {
	Name, Family, Title, Description, Docs, Fault string
	InputSchema, OutputSchema                     json.RawMessage
	Omitted                                       bool `json:"schema_omitted"`
	Annotations                                   map[string]bool
}

func (p *peer) describe(arguments string) described {
	p.t.Helper()
	var d described
	p.must("memory_capabilities", arguments).into(&d)
	return d
}

func TestAnOverviewOfFamilies(t *testing.T) {
	p := withFamilies(t, newFake(), Session{Families: []string{"site"}})
	d := p.describe(`{}`)
	if len(d.Families) != 5 || len(d.Tools) != 0 || d.Families[0].Name != "core" || len(d.Families[0].Tools) != 12 || !d.Families[0].Loaded {
		t.Fatalf("described %+v", d)
	}
	tags, broken, site := d.Families[1], d.Families[2], d.Families[4]
	if tags.Name != "auto-tag" || tags.Loaded || strings.Join(tags.Hooks, " ") != "store" || strings.Join(tags.Missing, " ") != "llm.complete" || len(tags.Tools) != 2 || tags.Docs != "" || tags.Digest != "" {
		t.Errorf("described %+v", tags)
	}
	if !strings.Contains(broken.Fault, "out of memory") || broken.Loaded || !site.Loaded {
		t.Errorf("described %+v and %+v", broken, site)
	}
}

func TestTheToolsOfAFamily(t *testing.T) {
	p := withFamilies(t, newFake(), Session{})
	d := p.describe(`{"family":"auto-tag"}`)
	if len(d.Families) != 1 || len(d.Tools) != 2 || d.Tools[1].Description != "#123 suggests tags without storing them." || d.Tools[0].InputSchema != nil {
		t.Errorf("described %+v", d)
	}
	d = p.describe(`{"family":"auto-tag","include_schema":true}`)
	if schema := string(d.Tools[0].InputSchema); strings.Contains(schema, "Which memory") || !strings.Contains(schema, `"maximum":20`) || d.Tools[0].Docs != "" {
		t.Errorf("the schema is %s", schema)
	}
	d = p.describe(`{"family":"auto-tag","verbose":true}`)
	tool := d.Tools[0]
	if !strings.Contains(string(tool.InputSchema), "Which memory") || tool.OutputSchema == nil || tool.Docs == "" || tool.Annotations == nil || d.Families[0].Docs == "" || d.Families[0].Version != "1.0.0" || d.Families[0].Digest != "d1" {
		t.Errorf("described %+v", d)
	}
	if got := string(d.Tools[1].OutputSchema); got != `{"properties":{"result":{"type":"array"}},"required":["result"],"type":"object"}` {
		t.Errorf("the schema of a result that is not an object is %s", got)
	}
}

func TestTheCoreToolsAreDescribedToo(t *testing.T) {
	p := use(t)
	d := p.describe(`{"family":"core","include_schema":true}`)
	if len(d.Tools) != 12 || !strings.Contains(string(d.Tools[0].InputSchema), `"importance"`) || strings.Contains(string(d.Tools[0].InputSchema), "description") {
		t.Errorf("described %+v", d)
	}
	d = p.describe(`{"family":"core","verbose":true}`)
	if d.Tools[0].Docs == "" || d.Tools[0].OutputSchema == nil || !strings.Contains(string(d.Tools[0].InputSchema), "description") {
		t.Errorf("described %+v", d)
	}
	if all := p.describe(`{"verbose":true}`); all.Tools[0].Family != "core" || len(all.Tools) != 12 {
		t.Errorf("described %+v", all)
	}
}

func TestADescriptionThatIsTooLongIsCut(t *testing.T) {
	f := newFake()
	f.change(func(all []tool.Family) []tool.Family {
		for i := range all {
			all[i].Docs = strings.Repeat("word ", 20_000)
		}
		return all
	})
	p := withFamilies(t, f, Session{})
	o := p.must("memory_capabilities", `{"verbose":true}`)
	if len(o.text) > tool.MaxAnswer+4000 || len(o.notes) != 1 || !strings.Contains(o.notes[0], "one family at a time") {
		t.Errorf("%d bytes: %s", len(o.text), o.notes)
	}
}

func TestToolsThatWriteAreNotDescribedToThoseWhoMayOnlyRead(t *testing.T) {
	p := withFamilies(t, newFake(), Session{Rights: owner().Rights.ReadOnly()})
	if d := p.describe(`{"family":"auto-tag"}`); len(d.Tools) != 1 || d.Tools[0].Name != "memory_tag_suggest" {
		t.Errorf("described %+v", d)
	}
	o := p.must("memory_load_family", `{"family":"auto-tag"}`)
	if got := o.field("note"); !strings.Contains(got, "1 tool was left out") || strings.Contains(o.text, "memory_auto_tag") {
		t.Errorf("loaded with %s", o.text)
	}
}

func TestArgumentsAreTakenAsTheyAreMeant(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	p.must("memory_auto_tag", `"{\"id\":5,\"most\":\"7\",\"deep\":\"TRUE\",\"tags\":\"one\",\"more\":\"{\\\"a\\\":1}\",\"unknown\":null}"`)
	want := `{"deep":true,"id":"5","more":{"a":1},"most":7,"tags":["one"]}` // its schema refuses what it does not know
	if got := string(f.last(t).Arguments); got != want {
		t.Errorf("called with %s", got)
	}
	p.must("memory_tag_suggest", `{"text":5,"unknown":null}`)
	if got := string(f.last(t).Arguments); got != `{"text":"5","unknown":null}` {
		t.Errorf("called with %s", got)
	}
	p.must("memory_auto_tag", `{"id":"k","tags":"[\"a\",\"b\"]","most":20}`)
	if got := string(f.last(t).Arguments); got != `{"id":"k","most":20,"tags":["a","b"]}` {
		t.Errorf("called with %s", got)
	}
}

func TestArgumentsThatDoNotFitAreRefusedByName(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	for arguments, want := range map[string]string{
		`{}`:                       "memory_auto_tag needs id",
		`{"id":null}`:              "id: got null, want string",
		`{"id":"k","most":99}`:     "most: ",
		`{"id":"k","most":"many"}`: "most: got string, want integer",
		`{"id":"k","style":"odd"}`: "style: value must be one of 'plain', 'fine'",
		`{"id":"k","tags":[1]}`:    "tags.0: got number, want string",
		`[1]`:                      "must be a JSON object",
		`{"id":"k","id":"l"}`:      "given twice",
		`{"id":"k","branch":[1]}`:  "branch must be text",
	} {
		if got := p.refused("memory_auto_tag", arguments); got.Code != "invalid_argument" || !strings.Contains(got.Message, want) {
			t.Errorf("%s is refused with %s", arguments, got.Message)
		}
	}
	if len(f.calls) != 0 {
		t.Errorf("%d calls went through", len(f.calls))
	}
	if got := p.refused("odd_loose", `{"c":1}`); !strings.Contains(got.Message, "odd_loose needs a") {
		t.Errorf("refused with %s", got.Message)
	}
	p.must("odd_loose", `{"b":1}`)
}

func TestWhatListsSayOfFamiliesToolsIsTrue(t *testing.T) {
	families := newFake()
	families.change(func(all []tool.Family) []tool.Family { return all[:2] })
	p := withFamilies(t, families, Session{})
	full := map[string]string{
		"memory_auto_tag": `{"id":"k","most":5,"deep":true,"tags":["t"],"style":"plain","more":{"a":1}}`, "memory_tag_suggest": `{"text":"x"}`,
		"site.memory.store": `{"content":"c","namespace":"n"}`, "site.memory.recall": `{}`,
	}
	for _, f := range tool.NewRegistry(families).Snapshot().Sets {
		for _, tool := range f.Offered(false) {
			given, ok := full[tool.Name]
			if !ok {
				continue
			}
			schema := compileSchema(t, tool.Advertised)
			var members map[string]any
			if err := json.Unmarshal([]byte(given), &members); err != nil {
				t.Fatal(err)
			}
			members["a_field_from_the_future"] = 1.
			if err := schema.Validate(members); err != nil {
				t.Errorf("%s: the schema refuses %s: %v", tool.Name, given, err)
			}
			more, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			p.must(tool.Name, string(more))
			var required struct{ Required []string }
			if err := json.Unmarshal(tool.Advertised, &required); err != nil {
				t.Fatal(err)
			}
			for _, name := range required.Required {
				less := strings.Replace(given, `"`+name+`"`, `"other"`, 1)
				if got := p.refused(tool.Name, less); !strings.Contains(got.Message, "needs "+name) {
					t.Errorf("%s without %s: %s", tool.Name, name, got.Message)
				}
			}
			delete(full, tool.Name)
		}
	}
	if len(full) != 0 {
		t.Errorf("not tried: %v", full)
	}
}

func TestAnAnswerThatIsNoObjectIsWrappedForPrograms(t *testing.T) {
	f := newFake()
	outputs := map[string]string{"memory_tag_suggest": `["a"]`, "site.memory.recall": `null`}
	for name, output := range outputs {
		f.answers[name] = func(context.Context, familyCall) (tool.Result, error) {
			return tool.Result{Output: json.RawMessage(output), Notes: []string{"look", "twice"}}, nil
		}
	}
	p := withFamilies(t, f, Session{})
	for name, output := range outputs {
		o := p.must(name, `{}`)
		if o.text != output || string(o.structured) != `{"result":`+output+`}` || len(o.notes) != 1 || o.notes[0] != "look\ntwice" {
			t.Errorf("%s answered %s, %s, %s", name, o.text, o.structured, o.notes)
		}
	}
}

func TestAProposalIsExplained(t *testing.T) {
	f := newFake()
	f.answers["memory_auto_tag"] = func(context.Context, familyCall) (tool.Result, error) {
		return tool.Result{Output: json.RawMessage(`{}`), Version: 12, Proposal: "proposals/tag-1"}, nil
	}
	p := withFamilies(t, f, Session{})
	raw := p.request("tools/call", `{"name":"memory_auto_tag","arguments":{"id":"k"}}`)
	for _, want := range []string{`"alcove/version":12`, `"alcove/proposal":"proposals/tag-1"`, `source=\"proposals/tag-1\" accepts it`, `"alcove/notes":["Nothing is changed yet`} {
		if !strings.Contains(strings.ReplaceAll(raw, `\\\"`, `\"`), want) {
			t.Errorf("answered %s, without %s", raw, want)
		}
	}
}

func TestAHugeAnswerIsCutForModelsAndWholeForPrograms(t *testing.T) {
	f := newFake()
	huge := `{"text":"` + strings.Repeat("é", 150_000) + `"}`
	f.answers["memory_auto_tag"] = func(context.Context, familyCall) (tool.Result, error) {
		return tool.Result{Output: json.RawMessage(huge)}, nil
	}
	p := withFamilies(t, f, Session{})
	o := p.must("memory_auto_tag", `{"id":"k"}`)
	var clipped struct {
		Truncated bool
		Bytes     int
		Beginning string
	}
	if err := json.Unmarshal([]byte(o.text), &clipped); err != nil || !clipped.Truncated || clipped.Bytes != len(huge) || len([]rune(clipped.Beginning)) != tool.MaxAnswer {
		t.Errorf("shown are %d characters of %d bytes: %v", len([]rune(clipped.Beginning)), clipped.Bytes, err)
	}
	if string(o.structured) != huge || len(o.notes) != 1 || !strings.Contains(o.notes[0], "50000 characters") {
		t.Errorf("%d characters, %d bytes, %s", len([]rune(o.text)), len(o.structured), o.notes)
	}
}

func TestAFamilyThatPanicsIsAFaultOfItsCallAlone(t *testing.T) {
	f := newFake()
	f.answers["memory_auto_tag"] = func(context.Context, familyCall) (tool.Result, error) { panic("secret") }
	p := withFamilies(t, f, Session{})
	if got := p.refused("memory_auto_tag", `{"id":"k"}`); got.Code != "internal" || strings.Contains(got.Message, "secret") {
		t.Errorf("refused with %+v", got)
	}
	p.must("memory_tag_suggest", `{}`)
}
