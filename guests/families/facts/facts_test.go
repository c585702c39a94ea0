package facts

import (
	"encoding/json"
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

func space(t *testing.T) *alcovetest.Space {
	t.Helper()
	return alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
}

const plain = "The event store uses PostgreSQL." // shows no emotion

func storeFact(t *testing.T, s *alcovetest.Space, arguments map[string]any) (out Stored) {
	t.Helper()
	must.Do(t, s.Tool("memory_store_fact", arguments, &out))
	return out
}

func TestAFactIsAMemoryOfItsType(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "old", Value: alcove.JSON("The event store uses MySQL.")})
	out := storeFact(t, s, map[string]any{
		"content": plain, "factType": "decision", "tags": "db", "entityIds": []string{"ent:pg"}, "confidence": .9, "summary": "Postgres", "pinned": true,
		"conversationId": "cnv:1", "supersedes": "old",
	})
	m := s.Memory(out.FactID.Key)
	if want := .8 + .05*math.Ln2; math.Abs(*m.Importance-want) > 1e-9 || out.Importance != .834657 || !out.Created || out.Version == 0 || out.Version != m.Version {
		t.Errorf("%+v, stored with %v at version %d; the importance should be %v", out, *m.Importance, m.Version, want)
	}
	if m.Type != "decision" || m.Text() != plain || !slices.Equal(m.Tags, []string{"db"}) || !slices.Equal(m.Supersedes, []string{"old"}) {
		t.Errorf("stored %+v, want a decision with its text, tag and what it supersedes", m)
	}
	for name, want := range map[string]string{
		fact.Confidence: "0.9", fact.Summary: `"Postgres"`, fact.Pinned: "true", fact.ConversationID: `"cnv:1"`, fact.EntityIDs: `["ent:pg"]`,
		fact.ObservationTier: `"background"`, fact.ImportanceTier: `"contextual"`,
	} {
		if got := string(m.Metadata[name]); got != want {
			t.Errorf("metadata %s: %s, want %s", name, got, want)
		}
	}
	if base, ok := fact.Number(m.Metadata[fact.BaseImportance]); !ok || base != *m.Importance {
		t.Errorf("the base importance is %v", base)
	}
	if ids, err := s.Search("postgresql", 1); err != nil || len(ids) != 1 || ids[0].Key != out.FactID.Key {
		t.Errorf("a search finds %v (%v)", ids, err)
	}
	err := s.Tool("memory_store_fact", map[string]any{"content": plain, "supersedes": "none"}, nil)
	if alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("it supersedes nothing: %v", err)
	}
}

func TestAFactStoredAgainIsTheSameFact(t *testing.T) {
	s := space(t)
	first := storeFact(t, s, map[string]any{"content": plain})
	again := storeFact(t, s, map[string]any{"content": plain})
	if again.Created || again.FactID != first.FactID || again.Version != first.Version {
		t.Errorf("first %+v, again %+v", first, again)
	}
	changed := storeFact(t, s, map[string]any{"content": plain, "tags": "db"})
	if changed.Created || changed.FactID != first.FactID || changed.Version <= first.Version {
		t.Errorf("with a tag %+v", changed)
	}
	s.DryRun = true
	if dry := storeFact(t, s, map[string]any{"content": "Another fact, in a dry run."}); dry.Version != 0 || !dry.Created {
		t.Errorf("in a dry run %+v", dry)
	}
}

func TestImportanceFollowsTheSettingOfTheMoment(t *testing.T) {
	s := space(t)
	first := storeFact(t, s, map[string]any{"content": plain, "factType": "decision"})
	s.Config["importance_weight_decision"] = .6
	second := storeFact(t, s, map[string]any{"content": plain + " And the cache, too.", "factType": "decision"})
	if first.Importance != .8 || second.Importance != .6 || *s.Memory(first.FactID.Key).Importance != .8 {
		t.Errorf("%v, then %v; the first became %v", first.Importance, second.Importance, *s.Memory(first.FactID.Key).Importance)
	}
	given := storeFact(t, s, map[string]any{"content": plain + " Important.", "factType": "decision", "importance": 0})
	if given.Importance != 0 {
		t.Errorf("a given importance of 0 is %v", given.Importance)
	}
}

