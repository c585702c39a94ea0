package retrieval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// space has three memories about tea in its namespace, and one elsewhere.
func space(t *testing.T) *alcovetest.Space {
	t.Helper()
	s := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	s.Put(
		alcove.Memory{Key: "a", Value: alcove.JSON("green tea from Uji"), Type: "decision", Importance: new(.8), Tags: []string{"drink"}},
		alcove.Memory{Key: "b", Value: alcove.JSON("green tea is cold"), Type: "observation", Importance: new(.5)},
		alcove.Memory{Key: "c", Value: alcove.JSON("black tea"), Type: "observation", Metadata: alcove.Metadata{fact.Summary: alcove.JSON("tea")}},
		alcove.Memory{Namespace: "work", Key: "d", Value: alcove.JSON("green tea at work"), Type: "note"},
	)
	return s
}

func refused(t *testing.T, s *alcovetest.Space, tool string, code alcove.Code, says string, arguments map[string]any) {
	t.Helper()
	if err := s.Tool(tool, arguments, nil); alcove.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("%s %v: %v, not %s with %q", tool, arguments, err, code, says)
	} else if known := (*alcove.Error)(nil); errors.As(err, &known) && known.Retryable {
		t.Errorf("%s %v: %v is retryable, and would be refused again", tool, arguments, err)
	}
}

func ids(f Found) (list []string) {
	for _, one := range f.Facts {
		list = append(list, one.FactID.String())
	}
	slices.Sort(list)
	return list
}

func TestFactsAreFoundByWordsWithFilters(t *testing.T) {
	s := space(t)
	for _, c := range []struct {
		arguments map[string]any
		want      []string
	}{
		{map[string]any{"query": "green tea"}, []string{"default#a", "default#b", "default#c", "work#d"}},
		{map[string]any{"query": "green tea", "namespace": "default"}, []string{"default#a", "default#b", "default#c"}},
		{map[string]any{"query": "green tea", "limit": 1}, []string{"default#a"}},
		{map[string]any{"query": "green", "scopeIds": []string{"work"}}, []string{"work#d"}},
		{map[string]any{"query": "green", "scope_ids": "*"}, []string{"default#a", "default#b", "work#d"}},
		{map[string]any{"query": "tea", "filters": map[string]any{"factType": "observation"}}, []string{"default#b", "default#c"}},
		{map[string]any{"query": "tea", "filters": map[string]any{"factType": []string{"decision", "note"}, "tags": "drink"}}, []string{"default#a"}},
		{map[string]any{"query": "tea", "filters": map[string]any{"minImportance": .5, "dateRange": map[string]any{"start": "2 days ago"}}}, []string{"default#a", "default#b"}},
		{map[string]any{"query": "tea", "filters": map[string]any{"dateRange": map[string]any{"end": 1000}}}, nil},
	} {
		var out Found
		must.Do(t, s.Tool("memory_text_search", c.arguments, &out))
		got := ids(out)
		if len(c.want) == 1 && len(got) == 1 {
			got = got[:1]
		}
		if !slices.Equal(got, c.want) || out.SearchType != "text" {
			t.Errorf("%v: %q, want %q", c.arguments, got, c.want)
		}
	}
	var out Found
	must.Do(t, s.Tool("memory_text_search", map[string]any{"query": "black tea", "limit": 1}, &out))
	if f := out.Facts[0]; f.Content != "black tea" || f.FactType != "observation" || f.Score <= 0 || f.Summary != "tea" || f.Timestamp == "" {
		t.Errorf("memory_text_search finds %+v, want the observation black tea with score and summary", f)
	}
	must.Do(t, s.Tool("memory_search_facts", map[string]any{"topic": "green tea", "limit": 2}, &out))
	if len(out.Facts) != 2 {
		t.Errorf("memory_search_facts = %+v, want 2", out)
	}
	refused(t, s, "memory_text_search", alcove.InvalidArgument, "empty", map[string]any{"query": ""})
	refused(t, s, "memory_text_search", alcove.InvalidArgument, "tags", map[string]any{"query": "x", "filters": map[string]any{"tags": 7}})
	s.Write = []string{"default"}
	refused(t, s, "memory_text_search", alcove.Denied, "", map[string]any{"query": "green", "scopeIds": "work"})
}

