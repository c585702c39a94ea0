package family

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// sharing is a family that shares two weights and has a key of its own.
func sharing(name string) *abi.Manifest {
	m := aFamily(name)
	shareWeights(m)
	m.Config = append(m.Config, abi.Setting{Key: "own", Default: json.RawMessage(`"o"`)})
	return m
}

// askAs has the tool of a family called in a namespace, and gives the host's answers.
func (w *world) askAs(t *testing.T, name, namespace string, c memory.Caller) []response {
	t.Helper()
	result, err := w.Call(t.Context(), given{Tool: name + "_do", Arguments: json.RawMessage(`{}`), Location: memory.Location{Namespace: namespace}, Caller: c})
	if err != nil {
		t.Fatal(err)
	}
	return responses(t, result.Output)
}

// put changes settings as an operator.
func (w *world) put(t *testing.T, scope config.Scope, values map[string]string) error {
	t.Helper()
	var changes []config.Change
	for key, value := range values {
		changes = append(changes, config.Change{Key: key, Value: json.RawMessage(value)})
	}
	_, err := w.ChangeSettings(t.Context(), SettingChanges{Scope: scope, Changes: changes})
	return err
}

func TestASharedSettingIsEffectiveInEveryFamilyAtItsNextCall(t *testing.T) {
	get := script{steps: []step{{"config.get", `{}`}}}
	w := open(t, nil).with(sharing("one"), get).with(sharing("two"), get)
	system := config.Scope{Kind: config.System}
	if err := w.put(t, system, map[string]string{"weight_a": "0.6", "weight_b": "0.4"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if got := string(w.askAs(t, name, "", owner("ann"))[0].OK); got != `{"config":{"own":"o","weight_a":0.6,"weight_b":0.4}}` {
			t.Errorf("%s is given %s", name, got)
		}
	}
}

func TestTheNearestScopeDecidesUnlessAnotherHasPriority(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{steps: []step{{"config.get", `{"keys":["weight_a"],"details":true}`}}})
	seen := func(namespace, agent string) string {
		t.Helper()
		var answer struct{ Settings []abi.SettingState }
		if err := json.Unmarshal(w.askAs(t, "one", namespace, owner(agent))[0].OK, &answer); err != nil {
			t.Fatal(err)
		}
		s := answer.Settings[0]
		return fmt.Sprint(string(s.Value), " ", s.Scope, " ", s.Name)
	}
	weights := func(scope config.Scope, a, b string) {
		t.Helper()
		if err := w.put(t, scope, map[string]string{"weight_a": a, "weight_b": b}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		set              func()
		namespace, agent string
		want             string
	}{
		{func() {}, "", "ann", "0.7 default "},
		{func() { weights(config.Scope{Kind: config.System}, "0.6", "0.4") }, "work", "ann", "0.6 system "},
		{func() { weights(config.Scope{Kind: config.Namespace, Name: "work"}, "0.5", "0.5") }, "work", "ann", "0.5 namespace work"},
		{func() {}, "home", "ann", "0.6 system "},
		{func() { weights(config.Scope{Kind: config.Agent, Name: "ann"}, "0.4", "0.6") }, "work", "ann", "0.4 agent ann"},
		{func() {}, "work", "bob", "0.5 namespace work"},
		{func() { weights(config.Scope{Kind: config.OfFamily, Name: "one"}, "0.3", "0.7") }, "work", "ann", "0.3 family one"},
		{func() {
			high := 500
			_, err := w.ChangeSettings(t.Context(), SettingChanges{Scope: config.Scope{Kind: config.Namespace, Name: "work"},
				Changes: []config.Change{{Key: "weight_a", Value: json.RawMessage("0.5"), Priority: &high}, {Key: "weight_b", Value: json.RawMessage("0.5"), Priority: &high}}})
			if err != nil {
				t.Fatal(err)
			}
		}, "work", "ann", "0.5 namespace work"},
	} {
		if c.set(); seen(c.namespace, c.agent) != c.want {
			t.Errorf("%s in %q is given %s, not %s", c.agent, c.namespace, seen(c.namespace, c.agent), c.want)
		}
	}
}

func TestWithABadChangeNoneIsMade(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{says: `{}`})
	for want, values := range map[string]map[string]string{
		"they add up to 1.2":         {"weight_a": "0.9"},
		"maximum: got 2, want 1":     {"weight_a": "0.5", "weight_b": "2"},
		"height: no manifest":        {"weight_a": "0.705", "height": "1"},
		"own: no manifest":           {"weight_a": "0.705", "own": `"x"`},
		"has 20002 bytes: at most 1": {"weight_a": `"` + strings.Repeat("x", 20_000) + `"`},
	} {
		err := w.put(t, config.Scope{Kind: config.System}, values)
		if err == nil || !strings.Contains(err.Error(), "nothing was changed") || !strings.Contains(err.Error(), want) {
			t.Errorf("put: %v, want an error that says %q and that nothing was changed", err, want)
		}
	}
	list, err := w.Settings(t.Context(), SettingQuery{In: config.Scope{Kind: config.System}})
	if err != nil || len(list) != 0 {
		t.Errorf("Settings = %+v, %v, want none", list, err)
	}
}

