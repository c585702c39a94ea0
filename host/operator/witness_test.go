package operator

import (
	"reflect"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/registry"
)

func granted(name string, g registry.Grant) Family {
	return Family{Manifest: &abi.Manifest{Name: name}, Digest: "d", Grant: g}
}

func TestThePurgedNamesTheFamiliesAndServersThatMayHaveIt(t *testing.T) {
	reader := registry.Grant{Capabilities: []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"work"}}, {Name: abi.CanHTTP, Scope: []string{"web"}}}}
	disabled := reader
	disabled.Disabled = true
	families := []Family{
		granted("reader", reader), granted("disabled", disabled),
		granted("hooked", registry.Grant{Hooks: map[abi.Hook]registry.On{abi.HookStore: {}, abi.HookRank: {}}}),
		granted("log", registry.Grant{Capabilities: []registry.Capability{{Name: abi.CanLogRead, Scope: []string{"*"}}}}),
	}
	servers := make([]EmbedderState, 2)
	servers[0].Name, servers[0].URL, servers[1].Name = "mini", "http://mini", "local"
	var done purge.Result
	done.Copies.List = []purge.Copy{{Family: "notes"}, {}}
	done.Possible.List = []purge.Copy{{Family: "notes"}, {Family: "notes"}}
	notes, hooked := Witness{Family: "notes", Copies: 1, Possible: 2}, Witness{Family: "hooked", Hooks: []string{"store"}}
	outside := []string{"family reader by http to web", "embedder mini at http://mini"}
	for name, c := range map[string]struct {
		purge   purge.Request
		want    []Witness
		outside []string
	}{
		"a memory":                  {purge.Request{Namespace: "work", Key: "k"}, []Witness{hooked, notes, {Family: "reader", Reads: true}}, outside},
		"one in another namespace":  {purge.Request{Key: "k"}, []Witness{hooked, notes}, outside},
		"an event":                  {purge.Request{Event: 1}, []Witness{{Family: "log", Reads: true}, notes}, outside},
		"a record":                  {purge.Request{Collection: "notes/list", Key: "k"}, []Witness{}, []string{}},
		"everything that one keeps": {purge.Request{Family: "notes"}, []Witness{}, []string{}},
	} {
		got := NewPurged(c.purge, done, families, servers)
		if !reflect.DeepEqual(got.Families, c.want) || !reflect.DeepEqual(got.Outside, c.outside) {
			t.Errorf("%s: families %+v, servers %q, want %+v and %q", name, got.Families, got.Outside, c.want, c.outside)
		}
	}
}