func TestASearchByMeaningNeedsAnEmbedderOrAnEmbedding(t *testing.T) {
	s := space(t)
	refused(t, s, "memory_vector_search", alcove.Unavailable, "alcove embedder set; or give embedding", map[string]any{"query": "tea"})
	var asked alcove.MemorySearchRequest
	s.Ops[alcove.OpMemorySearch] = func(request []byte) (any, error) {
		asked = alcove.MemorySearchRequest{}
		err := json.Unmarshal(request, &asked)
		return alcove.MemorySearchResponse{Hits: []alcove.MemoryHit{
			{Memory: *s.Memory("a"), Score: .9, Features: map[string]float32{"semantic": .9}},
			{Memory: *s.Memory("b"), Score: .5, Features: map[string]float32{"semantic": .2, "lexical": .4}},
			{Memory: *s.Memory("c"), Score: .4, Features: map[string]float32{"semantic": .2}},
		}}, err
	}
	var out Found
	must.Do(t, s.Tool("memory_vector_search", map[string]any{"query": "tea", "embedding": []float32{1, 0}, "limit": 50}, &out))
	if asked.Mode != "semantic" || !slices.Equal(asked.Vector, []float32{1, 0}) || asked.K != 50 || asked.Features || len(out.Facts) != 3 || out.SearchType != "vector" {
		t.Errorf("asked %+v, found %+v", asked, out)
	}
	s.Ops[alcove.OpEmbedTexts] = func([]byte) (any, error) {
		return alcove.EmbedTextsResponse{Model: "m", Dimensions: 2, Vectors: [][]float32{{0, 1}}}, nil
	}
	answers := s.Ops[alcove.OpEmbedTexts]
	s.Ops[alcove.OpEmbedTexts] = func([]byte) (any, error) {
		return alcove.EmbedTextsResponse{Model: "m", Dimensions: 2, Vectors: [][]float32{{0, 0}}}, nil
	}
	refused(t, s, "memory_vector_search", alcove.Unavailable, "knows no word", map[string]any{"query": "tea"})
	s.Ops[alcove.OpEmbedTexts] = func([]byte) (any, error) {
		return nil, alcove.Errorf(alcove.Unavailable, "the embedder does not answer")
	}
	var later *alcove.Error
	if err := s.Tool("memory_vector_search", map[string]any{"query": "tea"}, nil); !errors.As(err, &later) || !later.Retryable || !strings.Contains(err.Error(), "answer; or give embedding") {
		t.Errorf("an embedder that may answer later: %v", err)
	}
	s.Ops[alcove.OpEmbedTexts] = answers
	s.Config["semantic_threshold"] = .5
	for tool, arguments := range map[string]map[string]any{"memory_vector_search": {"query": "tea"}, "memory_search_facts": {"topic": "tea"}} {
		must.Do(t, s.Tool(tool, arguments, &out))
		if !asked.Features || !slices.Equal(ids(out), []string{"default#a", "default#b"}) { // c is distant, and b shares a word
			t.Errorf("%s asked %+v, found %q", tool, asked, ids(out))
		}
	}
	s.Config["semantic_enabled"] = false
	refused(t, s, "memory_vector_search", alcove.Unavailable, "memory_configure_semantic", map[string]any{"query": "tea"})
	must.Do(t, s.Tool("memory_search_facts", map[string]any{"topic": "tea"}, &out))
	if asked.Mode != "lexical" {
		t.Errorf("asked %+v", asked)
	}
}

func TestUseIsCounted(t *testing.T) {
	s := space(t)
	before := s.Memory("a").Version
	var out Bumped
	must.Do(t, s.Tool("memory_bump_access", map[string]any{"factIds": []string{"a", "default#a", "work#d", "none"}}, &out))
	m := s.Memory("a")
	if out.Updated != 2 || m.Counters.Accesses != 1 || m.Counters.LastAccess == "" || m.Version != before {
		t.Errorf("memory_bump_access = %+v and the memory is %+v, want 2 updated, one access, the same version", out, m)
	}
	must.Do(t, s.Tool("memory_bump_access", map[string]any{"fact_ids": "b"}, &out))
	if out.Updated != 1 || s.Memory("b").Counters.Accesses != 1 {
		t.Errorf("memory_bump_access of fact_ids = %+v, want 1 updated", out)
	}
}

