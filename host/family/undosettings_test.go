package family

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

var everywhere = config.Scope{Kind: config.System}

// settingsBy runs a change of settings as an administrator, and commits it.
func (w *world) settingsBy(t *testing.T, agent string, change func(config.Settings, config.By) ([]config.Changed, error)) ([]config.Changed, error) {
	t.Helper()
	stage, err := w.operatorStage(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	done, err := change(config.Settings{Stage: stage, Keys: w.catalogue.SharedKeys()}, config.By{Agent: agent, Reason: agent + " had one"})
	if err != nil {
		return nil, err
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
		t.Fatal(err)
	}
	return done, nil
}

// sets sets keys in a scope, given as KEY=VALUE, and returns the id of the change.
func (w *world) sets(t *testing.T, agent string, scope config.Scope, values ...string) string {
	t.Helper()
	done, err := w.settingsBy(t, agent, func(s config.Settings, by config.By) ([]config.Changed, error) {
		var list []config.Change
		for _, given := range values {
			key, value, _ := strings.Cut(given, "=")
			list = append(list, config.Change{Key: key, Value: json.RawMessage(value)})
		}
		return s.Put(t.Context(), scope, list, by)
	})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].Change
}

// undoes undoes a change, and returns what was changed.
func (w *world) undoes(t *testing.T, agent string, scope config.Scope, change string) (string, error) {
	t.Helper()
	done, err := w.settingsBy(t, agent, func(s config.Settings, by config.By) ([]config.Changed, error) {
		return s.Undo(t.Context(), scope, change, by, func(string) error { return nil })
	})
	var list []string
	for _, c := range done {
		list = append(list, fmt.Sprintf("%s@%d=%s in %s", c.Key, c.Version, c.After, c.Change))
	}
	return strings.Join(list, ", "), err
}

// values returns the weights that are set in a scope.
func (w *world) values(t *testing.T, scope config.Scope) string {
	t.Helper()
	list, err := w.Settings(t.Context(), SettingQuery{In: scope})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range list {
		texts = append(texts, fmt.Sprintf("%s=%s %d", s.Key, s.Value, s.Priority))
	}
	return strings.Join(texts, ", ")
}

