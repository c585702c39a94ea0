//go:build guests

package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

// threeFamilies is a data directory as the program of commit ddf5254 left it, when auto-tag, ranking and consolidation were the only
// families: with their settings, hooks, vocabulary, feedback, reports and proposals. It was made with:
//
//	alcove family grant auto-tag --hook store --hook job
//	alcove family grant ranking --hook rank
//	alcove family grant consolidation --hook job
//	alcove family config auto-tag max_tags=3 default_type=note
//	alcove family config ranking decay_rate_plan=0.95 importance_weight_error=0.9 decay_rate_error=0.5 ranking_weight_semantic=4 \
//		ranking_weight_lexical=4 ranking_weight_importance=2 ranking_weight_freshness=0 ranking_weight_outcome=0
//	alcove family config consolidation forget_threshold=0.6 prune_age_days=45 prune_max_importance=0.2 prune_max_access_count=7 \
//		decay_rate_plan=0.97 importance_weight_plan=0.65 consolidation_min_facts=4 enabled=true contradictions=newest
//	alcove store tea "Ann drinks green tea at nine in the morning." --tags drinks (and tea2, plan, error)
//	alcove call memory_rank_feedback '{"query":"green tea","useful":["tea"],"useless":["tea2"]}'
//	alcove call memory_retag '{}'
//	alcove call memory_consolidate '{}' (and with background)
func threeFamilies(t *testing.T) string {
	t.Helper()
	return filepath.Join(unpacked(t, "testdata/three-families.tar.gz"), "data")
}

// madeAt is when the directory was made; its feedback is kept for a year, and its reports for 90 days.
var madeAt = time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)

// settingsOf are settings as they apply to a family, each with its source.
func settingsOf(t *testing.T, act *operator.Client, q operator.SettingQuery) map[string]string {
	t.Helper()
	list, err := act.Settings(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, s := range list {
		values[s.Key] = fmt.Sprintf("%s %s v%d", s.Value, s.Source, s.Version)
	}
	return values
}

// carriedOver are the values that belong to the system now, by whether a family that is there declares them without lifecycle.
var carriedOver = map[bool]map[string]string{
	true: {
		"decay_rate_plan":         "0.97 system v1", // consolidation's, which does not declare it any more
		"importance_weight_plan":  "0.65 system v1",
		"importance_weight_error": "0.9 system v1",
		"decay_rate_error":        "0.9 system v1", // 0.5 is out of range now
		"consolidation_min_facts": "4 system v1",
	},
	false: {
		"forget_threshold":       "0.6 system v1",
		"prune_age_days":         "45 system v1",
		"prune_max_importance":   "0.2 system v1",
		"prune_max_access_count": "7 system v1",
	},
}

func wantSettings(t *testing.T, got map[string]string, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s is %q, not %q", key, got[key], value)
		}
	}
}

func TestADirectoryOfTheThreeOldFamiliesKeepsWhatTheyStored(t *testing.T) {
	dir := threeFamilies(t)
	o := host.Options{Dir: dir, Families: carriedFamilies(), Cache: sandbox.Cache{Dir: compiledHere()}, Clock: testclock.At(madeAt).Now}
	for _, opened := range []string{"first", "again"} { // nothing is carried over twice
		h, act, stop := served(t, o)
		all := settingsOf(t, act, operator.SettingQuery{})
		wantSettings(t, all, carriedOver[true])
		wantSettings(t, all, carriedOver[false])
		wantSettings(t, settingsOf(t, act, operator.SettingQuery{Family: "ranking"}), map[string]string{
			"decay_rate_plan": "0.95 family:ranking v0", "decay_rate_error": "0.9 system v1",
			"ranking_weight_semantic": "0.4 family:ranking v0", "ranking_weight_importance": "0.2 family:ranking v0",
		})
		wantSettings(t, settingsOf(t, act, operator.SettingQuery{Family: "consolidation"}), map[string]string{
			"enabled": "true family:consolidation v0", "contradictions": `"newest" family:consolidation v0`, "decay_rate_plan": "0.97 system v1"})
		wantSettings(t, settingsOf(t, act, operator.SettingQuery{Family: "auto-tag"}), map[string]string{
			"max_tags": "3 family:auto-tag v0", "default_type": `"note" family:auto-tag v0`})
		for key, why := range map[string]string{"forget_threshold": "was a setting of family consolidation", "decay_rate_error": "was a setting of family ranking, as 0.5, which is out of range now"} {
			log, err := act.SettingHistory(t.Context(), operator.SettingKey{Scope: config.Scope{Kind: config.System}, Key: key})
			if err != nil || len(log.Versions) != 1 || log.Versions[0].Reason != why || log.Versions[0].Agent != "alcove" || !log.Versions[0].At.Equal(madeAt) {
				t.Errorf("%s: the history of %s is %+v (%v)", opened, key, log.Versions, err)
			}
		}
		log, err := act.SettingHistory(t.Context(), operator.SettingKey{Scope: config.Scope{Kind: config.OfFamily, Name: "consolidation"}, Key: "forget_threshold"})
		if err != nil || len(log.Versions) != 1 || string(log.Versions[0].Before) != "0.6" || len(log.Versions[0].After) != 0 {
			t.Errorf("%s: the history in consolidation is %+v (%v)", opened, log.Versions, err)
		}
		wantRecords(t, h, act)
		stop()
	}
}

