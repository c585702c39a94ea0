package host

import (
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
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
	for _, f := range (familyTools{}).shown([]family.Described{described("core", "its name is taken"), described("c0re", "its name resembles core"), guarded, missing, described("ranking", ""), hidden, described("broken", "its module is not there")}) {
		names, hooks[f.Name] = append(names, f.Name), f.Hooks
	}
	if !slices.Equal(names, []string{"redactor", "other", "ranking", "broken"}) {
		t.Errorf("clients see %q", names)
	}
	if !slices.Equal(hooks["redactor"], []string{"store"}) || !slices.Equal(hooks["other"], []string{"rank"}) {
		t.Errorf("the hooks are %q", hooks)
	}
}
