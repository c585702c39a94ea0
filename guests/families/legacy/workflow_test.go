package legacy

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	stdstrings "strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests/families/facts"
	"github.com/alcove-memory/alcove/guests/families/graph"
	"github.com/alcove-memory/alcove/guests/families/legacy/successor"
	"github.com/alcove-memory/alcove/guests/families/lifecycle"
	"github.com/alcove-memory/alcove/guests/families/retrieval"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// made is a call that a tool made.
type made struct {
	Tool      string
	Arguments map[string]any
}

// answering is a space whose other tools answer what the test says, by their names; others are not found.
func answering(t *testing.T, answers map[string]string) (s *alcovetest.Space, calls *[]made) {
	t.Helper()
	s, calls = alone(t), new([]made)
	s.Ops[alcove.OpToolsCall] = func(request []byte) (any, error) {
		var r struct {
			Tool      string
			Arguments map[string]any
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		*calls = append(*calls, made{r.Tool, r.Arguments})
		answer, ok := answers[r.Tool]
		if code, failed := stdstrings.CutPrefix(answer, "error "); failed || !ok {
			return nil, alcove.Errorf(alcove.Code(map[bool]string{true: code, false: "not_found"}[failed]), "%s does not answer", r.Tool)
		}
		return map[string]any{"result": json.RawMessage(answer)}, nil
	}
	return s, calls
}

func alone(t *testing.T) *alcovetest.Space {
	t.Helper()
	return alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
}

// together is a space with families whose tools these tools call.
func together(t *testing.T, names ...string) *alcovetest.Space {
	t.Helper()
	s := alone(t)
	families := map[string]*alcove.Family{"facts": facts.Family(), "retrieval": retrieval.Family(), "lifecycle": lifecycle.Family(), "graph": graph.Family()}
	for _, name := range names {
		s.Beside(families[name], alcovetest.Manifest(t, "../"+name+"/manifest.json"))
	}
	return s
}

// same compares calls with those expected, as JSON.
func same(t *testing.T, calls []made, want ...made) {
	t.Helper()
	if !reflect.DeepEqual(calls, want) {
		t.Errorf("called are\n%v\nnot\n%v", calls, want)
	}
}

type object = map[string]any

func TestTheManifestAgreesWithTheTableOfSuccessors(t *testing.T) {
	m, err := abi.ParseManifest(alcovetest.Manifest(t, "manifest.json"))
	must.Do(t, err)
	if !m.Deprecated {
		t.Error("the family is not marked as deprecated")
	}
	var granted []string
	for _, c := range m.Capabilities {
		if c.Name == abi.CanToolsCall {
			granted = c.Scope
		}
	}
	served := map[string]abi.Tool{}
	for _, tool := range m.Tools {
		served[tool.Name] = tool
	}
	if len(served) != 10 {
		t.Errorf("%d tools are served", len(served))
	}
	for _, old := range successor.Tools() {
		tool, ok := served[old.Name]
		if !ok {
			t.Errorf("%s is not served", old.Name)
		}
		for _, name := range old.By {
			if !slices.Contains(granted, name) {
				t.Errorf("%s is replaced by %s, which the family may not call", old.Name, name)
			}
			if name != "memory_mark_notifications_read" && !stdstrings.Contains(tool.Description, name) {
				t.Errorf("the description of %s does not name %s", old.Name, name)
			}
		}
	}
}

func TestAnObservationIsAFact(t *testing.T) {
	s := together(t, "facts")
	var out Observed
	must.Do(t, s.Tool("memory_observe", object{"observation": "The build failed twice.", "emotionalContext": "frustrated"}, &out))
	m := s.Memory(out.FactID.Key)
	if m == nil || m.Type != "observation" || string(m.Metadata["emotionalContext"]) != `"frustrated"` || !out.Deprecated || out.MigrateTo != "memory_store_fact" {
		t.Errorf("%+v is %+v", out, m)
	}
}

func TestAContextHasWhatTheSuccessorsFindWithinTheBudget(t *testing.T) {
	long := stdstrings.Repeat("word ", 300)
	s, calls := answering(t, map[string]string{
		"memory_search_facts":            `{"facts":[{"factId":"a#1","content":"` + long + `"},{"factId":"a#2","content":"` + long + `"},{"factId":"a#3","content":"short"}]}`,
		"memory_search_entities":         `{"entities":[{"entityId":"ent:redis"}]}`,
		"memory_search_themes":           `{"themes":[]}`,
		"memory_get_handoffs":            `{"handoffs":[{"handoffId":"hnd:1"}]}`,
		"memory_get_notifications":       `{"notifications":[{"notificationId":"ntf:1"},{"notificationId":"ntf:2"}],"unread":2}`,
		"memory_mark_notifications_read": `{"updated":2}`,
	})
	var out Context
	must.Do(t, s.Tool("memory_get_context", object{"topic": "API rate limiting", "profile": "planning", "tokenBudget": 300}, &out))
	if len(out.Facts) != 2 || out.UsedTokens < 300 || out.UsedTokens > 330 || len(out.Entities) != 1 || len(out.Themes) != 0 || len(out.Handoffs) != 1 || len(out.Notifications) != 2 ||
		!stdstrings.Contains(out.Summary, `Context(planning) for "API rate limiting": 2 facts`) || !stdstrings.Contains(out.Summary, "1 entity, 0 themes, 1 handoff, 2 notifications") || !out.Deprecated || !stdstrings.Contains(out.MigrateTo, "memory_search_facts") {
		t.Errorf("memory_get_context = %+v, want 2 facts in about 300 tokens, an entity, a handoff, 2 notifications, and what to call instead", out)
	}
	same(t, *calls,
		made{"memory_search_facts", object{"topic": "API rate limiting", "limit": 20.}},
		made{"memory_search_entities", object{"query": "API rate limiting", "limit": 10.}},
		made{"memory_search_themes", object{"query": "API rate limiting", "limit": 20.}},
		made{"memory_get_handoffs", object{"agentId": "tester", "limit": 5.}},
		made{"memory_get_notifications", object{"agentId": "tester", "limit": 10.}},
		made{"memory_mark_notifications_read", object{"notificationIds": []any{"ntf:1", "ntf:2"}}},
	)
	*calls = nil
	must.Do(t, s.Tool("memory_get_context", object{"topic": "x", "scopeIds": []string{"team"}}, &out))
	for _, call := range (*calls)[:3] {
		if scopes := call.Arguments["scopeIds"]; !reflect.DeepEqual(scopes, []any{"team"}) {
			t.Errorf("%s is called with the scopes %v, want team", call.Tool, scopes)
		}
	}
	*calls = nil
	if err := s.Tool("memory_get_context", object{"topic": "x", "profile": "incident", "tokenBudget": 400, "includeEntities": false, "includeThemes": false}, &out); err != nil || len(out.Facts) != 2 || len(*calls) != 4 {
		t.Errorf("%v: %d facts by %v", err, len(out.Facts), *calls)
	}
}

// The seed's second example: what the older tool finds about a topic is what its successors find.
func TestAContextHasTheFactsThatTheSuccessorsFind(t *testing.T) {
	s := together(t, "facts", "retrieval", "graph")
	for _, text := range []string{"The API limits rates by a token bucket.", "Rate limiting uses Redis.", "Lunch is at noon."} {
		must.Do(t, s.Tool("memory_store_fact", object{"content": text, "factType": "decision"}, nil))
	}
	must.Do(t, s.Tool("memory_link_entity", object{"entityId": "ent:redis", "name": "Redis rate limiting", "type": "tool"}, nil))
	beside(s, "others", canned{"memory_get_handoffs": `{"handoffs":[]}`, "memory_get_notifications": `{"notifications":[]}`})
	var before struct{ Facts, Entities []map[string]any }
	must.Do(t, s.Tool("memory_get_context", object{"topic": "API rate limiting"}, &before))
	var after struct{ Facts, Entities []map[string]any }
	must.Do(t, s.Tool("memory_search_facts", object{"topic": "API rate limiting", "limit": 20}, &after))
	must.Do(t, s.Tool("memory_search_entities", object{"query": "API rate limiting", "limit": 10}, &after))
	if len(before.Facts) < 2 || !reflect.DeepEqual(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
}

// canned is a family whose tools answer what it has for their names; the empty answer is a failure.
type canned map[string]string

// Handle implements alcovetest.Guest.
func (c canned) Handle(_ alcove.Host, _ alcove.Kind, request []byte) ([]byte, error) {
	var r struct{ Tool string }
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	if c[r.Tool] == "" {
		return nil, alcove.Errorf(alcove.Unavailable, "%s fails", r.Tool)
	}
	return []byte(c[r.Tool]), nil
}

// beside adds a family to a space.
func beside(s *alcovetest.Space, name string, c canned) {
	m := object{"abi": 1, "name": name, "version": "1.0.0", "description": "Answers."}
	var tools []object
	for tool := range c {
		tools = append(tools, object{"name": tool, "description": "Answers.", "input_schema": object{"type": "object"}})
	}
	m["tools"] = tools
	manifest, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.Beside(c, manifest)
}

func TestAnAgentIsRegisteredWithItsPrivateScope(t *testing.T) {
	answers := map[string]string{
		"memory_register_agent_core": `{"agentId":"indy","created":true}`, "memory_create_scope": "error conflict", "memory_embed_capabilities": `{"agentId":"indy","method":"lexical"}`,
	}
	s, calls := answering(t, answers)
	var out Registered
	must.Do(t, s.Tool("memory_register_agent", object{"agentId": "indy", "name": "Indy", "capabilities": []string{"go", "sql"}, "telos": "to help", "settings": object{"a": 1}}, &out))
	if out.AgentID != "indy" || !out.Created || out.ScopeID != "private-indy" || !out.Deprecated {
		t.Errorf("memory_register_agent = %+v, want indy created with scope private-indy, and deprecated", out)
	}
	same(t, *calls,
		made{"memory_register_agent_core", object{"agentId": "indy", "name": "Indy", "capabilities": []any{"go", "sql"}, "telos": "to help", "settings": object{"a": 1.}}},
		made{"memory_create_scope", object{"name": "private-indy", "description": "Private scope for Indy", "readPolicy": "members", "writePolicy": "members", "members": []any{"indy"}}},
		made{"memory_embed_capabilities", object{"agentId": "indy"}},
	)
	answers["memory_create_scope"] = "error denied"
	if err := s.Tool("memory_register_agent", object{"agentId": "indy", "name": "Indy"}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("a scope that is denied: %v", err)
	}
}

// decided stores a decision and an observation, and records that a search found them.
func decided(t *testing.T, s *alcovetest.Space) (decision, observation alcove.ID, recall string) {
	t.Helper()
	var d, o facts.Stored
	must.Do(t, s.Tool("memory_store_fact", object{"content": "The ledger uses PostgreSQL.", "factType": "decision", "importance": .6}, &d))
	must.Do(t, s.Tool("memory_store_fact", object{"content": "The ledger is slow.", "importance": .6}, &o))
	var r retrieval.Recorded
	must.Do(t, s.Tool("memory_record_recall", object{"factIds": []string{d.FactID.String(), o.FactID.String()}, "query": "ledger"}, &r))
	return d.FactID, o.FactID, r.RecallID
}

func importance(t *testing.T, s *alcovetest.Space, id alcove.ID) float64 {
	t.Helper()
	m := s.Memory(id.Key)
	if m == nil || m.Importance == nil {
		t.Fatalf("%s is %+v", id, m)
	}
	return *m.Importance
}

func TestFeedbackRatesARecallOnceAndMovesDecisions(t *testing.T) {
	s := together(t, "facts", "retrieval")
	decision, observation, recall := decided(t, s)
	var out Recorded
	for range 2 {
		must.Do(t, s.Tool("memory_record_feedback", object{"recallId": recall, "usedFactIds": []string{decision.String()}, "unusedFactIds": []string{observation.Key}}, &out))
	}
	if d, o := importance(t, s, decision), importance(t, s, observation); math.Abs(d-.65) > 1e-9 || o != .6 || !out.Deprecated {
		t.Errorf("the importances are %g and %g: %+v", d, o, out)
	}
	if err := s.Tool("memory_record_feedback", object{"recallId": "rec:none", "usedFactIds": []string{}}, nil); alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("a recall that is not there: %v", err)
	}
}

func TestASummaryReplacesWhatItSummarizes(t *testing.T) {
	s := together(t, "facts", "retrieval", "lifecycle")
	var first facts.Stored
	for _, text := range []string{"The ledger uses PostgreSQL.", "The ledger is slow on Mondays.", "The ledger has one writer."} {
		must.Do(t, s.Tool("memory_store_fact", object{"content": text}, &first))
	}
	var out Summary
	must.Do(t, s.Tool("memory_summarize", object{"topic": "ledger"}, &out))
	m, source := s.Memory(out.FactID.Key), s.Memory(first.FactID.Key)
	text, _ := m.Value.Text()
	if out.ConsolidatedCount != 3 || m.Type != "insight" || !stdstrings.HasPrefix(text, `Summary of 3 facts about "ledger":`) || !stdstrings.Contains(text, "one writer") || source.State != "merged" {
		t.Errorf("%+v is %q, and its source %+v", out, text, source)
	}
	if err := s.Tool("memory_summarize", object{"topic": "submarines"}, nil); alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("a topic without facts: %v", err)
	}
}

