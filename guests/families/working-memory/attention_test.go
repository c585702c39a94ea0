package workingmemory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// agents share a space: each scenario is of an agent of its own, whose buffer no other sees.
type agents struct {
	*testing.T
	*alcovetest.Space
}

func (a agents) call(tool string, arguments, result any) {
	a.T.Helper()
	if err := a.Space.Tool(tool, arguments, result); err != nil {
		a.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
}

func (a agents) add(content string, attention float64) (out added) {
	a.T.Helper()
	a.call("memory_wm_add", map[string]any{"content": content, "attention_score": attention}, &out)
	return out
}

func (a agents) status() (out status) {
	a.T.Helper()
	a.call("memory_wm_status", nil, &out)
	return out
}

func (a agents) detect(content string) (b boundary) {
	a.T.Helper()
	a.call("memory_detect_boundary", map[string]any{"content": content}, &b)
	return b
}

func (a agents) process(boundary string) (out processed) {
	a.T.Helper()
	a.call("memory_process_boundary", map[string]any{"boundary_type": boundary}, &out)
	return out
}

func (a agents) pass(d time.Duration) { a.Space.Now = a.Space.Now.Add(d) }

func (a agents) focused() (contents []string) {
	for _, it := range a.status().Items {
		contents = append(contents, it.Content)
	}
	return contents
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestWorkingMemory(t *testing.T) {
	space := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	for name, scenario := range map[string]func(agents){
		"the eighth thought evicts the weakest, which is found at once": func(a agents) {
			for i := range 7 {
				if out := a.add(fmt.Sprint("quartz thought ", i), .3+.1*float64(i%4)); out.Count != i+1 || len(out.Evicted) != 0 || out.ConsolidationDue != (i >= 5) {
					t.Fatalf("memory_wm_add = %+v, want %d thoughts, none evicted", out, i+1)
				}
				a.pass(time.Second)
			}
			out := a.add("quartz thought eight", .9)
			if out.Count != 7 || out.Capacity != 7 || len(out.Evicted) != 1 {
				t.Fatalf("the eighth memory_wm_add = %+v, want 7 thoughts and one evicted", out)
			}
			if found, err := a.Search("quartz", 10); err != nil || len(found) != 1 || found[0] != out.Evicted[0] {
				t.Errorf("found %v (%v); evicted was %v", found, err, out.Evicted)
			}
			m := a.Memory(out.Evicted[0].Key)
			if text, _ := m.Value.Text(); text != "quartz thought 0" || *m.Importance != .3 || !strings.HasPrefix(m.Key, "wm:") {
				t.Errorf("evicted was %+v", m)
			}
		},
		"a thought that is repeated gains attention up to one": func(a agents) {
			first := a.add("the index is stale", .4)
			a.pass(time.Minute)
			again := a.add("the index is stale", .3)
			if again.ItemID != first.ItemID || again.Count != 1 || !near(a.status().Items[0].Attention, .7) {
				t.Errorf("%+v then %+v", first, again)
			}
			a.add("the index is stale", .9)
			if it := a.status().Items[0]; it.Attention != 1 || it.Accessed-it.Added != alcove.Time(alcove.Minute) {
				t.Errorf("the thought is %+v, want attention 1 a minute after it was added", it)
			}
		},
		"decay weakens every thought and moves none": func(a agents) {
			a.add("one", 1)
			a.add("two", .5)
			var out decayed
			a.call("memory_wm_decay", map[string]any{"rate": .2}, &out)
			if out.Count != 2 || !near(out.AverageAttention, .6) || !near(a.status().AverageAttention, .6) {
				t.Errorf("memory_wm_decay by .2 = %+v, want 2 of average attention .6", out)
			}
			a.call("memory_wm_decay", nil, &out)
			if !near(out.AverageAttention, .54) {
				t.Errorf("memory_wm_decay = %+v, want an average attention of .54", out)
			}
		},
		"a consolidation keeps the four strongest of seven": func(a agents) {
			for i := range 6 {
				a.add(fmt.Sprint("thought ", i), .1*float64(i+1))
			}
			a.pass(time.Minute)
			if s := a.status(); s.SinceConsolidationS != 60 || s.Items[0].Content != "thought 5" {
				t.Errorf("status = %+v, want a minute since the last consolidation, and thought 5 first", s)
			}
			var out consolidated
			a.call("memory_wm_consolidate", nil, &out)
			if out.Consolidated != 2 || out.Kept != 4 || len(out.MemoryIDs) != 2 || !near(*a.Memory(out.MemoryIDs[0].Key).Importance, .2) {
				t.Errorf("memory_wm_consolidate = %+v, want 2 consolidated and 4 kept", out)
			}
			if s := a.status(); s.SinceConsolidationS != 0 || s.ConsolidationDue {
				t.Errorf("status = %+v, want a consolidation just done", s)
			}
			a.pass(5 * time.Minute)
			if !a.status().ConsolidationDue {
				t.Error("after five minutes a consolidation is not due")
			}
			a.call("memory_wm_consolidate", nil, &out)
			if out.Consolidated != 0 || out.Kept != 4 || a.status().ConsolidationDue {
				t.Errorf("memory_wm_consolidate again = %+v, want nothing consolidated, 4 kept, and none due", out)
			}
		},
		"the end of a session makes a memory of each of five thoughts": func(a agents) {
			for i := range 5 {
				a.add(fmt.Sprint("thought ", i), .5)
			}
			a.detect("A long talk about something")
			out := a.process("session_end")
			if len(out.MemoryIDs) != 5 || !slices.Equal(out.Actions, []string{"stored"}) || a.status().Count != 0 {
				t.Errorf("memory_process_boundary = %+v, want 5 memories stored and none left", out)
			}
			for _, id := range out.MemoryIDs {
				if a.Memory(id.Key) == nil {
					t.Errorf("%s is no memory", id)
				}
			}
			a.pass(time.Hour)
			if b := a.detect("A new session begins"); b.Type != none {
				t.Errorf("the first text of a session is a boundary: %+v", b)
			}
		},
		"talk of a holiday after talk of postgres is a topic shift": func(a agents) {
			if b := a.detect("The postgres database needs an index on orders"); b.Type != none || b.TopicSimilarity != 1 {
				t.Errorf("the first text is a boundary %+v, want none", b)
			}
			a.add("postgres needs an index", .5)
			a.pass(time.Second)
			a.add("orders is the largest table", .6)
			a.pass(time.Second)
			if b := a.detect("The postgres index on orders was created"); b.Type != none {
				t.Errorf("a text of the same topic is a boundary %+v, want none", b)
			}
			if b := a.detect("ok"); b.Type != none {
				t.Errorf("a text of one word is a boundary %+v, want none", b)
			}
			b := a.detect("Where will we spend the summer holiday, Lisbon?")
			if b.Type != topicShift || !near(b.Confidence, 1-b.TopicSimilarity) || b.TimeGapS != 0 {
				t.Errorf("talk of a holiday is a boundary %+v, want a topic shift", b)
			}
			a.add("Lisbon is cheap in June", .5)
			out := a.process("topic_shift")
			if len(out.Links) != 1 || len(out.MemoryIDs) != 2 || a.status().Count != 3 || !slices.Equal(out.Actions, []string{"stored", "linked"}) {
				t.Fatalf("memory_process_boundary = %+v, want 2 memories with a link and 3 thoughts left", out)
			}
			if m := a.Memory(out.Links[0].From.Key); !slices.Equal(m.Links, []string{out.Links[0].To.Key}) {
				t.Errorf("the memory is %+v, want it linked with %s", m, out.Links[0].To.Key)
			}
			if again := a.process("topic_shift"); len(again.Links)+len(again.MemoryIDs) != 0 {
				t.Errorf("memory_process_boundary again = %+v, want no memories and no links", again)
			}
			a.add("postgres needs an index", .2)
			a.process("session_end") // those that are memories already get the attention that they have now
			if m := a.Memory(out.Links[0].From.Key); !near(*m.Importance, .7) || !slices.Equal(m.Links, []string{out.Links[0].To.Key}) {
				t.Errorf("the memory is %+v, want importance .7 and the same link", m)
			}
		},
		"a thought in other case and punctuation is the same thought": func(a agents) {
			a.add("Check the outbox lag", .5)
			a.add("check the  outbox lag.", .3)
			if s := a.status(); s.Count != 1 || !near(s.Items[0].Attention, .8) {
				t.Errorf("memory_wm_status = %+v, want one thought with an attention of .8", s)
			}
		},
		"what takes up the last text is no boundary, and what announces another topic is": func(a agents) {
			for _, text := range []string{"The nil pointer is in pricing.go", "It happens when the currency header is missing", "Perhaps such requests come from older clients"} {
				if b := a.detect(text); b.Type != none {
					t.Errorf("%q is a boundary %+v, want none", text, b)
				}
			}
			if b := a.detect("Different question: when does the canteen close?"); b.Type != topicShift {
				t.Errorf("another question is %+v, want a topic shift", b)
			}
		},
		"a pause is a boundary before all others": func(a agents) {
			a.detect("The postgres database needs an index")
			a.pass(299 * time.Second)
			if b := a.detect("The postgres database needs a vacuum"); b.Type != none || b.TimeGapS != 299 {
				t.Errorf("after 299 s: %+v, want no boundary", b)
			}
			a.pass(300 * time.Second)
			if b := a.detect("Lisbon is a nice city!!!!"); b.Type != temporalGap || b.Confidence != .9 {
				t.Errorf("after 300 s: %+v, want a temporal gap with confidence .9", b)
			}
			for i := range 6 {
				a.add(fmt.Sprint("thought ", i), .5)
			}
			if out := a.process("temporal_gap"); len(out.MemoryIDs) != 2 || a.status().Count != 4 {
				t.Errorf("memory_process_boundary = %+v, want 2 memories and 4 thoughts left", out)
			}
		},
		"an emotional peak strengthens the thought that it is about": func(a agents) {
			a.detect("The deploy of the search service runs")
			a.add("a thought", .4)
			a.pass(time.Second)
			a.add("another thought", .4)
			b := a.detect("The deploy of the search service was terrible!")
			if b.Type != emotionalPeak || !near(b.EmotionalDelta*b.EmotionalDelta, .36+.09) || !near(b.Confidence, b.EmotionalDelta/2) {
				t.Errorf("an outcry is a boundary %+v, want an emotional peak", b)
			}
			out := a.process("emotional_peak")
			if s := a.status(); !slices.Equal(out.Actions, []string{"strengthened"}) || s.Items[0].Content != "another thought" || !near(s.Items[0].Attention, .7) {
				t.Errorf("memory_process_boundary = %+v with status %+v, want the other thought strengthened to .7", out, s)
			}
			a.add("The deploy of the search service was terrible!", .9)
			a.pass(time.Second)
			a.add("a last thought", .1)
			a.process("emotional_peak")
			if it := a.status().Items[0]; !strings.HasPrefix(it.Content, "The deploy") || it.Attention != 1 {
				t.Errorf("the strongest thought is %+v, want the one about the deploy at 1", it)
			}
		},
		"a change of context stores the buffer as one memory": func(a agents) {
			a.add("weak", .2)
			a.add("strong", .8)
			out := a.process("context_switch")
			if len(out.MemoryIDs) != 1 || a.status().Count != 0 {
				t.Fatalf("memory_process_boundary = %+v, want one memory and no thoughts left", out)
			}
			if m := a.Memory(out.MemoryIDs[0].Key); m.Text() != "strong\nweak" || *m.Importance != .8 {
				t.Errorf("the memory is %+v, want both thoughts, the stronger first, with importance .8", m)
			}
			if again := a.process("context_switch"); len(again.MemoryIDs)+len(again.Actions) != 0 {
				t.Errorf("an empty buffer gave %+v", again)
			}
		},
		"boundaries and patterns are counted": func(a agents) {
			for i := range 6 {
				a.add([]string{"Why is build %d slow?", "Build %d listens on a port"}[i%2]+fmt.Sprint(i), .5)
			}
			a.add("Perhaps", .5)
			a.detect("The postgres database needs an index")
			a.detect("Lisbon hotels are cheap")
			a.process("capacity_limit")
			a.process("none")
			var out cognition
			a.call("memory_cognitive_status", nil, &out)
			if out.Boundaries["topic_shift"] != 1 || out.Boundaries["capacity_limit"] != 1 || len(out.Boundaries) != 2 || !near(out.Load, 4./7) || len(out.Patterns) != 0 {
				t.Errorf("memory_cognitive_status = %+v, want the two boundaries, a load of 4/7 and no patterns", out)
			}
			for i := range 3 {
				a.add(fmt.Sprint("What about ", i, "?"), .9)
			}
			a.call("memory_cognitive_status", nil, &out)
			if len(out.Patterns) == 0 || out.Patterns[len(out.Patterns)-1].Thought != "question" || out.Patterns[0].Of != 7 {
				t.Errorf("memory_cognitive_status = %+v, want a pattern of questions among 7 thoughts", out)
			}
		},
		"an agent sees its own buffer alone, and each branch has its own": func(a agents) {
			a.add("mine", .5)
			me := a.Caller
			a.Space.Caller = me + "'s neighbour"
			if a.status().Count != 0 {
				t.Errorf("the neighbour sees %q", a.focused())
			}
			a.Space.Caller = ""
			a.add("of a caller without a name", .5)
			if got := a.focused(); !slices.Equal(got, []string{"of a caller without a name"}) {
				t.Errorf("a caller without a name sees %q, want its own thought", got)
			}
			a.Space.Caller = me
			if got := a.focused(); !slices.Equal(got, []string{"mine"}) {
				t.Errorf("the caller sees %q, want its own thought", got)
			}
		},
		"a smaller capacity evicts what no longer fits": func(a agents) {
			for i := range 7 {
				a.add(fmt.Sprint("thought ", i), .5)
			}
			a.Config["wm_capacity"] = 5
			out := a.add("one more", .5)
			a.Config["wm_capacity"] = nil
			if out.Count != 5 || out.Capacity != 5 || len(out.Evicted) != 3 {
				t.Errorf("memory_wm_add with a capacity of 5 = %+v, want 5 thoughts and 3 evicted", out)
			}
		},
		"what is wrong is named": func(a agents) {
			for tool, arguments := range map[string]map[string]any{
				"memory_wm_add": {"content": ""}, "memory_process_boundary": {"boundary_type": "sunset"}, "memory_detect_boundary": {}, "memory_wm_decay": {"decay_rate": 2},
			} {
				if err := a.Tool(tool, arguments, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
					t.Errorf("call %s with %v: %v, want %s", tool, arguments, err, alcove.InvalidArgument)
				}
			}
			if err := a.Tool("memory_wm_add", map[string]any{"content": strings.Repeat("x", 9<<10)}, nil); alcove.CodeOf(err) != alcove.InvalidArgument || !strings.Contains(err.Error(), "at most 8192") {
				t.Errorf("9 KiB: %v", err)
			}
		},
		"a rehearsal changes nothing": func(a agents) {
			a.DryRun = true
			a.add("a thought", .5)
			a.DryRun = false
			if a.status().Count != 0 {
				t.Errorf("in focus is %q", a.focused())
			}
		},
	} {
		space.Caller, space.Namespace = name, fmt.Sprintf("n%d", len(name))
		t.Run(name, func(t *testing.T) { scenario(agents{t, space}) })
	}
}

func TestEveryChangeIsAnnounced(t *testing.T) {
	s := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	a := agents{t, s}
	var kinds []string
	s.Ops[alcove.OpFeedEmit] = func(request []byte) (any, error) {
		for _, kind := range []string{"wm_consolidated", "boundary_detected"} {
			if strings.Contains(string(request), `"kind":"`+kind+`"`) && strings.Contains(string(request), `"agentId":"tester","scopeId":"default","changes":{`) {
				kinds = append(kinds, kind)
			}
		}
		return map[string]any{}, nil
	}
	a.detect("The postgres database needs an index")
	a.detect("Lisbon hotels are cheap")
	a.add("a thought", .5)
	a.process("session_end")
	a.process("session_end") // of nothing
	if !slices.Equal(kinds, []string{"boundary_detected", "wm_consolidated"}) {
		t.Errorf("announced were %q", kinds)
	}
}
