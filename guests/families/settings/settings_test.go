package settings

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

func space(t *testing.T) *alcovetest.Space {
	t.Helper()
	return alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
}

func get(t *testing.T, s *alcovetest.Space, arguments map[string]any) (out Setting) {
	t.Helper()
	must.Do(t, s.Tool("memory_get_config", arguments, &out))
	return out
}

func refused(t *testing.T, s *alcovetest.Space, tool string, code alcove.Code, arguments map[string]any) {
	t.Helper()
	if err := s.Tool(tool, arguments, nil); alcove.CodeOf(err) != code {
		t.Errorf("%s %v: %v, not %s", tool, arguments, err, code)
	} else if known := (*alcove.Error)(nil); errors.As(err, &known) && known.Retryable {
		t.Errorf("%s %v: %v is retryable, and would be refused again", tool, arguments, err)
	}
}

const key = "semantic_threshold"

func TestASettingIsChangedListedAndPutBack(t *testing.T) {
	s := space(t)
	if now := get(t, s, map[string]any{"key": key}); now.Source != "default" || string(now.Value) != "0" || now.Category != "semantic" || !strings.Contains(string(now.Range), `"maximum":1`) || now.Version != 0 {
		t.Errorf("at first %+v", now)
	}
	var changed Changed
	must.Do(t, s.Tool("memory_update_config", map[string]any{"key": key, "value": .3, "reason": "stricter"}, &changed))
	if changed.Versions[key] != 1 || string(changed.Previous[key]) != "null" {
		t.Errorf("memory_update_config = %+v, want version 1 after none", changed)
	}
	if now := get(t, s, map[string]any{"key": key}); now.Source != "system" || string(now.Value) != "0.3" || now.UpdatedBy != "tester" || now.UpdatedAt == "" {
		t.Errorf("then %+v", now)
	}
	must.Do(t, s.Tool("memory_update_config", map[string]any{"changes": map[string]any{key: .5, "semantic_enabled": false}, "reason": "off"}, &changed))
	var back RolledBack
	must.Do(t, s.Tool("memory_rollback_config", map[string]any{"key": key, "version": 1, "reason": "too strict"}, &back))
	if back.Version != 3 || string(back.Value) != "0.3" {
		t.Errorf("memory_rollback_config = %+v, want version 3 with 0.3", back)
	}
	var history Versions
	must.Do(t, s.Tool("memory_config_history", map[string]any{"key": key}, &history))
	if len(history.Versions) != 3 || history.Versions[0].Reason != "too strict" || *history.Versions[0].RolledBackTo != 1 ||
		string(history.Versions[1].To) != "0.5" || string(history.Versions[2].From) != "null" {
		t.Errorf("memory_config_history = %+v, want 3 versions, the newest rolled back to 1", history)
	}
	var list Configs
	must.Do(t, s.Tool("memory_list_configs", map[string]any{"category": "semantic", "prefix": "semantic_t"}, &list))
	if len(list.Configs) != 1 || list.Configs[0].Key != key {
		t.Errorf("memory_list_configs = %+v, want %s alone", list, key)
	}
	must.Do(t, s.Tool("memory_list_configs", map[string]any{"limit": 2}, &list))
	if len(list.Configs) != 2 || !list.Truncated || list.NextCursor == "" {
		t.Errorf("memory_list_configs = %+v, want 2 and a cursor", list)
	}
	if all := get(t, s, map[string]any{}); string(all.Config[key]) != "0.3" || string(all.Config["semantic_enabled"]) != "false" || len(all.Config) != 3 {
		t.Errorf("all: %s", all.Config)
	}
}

