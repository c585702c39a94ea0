package family

import (
	"encoding/json"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/registry"
)

// Two families with the same code, one granted everything and one little: the code that they share is no way around a grant,
// a limit or a configuration.
func TestFamiliesOfTheSameCodeHaveTheirOwnPowers(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h)
	code := script{steps: []step{look, {"config.get", `{}`}, writeHot, {"memory.get", `{"keys":["hot"]}`}}}
	named := func(name string, calls int64) *abi.Manifest {
		m := aFamily(name)
		m.Limits.HostCalls = calls
		m.Config = []abi.Setting{{Key: "whose", Description: "Whose it is", Default: json.RawMessage(`"` + name + `"`)}}
		return m
	}
	w.install(named("rich", 100), code)
	w.install(named("poor", 100), code)
	w.install(named("short", 2), code)
	for _, name := range []string{"rich", "short"} {
		w.grant(grants.Request{Family: name, All: true})
	}
	w.grant(grants.Request{Family: "poor", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead}}})
	poor, _ := w.do("poor")
	if poor[0].Error == nil || poor[0].Error.Code != abi.CodeDenied || poor[2].Error == nil || len(h.got()) != 0 || string(poor[1].OK) != `{"config":{"whose":"poor"}}` {
		t.Errorf("the poor one: %+v, what left: %q", poor, h.got())
	}
	rich, _ := w.do("rich")
	if rich[0].Error != nil || rich[2].Error != nil || len(h.got()) != 1 || string(rich[1].OK) != `{"config":{"whose":"rich"}}` {
		t.Errorf("the rich one: %+v, what left: %q", rich, h.got())
	}
	if _, err := w.call(given{Tool: "short_do"}); details(err)["limit"] != abi.LimitHostCalls {
		t.Errorf("the one with two host calls: %v", err)
	}
	if poor, _ := w.do("poor"); poor[0].Error == nil || poor[2].Error == nil {
		t.Errorf("the poor one afterwards: %+v", poor)
	}
}

func TestUnloadingAFamilyLeavesOthersOfTheSameCode(t *testing.T) {
	w := open(t, nil)
	for _, name := range []string{"first", "second", "third"} {
		w.install(aFamily(name), script{says: `1`})
		if got := w.says(name + "_do"); got != "1" {
			t.Fatalf("%s says %s", name, got)
		}
	}
	for _, gone := range []string{"first", "second"} {
		if _, err := w.Remove(gone); err != nil {
			t.Fatal(err)
		}
		if got := w.says("third_do"); got != "1" {
			t.Errorf("after %s was removed: %s", gone, got)
		}
	}
}
