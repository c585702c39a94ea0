package autotag

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

func space(t *testing.T) *alcovetest.Space {
	t.Helper()
	manifest, err := os.ReadFile("manifest.json")
	must.Do(t, err)
	return alcovetest.New(t, Family(), manifest)
}

func text(s string) alcove.Raw {
	data, _ := json.Marshal(s)
	return data
}

const decided = "We decided to use PostgreSQL for billing. Ann Lee pays $40 for it since 2026-03-14."

func TestAStoreAddsWhatIsMissingAndKeepsWhatWasGiven(t *testing.T) {
	s := space(t)
	given := .1
	changes, err := s.Store(
		alcove.Entry{Collection: "memory", Namespace: "default", Key: "a", Value: text(decided)},
		alcove.Entry{Collection: "memory", Namespace: "default", Key: "b", Value: text(decided), Tags: []string{"zeta", "billing"}, Type: "fact", Importance: &given, Metadata: alcove.Metadata{"own": alcove.Raw("1")}},
		alcove.Entry{Collection: "memory", Namespace: "default", Key: "c", Value: text(decided), Metadata: alcove.Metadata{markName: alcove.Raw(`"mine"`)}},
	)
	must.Do(t, err)
	a, b := changes[0], changes[1]
	if a.Type == nil || *a.Type != "decision" || a.Importance == nil || !slices.Contains(a.Tags, "postgresql") || !slices.Contains(a.Tags, "ann-lee") {
		t.Errorf("nothing was given, and the change is %+v", a)
	}
	var m mark
	must.Do(t, json.Unmarshal(a.Metadata[markName], &m))
	if !slices.Equal(m.Tags, a.Tags) || !slices.Equal(m.Dates, []string{"2026-03-14"}) || !slices.Equal(m.Numbers, []string{"$40"}) || m.Type != "decision" {
		t.Errorf("the mark is %+v", m)
	}
	if !slices.Equal(b.Tags[:2], []string{"zeta", "billing"}) || b.Type != nil || b.Importance != nil || len(b.Metadata) != 1 {
		t.Errorf("all was given, and the change is %+v", b)
	}
	if changes[2] != nil {
		t.Errorf("metadata of others are changed: %+v", changes[2])
	}
}

func TestAnotherCollectionIsNotTagged(t *testing.T) {
	out, err := Family().Handle(nil, alcove.KindHook, []byte(`{"hook":"store","config":{"max_tags":5},"entries":[{"collection":"other","key":"d","value":"We decided to use PostgreSQL"}]}`))
	must.Do(t, err)
	if string(out) != `{"entries":[null]}` {
		t.Errorf("the hook answers %s", out)
	}
}