func TestARolledBackSettingHasANewVersionAndItsHistoryStays(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{says: `{}`})
	system := config.Scope{Kind: config.System}
	for _, a := range []string{"0.705", "0.695"} {
		if err := w.put(t, system, map[string]string{"weight_a": a}); err != nil {
			t.Fatal(err)
		}
	}
	first := uint64(1)
	done, err := w.RollBackSetting(t.Context(), SettingKey{Scope: system, Key: "weight_a", To: &first, Reason: "it was better"})
	if err != nil || done.Version != 3 || string(done.After) != "0.705" {
		t.Fatalf("RollBackSetting = %+v, %v, want version 3 with 0.705", done, err)
	}
	again := openIn(t, snapshot(w), nil)
	h, err := again.SettingHistory(t.Context(), SettingKey{Scope: system, Key: "weight_a"})
	if err != nil || len(h.Versions) != 3 || h.Next != 0 {
		t.Fatalf("SettingHistory = %+v, %v, want 3 versions and no more", h, err)
	}
	newest := h.Versions[0]
	if newest.Version != 3 || string(newest.Before) != "0.695" || newest.Agent != "operator" || newest.Reason != "it was better" || newest.RolledBackTo == nil || *newest.RolledBackTo != 1 || newest.At.IsZero() {
		t.Errorf("the newest version is %+v, want the operator's rollback to 1", newest)
	}
}

func TestFamiliesThatDeclareASharedSettingOtherwiseAreNotInstalled(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{says: `{}`})
	other := func(change func(m *abi.Manifest)) *abi.Manifest {
		m := sharing("two")
		change(m)
		return m
	}
	for want, m := range map[string]*abi.Manifest{
		"its shared setting weight_a has the default 0.705, and that of family one has 0.7": other(func(m *abi.Manifest) { m.Config[0].Default = json.RawMessage("0.705") }),
		"its shared setting weight_b allows":                                                other(func(m *abi.Manifest) { m.Config[1].Schema = json.RawMessage(`{"type":"number"}`) }),
		"is not that of family one":                                                         other(func(m *abi.Manifest) { m.ConfigRules[0].Within = 0.5 }),
		"the defaults break it":                                                             other(func(m *abi.Manifest) { m.ConfigRules[0].Equals = 2 }),
		"its default":                                                                       other(func(m *abi.Manifest) { m.Config[0].Default = json.RawMessage("7") }),
	} {
		_, err := w.Install(pack(t, m, script{says: `{}`}))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing was installed") {
			t.Errorf("Install: %v, want an error that says %q and that nothing was installed", err, want)
		}
	}
	if _, err := w.Install(pack(t, other(func(m *abi.Manifest) { m.Config[0].Description = "Another text." }), script{says: `{}`})); err != nil {
		t.Error(err)
	}
}

func TestACallerWithNarrowRightsChangesSettingsOfItsNamespacesOnly(t *testing.T) {
	change := `"changes":[{"key":"weight_a","value":0.705}]`
	w := open(t, nil).with(sharing("one"), script{steps: []step{
		{"config.put", `{` + change + `}`}, {"config.put", `{` + change + `,"scope":"namespace","name":"home"}`}, {"config.put", `{` + change + `,"scope":"agent","name":"bob"}`},
		{"config.rollback", `{"key":"weight_a","version":0}`}, {"config.get", `{"keys":["weight_a"],"namespace":"home"}`}, {"config.list", `{"scope":"namespace","name":"home"}`},
		{"config.history", `{"key":"weight_a","scope":"namespace","name":"home"}`}, {"config.list", `{"scope":"agent","name":"bob"}`}, {"config.history", `{"key":"weight_a","scope":"family","name":"two"}`},
		{"config.put", `{` + change + `,"scope":"agent"}`}, {"config.put", `{` + change + `,"scope":"namespace"}`}, {"config.list", `{"scope":"namespace"}`},
	}})
	ann := memory.Caller{Agent: "ann", Rights: memory.RightsTo(nil, []string{"work"})}
	for i, r := range w.askAs(t, "one", "work", ann) {
		if denied := r.Error != nil && r.Error.Code == abi.CodeDenied; denied != (i < 10) {
			t.Errorf("request %d: %s, %v, want it denied: %t", i, r.OK, r.Error, i < 10)
		}
	}
	reader := memory.Caller{Agent: "ann", Rights: memory.RightsTo([]string{"work"}, nil)}
	reads, yes := sharing("reads"), true
	reads.Tools[0].Annotations.ReadOnly = &yes
	w.with(reads, script{steps: []step{{"config.put", `{` + change + `,"scope":"namespace"}`}, {"config.rollback", `{"key":"weight_a","version":0,"scope":"agent"}`}, {"config.set", `{"values":{"own":"x"}}`}}})
	for i, r := range w.askAs(t, "reads", "work", reader) {
		if r.Error == nil || r.Error.Code != abi.CodeDenied {
			t.Errorf("a reader, %d: %s, %v", i, r.OK, r.Error)
		}
	}
}

