package family

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/memory"
)

// weight is a setting as it applies to an agent in a namespace.
func (w *world) weight(t *testing.T, namespace, agent string) string {
	t.Helper()
	values, err := w.valuesOf(t.Context(), "one", namespace, agent)
	if err != nil {
		t.Fatal(err)
	}
	return string(values["weight_a"])
}

func weights(a, b string) map[string]string { return map[string]string{"weight_a": a, "weight_b": b} }

func TestAChangedSettingAppliesToTheNextReadOfItsValues(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{says: `{}`})
	expect := func(after string, want map[[2]string]string) {
		t.Helper()
		for range 2 { // read, and known
			for at, value := range want {
				if got := w.weight(t, at[0], at[1]); got != value {
					t.Errorf("after %s, in namespace %q to %q it is %s, not %s", after, at[0], at[1], got, value)
				}
			}
		}
	}
	expect("nothing", map[[2]string]string{{"", ""}: "0.7", {"work", "ann"}: "0.7"})
	for _, change := range []struct {
		scope  config.Scope
		values map[string]string
		want   map[[2]string]string
	}{
		{config.Scope{Kind: config.System}, weights("0.6", "0.4"), map[[2]string]string{{"", ""}: "0.6", {"work", "ann"}: "0.6", {"home", "bob"}: "0.6"}},
		{config.Scope{Kind: config.Namespace, Name: "work"}, weights("0.5", "0.5"), map[[2]string]string{{"", ""}: "0.6", {"work", "ann"}: "0.5", {"home", "bob"}: "0.6"}},
		{config.Scope{Kind: config.Agent, Name: "ann"}, weights("0.2", "0.8"), map[[2]string]string{{"work", "bob"}: "0.5", {"work", "ann"}: "0.2", {"home", "ann"}: "0.2"}},
		{config.Scope{Kind: config.OfFamily, Name: "one"}, weights("0.1", "0.9"), map[[2]string]string{{"", ""}: "0.6", {"work", "ann"}: "0.2"}},
		{config.Scope{Kind: config.Agent, Name: "ann"}, weights("null", "null"), map[[2]string]string{{"", ""}: "0.6", {"work", "ann"}: "0.5", {"home", "ann"}: "0.6"}},
	} {
		if err := w.put(t, change.scope, change.values); err != nil {
			t.Fatal(err)
		}
		expect("a change in "+change.scope.String(), change.want)
		w.store("k", fmt.Sprintf("%q", change.scope)) // a later version
		expect("a store", change.want)
	}
	if _, err := w.UndoSettings(t.Context(), SettingUndo{Scope: config.Scope{Kind: config.System}, Change: "weight_a@1"}); err != nil {
		t.Fatal(err)
	}
	expect("an undo", map[[2]string]string{{"", ""}: "0.7", {"work", "ann"}: "0.5"})
}

func TestASettingThatIsChangedOnABranchAppliesOnAll(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{says: `{}`})
	if _, err := w.space.As(owner("ann")).Fork(t.Context(), "", "side", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	before := w.weight(t, "", "")
	stage, err := w.space.As(owner("ann")).Stage(t.Context(), "side")
	if err != nil {
		t.Fatal(err)
	}
	s := w.settingsOf(w.catalogue.Known("one"), stage)
	if _, err := s.Put(t.Context(), config.Scope{Kind: config.System}, []config.Change{{Key: "weight_a", Value: json.RawMessage("0.3")}, {Key: "weight_b", Value: json.RawMessage("0.7")}}, config.By{}); err != nil {
		t.Fatal(err)
	}
	if got := w.weight(t, "", ""); got != before {
		t.Errorf("before the commit it is %s, not %s", got, before)
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
		t.Fatal(err)
	}
	if got := w.weight(t, "", ""); got != "0.3" {
		t.Errorf("it is %s, not 0.3", got)
	}
}

func TestEachWriterReadsItsOwnSettingWhileOthersWrite(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{says: `{}`})
	var writers sync.WaitGroup
	for agent := range 4 {
		writers.Go(func() {
			name := fmt.Sprint("agent-", agent)
			for i := range 20 {
				a := 10 + (7*i+agent)%80
				want, err := fmt.Sprintf("0.%d", a), error(nil)
				for range 100 { // others change settings, too
					if err = w.put(t, config.Scope{Kind: config.Agent, Name: name}, weights(want, fmt.Sprintf("0.%d", 100-a))); err == nil {
						break
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
				if got := w.weight(t, "work", name); got != want {
					t.Errorf("%s reads %s after it set %s", name, got, want)
				}
			}
		})
	}
	writers.Wait()
}
