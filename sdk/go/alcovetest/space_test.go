package alcovetest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// run runs a handler, as a tool, in a space with the memory tea.
func run(t *testing.T, handle func(*alcove.Call) error) (*alcovetest.Space, error) {
	t.Helper()
	s := alcovetest.New(t, serving(handle), []byte(manifest))
	s.Put(alcove.Memory{Key: "tea", Value: alcove.JSON("green tea"), Tags: []string{"drink"}, Type: "fact"})
	return s, s.Tool("tag_memory", map[string]any{"key": "tea"}, nil)
}

func serving(handle func(*alcove.Call) error) *alcove.Family {
	f := alcove.New()
	f.HandleTool("tag_memory", func(c *alcove.Call, _ alcove.Raw) (alcove.Raw, error) { return alcove.Raw("{}"), handle(c) })
	return f
}

func TestEveryOperationIsThatOfTheHost(t *testing.T) {
	answers := map[abi.Op]error{}
	_, err := run(t, func(c *alcove.Call) error {
		for op := range abi.Ops() {
			_, answers[op] = c.Do(alcove.Op(op), alcove.Raw(`{"misspelled":1}`))
		}
		return nil
	})
	if err != nil || len(answers) < 43 {
		t.Fatalf("%d operations (%v)", len(answers), err)
	}
	for op, err := range answers {
		code := alcove.CodeOf(err)
		if !(code == alcove.InvalidArgument && strings.Contains(err.Error(), `"misspelled"`)) && code != alcove.Denied {
			t.Errorf("%s with a misspelled argument: %v, want it refused by name, or denied", op, err)
		}
	}
}

