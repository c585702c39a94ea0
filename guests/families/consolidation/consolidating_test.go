package consolidation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

func manifest(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("manifest.json")
	must.Do(t, err)
	return data
}

func text(s string) alcove.Raw {
	data, _ := json.Marshal(s)
	return data
}

func of(v float64) *float64 { return &v }

// space has three memories that say the same, two that contradict each other, a cluster, and others.
func space(t *testing.T) *alcovetest.Space {
	t.Helper()
	s := alcovetest.New(t, Family(), manifest(t))
	s.Put(
		alcove.Memory{Key: "tea1", Value: text("Ann Lee prefers green tea in the morning"), Tags: []string{"tea"}},
		alcove.Memory{Key: "tea2", Value: text("Note: Ann Lee usually prefers green tea in the morning."), Tags: []string{"ann"}, Importance: of(.9), Links: []string{"other"}},
		alcove.Memory{Key: "tea3", Value: text("ann lee prefers green tea in the morning"), Tags: []string{"drinks"}},
		alcove.Memory{Key: "port1", Value: text("The billing service listens on port 8080"), Timestamp: "2026-05-01T00:00:00Z"},
		alcove.Memory{Key: "port2", Value: text("The billing service listens on port 9090"), Timestamp: "2026-05-02T00:00:00Z"},
		alcove.Memory{Key: "dog", Value: text("Bob walks his dog along the river")},
	)
	for i, city := range []string{"Hamburg", "Lisbon", "Oslo", "Prague"} {
		s.Put(alcove.Memory{Key: fmt.Sprint("deploy", i), Value: text("The nightly deploy of the search cluster to " + city + " failed"), Tags: []string{city}})
	}
	return s
}

func TestDuplicatesBecomeOneThatSupersedesTheRest(t *testing.T) {
	s := space(t)
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"duplicates"}}, &out))
	if out.Totals.Groups != 1 || out.Totals.Duplicates != 2 || out.Changed != 3 || out.Merged[0].Keep != "tea2" {
		t.Fatalf("memory_consolidate = %+v, want one group of which tea2 stays, with 3 changed", out)
	}
	kept := s.Memory("tea2")
	if !slices.Equal(kept.Tags, []string{"ann", "tea", "drinks"}) || *kept.Importance != .9 || kept.State != "active" ||
		!slices.Equal(kept.Supersedes, []string{"tea1", "tea3"}) || !slices.Equal(kept.Links, []string{"other", "tea1", "tea3"}) {
		t.Errorf("the one that is kept is %+v", kept)
	}
	for _, key := range []string{"tea1", "tea3"} {
		if m := s.Memory(key); m.State != "merged" || !slices.Equal(m.Links, []string{"tea2"}) || string(m.Value) == "" {
			t.Errorf("%s is %+v", key, m)
		}
	}
	if s.Memory("port1").State != "active" || len(out.Contradictions) != 0 {
		t.Error("more was done than was asked for")
	}
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"duplicates"}}, &out))
	if out.Changed != 0 {
		t.Errorf("the second time %d memories changed", out.Changed)
	}
}

func TestNoMemoryGetsMoreLinksThanItMayHave(t *testing.T) {
	s := alcovetest.New(t, Family(), manifest(t))
	links := make([]string, 120)
	for i := range links {
		links[i] = fmt.Sprint("other", i)
	}
	s.Put(alcove.Memory{Key: "a", Value: text("Ann Lee prefers green tea in the morning"), Links: links, Importance: of(1)})
	full := make([]string, 128)
	for i := range full {
		full[i] = fmt.Sprint("linked", i)
	}
	for i := range 60 {
		s.Put(alcove.Memory{Key: fmt.Sprintf("b%02d", i), Value: text("ann lee prefers green tea in the morning"), Links: full})
	}
	for range 3 { // what finds no room is merged into another one
		must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"duplicates"}}, nil))
	}
	for _, key := range []string{"a", "b00", "b01", "b59"} {
		if m := s.Memory(key); len(m.Links)+len(m.Supersedes) > 128 {
			t.Errorf("%s has %d links and supersedes %d", key, len(m.Links), len(m.Supersedes))
		}
	}
	if len(s.Memory("a").Supersedes) != 4 {
		t.Errorf("a supersedes %q", s.Memory("a").Supersedes)
	}
}