func TestAMarkIsWrittenAsEncodingJSONDoes(t *testing.T) {
	for _, m := range []mark{{}, {Tags: []string{"a", "b\"c"}, Type: "plan", Importance: .65, Names: []string{"Zoë"}, Dates: []string{"x"}, Numbers: []string{"1"}}} {
		want, err := json.Marshal(m)
		must.Do(t, err)
		if got := alcove.JSON(m); string(got) != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestAStoreAsksTheHostOnce(t *testing.T) {
	s := space(t)
	var entries []alcove.Entry
	for i := range 100 {
		entries = append(entries, alcove.Entry{Collection: "memory", Namespace: "default", Key: fmt.Sprint(i), Value: text(decided)})
	}
	learned, err := alcove.ParseTime("2026-06-01T11:00:00Z")
	must.Do(t, err)
	s.PutRecord(vocabulary.Name, overviewKey, overview{Learned: learned})
	_, err = s.Store(entries...)
	must.Do(t, err)
	if !slices.Equal(s.Calls, []alcove.Op{alcove.OpRecordGet}) {
		t.Errorf("the calls are %v", s.Calls)
	}
}

func TestAStoreGoesOnWithoutItsVocabulary(t *testing.T) {
	s := space(t)
	s.Ops[alcove.OpRecordGet] = func([]byte) (any, error) { return nil, alcove.Errorf(alcove.Denied, "not granted") }
	changes, err := s.Store(alcove.Entry{Collection: "memory", Key: "a", Value: text(decided)})
	must.Do(t, err)
	if len(changes[0].Tags) == 0 || len(s.Logged) != 1 {
		t.Errorf("%+v, logged %q", changes[0], s.Logged)
	}
}

func TestWithoutAVocabularyOneIsLearnedInTheBackground(t *testing.T) {
	s := space(t)
	for i := range 64 {
		_, err := s.Store(alcove.Entry{Collection: "memory", Namespace: "default", Key: fmt.Sprintf("key-%d", i), Value: text(decided)})
		must.Do(t, err)
	}
	if n := len(s.Queued()); n != 1 {
		t.Fatalf("%d jobs were queued", n)
	}
	must.Do(t, s.RunJobs())
	s.Calls = nil
	for i := range 64 {
		_, err := s.Store(alcove.Entry{Collection: "memory", Namespace: "default", Key: fmt.Sprintf("key-%d", i), Value: text(decided)})
		must.Do(t, err)
	}
	if slices.Contains(s.Calls, alcove.OpJobEnqueue) {
		t.Error("it is learned although it is fresh")
	}
}

// tagged is a memory with tags.
func tagged(key string, tags ...string) alcove.Memory {
	return alcove.Memory{Key: key, Value: text("nothing to see"), Tags: tags}
}

func TestLearnedTagsDrawOthersToThem(t *testing.T) {
	s := space(t)
	for i := range 12 {
		s.Put(tagged(fmt.Sprintf("m%d", i), "databases", "kubernetes"))
	}
	s.Put(tagged("slip", "kuberentes"), tagged("one", "database"))
	var out Learned
	must.Do(t, s.Job("learn", Learn{Namespace: "default"}, &out))
	if out.Documents != 14 || out.Folded != 2 {
		t.Errorf("learned %+v", out)
	}
	changes, err := s.Store(alcove.Entry{Collection: "memory", Namespace: "default", Key: "x", Value: text("The kuberentes operator backs up each database.")})
	must.Do(t, err)
	if !slices.Contains(changes[0].Tags, "databases") || !slices.Contains(changes[0].Tags, "kubernetes") || slices.Contains(changes[0].Tags, "database") {
		t.Errorf("the tags are %q", changes[0].Tags)
	}
}

func TestWordsOfAllMemoriesBecomeCommon(t *testing.T) {
	s := space(t)
	for i := range 60 {
		s.Put(alcove.Memory{Key: fmt.Sprint(i), Value: text(fmt.Sprintf("Client number %c wants a gadget%d", 'a'+i%26, i))})
	}
	must.Do(t, s.Job("learn", nil, nil)) // on schedule: each namespace by a job of its own
	must.Do(t, s.RunJobs())
	var o overview
	must.Do(t, scan.Decode(s.Record(vocabulary.Name, overviewKey).Value, &o))
	if !slices.Contains(o.Common, "client") || slices.Contains(o.Common, "gadget7") {
		t.Errorf("common are %q", o.Common)
	}
}

func TestOneMemoryIsTaggedAndTaggedAgain(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "a", Value: text(decided), Tags: []string{"given"}})
	var out AutoTagged
	must.Do(t, s.Tool("memory_auto_tag", map[string]any{"id": "a", "apply": false}, &out))
	if out.Applied || len(s.Memory("a").Tags) != 1 || len(out.Added) == 0 {
		t.Errorf("only asked: %+v", out)
	}
	must.Do(t, s.Tool("memory_auto_tag", map[string]any{"id": "a"}, &out))
	if m := s.Memory("a"); !out.Applied || m.Type != "decision" || m.Tags[0] != "given" || !slices.Contains(m.Tags, "postgresql") {
		t.Errorf("memory_auto_tag = %+v and the memory is %+v, want a decision with the given tag first and postgresql", out, m)
	}
	must.Do(t, s.Tool("memory_auto_tag", map[string]any{"id": "a"}, &out))
	if out.Applied {
		t.Errorf("the second time changed %+v", out)
	}
	m := *s.Memory("a")
	m.Value = text("The build crashed: segfault in the parser.")
	s.Put(m)
	must.Do(t, s.Tool("memory_auto_tag", map[string]any{"id": "a"}, &out))
	if m := s.Memory("a"); !slices.Contains(m.Tags, "given") || slices.Contains(m.Tags, "postgresql") || !slices.Contains(m.Tags, "segfault") || m.Type != "error" {
		t.Errorf("after another text: %+v", m)
	}
}