func TestAllSettingsOfAChangeArePutBackInOneCall(t *testing.T) {
	s := space(t)
	announced := 0
	s.Ops[alcove.OpFeedEmit] = func([]byte) (any, error) { announced++; return struct{}{}, nil }
	var changed Changed
	must.Do(t, s.Tool("memory_update_config", map[string]any{"changes": map[string]any{key: .5, "semantic_enabled": false}}, &changed))
	if changed.Change != "semantic_enabled@1" {
		t.Errorf("the change is %+v, want semantic_enabled@1", changed)
	}
	var none Changed
	must.Do(t, s.Tool("memory_update_config", map[string]any{"changes": map[string]any{key: .5}}, &none))
	if none.Change != "" {
		t.Errorf("nothing was changed, by %s", none.Change)
	}
	var back RolledBack
	must.Do(t, s.Tool("memory_rollback_config", map[string]any{"change": changed.Change, "reason": "too strict"}, &back))
	if back.Change != "semantic_enabled@2" || back.Versions[key] != 2 || string(back.Values["semantic_enabled"]) != "null" || len(back.Values) != 2 || announced != 4 {
		t.Errorf("%+v, %d announced", back, announced)
	}
	for _, setting := range []string{key, "semantic_enabled"} {
		var history Versions
		must.Do(t, s.Tool("memory_config_history", map[string]any{"key": setting}, &history))
		if v := history.Versions; len(v) != 2 || v[0].Change != back.Change || v[1].Change != changed.Change || *v[0].RolledBackTo != 0 || v[0].Reason != "too strict" {
			t.Errorf("history of %s = %+v, want the change and its rollback", setting, v)
		}
	}
	refused(t, s, "memory_rollback_config", alcove.Conflict, map[string]any{"change": changed.Change})
	refused(t, s, "memory_rollback_config", alcove.InvalidArgument, map[string]any{"change": changed.Change, "key": key, "version": 0})
	refused(t, s, "memory_rollback_config", alcove.InvalidArgument, map[string]any{"key": key})
	refused(t, s, "memory_rollback_config", alcove.InvalidArgument, map[string]any{"version": 0})
	refused(t, s, "memory_rollback_config", alcove.NotFound, map[string]any{"change": changed.Change, "scopeId": "work"})
	var set PolicySet
	must.Do(t, s.Tool("memory_set_scope_policy", map[string]any{"scopeId": "work", "policies": map[string]any{"semantic_enabled": false, key: .9}}, &set))
	must.Do(t, s.Tool("memory_rollback_config", map[string]any{"change": set.Change, "scopeId": "work"}, nil))
	if there := get(t, s, map[string]any{"key": key, "scopeId": "work"}); there.Source != "default" {
		t.Errorf("after the rollback: %+v, want the default", there)
	}
	s.Write = []string{"default"}
	refused(t, s, "memory_rollback_config", alcove.Denied, map[string]any{"change": back.Change})
	refused(t, s, "memory_rollback_config", alcove.Denied, map[string]any{"change": set.Change, "scopeId": "work"})
}

func TestABadChangeChangesNothing(t *testing.T) {
	s := space(t)
	refused(t, s, "memory_update_config", alcove.InvalidArgument, map[string]any{"changes": map[string]any{key: 7, "semantic_enabled": false}})
	refused(t, s, "memory_update_config", alcove.NotFound, map[string]any{"changes": map[string]any{"none": 1}})
	refused(t, s, "memory_update_config", alcove.InvalidArgument, map[string]any{})
	refused(t, s, "memory_update_config", alcove.InvalidArgument, map[string]any{"key": key})
	refused(t, s, "memory_update_config", alcove.InvalidArgument, map[string]any{"changes": map[string]any{key: .2}, "expect_version": 0})
	refused(t, s, "memory_get_config", alcove.NotFound, map[string]any{"key": "none"})
	refused(t, s, "memory_rollback_config", alcove.NotFound, map[string]any{"key": key, "version": 9})
	must.Do(t, s.Tool("memory_update_config", map[string]any{"key": key, "value": .2, "expect_version": 0}, nil))
	refused(t, s, "memory_update_config", alcove.Conflict, map[string]any{"key": key, "value": .4, "expect_version": 0})
	must.Do(t, s.Tool("memory_update_config", map[string]any{"key": key, "value": nil, "expect_version": 1}, nil))
	if now := get(t, s, map[string]any{"key": key}); now.Source != "default" || now.Version != 2 || now.UpdatedBy != "tester" {
		t.Errorf("after it was set to null: %+v, want the default, at the version 2 of tester", now)
	}
	refused(t, s, "memory_update_config", alcove.Conflict, map[string]any{"key": key, "value": .4, "expect_version": 0})
	must.Do(t, s.Tool("memory_update_config", map[string]any{"key": key, "value": .4, "expect_version": 2}, nil))
	if now := get(t, s, map[string]any{"key": "semantic_enabled"}); string(now.Value) != "true" {
		t.Errorf("a change that was refused is there: %+v", now)
	}
}