func TestADryRunChangesNothingAndReports(t *testing.T) {
	s := space(t)
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"dry_run": true}, &out))
	if !out.DryRun || out.Changed != 0 || s.Memory("tea1").State != "active" {
		t.Errorf("a dry run = %+v, want nothing changed", out)
	}
	for _, says := range []string{"Nothing was changed", "tea2 stands for tea1, tea3", "1 contradictions", "listens on port 9090", "newer is port2", "clusters"} {
		if !strings.Contains(out.Report, says) {
			t.Errorf("the report does not say %q:\n%s", says, out.Report)
		}
	}
	if out.Totals.Clusters != 1 || len(out.Clusters[0].Keys) != 4 || !slices.Contains(out.Clusters[0].About, "search") {
		t.Errorf("the clusters are %+v", out.Clusters)
	}
}

func TestWhatIsProposedIsSaidToBe(t *testing.T) {
	s := space(t)
	s.Ops[alcove.OpCallerGet] = func([]byte) (any, error) { return alcove.CallerGetResponse{Proposes: true}, nil }
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{}, &out))
	if !out.Proposed || !strings.Contains(out.Report, "proposed on a branch") {
		t.Errorf("proposed %v with report %q, want it proposed on a branch", out.Proposed, out.Report)
	}
}

func TestContradictionsAreOnlyReportedUnlessTheNewestWins(t *testing.T) {
	s := space(t)
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"contradictions"}}, &out))
	if len(out.Contradictions) != 1 || out.Contradictions[0].Newer != "port2" || out.Contradictions[0].Kind != "other value" || out.Changed != 0 {
		t.Fatalf("memory_consolidate = %+v, want one contradiction, port2 newer, and nothing changed", out)
	}
	s.Config["contradictions"] = "newest"
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"contradictions"}}, &out))
	if older, newer := s.Memory("port1"), s.Memory("port2"); older.State != "archived" || !slices.Equal(older.Links, []string{"port2"}) || !slices.Equal(newer.Supersedes, []string{"port1"}) {
		t.Errorf("older %+v, newer %+v, want the older archived and linked to the newer", older, newer)
	}
}

func TestClustersBecomeDigestsOnlyWhenThatIsWanted(t *testing.T) {
	s := space(t)
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"clusters"}}, nil))
	if s.Memory("deploy0").State != "active" {
		t.Error("a cluster was merged")
	}
	s.Config["merge_clusters"], s.Config["llm_endpoint"] = true, "small"
	s.Ops[alcove.OpLLMComplete] = func([]byte) (any, error) { return alcove.LLMCompleteResponse{Text: "Deploys failed everywhere."}, nil }
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"clusters"}}, &out))
	links := s.Memory("deploy0").Links
	if s.Memory("deploy3").State != "merged" || len(links) != 1 || out.Changed != 5 {
		t.Fatalf("links %q; %+v", links, out)
	}
	if digest := s.Memory(links[0]); string(digest.Value) != `"Deploys failed everywhere."` || len(digest.Supersedes) != 4 || len(digest.Tags) != 4 {
		t.Errorf("the digest is %+v", digest)
	}
}

func TestADigestWithoutAModelHasAllTexts(t *testing.T) {
	s := space(t)
	s.Config["merge_clusters"], s.Config["llm_endpoint"] = true, "small"
	s.Ops[alcove.OpLLMComplete] = func([]byte) (any, error) { return nil, alcove.Errorf(alcove.Unavailable, "not configured") }
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"clusters"}}, nil))
	digest := string(s.Memory(s.Memory("deploy0").Links[0]).Value)
	for _, city := range []string{"Hamburg", "Lisbon", "Oslo", "Prague"} {
		if !strings.Contains(digest, city) {
			t.Errorf("%s is not in %s", city, digest)
		}
	}
}

func TestThePartStaleIsOneOfLifecycle(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "old", Value: text("nobody recalls this"), Importance: of(.1), Timestamp: "2020-01-01T00:00:00Z"})
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"stale"}}, &out))
	if out.Changed != 0 || !strings.Contains(out.Note, "lifecycle") || !strings.Contains(out.Report, "memory_list_stale_facts") || s.Memory("old").State != "active" {
		t.Errorf("memory_consolidate of stale = %+v, want nothing changed and lifecycle named", out)
	}
	must.Do(t, s.Tool("memory_consolidate", map[string]any{}, &out))
	if s.Memory("old").State != "active" || s.Memory("tea1").State != "merged" {
		t.Errorf("memory_consolidate = %+v, want tea1 merged and old still active", out)
	}
}