func TestAChangeOfSettingsThatARuleBindsIsUndoneInOneCall(t *testing.T) {
	w := open(t, nil)
	w.installed(sharing("one"), script{says: `{}`})
	w.sets(t, "ann", everywhere, "weight_a=0.6", "weight_b=0.4")
	if id := w.sets(t, "ann", everywhere, "weight_b=0.8", "weight_a=0.2"); id != "weight_b@2" {
		t.Errorf("the change is %s", id)
	}
	first := uint64(1)
	if _, err := w.RollBackSetting(t.Context(), SettingKey{Scope: everywhere, Key: "weight_a", To: &first}); err == nil || !strings.Contains(err.Error(), "they add up to 1.4") {
		t.Errorf("one of the two alone: %v", err)
	}

	w = openIn(t, snapshot(w), nil) // a restart
	w.installed(sharing("one"), script{says: `{}`})
	for _, step := range []struct{ undo, want, then string }{
		{"weight_a@2", "weight_a@3=0.6 in weight_a@3, weight_b@3=0.4 in weight_a@3", "weight_a=0.6 0, weight_b=0.4 0"}, // by any of its keys
		{"weight_a@3", "weight_a@4=0.2 in weight_a@4, weight_b@4=0.8 in weight_a@4", "weight_a=0.2 0, weight_b=0.8 0"}, // the rollback is undone
		{"weight_b@2", "weight_a@5=0.6 in weight_a@5, weight_b@5=0.4 in weight_a@5", "weight_a=0.6 0, weight_b=0.4 0"},
		{"weight_a@1", "weight_a@6= in weight_a@6, weight_b@6= in weight_a@6", ""}, // the change before is in force again
	} {
		if got, err := w.undoes(t, "bob", everywhere, step.undo); err != nil || got != step.want {
			t.Errorf("undo %s: %s, %v", step.undo, got, err)
		}
		if got := w.values(t, everywhere); got != step.then {
			t.Errorf("after undo %s: %s", step.undo, got)
		}
	}
	var seen []string
	for _, key := range []string{"weight_a", "weight_b"} {
		h, err := w.SettingHistory(t.Context(), SettingKey{Scope: everywhere, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range h.Versions {
			back := ""
			if v.RolledBackTo != nil {
				back = fmt.Sprint(" to ", *v.RolledBackTo)
			}
			seen = append(seen, fmt.Sprint(v.Agent, " ", v.Change, back))
		}
	}
	half := "bob weight_a@6 to 0;bob weight_a@5 to 1;bob weight_a@4 to 2;bob weight_a@3 to 1;ann weight_b@2;ann weight_a@1"
	if got := strings.Join(seen, ";"); got != half+";"+half {
		t.Errorf("the history is %s", got)
	}
}

func TestAChangeOfWhichASettingWasChangedSinceIsNotUndone(t *testing.T) {
	w := open(t, nil)
	w.installed(sharing("one"), script{says: `{}`})
	anns := w.sets(t, "ann", everywhere, "weight_a=0.6", "weight_b=0.4")
	bobs := w.sets(t, "bob", everywhere, "weight_a=0.605")
	refused := func(change, want string) {
		t.Helper()
		before := w.values(t, everywhere)
		got, err := w.undoes(t, "ann", everywhere, change)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("undo %s: %s, %v; not %s", change, got, err, want)
		}
		if known := (*memory.Error)(nil); !errors.As(err, &known) || known.Code != memory.Conflict || known.Retryable {
			t.Errorf("undo %s: %#v, not a conflict that is not retryable", change, err)
		}
		if after := w.values(t, everywhere); after != before {
			t.Errorf("what was refused changed %s to %s", before, after)
		}
	}
	refused(anns, "weight_a: bob changed it since, with weight_a@2: undo that first")
	if _, err := w.undoes(t, "bob", everywhere, bobs); err != nil {
		t.Fatal(err)
	}
	refused(bobs, "weight_a: bob rolled it back to version 1 already")
	if _, err := w.undoes(t, "ann", everywhere, anns); err != nil {
		t.Errorf("after bob's was undone: %v", err)
	}
	refused(anns, "weight_b: ann rolled it back to version 0 already")

	w.sets(t, "bob", everywhere, "weight_a=0.6", "weight_b=0.4")
	refused(anns, "weight_a: bob changed it since, with weight_a@5") // to the same values
	for change, want := range map[string]string{"weight_a": "is not a change", "@1": "is not a change", "weight_a@0": "is not a change", "weight_a@1x": "is not a change", "weight_a@-1": "is not a change",
		"weight_a@99": "has no version 99", "weight_c@1": "no manifest declares", strings.Repeat("x", 1<<20): "is not a change"} {
		if _, err := w.undoes(t, "ann", everywhere, change); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("undo %.20s: %v", change, err)
		}
	}
}

func TestAnUndoneChangeThatWouldBreakARuleWithALaterOneIsRefused(t *testing.T) {
	w := open(t, nil)
	w.installed(sharing("one"), script{says: `{}`})
	anns := w.sets(t, "ann", everywhere, "weight_a=0.691")
	w.sets(t, "bob", everywhere, "weight_b=0.318")
	if _, err := w.undoes(t, "ann", everywhere, anns); err == nil || !strings.Contains(err.Error(), "they add up to 1.018") {
		t.Errorf("undo: %v, want the error that the weights add up to 1.018", err)
	}
}