func TestContentsBeyondTheLimitAreRefusedWithItsName(t *testing.T) {
	s := space(t)
	err := s.Tool("memory_store_fact", map[string]any{"content": strings.Repeat("x", 9<<10)}, nil)
	if alcove.CodeOf(err) != alcove.Exhausted || !strings.Contains(err.Error(), "max_fact_bytes, 8192") {
		t.Errorf("9 KiB: %v", err)
	}
	s.Config["max_fact_bytes"] = 10 << 10
	storeFact(t, s, map[string]any{"content": strings.Repeat("x", 9<<10)})
}

func TestAnEmotionIsReadFromTheWordsUnlessItIsGiven(t *testing.T) {
	s := space(t)
	for _, c := range []struct {
		arguments  map[string]any
		emotion    string
		importance float64
	}{
		{map[string]any{"content": "I am frustrated by the flaky build."}, "frustrated", .5 + .2*.7},
		{map[string]any{"content": "I am frustrated by the slow build.", "emotionalContext": "calm"}, "calm", .5 + .2*.5},
		{map[string]any{"content": "I am frustrated by the big build.", "emotionalContext": "calm", "emotionalWeight": .1}, "calm", .5 + .2*.1},
		{map[string]any{"content": "I am frustrated by the late build.", "emotionalWeight": 0}, "", .5},
		{map[string]any{"content": plain}, "", .5},
	} {
		out := storeFact(t, s, c.arguments)
		name, _ := s.Memory(out.FactID.Key).Metadata[fact.EmotionalContext].Text()
		if math.Abs(out.Importance-c.importance) > 1e-9 || name != c.emotion {
			t.Errorf("a fact of %v has emotion %q and importance %v, want %q and %v", c.arguments, name, out.Importance, c.emotion, c.importance)
		}
	}
}

func TestUpdateChangesWhatIsGivenAndKeepsTheRest(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "a", Value: alcove.JSON("one"), Tags: []string{"x"}, Type: "note", Metadata: alcove.Metadata{"kept": alcove.JSON(1), "gone": alcove.JSON(2)}})
	var out Updated
	must.Do(t, s.Tool("memory_update", map[string]any{"memory_id": "default#a", "importance": .9, "expires_at": "2030-01-01T00:00:00Z", "metadata": map[string]any{"gone": nil, "more": true}}, &out))
	m := s.Memory("a")
	if out.ID.String() != "default#a" || out.Version != m.Version || *m.Importance != .9 || m.Text() != "one" || !slices.Equal(m.Tags, []string{"x"}) || m.Type != "note" ||
		m.ExpiresAt != "2030-01-01T00:00:00.000000Z" {
		t.Errorf("memory_update = %+v and the memory is %+v, want its importance and expiry changed alone", out, m)
	}
	if string(m.Metadata["kept"]) != "1" || m.Metadata["gone"] != nil || string(m.Metadata["more"]) != "true" || string(m.Metadata[fact.BaseImportance]) != "0.9" {
		t.Errorf("the metadata are %q", m.Metadata)
	}
	must.Do(t, s.Tool("memory_update", map[string]any{"id": "a", "expires_at": nil, "tags": []string{}, "personal": true, "collection": "work", "pinned": true, "confidence": .4, "summary": "s", "factType": "plan"}, &out))
	if m = s.Memory("a"); m.ExpiresAt != "" || len(m.Tags) != 0 || m.Type != "plan" || string(m.Metadata[fact.Personal]) != "true" || string(m.Metadata[fact.Collection]) != `"work"` {
		t.Errorf("after memory_update: %+v, want a personal plan of collection work without tags or expiry", m)
	}
	before := out.Version
	must.Do(t, s.Tool("memory_update", map[string]any{"id": "a", "summary": "s"}, &out))
	if out.Version != before {
		t.Errorf("a change to what it was made version %d of %d", out.Version, before)
	}
	if err := s.Tool("memory_update", map[string]any{"id": "none", "pinned": true}, nil); alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("no memory: %v", err)
	}
}