func TestTurnsOfConversationsAreLeftAsTheyAre(t *testing.T) {
	s := alcovetest.New(t, Family(), manifest(t))
	for i := range 3 {
		s.Put(alcove.Memory{Key: fmt.Sprint(i), Value: text("Thanks a lot for the wonderful evening"), Metadata: alcove.Metadata{"session": alcove.Raw(`"s1"`)}})
	}
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{}, &out))
	if out.Read != 0 || out.Turns != 3 || out.Changed != 0 {
		t.Errorf("memory_consolidate = %+v, want 3 turns left unread", out)
	}
}

func TestObjectsAreComparedByTheirNamesAndNumbers(t *testing.T) {
	s := alcovetest.New(t, Family(), manifest(t))
	s.Put(
		alcove.Memory{Key: "a", Value: alcove.Raw(`{"service":"billing","region":"Frankfurt","port":8080}`)},
		alcove.Memory{Key: "b", Value: alcove.Raw(`{"region":"Frankfurt","service":"billing","port":8080}`)},
		alcove.Memory{Key: "c", Value: alcove.Raw(`{"service":"billing","region":"Frankfurt","port":9090}`)},
	)
	var groups duplicates
	must.Do(t, s.Tool("memory_find_duplicates", map[string]any{}, &groups))
	if groups.Total != 1 || len(groups.Groups[0].Keys) != 1 || groups.Groups[0].Keep == "c" {
		t.Errorf("duplicates: %+v", groups)
	}
	var pairs contradictions
	must.Do(t, s.Tool("memory_find_contradictions", map[string]any{}, &pairs))
	if pairs.Total != 1 || pairs.Contradictions[0].B != "c" {
		t.Errorf("contradictions: %+v", pairs)
	}
}

func TestTheScheduledJobDoesNothingUntilItIsEnabled(t *testing.T) {
	s := space(t)
	must.Do(t, s.Job("consolidate", nil, nil))
	if s.Memory("tea1").State != "active" || len(s.Calls) != 0 {
		t.Errorf("it called %v", s.Calls)
	}
	s.Config["enabled"] = true
	must.Do(t, s.Job("consolidate", nil, nil))
	if s.Memory("tea1").State != "merged" || s.Record(reports.Name, fmt.Sprintf("%020d", 1)) == nil {
		t.Error("it is enabled, and nothing was done, or not reported")
	}
	s.Config["namespaces"] = []string{"default", "team"}
	before := len(s.Jobs())
	must.Do(t, s.Job("consolidate", nil, nil))
	if n := len(s.Jobs()) - before; n != 1+2 {
		t.Errorf("%d jobs ran for two namespaces", n)
	}
	before = len(s.Jobs())
	s.Config["namespaces"] = []string{"*"}
	must.Do(t, s.Job("consolidate", nil, nil))
	if n := len(s.Jobs()) - before; n != 1+1 {
		t.Errorf("%d jobs ran for all of one namespace", n)
	}
}

func TestAJobResumesBehindWhatARunCommitted(t *testing.T) {
	s := alcovetest.New(t, familyOf(pageSize), manifest(t))
	for i := range pageSize + 10 {
		city := []string{"Hamburg", "Lisbon", "Oslo", "Prague", "Riga"}[i%5]
		s.Put(alcove.Memory{Key: fmt.Sprintf("k%03d", i), Value: text(fmt.Sprintf("Service number%d runs in %s since release%d", i/2, city, i*7))})
	}
	s.Put(
		alcove.Memory{Key: "k000a", Value: text("Ann Lee prefers green tea in the morning")}, alcove.Memory{Key: "k000b", Value: text("ann lee prefers green tea in the morning")},
		alcove.Memory{Key: "z1", Value: text("Bob walks his dog along the river")}, alcove.Memory{Key: "z2", Value: text("bob walks his dog along the river")},
	)
	s.Ops[alcove.OpRecordAppend] = func(request []byte) (any, error) {
		if s.Memory("k000b").State == "active" {
			return alcove.RecordAppendResponse{Sequences: []uint64{1}}, nil
		}
		return nil, alcove.Errorf(alcove.Unavailable, "the second run fails")
	}
	if err := s.Job("consolidate", map[string]any{"namespace": "default", "only": []string{"duplicates"}}, nil); err != nil {
		t.Fatal(err)
	}
	states := func() string {
		return s.Memory("k000a").State + " " + s.Memory("k000b").State + ", " + s.Memory("z1").State + " " + s.Memory("z2").State
	}
	if got := states(); got != "active merged, active active" {
		t.Fatalf("after a run, and one that failed, the memories are %s", got)
	}
	delete(s.Ops, alcove.OpRecordAppend)
	s.Calls, s.Now = nil, s.Now.Add(time.Hour) // the run that failed is tried again
	must.Do(t, s.Tell())
	lists := len(slices.DeleteFunc(s.Calls, func(op alcove.Op) bool { return op != alcove.OpMemoryList }))
	if got := states(); got != "active merged, active merged" || lists != 1 {
		t.Errorf("after it resumed, with %d pages read, the memories are %s", lists, got)
	}
}