func TestAFamilyReadsAndChangesTheSettingsThatItWasGranted(t *testing.T) {
	m := aFamily("tunes")
	w := open(t, nil).with(sharing("one"), script{says: `{}`}).with(m, script{steps: []step{
		{"config.put", `{"changes":[{"key":"weight_a","value":0.705}]}`}, {"config.put", `{"changes":[{"key":"weight_a","value":0.705},{"key":"weight_b","value":0.295}]}`},
		{"config.list", `{}`}, {"config.get", `{"keys":["weight_a"]}`}, {"config.get", `{"keys":["weight_b"]}`}, {"config.get", `{"keys":["own"]}`}, {"config.rollback", `{"key":"weight_b","version":0}`}, {"config.rules", `{}`}}})
	if _, err := w.Grant(grants.Request{Family: "tunes", Revoke: []string{"*"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Grant(grants.Request{Family: "tunes", Capabilities: []registry.Capability{{Name: abi.CanConfigShared, Scope: []string{"weight_a"}}, {Name: abi.CanConfigRead, Scope: []string{"weight_a"}}}}); err != nil {
		t.Fatal(err)
	}
	got, _ := w.do("tunes")
	for i, denied := range []bool{false, true, false, false, true, true, true, false} {
		if (got[i].Error != nil && got[i].Error.Code == abi.CodeDenied) != denied {
			t.Errorf("request %d: %s, %v, want it denied: %t", i, got[i].OK, got[i].Error, denied)
		}
	}
	if text := string(got[2].OK); strings.Contains(text, "weight_b") || !strings.Contains(text, "weight_a") {
		t.Errorf("it is listed %s", text)
	}
}

func TestValuesThatTogetherBreakARuleAreNotUsed(t *testing.T) {
	w := open(t, nil).with(sharing("one"), script{steps: []step{{"config.get", `{"details":true}`}}})
	work := config.Scope{Kind: config.Namespace, Name: "work"}
	if err := w.put(t, work, map[string]string{"weight_a": "0.705"}); err != nil { // over 0.3 of the default
		t.Fatal(err)
	}
	if err := w.put(t, config.Scope{Kind: config.System}, map[string]string{"weight_a": "0.2", "weight_b": "0.8"}); err != nil {
		t.Fatal(err)
	}
	got := string(w.askAs(t, "one", "work", owner("ann"))[0].OK)
	if !strings.Contains(got, `"config":{"own":"o","weight_a":0.2,"weight_b":0.8}`) || !strings.Contains(got, `0.705 in namespace:work: it breaks the rule that sum of weight_a, weight_b is 1`) {
		t.Errorf("it is given %s", got)
	}
}

func TestASettingOfANamespaceAppliesToTheRankingOfItsSearchesOnly(t *testing.T) {
	m := sharing("ranks")
	m.Hooks.Rank = &abi.RankHook{Features: []string{"lexical"}}
	w := open(t, nil)
	w.installed(m, script{says: `{}`})
	if err := w.put(t, config.Scope{Kind: config.Namespace, Name: "work"}, map[string]string{"weight_a": "0.2", "weight_b": "0.8"}); err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]string{"work": `"weight_a":0.2`, "home": `"weight_a":0.7`, "": `"weight_a":0.7`} {
		stage, err := w.space.As(owner("ann")).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		settings, err := w.newRequest(w.catalogue.Known("ranks"), registry.Calls, stage, owner("ann"), namespace, "").configJSON(t.Context())
		if err != nil || !strings.Contains(string(settings), want) {
			t.Errorf("in %q the settings are %s, %v; not %s", namespace, settings, err, want)
		}
	}
}

func TestTheHistoryKeepsTheNewestChanges(t *testing.T) {
	w := open(t, nil)
	w.installed(sharing("one"), script{says: `{}`})
	stage, err := w.operatorStage(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := config.Settings{Stage: stage, Keys: w.catalogue.SharedKeys()}
	system := config.Scope{Kind: config.System}
	for i := range 1005 {
		value := json.RawMessage(fmt.Sprintf("0.7%03d", i%10))
		if _, err := s.Put(t.Context(), system, []config.Change{{Key: "weight_a", Value: value}}, config.By{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
		t.Fatal(err)
	}
	key := SettingKey{Scope: system, Key: "weight_a", Limit: 999}
	h, err := w.SettingHistory(t.Context(), key)
	if err != nil || len(h.Versions) != 999 || h.Versions[0].Version != 1005 || h.Next != 6 {
		t.Fatalf("%d versions, then %d: %v", len(h.Versions), h.Next, err)
	}
	key.Before = h.Next
	if h, err = w.SettingHistory(t.Context(), key); err != nil || len(h.Versions) != 1 || h.Versions[0].Version != 6 || h.Next != 0 {
		t.Errorf("SettingHistory = %+v, %v, want version 6 alone", h, err)
	}
	old := uint64(5)
	if _, err := w.RollBackSetting(t.Context(), SettingKey{Scope: system, Key: "weight_a", To: &old}); err == nil || !strings.Contains(err.Error(), "the newest 1000 versions are kept") {
		t.Errorf("RollBackSetting to version 5: %v, want the error that the newest 1000 versions are kept", err)
	}
	if _, err := w.UndoSettings(t.Context(), SettingUndo{Scope: system, Change: "weight_a@5"}); err == nil || !strings.Contains(err.Error(), "the newest 1000 versions are kept") {
		t.Errorf("UndoSettings of version 5: %v, want the error that the newest 1000 versions are kept", err)
	}
}

func TestAFileInTheWatchedFolderThatDeclaresASharedSettingOtherwiseIsNotUsed(t *testing.T) {
	folder := t.TempDir()
	w := open(t, func(o *Options) { o.Watch = folder })
	w.installed(sharing("one"), script{says: `{}`})
	other := sharing("two")
	other.Config[0].Default, other.ConfigRules = json.RawMessage("0.2"), nil
	writeFile(t, filepath.Join(folder, "two.wasm"), pack(t, other, script{says: `{}`}))
	await.That(t, "the file is refused for its setting", func() bool { // it may be seen before it is whole
		return strings.Contains(w.catalogue.Describe("two").Fault, "its shared setting weight_a has the default 0.2, and that of family one has 0.7")
	})
}

// BenchmarkConfig reads the configuration of a family with 42 shared keys, a few of which are set.
func BenchmarkConfig(b *testing.B) {
	m := sharing("one")
	for i := range 40 {
		m.Config = append(m.Config, abi.Setting{Key: fmt.Sprintf("key_%d", i), Shared: true, Schema: json.RawMessage(`{"type":"number","minimum":0,"maximum":1}`), Default: json.RawMessage("0.5")})
	}
	dir := b.TempDir()
	w := openIn(b, dir, nil)
	if _, err := w.Install(pack(b, m, script{says: `{}`})); err != nil {
		b.Fatal(err)
	}
	var changes []config.Change
	for i := range 20 {
		changes = append(changes, config.Change{Key: fmt.Sprintf("key_%d", i), Value: json.RawMessage("0.25")})
	}
	if _, err := w.ChangeSettings(b.Context(), SettingChanges{Scope: config.Scope{Kind: config.System}, Changes: changes}); err != nil {
		b.Fatal(err)
	}
	x := w.catalogue.Known("one")
	for b.Loop() {
		stage, err := w.ownSpace(x).Stage(b.Context(), "")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.settingsOf(x, stage).JSON(b.Context(), config.For{Family: "one", Agent: "ann", Namespace: "work"}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestScopesThatCannotBe(t *testing.T) {
	w := open(t, nil)
	w.installed(sharing("one"), script{says: `{}`})
	for want, scope := range map[string]config.Scope{
		"has no name":                  {Kind: config.System, Name: "x"},
		"needs a name":                 {Kind: config.Agent},
		"there is no scope":            {Kind: "galaxy", Name: "x"},
		"is not a name of a namespace": {Kind: config.Namespace, Name: "a b"},
		"at most 512 are allowed":      {Kind: config.Agent, Name: strings.Repeat("a", 513)},
		"there is no family":           {Kind: config.OfFamily, Name: "none"},
	} {
		if err := w.put(t, scope, map[string]string{"weight_a": "0.7"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("put in %+v: %v, want an error that says %q", scope, err, want)
		}
	}
}