func TestPruningPreviewsUnlessToldOtherwise(t *testing.T) {
	s := together(t, "facts", "lifecycle")
	var old facts.Stored
	must.Do(t, s.Tool("memory_store_fact", object{"content": "The printer was moved.", "importance": .1}, &old))
	s.Now = s.Now.Add(100 * 24 * time.Hour)
	var out Pruned
	must.Do(t, s.Tool("memory_prune", object{}, &out))
	if out.Pruned != 1 || !out.DryRun || len(out.PrunedFactIDs) != 1 || s.Memory(old.FactID.Key).State == "pruned" {
		t.Errorf("previewed %+v", out)
	}
	must.Do(t, s.Tool("memory_prune", object{"dryRun": false}, &out))
	if out.Pruned != 1 || out.DryRun || s.Memory(old.FactID.Key).State != "pruned" {
		t.Errorf("pruned %+v", out)
	}
}

func TestTheVaultIsSynchronizedBothWays(t *testing.T) {
	s, calls := answering(t, map[string]string{"memory_export_facts_to_vault": `{"files":[],"count":0}`, "memory_import_vault_to_facts": `{"imported":1}`})
	for _, c := range []struct {
		arguments object
		want      []made
	}{
		{object{}, []made{{"memory_import_vault_to_facts", object{"source": "mirror"}}, {"memory_export_facts_to_vault", object{"target": "mirror", "limit": 200.}}}},
		{object{"direction": "export", "target": "inline", "force": true}, []made{{"memory_export_facts_to_vault", object{"target": "inline", "limit": 1000.}}}},
		{object{"direction": "import", "files": []any{object{"path": "a.md", "content": "x"}}}, []made{{"memory_import_vault_to_facts", object{"files": []any{object{"path": "a.md", "content": "x"}}}}}},
	} {
		*calls = nil
		var out Synced
		must.Do(t, s.Tool("memory_vault_sync", c.arguments, &out))
		same(t, *calls, c.want...)
		if !out.Deprecated || (len(out.Import) > 0) != (c.arguments["direction"] != "export") || (len(out.Export) > 0) != (c.arguments["direction"] != "import") {
			t.Errorf("%v is answered with %+v", c.arguments, out)
		}
	}
}