func TestFactsAreListedByFields(t *testing.T) {
	s := space(t)
	day := func(n int) string { return s.Now.Add(time.Duration(n-10) * 24 * time.Hour).Format(time.RFC3339) }
	s.Put(
		alcove.Memory{Key: "d1", Value: alcove.JSON("one"), Type: "decision", Importance: new(.8), Tags: []string{"db"}, Timestamp: day(1)},
		alcove.Memory{Key: "d2", Value: alcove.JSON("two"), Type: "decision", Importance: new(.4), Tags: []string{"db", "sql"}, Timestamp: day(2)},
		alcove.Memory{Key: "o1", Value: alcove.JSON("three"), Type: "observation", Importance: new(.5), Timestamp: day(3), Counters: &alcove.Counters{Accesses: 3, LastAccess: day(9), Health: 1}},
		alcove.Memory{Key: "old", Value: alcove.JSON("four"), Type: "note", State: "archived", Timestamp: day(4)},
		alcove.Memory{Key: "turn", Value: alcove.JSON("five"), Type: "message", Timestamp: day(5)},
	)
	for _, c := range []struct {
		name      string
		arguments map[string]any
		want      []string
	}{
		{"all, newest first", map[string]any{}, []string{"o1", "d2", "d1"}},
		{"of a type", map[string]any{"factType": "decision"}, []string{"d2", "d1"}},
		{"of several types", map[string]any{"fact_type": []string{"note", "observation"}}, []string{"o1"}},
		{"with tags", map[string]any{"tags": []string{"db", "sql"}}, []string{"d2"}},
		{"important", map[string]any{"min_importance": .5}, []string{"o1", "d1"}},
		{"archived", map[string]any{"state": "archived"}, []string{"old"}},
		{"the most important first", map[string]any{"order": "importance"}, []string{"d1", "o1", "d2"}},
		{"the last used first", map[string]any{"order": "accessed", "limit": 1}, []string{"o1"}},
		{"by somebody else", map[string]any{"createdBy": "nobody"}, nil},
		{"within dates", map[string]any{"dateRange": map[string]any{"start": day(2), "end": s.Now.Add(-172 * time.Hour).UnixMilli()}}, []string{"d2"}},
	} {
		var out Page
		must.Do(t, s.Tool("memory_query_facts", c.arguments, &out))
		var keys []string
		for _, f := range out.Facts {
			keys = append(keys, f.FactID.Key)
		}
		if !slices.Equal(keys, c.want) {
			t.Errorf("%s: %q, want %q", c.name, keys, c.want)
		}
	}
	var page Page
	must.Do(t, s.Tool("memory_query_facts", map[string]any{"limit": 2}, &page))
	if !page.Truncated || len(page.Facts) != 2 || page.Facts[0].Importance != .5 || *page.Facts[0].EffectiveImportance != .5+.15+.125 {
		t.Errorf("memory_query_facts = %+v, want 2 facts, truncated, the first with importance .5 and effective .775", page)
	}
	var last Page
	must.Do(t, s.Tool("memory_query_facts", map[string]any{"limit": 2, "cursor": page.NextCursor}, &last))
	if last.Truncated || len(last.Facts) != 1 || last.Facts[0].FactID.Key != "d1" {
		t.Errorf("the second page is %+v", last)
	}
	if err := s.Tool("memory_query_facts", map[string]any{"dateRange": map[string]any{"start": true}}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("a range from true: %v", err)
	}
}

func TestABlankFactIsRefusedByTheNameOfItsArgument(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "note", Value: alcove.JSON("n"), Type: "note"}, alcove.Memory{Key: "counter", Value: alcove.JSON("1")})
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		named     string
	}{
		{"memory_store_fact", map[string]any{"content": " \n\t"}, "content"},
		{"memory_remember", map[string]any{"content": ""}, "content"},
		{"memory_learn", map[string]any{"knowledge": " "}, "knowledge"},
		{"memory_decide", map[string]any{"decision": " ", "reasoning": "It is the cheapest."}, "decision"},
		{"memory_update", map[string]any{"id": "note", "value": "  "}, "value"},
	} {
		err := s.Tool(c.tool, c.arguments, nil)
		if alcove.CodeOf(err) != alcove.InvalidArgument || !strings.Contains(err.Error(), c.named+" is blank") {
			t.Errorf("%s with %v = %v, want that %s is blank", c.tool, c.arguments, err, c.named)
		}
	}
	must.Do(t, s.Tool("memory_update", map[string]any{"id": "counter", "value": ""}, nil))
	must.Do(t, s.Tool("memory_update", map[string]any{"id": "note", "value": 0}, nil))
}