// emits keeps the kinds of events that the family emits, and their payloads.
func emits(s *alcovetest.Space) *[]string {
	var said []string
	s.Ops[alcove.OpFeedEmit] = func(request []byte) (any, error) {
		var r struct {
			Kind    string
			Payload json.RawMessage
		}
		err := json.Unmarshal(request, &r)
		said = append(said, r.Kind+" "+string(r.Payload))
		return struct{}{}, err
	}
	return &said
}

func TestWhatWasUsedIsRatedOnceForARecall(t *testing.T) {
	s := space(t)
	said := emits(s)
	var recorded Recorded
	must.Do(t, s.Tool("memory_record_recall", map[string]any{"factIds": []string{"a", "b", "default#c", "a"}, "query": "tea"}, &recorded))
	if !strings.HasPrefix(recorded.RecallID, "rec:") || len(recorded.RecallID) != 30 || recorded.TrackedFacts != 3 || len(*said) != 1 || !strings.Contains((*said)[0], "recall_recorded") {
		t.Errorf("memory_record_recall = %+v, announced %q, want 3 facts tracked and recall_recorded", recorded, *said)
	}
	usage := map[string]any{"recallId": recorded.RecallID, "usedFactIds": []string{"a", "none"}, "unusedFactIds": []string{"b"}}
	var out Rated
	must.Do(t, s.Tool("memory_record_recall_usage", usage, &out))
	if out.Updated != 2 {
		t.Errorf("memory_record_recall_usage = %+v, want 2 updated", out)
	}
	must.Do(t, s.Tool("memory_record_recall_usage", usage, &out))
	if out.Updated != 0 {
		t.Errorf("said twice: %+v", out)
	}
	a, b, c := s.Memory("a").Counters, s.Memory("b").Counters, s.Memory("c").Counters
	if a.Health != .25 || a.Accesses != 0 || math.Abs(b.Health-.25*(.8-1)) > 1e-9 || c != nil && c.Health != 0 {
		t.Errorf("counters a %+v, b %+v, c %+v, want a healthier, b less so, c unchanged", a, b, c)
	}
	var kept Recall
	must.Do(t, json.Unmarshal(s.Record("recall", recorded.RecallID).Value, &kept))
	if kept.Query != "tea" || kept.Agent != "tester" || len(kept.FactIDs) != 3 || len(kept.Used) != 2 || len(kept.Unused) != 1 {
		t.Errorf("the recall is %+v, want tea with 3 facts, of which 2 used and 1 unused", kept)
	}
	refused(t, s, "memory_record_recall_usage", alcove.NotFound, "recallId", map[string]any{"recallId": "rec:none", "usedFactIds": []string{"a"}})

	var removed alcove.Removed
	must.Do(t, s.Tool("memory_delete_recall_feedback", map[string]any{"recallId": "default#" + recorded.RecallID}, &removed))
	refused(t, s, "memory_record_recall_usage", alcove.NotFound, "deleted", usage)
	must.Do(t, s.Tool("memory_delete_recall_feedback", map[string]any{"recallId": recorded.RecallID, "hard": true}, &removed))
	if !removed.Success || s.Record("recall", recorded.RecallID) != nil {
		t.Errorf("memory_delete_recall_feedback = %+v, want the record removed", removed)
	}
	refused(t, s, "memory_delete_recall_feedback", alcove.NotFound, "", map[string]any{"recallId": recorded.RecallID})
}

