package families

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/registry"
)

func TestClientsSeeNoFamilyUnderTheNameOfAnother(t *testing.T) {
	described := func(name, fault string) catalogue.Described {
		return catalogue.Described{Manifest: &abi.Manifest{Name: name}, Fault: fault}
	}
	hidden := described("ranking", "the program carries a family of this name")
	hidden.Hidden = true
	guarded, missing := described("redactor", ""), described("other", "")
	guarded.Guard, missing.Guard = &grants.Guarding{}, &grants.Guarding{Missing: "its module is gone"}
	missing.Grant.Hooks = map[abi.Hook]registry.On{abi.HookRank: {}}
	var names []string
	hooks := map[string][]string{}
	for _, f := range (Source{}).shown([]catalogue.Described{described("core", "its name is taken"), described("c0re", "its name resembles core"), guarded, missing, described("ranking", ""), hidden, described("broken", "its module is not there")}) {
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

func TestTheCallsOfFamiliesAreDecidedAsThoseOfClients(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"page_size":{"type":"integer","minimum":1}},"required":["page_size"],"additionalProperties":false}`)
	origin := &catalogue.Tool{}
	offered := tool.Family{Name: "site", Tools: []tool.Spec{{Name: "site.pages.list", Input: schema, Origin: origin}, {Name: "site.pages.read", Input: schema, Annotations: tool.Annotations{ReadOnly: true}, Origin: origin}}}
	calls := Callable{tool.NewDispatcher(tool.NewRegistry(fixedTools{families: []tool.Family{offered}}), tool.Options{})}
	for spelling, want := range map[string]string{"site_pages_list": "site.pages.list", "site.pages.list": "site.pages.list", "memory_store": "memory_store", "none": "none"} {
		if got := calls.Name(spelling); got != want {
			t.Errorf("%s means %s", spelling, got)
		}
	}
	prepare := func(name, arguments string, rights memory.Rights) (family.Prepared, error) {
		return calls.Prepare(family.ToolCall{Tool: name, Arguments: json.RawMessage(arguments), Caller: memory.Caller{Rights: rights}, Stage: &memory.Staged{}})
	}
	p, err := prepare("site.pages.list", `{"pageSize":"5","colour":"red"}`, memory.FullRights())
	if err != nil || p.Tool != origin || string(p.Arguments) != `{"page_size":5}` || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], `"colour"`) {
		t.Errorf("prepared is %s, noted %q (%v)", p.Arguments, p.Notes, err)
	}
	refused := func(code memory.Code, says string, err error) {
		t.Helper()
		var known *memory.Error
		if !errors.As(err, &known) || known.Code != code || !strings.Contains(known.Message, says) {
			t.Errorf("got %v, want %s: %s", err, code, says)
		}
	}
	_, err = prepare("none", `{"a":1}`, memory.FullRights())
	refused(memory.NotFound, "none", err)
	reading := memory.FullRights().ReadOnly()
	_, err = prepare("site.pages.list", `{"page_size":5}`, reading)
	refused(memory.Denied, "may write", err)
	if _, err = prepare("site.pages.read", `{"page_size":5}`, reading); err != nil {
		t.Errorf("a tool that only reads, for a caller who may only read: %v", err)
	}
	const apart = "leave branch, namespace, as_of and dry_run out"
	for arguments, says := range map[string]string{
		`{}`: "needs page_size", `{"page_size":"many"}`: "want integer", `{"page_size":0}`: "minimum", `[]`: "must be a JSON object",
		strings.Repeat(`{"page_size":`, 600) + `1` + strings.Repeat(`}`, 600): "nested 600 deep",
		`{"page_size":5,"dry_run":true}`:                                      apart, `{"page_size":5,"branch":"b"}`: apart, `{"page_size":5,"namespace":"n"}`: apart,
	} {
		_, err := prepare("site.pages.list", arguments, memory.FullRights())
		refused(memory.InvalidArgument, says, err)
		if says != apart {
			_, err = calls.Read(abi.Tool{Name: "tried", InputSchema: schema}, json.RawMessage(arguments))
			refused(memory.InvalidArgument, says, err)
		}
	}
	_, err = prepare("site.pages.read", `{"page_size":5,"as_of":"v1"}`, memory.FullRights())
	refused(memory.InvalidArgument, apart, err)
}