func TestWhatCannotBeTaggedIsAnError(t *testing.T) {
	s := space(t)
	for code, in := range map[alcove.Code]map[string]any{alcove.NotFound: {"id": "nowhere"}, alcove.InvalidArgument: {}} {
		if err := s.Tool("memory_auto_tag", in, nil); alcove.CodeOf(err) != code {
			t.Errorf("memory_auto_tag of %v: %v, want %s", in, err, code)
		}
	}
	if err := s.Tool("memory_suggest_tags", map[string]any{"text": ""}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("no text: %v", err)
	}
}

func TestSuggestionsPreferWhatIsRare(t *testing.T) {
	s := space(t)
	for i := range 40 {
		s.Put(alcove.Memory{Key: fmt.Sprint(i), Value: text("gadget report")})
	}
	var out Suggested
	must.Do(t, s.Tool("memory_suggest_tags", map[string]any{"text": "The widget is beside the gadget", "k": 1}, &out))
	if len(out.Tags) != 1 || out.Tags[0].Tag != "widget" || out.Type != "observation" {
		t.Errorf("memory_suggest_tags = %+v, want the tag widget and type observation", out)
	}
	if s.Memory("0").Tags != nil {
		t.Error("suggesting changed a memory")
	}
}

func TestALanguageModelIsAskedOnlyWhereOneIsConfigured(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "a", Value: text(decided)})
	asked := 0
	answer := `Sure! {"tags": ["Data Stores", "money"], "type": "plan", "importance": 0.9}`
	s.Ops[alcove.OpLLMComplete] = func(request []byte) (any, error) {
		asked++
		if !strings.Contains(string(request), "PostgreSQL") || !strings.Contains(string(request), `"endpoint":"small"`) {
			t.Errorf("asked %s", request)
		}
		if answer == "" {
			return nil, alcove.Errorf(alcove.Unavailable, "not configured")
		}
		return alcove.LLMCompleteResponse{Text: answer}, nil
	}
	var out AutoTagged
	must.Do(t, s.Tool("memory_auto_tag", map[string]any{"id": "a", "apply": false}, &out))
	if asked != 0 || out.Source != "text" {
		t.Errorf("asked %d times: %+v", asked, out)
	}
	s.Config["llm_endpoint"] = "small"
	must.Do(t, s.Tool("memory_auto_tag", map[string]any{"id": "a", "apply": false}, &out))
	if asked != 1 || out.Source != "llm" || out.Type != "plan" || out.Importance != .9 || !slices.Equal(out.Tags, []string{"data-stores", "money"}) {
		t.Errorf("asked %d times: %+v", asked, out)
	}
	for _, answer = range []string{"", "no JSON", `{"tags": 7}`, `{"tags": []}`, "}{"} {
		must.Do(t, s.Tool("memory_auto_tag", map[string]any{"id": "a", "apply": false}, &out))
		if out.Source != "text" || !slices.Contains(out.Tags, "postgresql") {
			t.Errorf("answer %q: %+v", answer, out)
		}
	}
	_, err := s.Store(alcove.Entry{Collection: "memory", Key: "b", Value: text(decided)})
	must.Do(t, err)
	if asked != 6 {
		t.Errorf("a store asked the model: %d", asked)
	}
}

func TestTagsAreMergedInMemoriesAndFromThenOn(t *testing.T) {
	s := space(t)
	s.Put(tagged("a", "k8s", "x"), tagged("b", "kubernetes", "kube"), tagged("c", "x"))
	var out MergedTags
	must.Do(t, s.Tool("memory_merge_tags", map[string]any{"from": []string{"k8s", "kube"}, "into": "kubernetes"}, &out))
	if out.Changed != 2 || !slices.Equal(s.Memory("a").Tags, []string{"x", "kubernetes"}) || !slices.Equal(s.Memory("b").Tags, []string{"kubernetes"}) {
		t.Errorf("memory_merge_tags = %+v, a has %q and b has %q, want 2 changed to kubernetes", out, s.Memory("a").Tags, s.Memory("b").Tags)
	}
	must.Do(t, s.Job("learn", Learn{Namespace: "default", Force: true}, nil))
	changes, err := s.Store(alcove.Entry{Collection: "memory", Namespace: "default", Key: "d", Value: text("The k8s ingress")})
	must.Do(t, err)
	if !slices.Contains(changes[0].Tags, "kubernetes") || slices.Contains(changes[0].Tags, "k8s") {
		t.Errorf("the tags are %q", changes[0].Tags)
	}
}