func TestWhatIsRememberedLearnedAndDecidedIsListedAndCounted(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "turn", Value: alcove.JSON("hello"), Type: "message", Timestamp: "2020-01-01T00:00:00Z"})
	var remembered Remembered
	for context, want := range map[string]float64{"critical": 1, "not important": 0, "": .5} {
		arguments := map[string]any{"content": "The bus to work leaves at nine, " + context, "tags": "bus"}
		if context != "" {
			arguments["context"] = context
		}
		must.Do(t, s.Tool("memory_remember", arguments, &remembered))
		if remembered.Importance != want {
			t.Errorf("%q: %v, want %v", context, remembered.Importance, want)
		}
		s.Now = s.Now.Add(time.Minute)
	}
	var kept Kept
	must.Do(t, s.Tool("memory_learn", map[string]any{"knowledge": "A lock of bbolt is held for the life of the file."}, &kept))
	if m := s.Memory(kept.MemoryID.Key); m.Type != "learning" || *m.Importance != .65 {
		t.Errorf("memory_learn keeps %+v, want a learning of importance .65", m)
	}
	s.Now = s.Now.Add(time.Minute)
	must.Do(t, s.Tool("memory_decide", map[string]any{"decision": "We take the bus.", "reasoning": "It is the cheapest.", "tags": []string{"bus"}}, &kept))
	if m := s.Memory(kept.MemoryID.Key); m.Type != "decision" || string(m.Value) != `{"decision":"We take the bus.","reasoning":"It is the cheapest."}` {
		t.Errorf("memory_decide keeps type %s, value %s, want a decision with its reasoning", m.Type, m.Value)
	}
	must.Do(t, s.Tool("memory_update_metadata", map[string]any{"memory_id": kept.MemoryID.String(), "collection": "travel"}, nil))
	var recent Recents
	must.Do(t, s.Tool("memory_recent", map[string]any{"limit": 2}, &recent))
	if recent.Count != 2 || recent.Memories[0].MemoryID != kept.MemoryID || recent.Memories[1].Type != "learning" {
		t.Errorf("memory_recent = %+v, want the decision, then the learning", recent)
	}
	var all Inventory
	must.Do(t, s.Tool("memory_digest", map[string]any{"limit": 2, "offset": 1}, &all))
	if all.Total != 6 || all.ByType["observation"] != 3 || all.ByType["decision"] != 1 || all.ByType["other"] != 1 || len(all.Memories) != 2 || all.Memories[0].Type != "learning" {
		t.Errorf("memory_digest = %+v, want 6 in all, counted by type, and 2 of them", all)
	}
	if !slices.Equal(all.Tags, []Named{{"bus", 4}}) || !slices.Equal(all.Collections, []Named{{"travel", 1}}) {
		t.Errorf("tags %v, collections %v", all.Tags, all.Collections)
	}
}