func TestACallInTheBackgroundIsAJob(t *testing.T) {
	s := space(t)
	var out result
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"background": true}, &out))
	if out.Job == "" || s.Memory("tea1").State != "active" || out.Namespace != "default" {
		t.Errorf("memory_consolidate in the background = %+v, want a job and nothing changed yet", out)
	}
	must.Do(t, s.RunJobs())
	if s.Memory("tea1").State != "merged" {
		t.Error("the job did nothing")
	}
}

func TestAPartThatThereIsNotIsAnError(t *testing.T) {
	if err := space(t).Tool("memory_consolidate", map[string]any{"only": []string{"everything"}}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("the error is %v", err)
	}
}

func TestTheManifestHasTheNumbersOfTheCode(t *testing.T) {
	var m struct {
		Config []struct {
			Key     string
			Default json.RawMessage
		}
	}
	must.Do(t, json.Unmarshal(manifest(t), &m))
	defaults := map[string]json.RawMessage{}
	for _, setting := range m.Config {
		defaults[setting.Key] = setting.Default
	}
	data, err := json.Marshal(defaults)
	must.Do(t, err)
	var got Config
	must.Do(t, (&alcove.Call{Config: data}).ReadConfig(got.CodeSettings))
	var want Config
	must.Do(t, (&alcove.Call{}).ReadConfig(want.CodeSettings))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the manifest says %+v, the code %+v", got, want)
	}
}

func TestWhatIsKnownAlreadyIsADuplicate(t *testing.T) {
	s := space(t)
	for content, want := range map[string]struct {
		duplicate bool
		merge     []string
		nearest   string
	}{
		"Ann Lee prefers green tea in the morning.": {true, []string{"tea1", "tea2", "tea3"}, "same"},
		"The billing service listens on port 7070":  {false, nil, "other value"},
		"Bob walks his dog to the market":           {false, nil, ""},
		"Quarterly planning is in Lisbon":           {false, nil, ""},
	} {
		var out checked
		must.Do(t, s.Tool("memory_check_duplicate", map[string]any{"content": content}, &out))
		key := strings.TrimPrefix(out.SuggestedMerge, "default#")
		if out.IsDuplicate != want.duplicate || want.duplicate != slices.Contains(want.merge, key) || want.nearest != "" && out.Nearest[0].Relation != want.nearest {
			t.Errorf("memory_check_duplicate of %q = %+v, want duplicate %t of one of %q, nearest %q", content, out, want.duplicate, want.merge, want.nearest)
		}
		if len(out.Nearest) > mostNear || !slices.IsSortedFunc(out.Nearest, func(a, b near) int { return cmp.Compare(b.Similarity, a.Similarity) }) {
			t.Errorf("%q: the nearest are %+v", content, out.Nearest)
		}
	}
	if err := s.Tool("memory_check_duplicate", map[string]any{"content": "x", "threshold": .4}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("a threshold below a half: %v", err)
	}
}

func TestTwoMemoriesAreComparedAndTheReasonIsSaid(t *testing.T) {
	s := space(t)
	for pair, want := range map[[2]string]detected{
		{"port1", "port2"}: {true, "the same has another value: 8080 and 9090"},
		{"tea1", "tea3"}:   {false, "they say the same"},
		{"dog", "tea1"}:    {false, "they are about different things"},
	} {
		var out detected
		must.Do(t, s.Tool("memory_detect_contradiction", map[string]any{"id_a": pair[0], "id_b": "default#" + pair[1]}, &out))
		if out != want {
			t.Errorf("memory_detect_contradiction of %q = %+v, want %+v", pair, out, want)
		}
	}
	if err := s.Tool("memory_detect_contradiction", map[string]any{"id_a": "dog", "id_b": "nothing"}, nil); alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("with a memory that is not there: %v", err)
	}
}