func TestSignalsMoveTheOutcome(t *testing.T) {
	s := space(t)
	said := emits(s)
	outcome := .5
	for _, c := range []struct {
		kind  string
		value float64
		v     float64
	}{{"rating", 10, 1}, {"rating", 1, 0}, {"sentiment", -1, 0}, {"sentiment", .5, .75}, {"usefulness", .3, .3}, {"correctness", 1, 1}, {"failure", 42, 0}} {
		var out struct {
			SignalID string
			Outcome  float64
		}
		must.Do(t, s.Tool("memory_record_signal", map[string]any{"signalType": c.kind, "value": c.value, "factId": "default#a", "comment": "x"}, &out))
		outcome = .75*outcome + .25*c.v
		if math.Abs(out.Outcome-outcome) > 1e-9 || math.Abs((s.Memory("a").Counters.Health+1)/2-outcome) > 1e-9 || !strings.HasPrefix(out.SignalID, "sig:") {
			t.Errorf("%s %v: %+v, want %v", c.kind, c.value, out, outcome)
		}
	}
	if last := (*said)[len(*said)-1]; !strings.Contains(last, `signal_recorded {"agentId":"tester","changes":{"factId":"default#a"`) {
		t.Errorf("announced %s", last)
	}
	var raw map[string]any
	must.Do(t, s.Tool("memory_record_signal", map[string]any{"signalType": "failure", "value": 0, "context": "search"}, &raw))
	if raw["outcome"] != nil || raw["signalId"] == "" {
		t.Errorf("without a fact: %v", raw)
	}
	var removed alcove.Removed
	must.Do(t, s.Tool("memory_delete_signal", map[string]any{"signalId": raw["signalId"]}, &removed))
	var kept Signal
	must.Do(t, json.Unmarshal(s.Record("signal", raw["signalId"].(string)).Value, &kept))
	if !removed.Success || !kept.Archived() || kept.Context != "search" {
		t.Errorf("memory_delete_signal = %+v and the signal is %+v, want it archived", removed, kept)
	}
	refused(t, s, "memory_record_signal", alcove.InvalidArgument, "from 1 to 10", map[string]any{"signalType": "rating", "value": 0})
	refused(t, s, "memory_record_signal", alcove.NotFound, "", map[string]any{"signalType": "rating", "value": 5, "factId": "none"})
	s.Config["outcome_alpha"] = 0
	before := s.Memory("a").Counters.Health
	must.Do(t, s.Tool("memory_record_signal", map[string]any{"signalType": "rating", "value": 10, "factId": "a"}, nil))
	if s.Memory("a").Counters.Health != before {
		t.Error("an alpha of 0 moves the outcome")
	}
}

// recall records a recall of ten facts, of which some were used, and takes the clock on by a minute.
func recall(t *testing.T, s *alcovetest.Space, used int) {
	t.Helper()
	var all, good []string
	for i := range 10 {
		all = append(all, fmt.Sprint("x", i))
	}
	good, rest := all[:used], all[used:]
	var out Recorded
	must.Do(t, s.Tool("memory_record_recall", map[string]any{"factIds": all, "query": "q"}, &out))
	must.Do(t, s.Tool("memory_record_recall_usage", map[string]any{"recallId": out.RecallID, "usedFactIds": good, "unusedFactIds": rest}, nil))
	s.Now = s.Now.Add(time.Minute)
}