func TestACheckpointListsTheNewestFacts(t *testing.T) {
	s, calls := answering(t, map[string]string{"memory_save_checkpoint": `{"checkpointId":"chk:1","version":7,"branch":"default","factCount":3}`, "memory_query_facts": `{"facts":[{"factId":"a#1"}]}`})
	var out Checkpointed
	must.Do(t, s.Tool("memory_checkpoint", object{"name": "noon", "summary": "half done"}, &out))
	if out.CheckpointID != "chk:1" || string(out.Version) != "7" || out.FactCount != 3 || len(out.Facts) != 1 || !out.Deprecated {
		t.Errorf("memory_checkpoint = %+v, want chk:1 of version 7 with a fact listed, and deprecated", out)
	}
	same(t, *calls, made{"memory_save_checkpoint", object{"name": "noon", "summary": "half done"}}, made{"memory_query_facts", object{"limit": 30.}})
}

func TestTheEndOfASessionIsAFactAndAHandoff(t *testing.T) {
	s, calls := answering(t, map[string]string{"memory_store_fact": `{"factId":"default#m-1"}`, "memory_record_handoff": `{"handoffId":"hnd:1"}`})
	var out Ended
	must.Do(t, s.Tool("memory_end_session", object{"summary": "All tests pass.", "conversationId": "cnv:1"}, &out))
	if out.FactID.String() != "default#m-1" || out.HandoffID != "hnd:1" || !out.Deprecated {
		t.Errorf("memory_end_session = %+v, want the fact and the handoff, and deprecated", out)
	}
	same(t, *calls,
		made{"memory_store_fact", object{"content": "All tests pass.", "factType": "session_summary", "conversationId": "cnv:1", "tags": []any{"session_summary", "handoff"}}},
		made{"memory_record_handoff", object{"toAgent": "tester", "contextSummary": "All tests pass.", "conversationId": "cnv:1", "factIds": []any{"default#m-1"}}},
	)
}