func TestWhatIsStoredIsSearchedWithFilters(t *testing.T) {
	_, err := run(t, func(c *alcove.Call) error {
		for types, want := range map[string]int{"fact": 1, "plan": 0} {
			found, err := c.MemorySearch(alcove.MemorySearchRequest{Query: "tea", Types: []string{types}})
			if err != nil || len(found.Hits) != want {
				t.Errorf("%s: %d hits (%v)", types, len(found.Hits), err)
			}
		}
		branches, err := c.BranchList()
		if alcove.CodeOf(err) != alcove.Denied {
			t.Errorf("what the manifest does not ask for: %v (%v)", branches, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWhatAFailedRequestStagedIsThrownAway(t *testing.T) {
	for name, c := range map[string]struct {
		fail error
		dry  bool
	}{"failed": {fail: alcove.Errorf(alcove.Conflict, "no")}, "rehearsed": {dry: true}, "kept": {}} {
		s := alcovetest.New(t, serving(func(call *alcove.Call) error {
			if _, err := call.Store("green").Key("new").Put(); err != nil {
				return err
			}
			_, err := call.RecordPut(alcove.RecordPutRequest{Collection: "seen", Items: []alcove.RecordItem{{Key: "k", Value: alcove.JSON(1)}}})
			if err == nil && c.fail != nil {
				err = c.fail
			}
			return err
		}), []byte(manifest))
		s.Revoke("store")
		s.DryRun = c.dry
		err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil)
		kept := s.Memory("new") != nil
		if kept != (name == "kept") || kept != (s.Record("seen", "k") != nil) || alcove.CodeOf(err) != alcove.CodeOf(c.fail) {
			t.Errorf("%s: kept %v (%v)", name, kept, err)
		}
	}
}

func TestCallersHaveTheirRightsOnly(t *testing.T) {
	s, err := run(t, func(c *alcove.Call) error {
		_, err := c.MemoryGet(alcove.MemoryGetRequest{Namespace: "secret", Keys: []string{"k"}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Read, s.Write = []string{"default"}, []string{"default"}
	if err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("a namespace that the caller may not read: %v", err)
	}
	s.Read, s.Write = []string{"default"}, []string{}
	if err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("a caller who may write nothing: %v", err)
	}
}

func TestHooksAreAsked(t *testing.T) {
	var told []string
	f := alcove.New()
	f.OnStore(func(c *alcove.Call, entries []alcove.Entry) ([]*alcove.Change, error) {
		c.Log("about %s", entries[0].Key)
		switch entries[0].Key {
		case "secret":
			return nil, alcove.Refuse("no secrets")
		case "broken":
			panic("no luck")
		}
		return []*alcove.Change{{Tags: []string{"seen"}}}, nil
	})
	f.OnStored(func(_ *alcove.Call, entries []alcove.Entry) error {
		for _, e := range entries {
			told = append(told, e.Key)
		}
		return nil
	})
	f.OnRank(func(r *alcove.Ranking) error {
		for i, v := range r.Columns[1] {
			if v == v { // else it has no importance
				r.Scores[i] = v
			}
		}
		return nil
	})
	f.OnEmbed(func(in *alcove.Texts) ([][]float32, error) { return [][]float32{{1, float32(len(in.Texts[0]))}}, nil })
	s := alcovetest.New(t, f, []byte(manifest))

	changes, err := s.Store(alcove.Entry{Key: "tea", Value: alcove.JSON("tea")})
	if err != nil || changes[0].Tags[0] != "seen" || s.Memory("tea").Tags[0] != "seen" || !slices.Equal(s.Logged, []string{"about tea"}) {
		t.Errorf("%+v, logged %q (%v)", changes, s.Logged, err)
	}
	if _, err := s.Store(alcove.Entry{Key: "secret", Value: alcove.JSON(1)}); alcove.CodeOf(err) != alcove.Denied || !strings.Contains(err.Error(), "no secrets") {
		t.Errorf("a refusal: %v", err)
	}
	if _, err := s.Store(alcove.Entry{Key: "broken", Value: alcove.JSON(1)}); alcove.CodeOf(err) != alcove.Unavailable || !strings.Contains(err.Error(), "panic: no luck (space_test.go:") {
		t.Errorf("a panic: %v", err)
	}
	if err := s.Tell(); err != nil || !slices.Equal(told, []string{"tea"}) {
		t.Errorf("it was told of %q (%v)", told, err)
	}
	s.Put(alcove.Memory{Key: "vital", Value: alcove.JSON("the tea that matters, in many more words than the other"), Importance: new(.9)})
	if ids, err := s.Search("tea", 2); err != nil || len(ids) != 2 || ids[0].Key != "vital" {
		t.Errorf("the search finds %v (%v)", ids, err)
	}
	if scores, err := s.Rank("tea", []float32{1, 2}, []float32{3, 4}); err != nil || !slices.Equal(scores, []float32{3, 4}) {
		t.Errorf("the scores are %v (%v)", scores, err)
	}
	if vectors, err := s.Embed("query", "abc"); err != nil || vectors[0][1] != 3 {
		t.Errorf("the vectors are %v (%v)", vectors, err)
	}
}

// tidy is the request of a job that has so much left, and begins after some time.
func tidy(left int, after time.Duration) alcove.JobEnqueueRequest {
	return alcove.JobEnqueueRequest{Job: "tidy", Payload: alcove.JSON(map[string]any{"left": left}), AfterS: after.Seconds()}
}

func TestJobsRunWhenTheTestSaysSo(t *testing.T) {
	var runs []string
	f := serving(func(c *alcove.Call) error {
		_, err := c.JobEnqueue(tidy(2, time.Hour))
		return err
	})
	f.HandleJob("tidy", func(c *alcove.Call, payload alcove.Raw) (alcove.Raw, error) {
		var in struct{ Left int }
		if len(payload) > 0 { // on schedule there is none
			if err := json.Unmarshal(payload, &in); err != nil {
				return nil, err
			}
		}
		runs = append(runs, fmt.Sprint(in.Left, " at ", c.Now))
		if in.Left == 7 {
			return nil, alcove.Errorf(alcove.NotFound, "nothing to tidy")
		}
		if in.Left > 1 {
			_, err := c.JobEnqueue(tidy(in.Left-1, 0))
			return alcove.JSON(in.Left), err
		}
		return alcove.JSON(in.Left), c.Progress(1, 2, "tidying")
	})
	s := alcovetest.New(t, f, []byte(manifest))
	if err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil); err != nil || len(s.Queued()) != 1 || len(runs) != 0 {
		t.Fatalf("%d are queued, %q ran (%v)", len(s.Queued()), runs, err)
	}
	if err := s.RunJobs(); err != nil || fmt.Sprint(runs) != "[2 at 2026-06-01T13:00:00.000000Z 1 at 2026-06-01T13:00:00.000000Z]" || !slices.Equal(s.Progress, []string{"1/2 tidying"}) {
		t.Errorf("%q ran, progress %q (%v)", runs, s.Progress, err)
	}
	var out int
	if err := s.Job("tidy", map[string]int{"left": 1}, &out); err != nil || out != 1 {
		t.Errorf("the result is %d (%v)", out, err)
	}
	if err := s.Job("tidy", map[string]int{"left": 7}, nil); alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("a job that fails: %v", err)
	}
	if err := s.Job("other", nil, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("a job that there is not: %v", err)
	}
	before := len(runs)
	s.Now = s.Now.Add(25 * time.Hour)
	if err := s.Tell(); err != nil || len(runs) != before+1 {
		t.Errorf("a day later %q ran (%v)", runs[before:], err)
	}
}

func TestConfigurationIsCheckedAndKept(t *testing.T) {
	s := alcovetest.New(t, serving(func(c *alcove.Call) error {
		var config struct{ Volume int }
		if err := json.Unmarshal(c.Config, &config); err != nil {
			return err
		}
		return c.SetConfig(map[string]any{"volume": config.Volume + 1})
	}), []byte(manifest))
	var volume int
	if err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil); err != nil || s.Setting("volume", &volume) != nil || volume != 6 {
		t.Errorf("the volume is %d (%v)", volume, err)
	}
	s.Config["volume"] = 10
	if err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("a volume of 11: %v", err)
	}
	s.Config["volume"] = "loud"
	if err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("a volume that is no number: %v", err)
	}
}

func TestAnOperationCanBeReplaced(t *testing.T) {
	s, err := run(t, func(c *alcove.Call) error {
		_, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: []string{"tea"}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Ops[alcove.OpMemoryGet] = func([]byte) (any, error) { return nil, alcove.Errorf(alcove.Exhausted, "too many") }
	if err := s.Tool("tag_memory", map[string]any{"key": "k"}, nil); alcove.CodeOf(err) != alcove.Exhausted {
		t.Errorf("the error is %v", err)
	}
	if !slices.Equal(s.Calls, []alcove.Op{alcove.OpMemoryGet, alcove.OpMemoryGet}) {
		t.Errorf("it called %v", s.Calls)
	}
}

func TestMemoriesAreOfTheTimeThatTheySay(t *testing.T) {
	s := alcovetest.New(t, alcove.New(), []byte(manifest))
	s.Put(
		alcove.Memory{Key: "new", Value: alcove.JSON(1)},
		alcove.Memory{Key: "old", Value: alcove.JSON(1), Timestamp: "2025-01-02T03:04:05.000000Z", Counters: &alcove.Counters{Accesses: 3, Health: -.5, LastAccess: "2026-01-02T00:00:00.000000Z"}},
	)
	old := s.Memory("old")
	if old.Timestamp != "2025-01-02T03:04:05.000000Z" || old.Counters.Accesses != 3 || old.Counters.Health != -.5 || old.Counters.LastAccess != "2026-01-02T00:00:00.000000Z" {
		t.Errorf("the memory old is %+v with counters %+v, want the times and counters that it was put with", old, old.Counters)
	}
	if at := s.Memory("new").Timestamp; at != "2026-06-01T12:00:00.000000Z" {
		t.Errorf("the new one is of %s", at)
	}
}