func TestMergesAreProposedAndNothingChanges(t *testing.T) {
	s := space(t)
	s.Put(tagged("a", "database"), tagged("b", "databases"), tagged("c", "database", "other"))
	var out MergedTags
	must.Do(t, s.Tool("memory_merge_tags", map[string]any{}, &out))
	if len(out.Groups) != 1 || out.Groups[0].Into != "database" || !slices.Equal(out.Groups[0].From, []string{"databases"}) {
		t.Errorf("memory_merge_tags = %+v, want databases proposed to go into database", out)
	}
	if !slices.Equal(s.Memory("b").Tags, []string{"databases"}) {
		t.Errorf("the tags are %q", s.Memory("b").Tags)
	}
	if err := s.Tool("memory_merge_tags", map[string]any{"into": "x"}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("into alone: %v", err)
	}
}

func TestANamespaceIsTaggedBatchByBatch(t *testing.T) {
	s := space(t)
	for i := range 2*retagSize + 7 {
		s.Put(alcove.Memory{Key: fmt.Sprintf("m%04d", i), Value: text("Ann Lee deployed to Hamburg")})
	}
	s.Put(alcove.Memory{Key: "old", Value: text("Ann Lee deployed to Hamburg"), State: "archived"})
	var started Retagging
	must.Do(t, s.Tool("memory_retag", map[string]any{}, &started))
	must.Do(t, s.RunJobs())
	for i := range 2*retagSize + 7 {
		if m := s.Memory(fmt.Sprintf("m%04d", i)); !slices.Contains(m.Tags, "ann-lee") {
			t.Fatalf("%s has the tags %q", m.Key, m.Tags)
		}
	}
	if s.Memory("old").Tags != nil {
		t.Error("what is archived was tagged")
	}
	if !slices.Contains(s.Progress, "400/0 tagging") {
		t.Errorf("the progress is %q", s.Progress)
	}
	s.Ops[alcove.OpJobStatus] = func([]byte) (any, error) { return alcove.JobStatusResponse{ID: "j", State: "done"}, nil }
	var state Retagging
	must.Do(t, s.Tool("memory_retag", map[string]any{"job": started.Job}, &state))
	if state.State == nil || state.State.State != "done" {
		t.Errorf("memory_retag of the job = %+v, want state done", state)
	}
}

func TestAQueryIsExpandedByWhatMemoriesAboutItShare(t *testing.T) {
	s := space(t)
	s.Put(
		alcove.Memory{Key: "a", Value: text("The billing service stores invoices in PostgreSQL"), Tags: []string{"payments"}},
		alcove.Memory{Key: "b", Value: text("Backups of the billing PostgreSQL run at night"), Tags: []string{"payments"}},
		alcove.Memory{Key: "c", Value: text("Ann walks her dog"), Tags: []string{"animals"}},
	)
	var out Expanded
	must.Do(t, s.Tool("memory_expand_query", map[string]any{"query": "billing"}, &out))
	if len(out.Terms) == 0 || out.Source != "text" || !slices.Contains(out.Terms[:2], "postgresql") || !slices.Contains(out.Terms[:2], "payments") ||
		slices.Contains(out.Terms, "billing") || slices.Contains(out.Terms, "animals") {
		t.Errorf("billing is expanded by %+v", out)
	}
	must.Do(t, s.Tool("memory_expand_query", map[string]any{"query": "billing", "k": 1}, &out))
	if len(out.Terms) != 1 {
		t.Errorf("with k 1, by %+v", out)
	}
	must.Do(t, s.Tool("memory_expand_query", map[string]any{"query": "zeppelin"}, &out))
	if out.Terms == nil || len(out.Terms) != 0 {
		t.Errorf("what no memory is about is expanded by %+v", out)
	}
}