// Sessions are not beside: the second call of each fails, after the first has written.
func TestWhatFailsLeavesNoWrite(t *testing.T) {
	s := together(t, "facts", "retrieval")
	if err := s.Tool("memory_end_session", object{"summary": "The ledger moves to PostgreSQL."}, nil); err == nil || !stdstrings.Contains(err.Error(), "memory_record_handoff") {
		t.Errorf("the end of a session without the family of handoffs: %v", err)
	}
	if ids, err := s.Search("ledger", 5); err != nil || len(ids) > 0 {
		t.Errorf("%v is stored (%v)", ids, err)
	}
	decision, _, recall := decided(t, s)
	beside(s, "failing", canned{"memory_record_handoff": ""})
	if err := s.Tool("memory_end_session", object{"summary": "Nothing was done."}, nil); alcove.CodeOf(err) != alcove.Unavailable {
		t.Errorf("a handoff that fails: %v", err)
	}
	if ids, err := s.Search("nothing done", 5); err != nil || slices.ContainsFunc(ids, func(id alcove.ID) bool { return s.Memory(id.Key).Type == "session_summary" }) {
		t.Errorf("%v is stored (%v)", ids, err)
	}
	if err := s.Tool("memory_record_feedback", object{"recallId": recall, "usedFactIds": []string{decision.String(), "default#gone"}}, nil); err == nil && importance(t, s, decision) == .6 {
		t.Error("feedback for a fact that is gone moved nothing, and did not fail")
	}
}