func TestFactsOfTheCoreGetTheirImportance(t *testing.T) {
	s := space(t)
	entry := func(key, kind string, importance *float64, metadata alcove.Metadata) alcove.Entry {
		return alcove.Entry{Namespace: "default", Collection: "memory", Key: key, Type: kind, Value: alcove.JSON(plain + key), Importance: importance, Metadata: metadata}
	}
	mark := alcove.Metadata{"auto_tag": alcove.Raw(`{"tags":["db"],"importance":0.3}`)}
	_, err := s.Store(
		entry("none", "decision", nil, nil), entry("tagged", "decision", new(.3), mark), entry("given", "decision", new(.31), mark),
		entry("moved", "observation", nil, alcove.Metadata{fact.EmotionalWeight: alcove.JSON(1), fact.EntityIDs: alcove.JSON([]string{"a", "b"})}), entry("turn", "message", nil, nil),
	)
	must.Do(t, err)
	for key, want := range map[string]float64{"none": .8, "tagged": .8, "given": .31, "moved": .5 + .2 + .05*math.Log(3)} {
		if got := *s.Memory(key).Importance; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if m := s.Memory("turn"); m.Importance != nil || len(m.Metadata) != 0 {
		t.Errorf("the turn is %+v, want no importance and no metadata", m)
	}
}

// kinds are the kinds of events that the family emitted, by its requests.
func emits(s *alcovetest.Space) *[]string {
	var kinds []string
	s.Ops[alcove.OpFeedEmit] = func(request []byte) (any, error) {
		var r struct {
			Kind    string
			Payload struct{ FactID, AgentID, ScopeID string }
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		kinds = append(kinds, r.Kind+" "+r.Payload.FactID+" "+r.Payload.AgentID+" "+r.Payload.ScopeID)
		return struct{}{}, nil
	}
	return &kinds
}

func TestStoredFactsAreClassifiedAndAnnounced(t *testing.T) {
	s := space(t)
	kinds := emits(s)
	_, err := s.Store(
		alcove.Entry{Namespace: "default", Key: "rule", Type: "steering_rule", Value: alcove.JSON("Never commit secrets; I was frustrated by it.")},
		alcove.Entry{Namespace: "default", Key: "turn", Type: "message", Value: alcove.JSON("hello")},
	)
	must.Do(t, err)
	version := s.Memory("rule").Version
	must.Do(t, s.Tell())
	m := s.Memory("rule")
	if m.Version != version {
		t.Errorf("the fact has version %d after the hook, want %d: it was classified before it was stored", m.Version, version)
	}
	if string(m.Metadata[fact.ObservationTier]) != `"critical"` || string(m.Metadata[fact.EmotionalContext]) != `"frustrated"` || string(m.Metadata[fact.EmotionalWeight]) != "0.7" {
		t.Errorf("the metadata are %q, want critical and frustrated with weight 0.7", m.Metadata)
	}
	out := storeFact(t, s, map[string]any{"content": plain})
	must.Do(t, s.Tell())
	must.Do(t, s.Tell())
	s.Put(alcove.Memory{Namespace: "default", Key: "missed", Type: "plan", Value: alcove.JSON(plain)}) // without the hook before the store
	must.Do(t, s.Tell())
	if missed := s.Memory("missed"); missed.Importance == nil || len(missed.Metadata[fact.ObservationTier]) == 0 {
		t.Errorf("what the hook before the store missed is %+v, want an importance and a tier", missed)
	}
	id := out.FactID.String()
	if want := []string{"fact_created " + id + " tester default", "fact_enriched " + id + " tester default", "fact_enriched default#missed  default"}; !slices.Equal(*kinds, want) {
		t.Errorf("announced %q, want %q", *kinds, want)
	}
	if now := s.Memory(out.FactID.Key); now.Version != out.Version {
		t.Errorf("a fact that was classified when it was stored is written again, as version %d", now.Version)
	}
	if m := s.Memory("turn"); len(m.Metadata) != 0 {
		t.Errorf("a turn is classified: %q", m.Metadata)
	}
}

func TestALanguageModelClassifiesWhereItIsAllowedTo(t *testing.T) {
	s := space(t)
	s.Config["classify_with_llm"] = true
	answer, fails := `Sure: {"tier":"notable","emotion":"Proud","weight":0.9}`, error(nil)
	s.Ops[alcove.OpLLMComplete] = func([]byte) (any, error) { return alcove.LLMCompleteResponse{Text: answer}, fails }
	for _, c := range []struct {
		answer        string
		fails         error
		tier, emotion string
	}{
		{answer, nil, `"notable"`, `"proud"`},
		{`{"tier":"supreme","emotion":"x","weight":7}`, nil, `"critical"`, ""},
		{"I cannot", nil, `"critical"`, ""},
		{"", alcove.Errorf(alcove.Unavailable, "no model"), `"critical"`, ""},
	} {
		answer, fails = c.answer, c.fails
		out := storeFact(t, s, map[string]any{"content": "A critical thing: " + c.answer + c.tier})
		must.Do(t, s.Tell())
		m := s.Memory(out.FactID.Key)
		if string(m.Metadata[fact.ObservationTier]) != c.tier || string(m.Metadata[fact.EmotionalContext]) != c.emotion {
			t.Errorf("answered %q the metadata are %q, want tier %s and emotion %s", c.answer, m.Metadata, c.tier, c.emotion)
		}
	}
}

func TestTheFamilyDoesWhatItsCallerMay(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Namespace: "secret", Key: "a", Value: alcove.JSON("one"), Type: "note"})
	s.Write = []string{"default"}
	if err := s.Tool("memory_update", map[string]any{"id": "secret#a", "pinned": true}, nil); alcove.CodeOf(err) != alcove.Denied && alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("a memory of another namespace: %v", err)
	}
	if err := s.Tool("memory_query_facts", map[string]any{"namespace": "secret"}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("facts of another namespace: %v", err)
	}
	s.Write, s.Read = []string{}, []string{"default"}
	if err := s.Tool("memory_store_fact", map[string]any{"content": plain}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("a caller that may not write: %v", err)
	}
	must.Do(t, s.Tool("memory_recent", map[string]any{}, nil))
}

func TestAFactOfBlanksIsRefused(t *testing.T) {
	s := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	for _, content := range []string{"", "   ", "\n\t"} {
		if err := s.Tool("memory_store_fact", map[string]any{"content": content}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
			t.Errorf("memory_store_fact of %q = %v, want %s", content, err, alcove.InvalidArgument)
		}
	}
}