// wantRecords expects the records, counters, hooks and proposals of the three families.
func wantRecords(t *testing.T, h *host.Host, act *operator.Client) {
	t.Helper()
	stage, err := owned(host.Space(h), "").Stage(t.Context(), memory.Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		collection memory.Collection
		holds      string
	}{
		{memory.Collection{Name: "auto-tag/tag-vocabulary"}, `"tag":"drink","uses":1`},
		{memory.Collection{Name: "ranking/rank-feedback"}, `"green tea"`},
		{memory.Collection{Name: "consolidation/consolidation-reports", PerSpace: true}, "Consolidation of default"},
	} {
		list, _, err := stage.ListRecords(t.Context(), c.collection, "default", "", "", 100)
		text := ""
		for _, r := range list {
			text += string(r.Value)
		}
		if err != nil || !strings.Contains(text, c.holds) {
			t.Errorf("%s has %s (%v)", c.collection.Name, text, err)
		}
	}
	use, err := stage.Counters(t.Context(), "default", []string{"tea", "tea2"})
	if err != nil || use[0].Health != .1 || use[1].Health >= 0 {
		t.Errorf("the feedback of tea and tea2 is %+v (%v)", use, err)
	}
	branches, err := owned(host.Space(h), "").Branches(t.Context())
	if err != nil || len(branches) != 3 {
		t.Errorf("the branches are %+v (%v)", branches, err)
	}
	families, err := act.Families(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]int{}
	for _, f := range families {
		on[f.Manifest.Name] = len(f.Grant.Hooks)
	}
	if on["auto-tag"] != 2 || on["ranking"] != 1 || on["consolidation"] != 1 || on["lifecycle"] != 0 {
		t.Errorf("so many hooks are on: %v", on)
	}
}

func TestSettingsAreCarriedOverWhenLifecycleComesLater(t *testing.T) {
	dir, watched := threeFamilies(t), t.TempDir()
	o := host.Options{Dir: dir, Families: carriedFamilies("auto-tag", "ranking", "consolidation"), FamiliesDir: watched, Cache: sandbox.Cache{Dir: compiledHere()}, Clock: testclock.At(madeAt).Now}
	_, act, _ := served(t, o)
	before := settingsOf(t, act, operator.SettingQuery{})
	wantSettings(t, before, carriedOver[true])
	wantSettings(t, before, map[string]string{"forget_threshold": ""})
	if _, err := act.ChangeSettings(t.Context(), operator.SettingChanges{Scope: config.Scope{Kind: config.System}, Changes: []config.Change{{Key: "decay_rate_plan", Value: json.RawMessage("0.98")}}}); err != nil {
		t.Fatal(err)
	}
	for _, g := range guests.All() {
		if g.Name != "lifecycle" {
			continue
		}
		module, err := g.Read()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(watched, "lifecycle.wasm"), module, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var after map[string]string
	await.That(t, "the settings of consolidation are carried over", func() bool {
		after = settingsOf(t, act, operator.SettingQuery{})
		return strings.HasPrefix(after["forget_threshold"], "0.6 system")
	})
	wantSettings(t, after, carriedOver[false])
	wantSettings(t, after, map[string]string{"decay_rate_plan": "0.98 system v2"})
}