func TestTheReportNamesWhoCallsDeprecatedTools(t *testing.T) {
	s := alone(t)
	var asked struct{ Tools []string }
	s.Ops[alcove.OpToolsUsage] = func(request []byte) (any, error) {
		must.Do(t, json.Unmarshal(request, &asked))
		return map[string]any{"usage": []object{
			{"agent": "indy", "tool": "memory_observe", "calls": 3, "errors": 1, "last": "2026-06-01T10:00:00Z"},
			{"agent": "indy", "tool": "memory_checkpoint", "calls": 2, "last": "2026-06-01T11:00:00Z"},
		}}, nil
	}
	var out Report
	must.Do(t, s.Tool("memory_migration_report", object{"days": 7}, &out))
	want := []Use{{"indy", "memory_observe", 3, 1, "2026-06-01T10:00:00Z", "memory_store_fact"}, {"indy", "memory_checkpoint", 2, 0, "2026-06-01T11:00:00Z", "memory_save_checkpoint and memory_query_facts"}}
	if !reflect.DeepEqual(out.Agents, want) || out.RemovalDate != "2027-05-22" || len(asked.Tools) != 9 || asked.Tools[0] != "memory_get_context" {
		t.Errorf("%+v of %v", out, asked)
	}
	s.Revoke("tools.usage")
	clear(s.Ops)
	if err := s.Tool("memory_migration_report", object{}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("without the grant: %v", err)
	}
}