func TestAScopeHasItsOwnValues(t *testing.T) {
	s := space(t)
	var set PolicySet
	must.Do(t, s.Tool("memory_set_scope_policy", map[string]any{"scopeId": "work", "policyKey": key, "policyValue": .8, "priority": 200}, &set))
	if set.PolicyKey != key || set.Version != 1 {
		t.Errorf("memory_set_scope_policy = %+v, want version 1 of %s", set, key)
	}
	if there, here := get(t, s, map[string]any{"key": key, "scopeId": "work"}), get(t, s, map[string]any{"key": key}); string(there.Value) != "0.8" || there.Source != "scope" || string(here.Value) != "0" {
		t.Errorf("there %+v, here %+v", there, here)
	}
	must.Do(t, s.Tool("memory_set_scope_policy", map[string]any{"scope_id": "work", "policies": map[string]any{"semantic_enabled": false, key: .9}}, &set))
	var policies Policies
	must.Do(t, s.Tool("memory_list_scope_policies", map[string]any{"scopeId": "work"}, &policies))
	if len(policies.Policies) != 2 || policies.Policies[1].PolicyKey != key || string(policies.Policies[1].PolicyValue) != "0.9" || policies.Policies[1].CreatedBy != "tester" || policies.Policies[1].Version != 2 {
		t.Errorf("memory_list_scope_policies = %+v, want 2, the second 0.9 in version 2", policies)
	}
	var back RolledBack
	must.Do(t, s.Tool("memory_rollback_config", map[string]any{"key": key, "version": 1, "scopeId": "work"}, &back))
	var history Versions
	must.Do(t, s.Tool("memory_config_history", map[string]any{"key": key, "scopeId": "work"}, &history))
	if back.Version != 3 || string(back.Value) != "0.8" || len(history.Versions) != 3 {
		t.Errorf("memory_rollback_config = %+v with history %+v, want version 3 of 3 with 0.8", back, history)
	}
	must.Do(t, s.Tool("memory_set_scope_policy", map[string]any{"scopeId": "work", "policyKey": key, "policyValue": nil}, nil))
	if there := get(t, s, map[string]any{"key": key, "scopeId": "work"}); there.Source != "default" {
		t.Errorf("the policy set to null: %+v, want the default", there)
	}
	refused(t, s, "memory_set_scope_policy", alcove.InvalidArgument, map[string]any{"scopeId": "work"})
	s.Write = []string{"default"}
	refused(t, s, "memory_set_scope_policy", alcove.Denied, map[string]any{"scopeId": "work", "policyKey": key, "policyValue": .1})
	refused(t, s, "memory_list_scope_policies", alcove.Denied, map[string]any{"scopeId": "work"})
	refused(t, s, "memory_update_config", alcove.Denied, map[string]any{"key": key, "value": .1})
	must.Do(t, s.Tool("memory_set_scope_policy", map[string]any{"scopeId": "default", "policyKey": key, "policyValue": .1}, nil))
}

func TestChangesAreAnnounced(t *testing.T) {
	s := space(t)
	type event struct {
		Kind, Namespace string
		Payload         struct {
			Key, By, ScopeID string
			From, To         any
		}
	}
	var events []event
	s.Ops[alcove.OpFeedEmit] = func(request []byte) (any, error) {
		var e event
		err := json.Unmarshal(request, &e)
		events = append(events, e)
		return struct{}{}, err
	}
	must.Do(t, s.Tool("memory_update_config", map[string]any{"key": key, "value": .3}, nil))
	must.Do(t, s.Tool("memory_update_config", map[string]any{"key": key, "value": .3}, nil)) // no change
	must.Do(t, s.Tool("memory_rollback_config", map[string]any{"key": key, "version": 0}, nil))
	must.Do(t, s.Tool("memory_set_scope_policy", map[string]any{"scopeId": "work", "policyKey": key, "policyValue": 1}, nil))
	var said []string
	for _, e := range events {
		said = append(said, strings.Join([]string{e.Kind, e.Namespace, e.Payload.Key, e.Payload.By, e.Payload.ScopeID}, " ")+" "+string(alcove.JSON(e.Payload.From))+" "+string(alcove.JSON(e.Payload.To)))
	}
	want := []string{"config_changed default semantic_threshold tester  null 0.3", "config_changed default semantic_threshold tester  0.3 null", "config_changed work semantic_threshold tester work null 1"}
	if !slices.Equal(said, want) {
		t.Errorf("announced %q, want %q", said, want)
	}
}

func TestSemanticSearchIsConfigured(t *testing.T) {
	s := space(t)
	var out Semantic
	must.Do(t, s.Tool("memory_get_semantic_config", map[string]any{}, &out))
	if out != (Semantic{Enabled: true, Method: "embedding"}) {
		t.Errorf("at first %+v", out)
	}
	must.Do(t, s.Tool("memory_configure_semantic", map[string]any{"enabled": false, "threshold": .6, "method": "tfidf"}, &out))
	must.Do(t, s.Tool("memory_configure_semantic", map[string]any{}, &out))
	if out != (Semantic{Threshold: .6, Method: "lexical"}) {
		t.Errorf("then %+v", out)
	}
	refused(t, s, "memory_configure_semantic", alcove.InvalidArgument, map[string]any{"method": "magic"})
	refused(t, s, "memory_configure_semantic", alcove.InvalidArgument, map[string]any{"threshold": 2})
	refused(t, s, "memory_regenerate_vectors", alcove.Unavailable, map[string]any{}) // there is no embedder
	s.Ops[alcove.OpEmbedRebuild] = func([]byte) (any, error) { return alcove.EmbedRebuildResponse{Embedder: "small", Queued: 7}, nil }
	var rebuilt Regeneration
	must.Do(t, s.Tool("memory_regenerate_vectors", map[string]any{}, &rebuilt))
	if rebuilt != (Regeneration{"small", 7}) {
		t.Errorf("memory_regenerate_vectors = %+v, want 7 queued for small", rebuilt)
	}
}