func TestOverridesOfAScopeAreUndoneWithTheirPriorities(t *testing.T) {
	w := open(t, nil)
	w.installed(sharing("one"), script{says: `{}`})
	work, high := config.Scope{Kind: config.Namespace, Name: "work"}, 500
	w.sets(t, "ann", work, "weight_a=0.6", "weight_b=0.4")
	done, err := w.settingsBy(t, "bob", func(s config.Settings, by config.By) ([]config.Changed, error) {
		return s.Put(t.Context(), work, []config.Change{{Key: "weight_a", Value: json.RawMessage("0.6"), Priority: &high}, {Key: "weight_b", Value: json.RawMessage("0.395"), Priority: &high}}, by)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.sets(t, "ann", everywhere, "weight_a=0.5", "weight_b=0.5") // elsewhere
	if _, err := w.undoes(t, "bob", work, done[0].Change); err != nil {
		t.Fatal(err)
	}
	if got := w.values(t, work) + "; " + w.values(t, everywhere); got != "weight_a=0.6 100, weight_b=0.4 100; weight_a=0.5 0, weight_b=0.5 0" {
		t.Errorf("values %s, want those of work before, and those of elsewhere", got)
	}
}

func TestSettingsOfAFamilyThatIsGoneAreNotUndone(t *testing.T) {
	w := open(t, nil)
	w.installed(sharing("one"), script{says: `{}`})
	anns := w.sets(t, "ann", everywhere, "weight_a=0.6", "weight_b=0.4")
	if _, err := w.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.undoes(t, "ann", everywhere, anns); err == nil || !strings.Contains(err.Error(), "no manifest declares a shared setting") {
		t.Errorf("undo: %v, want the error that no manifest declares the setting", err)
	}
	w.installed(sharing("one"), script{says: `{}`})
	if _, err := w.undoes(t, "ann", everywhere, anns); err != nil {
		t.Errorf("the family is back: %v", err)
	}
}

func TestOnlyCallersAndFamiliesThatMayChangeAllSettingsOfAChangeUndoIt(t *testing.T) {
	undo := func(scope string) script {
		return script{steps: []step{{"config.undo", `{"change":"weight_b@1",` + scope + `}`}}}
	}
	w := open(t, nil).with(sharing("one"), undo(`"scope":"system"`)).with(sharing("home"), undo(`"scope":"namespace","name":"home"`)).with(aFamily("tunes"), undo(`"scope":"system"`))
	if _, err := w.Grant(grants.Request{Family: "tunes", Revoke: []string{"*"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Grant(grants.Request{Family: "tunes", Capabilities: []registry.Capability{{Name: abi.CanConfigShared, Scope: []string{"weight_a"}}}}); err != nil {
		t.Fatal(err)
	}
	home := config.Scope{Kind: config.Namespace, Name: "home"}
	for _, scope := range []config.Scope{everywhere, home} {
		w.sets(t, "ann", scope, "weight_a=0.6", "weight_b=0.4")
	}
	narrow := memory.Caller{Agent: "bob", Rights: memory.RightsTo(nil, []string{"work"})}
	for _, c := range []struct {
		family, want string
		caller       memory.Caller
	}{{"one", "scope system applies to every namespace", narrow}, {"home", `may not write namespace "home"`, narrow}, {"tunes", "weight_b", owner("ann")}} {
		r := w.askAs(t, c.family, "work", c.caller)[0]
		if r.Error == nil || r.Error.Code != abi.CodeDenied || !strings.Contains(r.Error.Message, c.want) {
			t.Errorf("undo by %s = %s, %v, want it denied for %q", c.family, r.OK, r.Error, c.want)
		}
	}
	dry, err := w.Call(t.Context(), given{Tool: "one_do", Arguments: json.RawMessage(`{}`), Caller: owner("ann"), DryRun: true})
	if err != nil || !strings.Contains(string(responses(t, dry.Output)[0].OK), `"key":"weight_b","version":2`) {
		t.Errorf("a dry run: %s, %v", dry.Output, err)
	}
	if got := w.values(t, everywhere); got != "weight_a=0.6 0, weight_b=0.4 0" {
		t.Errorf("after what was refused, and the dry run: %s", got)
	}
	if r := w.askAs(t, "one", "work", owner("ann"))[0]; r.Error != nil || w.values(t, everywhere) != "" {
		t.Errorf("undo = %s, %v, want no values left", r.OK, r.Error)
	}
}