func TestAChangeThatMakesRecallsWorseIsAnnouncedOnce(t *testing.T) {
	s := space(t)
	said := emits(s)
	changed := s.Now.Add(30 * time.Minute)
	s.Ops[alcove.OpConfigList] = func([]byte) (any, error) {
		return alcove.ConfigListResponse{Settings: []alcove.SettingState{{Key: "ranking_weight_semantic"}, {Key: "ranking_weight_lexical"}, {Key: "other"}}}, nil
	}
	s.Ops[alcove.OpConfigHistory] = func(request []byte) (any, error) {
		var r alcove.ConfigHistoryRequest
		must.Do(t, json.Unmarshal(request, &r))
		if r.Scope != "system" || r.Key == "other" {
			return alcove.ConfigHistoryResponse{Versions: []alcove.SettingVersion{}}, nil
		}
		return alcove.ConfigHistoryResponse{Versions: []alcove.SettingVersion{{Version: 4, Timestamp: changed.Format("2006-01-02T15:04:05.000000Z"), Agent: "ann", Change: "ranking_weight_lexical@4"}}}, nil
	}
	var notified []string
	s.Ops[alcove.OpToolsCall] = func(request []byte) (any, error) {
		notified = append(notified, string(request))
		return nil, alcove.Errorf(alcove.NotFound, "there is no such tool")
	}
	watch := func() (out Watched) {
		t.Helper()
		must.Do(t, s.Job("watch-recall", map[string]any{}, &out))
		return out
	}
	for range leastRecalls {
		recall(t, s, 8)
	}
	s.Now = changed.Add(time.Second)
	for range leastRecalls - 1 {
		recall(t, s, 6)
	}
	if out := watch(); out.Changes != 1 || out.Degraded != 0 {
		t.Errorf("with too few recalls: %+v", out)
	}
	recall(t, s, 6)
	*said = nil
	if out := watch(); out.Degraded != 1 {
		t.Errorf("the watch gives %+v, want 1 degraded", out)
	}
	if out := watch(); out.Degraded != 0 || len(*said) != 1 {
		t.Errorf("again %+v, announced %q", out, *said)
	}
	for _, part := range []string{"config_degraded_recall", `"before":0.8`, `"after":0.6`, `"drop":0.25`, `"ranking_weight_semantic":3`, `"ranking_weight_lexical":3`, `"change":"ranking_weight_lexical@4"`, `"updatedBy":"ann"`} {
		if !strings.Contains((*said)[0], part) {
			t.Errorf("%s is not in %s", part, (*said)[0])
		}
	}
	if len(notified) != 1 || !strings.Contains(notified[0], `"target_agent_id":"ann"`) {
		t.Errorf("notified %q", notified)
	}
	var q json.RawMessage
	must.Do(t, s.Tool("memory_recall_quality", map[string]any{"days": 1}, &q))
	if want := `{"used_rate":0.7,"recalls":40,"by_day":[{"date":"2026-06-01","used_rate":0.7,"recalls":40}],"changes":[{"at":"2026-06-01T12:30:00Z","updated_by":"ann",` +
		`"rollback_to":{"ranking_weight_lexical":3,"ranking_weight_semantic":3},"change":"ranking_weight_lexical@4","before":0.8,"after":0.6,"recalls_before":20,"recalls_after":20,"drop":0.25}]}`; string(q) != want {
		t.Errorf("%s, want %s", q, want)
	}
	s.Config["recall_drop_alert"] = .3
	changed = changed.Add(time.Microsecond)
	if out := watch(); out.Degraded != 0 {
		t.Errorf("a fall below the alert: %+v", out)
	}
}

func TestARecallOfTheCoreIsRated(t *testing.T) {
	s := space(t)
	s.Ops[alcove.OpRecallGet] = func(request []byte) (any, error) {
		if string(request) != `{"recall_id":"rec:core"}` {
			t.Errorf("asked %s", request)
		}
		return map[string]any{"recall": map[string]any{"recall_id": "rec:core", "query": "tea", "agent": "ann", "facts": []map[string]any{{"namespace": "default", "key": "a"}}}}, nil
	}
	var out Rated
	must.Do(t, s.Tool("memory_record_recall_usage", map[string]any{"recallId": "rec:core", "usedFactIds": "a"}, &out))
	if out.Updated != 1 || s.Memory("a").Counters.Health != .25 {
		t.Errorf("memory_record_recall_usage = %+v, want 1 updated and a healthier", out)
	}
	must.Do(t, s.Tool("memory_record_recall_usage", map[string]any{"recallId": "rec:core", "usedFactIds": "a"}, &out))
	if out.Updated != 0 {
		t.Errorf("twice: %+v", out)
	}
}

func TestASupersededFactComesBehindItsSuccessorAndSaysWhichThatIs(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "limit20", Value: alcove.JSON("Limit: 20 connections, limit limit")},
		alcove.Memory{Key: "limit40", Value: alcove.JSON("Since May the limit of connections is 40"), Supersedes: []string{"limit20"}})
	for tool, arguments := range map[string]map[string]any{
		"memory_search_facts": {"topic": "limit connections"}, "memory_text_search": {"query": "limit connections"},
	} {
		var out Found
		must.Do(t, s.Tool(tool, arguments, &out))
		if len(out.Facts) != 2 || out.Facts[0].FactID.Key != "limit40" || !out.Facts[0].SupersededBy.IsZero() || out.Facts[1].SupersededBy.String() != "default#limit40" {
			t.Errorf("%s = %+v, want limit40, and limit20 superseded by it", tool, out.Facts)
		}
	}
}
