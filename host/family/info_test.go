package family

import (
	"encoding/json"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
)

func TestInfoHasManifestGrantConfigurationLimitsAndUse(t *testing.T) {
	m := aFamily("notes")
	m.Collections = []abi.Collection{{Name: "own"}}
	m.Config = []abi.Setting{{Key: "word", Default: json.RawMessage(`"default"`)}}
	m.Limits.WallMS = 400
	w := open(t, nil).with(m, script{steps: []step{{"record.put", `{"collection":"own","items":[{"key":"a","value":1}]}`}}})
	w.grant(grants.Request{Family: "notes", Limits: map[string]int64{"wall_ms": 100, "records": 7}})
	if _, err := w.Configure(t.Context(), "notes", map[string]json.RawMessage{"word": json.RawMessage(`"mine"`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(given{Tool: "notes_do"}); err != nil {
		t.Fatal(err)
	}
	info, err := w.Info(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	if info.Manifest.Name != "notes" || info.Digest == "" || info.Source != grants.Installed || len(info.Grant.Capabilities) == 0 || string(info.Config["word"]) != `"mine"` || info.Use.Records != 1 {
		t.Errorf("Info = %+v, want notes with its grant, configuration and one record", info)
	}
	for name, want := range map[string]Limit{"wall_ms": {100, 400, true}, "records": {7, abi.DefaultQuota("records"), true}, "fuel": {abi.DefaultLimits().Fuel, abi.DefaultLimits().Fuel, false}} {
		if info.Limits[name] != want {
			t.Errorf("%s is %+v", name, info.Limits[name])
		}
	}
	if _, err := w.Info(t.Context(), "nobody"); code(err) != memory.NotFound {
		t.Errorf("of a family that is not there: %v", err)
	}
}

func TestALimitIsResetToItsDefault(t *testing.T) {
	w := open(t, nil).with(aFamily("notes"), script{})
	w.grant(grants.Request{Family: "notes", Limits: map[string]int64{"wall_ms": 100, "records": 7}})
	d := w.grant(grants.Request{Family: "notes", ResetLimits: []string{"records"}})
	if _, set := d.Grant.Limits["records"]; set || d.Grant.Limits["wall_ms"] != 100 {
		t.Errorf("%v are left", d.Grant.Limits)
	}
	if info, err := w.Info(t.Context(), "notes"); err != nil || info.Limits["records"] != (Limit{abi.DefaultQuota("records"), abi.DefaultQuota("records"), false}) {
		t.Errorf("Info: records %+v, %v, want the default, not set", info.Limits["records"], err)
	}
	if _, err := w.Grant(grants.Request{Family: "notes", ResetLimits: []string{"recrods"}}); code(err) != memory.InvalidArgument {
		t.Errorf("a misspelled limit: %v", err)
	}
}
