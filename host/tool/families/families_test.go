package families

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/registry"
)

func TestClientsSeeNoFamilyUnderTheNameOfAnother(t *testing.T) {
	described := func(name, fault string) family.Described {
		return family.Described{Manifest: &abi.Manifest{Name: name}, Fault: fault}
	}
	hidden := described("ranking", "the program carries a family of this name")
	hidden.Hidden = true
	guarded, missing := described("redactor", ""), described("other", "")
	guarded.Guard, missing.Guard = &family.Guarding{}, &family.Guarding{Missing: "its module is gone"}
	missing.Grant.Hooks = map[abi.Hook]registry.On{abi.HookRank: {}}
	var names []string
	hooks := map[string][]string{}
	for _, f := range (Source{}).shown([]family.Described{described("core", "its name is taken"), described("c0re", "its name resembles core"), guarded, missing, described("ranking", ""), hidden, described("broken", "its module is not there")}) {
		names, hooks[f.Name] = append(names, f.Name), f.Hooks
	}
	if !slices.Equal(names, []string{"redactor", "other", "ranking", "broken"}) {
		t.Errorf("clients see %q", names)
	}
	if !slices.Equal(hooks["redactor"], []string{"store"}) || !slices.Equal(hooks["other"], []string{"rank"}) {
		t.Errorf("the hooks are %q", hooks)
	}
}

// fixedTools are families that never change.
type fixedTools struct {
	tool.Source
	families []tool.Family
}

func (f fixedTools) Families() []tool.Family  { return f.families }
func (f fixedTools) Changed() <-chan struct{} { return nil }

func TestTheArgumentsOfFamiliesCallsAreReadAsThoseOfClients(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"page_size":{"type":"integer"}},"required":["page_size"],"additionalProperties":false}`)
	arguments := Callable{tool.NewDispatcher(tool.NewRegistry(fixedTools{families: []tool.Family{{Name: "site", Tools: []tool.Spec{{Name: "site.pages.list", Input: schema}}}}}), tool.Options{})}
	for spelling, want := range map[string]string{"site_pages_list": "site.pages.list", "site.pages.list": "site.pages.list", "memory_store": "memory_store", "none": "none"} {
		if got := arguments.Name(spelling); got != want {
			t.Errorf("%s means %s", spelling, got)
		}
	}
	p, err := arguments.Prepare("site.pages.list", json.RawMessage(`{"pageSize":"5","colour":"red"}`))
	if err != nil || string(p.Arguments) != `{"page_size":5}` || string(p.Checked) != string(schema) || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], `"colour"`) {
		t.Errorf("prepared is %s, noted %q (%v)", p.Arguments, p.Notes, err)
	}
	if p, err := arguments.Prepare("none", json.RawMessage(`{"a":1}`)); err != nil || p.Checked != nil || string(p.Arguments) != `{"a":1}` {
		t.Errorf("of an unknown tool %+v is prepared (%v)", p, err)
	}
	for _, refused := range []string{`{}`, `{"page_size":"many"}`, `{"page_size":5,"dry_run":true}`, `{"page_size":5,"branch":"b"}`, `{"page_size":5,"namespace":"n"}`, `{"page_size":5,"as_of":"v1"}`} {
		var known *memory.Error
		if _, err := arguments.Prepare("site.pages.list", json.RawMessage(refused)); !errors.As(err, &known) || known.Code != memory.InvalidArgument {
			t.Errorf("Prepare(%s): %v, want an invalid argument", refused, err)
		}
	}
}
