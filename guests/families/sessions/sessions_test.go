package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/tool/tokens"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

type m = map[string]any

func space(t testing.TB) *alcovetest.Space {
	t.Helper()
	return alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
}

func call[T any](t testing.TB, s *alcovetest.Space, tool string, arguments m) (out T) {
	t.Helper()
	if err := s.Tool(tool, arguments, &out); err != nil {
		t.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
	return out
}

func refused(t testing.TB, s *alcovetest.Space, code alcove.Code, tool string, arguments m) {
	t.Helper()
	if err := s.Tool(tool, arguments, nil); alcove.CodeOf(err) != code {
		t.Errorf("%s %v: %v; want %s", tool, arguments, err, code)
	}
}

// as has another agent call.
func as(s *alcovetest.Space, agent string, do func()) {
	before := s.Caller
	s.Caller = agent
	do()
	s.Caller = before
}

// over has calls come over a connection that made some calls.
func over(s *alcovetest.Space, host string, calls *int) {
	s.Ops["caller.get"] = func([]byte) (any, error) {
		return m{"caller": s.Caller, "namespace": s.Namespace, "branch": s.Branch, "capabilities": []any{}, "read_only": false, "proposes": false, "session": host}, nil
	}
	s.Ops["session.list"] = func([]byte) (any, error) {
		if *calls < 0 {
			return m{"sessions": []any{}}, nil
		}
		return m{"sessions": []any{m{"session": host, "agent": s.Caller, "began_at": "", "calls": *calls, "namespace": "", "branch": ""}}}, nil
	}
}

type startedOut struct {
	SessionID, CheckpointID string
	Memories                []struct{ FactID, Content string }
	Standards               []any
	Handoffs                []handoffOut
	Unclean                 bool
}

type handoffOut struct {
	HandoffID, FromAgent, ContextSummary, ConversationID string
	FactIDs, OpenItems                                   []string
}

type handoffsOut struct {
	Handoffs  []handoffOut
	Truncated bool
}

type wakeOut struct {
	CheckpointID, SessionID, Summary, WhoIWas, Note, Branch string
	AgeDays                                                 int
	Context                                                 []struct{ FactID, Content string }
	Unclean                                                 bool
}

func (w wakeOut) contents() (list []string) {
	for _, f := range w.Context {
		list = append(list, f.Content)
	}
	return list
}

func TestAHandoffIsShownAtTheStartOfASessionUntilItIsAcknowledged(t *testing.T) {
	s := space(t)
	s.Caller = "ann"
	s.Put(alcove.Memory{Key: "plan", Value: alcove.JSON("Ship on Friday."), Type: "plan"})
	first := call[struct{ HandoffID string }](t, s, "memory_record_handoff", m{"toAgent": "bob", "contextSummary": "the release", "factIds": "plan", "openItems": []string{"sign"}, "conversationId": "cnv:1"})
	s.Now = s.Now.Add(time.Minute)
	call[any](t, s, "memory_record_handoff", m{"to_agent": "bob", "context_summary": "the review"})
	as(s, "bob", func() {
		got := call[startedOut](t, s, "memory_session_start", nil).Handoffs
		want := handoffOut{first.HandoffID, "ann", "the release", "default#cnv:1", []string{"default#plan"}, []string{"sign"}}
		if len(got) != 2 || got[0].ContextSummary != "the review" || fmt.Sprint(got[1]) != fmt.Sprint(want) {
			t.Errorf("bob sees %+v", got)
		}
		if got := call[handoffsOut](t, s, "memory_get_handoffs", m{"agentId": "bob", "limit": 1, "acknowledge": true}); len(got.Handoffs) != 1 || !got.Truncated {
			t.Errorf("bob acknowledges %+v", got)
		}
		if got := call[startedOut](t, s, "memory_session_start", nil).Handoffs; len(got) != 1 || got[0].HandoffID != first.HandoffID {
			t.Errorf("then bob sees %+v", got)
		}
		call[any](t, s, "memory_get_handoffs", m{"acknowledge": true})
		if got := call[startedOut](t, s, "memory_session_start", nil).Handoffs; len(got) != 0 {
			t.Errorf("at last bob sees %+v", got)
		}
	})
	if got := call[startedOut](t, s, "memory_session_start", nil).Handoffs; len(got) != 0 {
		t.Errorf("ann sees %+v", got)
	}
}

func TestHandoffsOfOthersAreForThoseWhoMayActAsThem(t *testing.T) {
	s := space(t)
	call[any](t, s, "memory_record_handoff", m{"toAgent": "bob", "contextSummary": "c"})
	if got := call[handoffsOut](t, s, "memory_get_handoffs", m{"agentId": "bob"}); len(got.Handoffs) != 1 {
		t.Errorf("the owner sees %+v", got)
	}
	s.Ops["caller.can"] = func([]byte) (any, error) { return m{"allowed": false}, nil }
	refused(t, s, alcove.Denied, "memory_get_handoffs", m{"agentId": "bob"})
	session := ""
	as(s, "bob", func() { session = call[startedOut](t, s, "memory_session_start", nil).SessionID })
	refused(t, s, alcove.Denied, "memory_close_session", m{"sessionId": session})
	refused(t, s, alcove.Denied, "memory_delete_session", m{"id": session})
}

func TestASessionIsClosedOnceWithASummary(t *testing.T) {
	s := space(t)
	s.Caller = "ann"
	s.Put(alcove.Memory{Key: "old", Value: alcove.JSON("Decided before."), Type: "decision", Timestamp: "2026-05-01T00:00:00Z"})
	id := call[startedOut](t, s, "memory_session_start", m{"contextSummary": "the release"}).SessionID
	s.Now = s.Now.Add(time.Minute)
	for i := range 5 {
		s.Put(alcove.Memory{Key: fmt.Sprint("d", i), Value: alcove.JSON(fmt.Sprintf("Decision %d %s", i, strings.Repeat("ä", 200))), Type: "decision", Importance: new(float64(i) / 10)})
	}
	s.Put(alcove.Memory{Key: "i", Value: alcove.JSON("An\ninsight."), Type: "insight"})
	as(s, "bob", func() { s.Put(alcove.Memory{Key: "b", Value: alcove.JSON("Of bob."), Type: "insight"}) })
	s.Now = s.Now.Add(time.Minute)
	type ended struct{ SessionID, SummaryFactID string }
	out := call[ended](t, s, "memory_close_session", m{"sessionId": id, "summary": "All is ready."})
	key := alcove.ParseID(out.SummaryFactID).Key
	got := s.Memory(key)
	quote := func(i int) string { return fmt.Sprintf("\n- Decision %d %s…", i, strings.Repeat("ä", 109)) }
	want := "Session of ann, 2026-06-01T12:00:00Z to 2026-06-01T12:02:00Z: 6 facts.\nDecisions:" + quote(4) + quote(3) + quote(2) + "\nInsights:\n- An insight.\nAll is ready."
	if got.Text() != want || got.Type != "session_summary" || !slices.Equal(got.Tags, []string{"handoff", "session_summary"}) && !slices.Equal(got.Tags, []string{"session_summary", "handoff"}) {
		t.Errorf("the summary is %s %v %q; want %q", got.Type, got.Tags, got.Text(), want)
	}
	s.Now = s.Now.Add(time.Minute)
	if again := call[ended](t, s, "memory_close_session", m{"sessionId": id, "summary": "Again."}); again != out {
		t.Errorf("closed again: %+v", again)
	}
	refused(t, s, alcove.NotFound, "memory_close_session", m{"sessionId": "ses:none"})
}

func TestAWakeShowsTheFactsOfTheCheckpointWhateverHappenedSince(t *testing.T) {
	s := space(t)
	s.Caller = "ann"
	s.Put(
		alcove.Memory{Key: "rule", Value: alcove.JSON("Never deploy on Friday."), Type: "steering_rule", Importance: new(.2)},
		alcove.Memory{Key: "fact", Value: alcove.JSON("The port is 9742."), Type: "observation", Importance: new(.6)},
		alcove.Memory{Key: "plain", Value: alcove.JSON("Untyped.")},
		alcove.Memory{Key: "minor", Value: alcove.JSON("It rains."), Type: "observation", Importance: new(.3)},
		alcove.Memory{Key: "turn", Value: alcove.JSON("Hello."), Importance: new(.9), Metadata: alcove.Metadata{"session": alcove.JSON("x"), "seq": alcove.JSON(1)}},
	)
	id := call[startedOut](t, s, "memory_session_start", m{"contextSummary": "the release"}).SessionID
	saved := call[struct {
		CheckpointID, SessionID, Branch string
		FactCount                       int
	}](t, s, "memory_save_checkpoint", m{"name": "noon", "summary": "Half done."})
	if saved.SessionID != id || saved.FactCount != 3 || saved.Branch != "default" {
		t.Errorf("saved %+v", saved)
	}
	s.Put(alcove.Memory{Key: "rule", Value: alcove.JSON("Deploy at will."), Type: "steering_rule"}, alcove.Memory{Key: "new", Value: alcove.JSON("New."), Importance: new(1.)})
	s.Forget("fact")
	s.Now = s.Now.Add(time.Hour)
	w := call[wakeOut](t, s, "memory_wake", nil)
	if want := []string{"Never deploy on Friday.", "The port is 9742.", "Untyped."}; !slices.Equal(w.contents(), want) {
		t.Errorf("awake with %q, want %q", w.contents(), want)
	}
	if !w.Unclean || w.Summary != "Half done." || w.WhoIWas != "ann, working on: the release; checkpoint noon" || w.AgeDays != 0 || w.Note != "" || w.SessionID != id {
		t.Errorf("awake %+v", w)
	}
	if again := call[startedOut](t, s, "memory_session_start", nil); !again.Unclean || again.CheckpointID != saved.CheckpointID {
		t.Errorf("the next session starts with %+v", again)
	}
	s.Now = s.Now.Add(50 * time.Hour)
	if w := call[wakeOut](t, s, "memory_wake", m{"checkpointId": saved.CheckpointID}); w.AgeDays != 2 || !slices.Equal(w.contents(), []string{"Never deploy on Friday."}) {
		t.Errorf("two days later %+v", w)
	}
	call[any](t, s, "memory_close_session", m{"sessionId": id})
	if w := call[wakeOut](t, s, "memory_wake", nil); w.Unclean {
		t.Error("it is unclean after a close")
	}
	as(s, "bob", func() {
		refused(t, s, alcove.NotFound, "memory_wake", nil)
		refused(t, s, alcove.NotFound, "memory_wake", m{"checkpointId": "chk:none"})
		if w := call[wakeOut](t, s, "memory_wake", m{"checkpoint_id": saved.CheckpointID}); len(w.Context) == 0 {
			t.Errorf("bob wakes with %+v", w)
		}
	})
}

func TestACheckpointWithATopicHasTheFactsAboutIt(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "a", Value: alcove.JSON("The kettle is blue.")}, alcove.Memory{Key: "b", Value: alcove.JSON("The train is late.")})
	saved := call[struct {
		SessionID string
		FactCount int
	}](t, s, "memory_save_checkpoint", m{"topic": "kettle"})
	if saved.FactCount != 1 || !strings.HasPrefix(saved.SessionID, "default#ses:") {
		t.Errorf("saved %+v", saved)
	}
	if w := call[wakeOut](t, s, "memory_wake", nil); !slices.Equal(w.contents(), []string{"The kettle is blue."}) || w.WhoIWas != "tester; topic kettle" {
		t.Errorf("awake %+v", w)
	}
}

func TestCheckpointsAreListedPageByPage(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "a", Value: alcove.JSON("The kettle is blue.")})
	for i := range 7 {
		s.Caller = []string{"ann", "bob"}[i%2]
		call[any](t, s, "memory_save_checkpoint", m{"name": strconv.Itoa(i)})
		s.Now = s.Now.Add(time.Minute)
	}
	list := func(arguments m) (names []string, last listedCheckpoints) {
		for after := ""; ; after = last.Next {
			arguments["after"] = after
			last = call[listedCheckpoints](t, s, "memory_list_checkpoints", arguments)
			for _, c := range last.Checkpoints {
				names = append(names, c.AgentID+c.Name)
			}
			if last.Next == "" {
				return names, last
			}
		}
	}
	if names, last := list(m{"limit": 3}); !slices.Equal(names, []string{"ann6", "bob5", "ann4", "bob3", "ann2", "bob1", "ann0"}) || !last.Checkpoints[0].Unclean || last.Checkpoints[0].Facts != nil {
		t.Errorf("listed %q, %+v", names, last)
	}
	if names, _ := list(m{"agentId": "bob", "limit": 2}); !slices.Equal(names, []string{"bob5", "bob3", "bob1"}) {
		t.Errorf("of bob: %q", names)
	}
	_, last := list(m{"limit": 100})
	one := call[listedCheckpoints](t, s, "memory_list_checkpoints", m{"checkpointId": last.Checkpoints[6].CheckpointID})
	if len(one.Checkpoints) != 1 || one.Checkpoints[0].Name != "0" || len(one.Checkpoints[0].Facts) != 1 || one.Checkpoints[0].Facts[0].Key != "a" {
		t.Errorf("one: %+v", one)
	}
}

func TestASessionWithoutActivityIsAbandoned(t *testing.T) {
	s := space(t)
	calls := 5
	over(s, "conn", &calls)
	id := call[startedOut](t, s, "memory_session_start", nil).SessionID
	call[any](t, s, "memory_save_checkpoint", nil)
	status := func() string {
		t.Helper()
		return string(s.Record("session", alcove.ParseID(id).Key).Value)
	}
	after := func(d time.Duration) {
		t.Helper()
		s.Now = s.Now.Add(d)
		if err := s.Tell(); err != nil {
			t.Fatal(err)
		}
	}
	calls = 6 // it works on, with other tools
	after(31 * time.Minute)
	if !strings.Contains(status(), `"open"`) {
		t.Errorf("a session with calls is %s", status())
	}
	after(31 * time.Minute)
	if !strings.Contains(status(), `"abandoned"`) {
		t.Errorf("a session without activity is %s", status())
	}
	if w := call[wakeOut](t, s, "memory_wake", nil); !w.Unclean {
		t.Error("its checkpoint is clean")
	}
	call[any](t, s, "memory_close_session", m{"sessionId": id}) // late is not never
	if w := call[wakeOut](t, s, "memory_wake", nil); w.Unclean {
		t.Error("its checkpoint is unclean after the close")
	}
}

func TestAConversationIsReplayedFromItsTurnsAndFacts(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "fact", Value: alcove.JSON("Tea at nine.")}, alcove.Memory{Key: "loose", Value: alcove.JSON("Alone.")})
	session := call[startedOut](t, s, "memory_session_start", nil).SessionID
	id := call[struct{ ConversationID string }](t, s, "memory_create_conversation", m{"sessionId": session, "participants": []string{"ann", "bob"}, "contextSummary": "breakfast", "tags": "tea"}).ConversationID
	for i, what := range []m{{"turn": m{"role": "user", "content": "When is the tea?"}}, {"turn": m{"role": "assistant", "content": "At nine."}}, {"factId": "fact"}} {
		what["conversationId"] = id
		if got := call[struct{ Position int }](t, s, "memory_add_to_conversation", what); got.Position != i+1 {
			t.Errorf("the position of %v is %d", what, got.Position)
		}
	}
	type replayed struct {
		Conversations []struct {
			ConversationID, SessionID, Summary string
			Turns                              []struct {
				Position      int
				Role, Content string
				FactID        string
			}
			FactIDs []string
			Omitted bool
		}
	}
	for _, key := range []string{"fact", alcove.ParseID(id).Key + "/000002"} {
		got := call[replayed](t, s, "memory_replay", m{"memory_id": key}).Conversations
		if len(got) != 1 || got[0].ConversationID != id || got[0].SessionID != session || got[0].Summary != "breakfast" || len(got[0].Turns) != 2 ||
			got[0].Turns[1].Role != "assistant" || got[0].Turns[1].Content != "At nine." || got[0].Turns[1].Position != 2 || !slices.Equal(got[0].FactIDs, []string{"default#fact"}) {
			t.Errorf("the replay of %s is %+v", key, got)
		}
	}
	if got := call[replayed](t, s, "memory_replay", m{"memory_id": "loose"}).Conversations; len(got) != 0 {
		t.Errorf("the replay of a memory without a conversation is %+v", got)
	}
	refused(t, s, alcove.NotFound, "memory_replay", m{"memory_id": "none"})
	refused(t, s, alcove.InvalidArgument, "memory_add_to_conversation", m{"conversationId": id})
	refused(t, s, alcove.InvalidArgument, "memory_add_to_conversation", m{"conversationId": id, "factId": "fact", "turn": m{"content": "x"}})
	refused(t, s, alcove.NotFound, "memory_add_to_conversation", m{"conversationId": id, "factId": "none"})
	refused(t, s, alcove.NotFound, "memory_add_to_conversation", m{"conversationId": "cnv:none", "factId": "fact"})
	refused(t, s, alcove.NotFound, "memory_create_conversation", m{"sessionId": "ses:none"})
	if got := s.Memory(alcove.ParseID(id).Key + "/000001"); got.Type != "message" || !slices.Equal(got.Tags, []string{"tea"}) {
		t.Errorf("a turn is %+v", got)
	}

	for range 3 {
		call[any](t, s, "memory_add_to_conversation", m{"conversationId": id, "turn": m{"content": strings.Repeat("long ", 8000)}})
	}
	if got := call[replayed](t, s, "memory_replay", m{"memory_id": "fact"}).Conversations; len(got) != 1 || !got[0].Omitted || len(got[0].Turns) != 0 {
		t.Errorf("a long conversation is replayed with %d turns, omitted %v", len(got[0].Turns), got[0].Omitted)
	}
	if got := call[replayed](t, s, "memory_replay", m{"memory_id": "fact", "verbose": true}).Conversations; len(got) != 1 || got[0].Omitted || len(got[0].Turns) != 5 {
		t.Errorf("a long conversation is replayed in full with %+v turns", len(got[0].Turns))
	}
}

func TestAnImportedConversationIsReplayed(t *testing.T) {
	s := space(t)
	for i := range 3 {
		s.Put(alcove.Memory{Key: fmt.Sprint("chat/", i), Value: alcove.JSON(fmt.Sprint("said ", i)), Type: "message",
			Metadata: alcove.Metadata{"session": alcove.JSON("team#7"), "seq": alcove.JSON(i), "speaker": alcove.JSON("ann"), "ts": alcove.JSON(1760000000)}})
	}
	got := call[struct {
		Conversations []struct {
			Turns []struct{ Content, At string }
		}
	}](t, s, "memory_replay", m{"memory_id": "chat/1"})
	if len(got.Conversations) != 1 || len(got.Conversations[0].Turns) != 3 || got.Conversations[0].Turns[0].Content != "said 0" {
		t.Errorf("the replay is %+v", got)
	}
}

func TestSessionsAndConversationsAreDeletedSoftlyOrHard(t *testing.T) {
	s := space(t)
	session := call[startedOut](t, s, "memory_session_start", nil).SessionID
	id := call[struct{ ConversationID string }](t, s, "memory_create_conversation", m{"sessionId": session}).ConversationID
	call[any](t, s, "memory_add_to_conversation", m{"conversationId": id, "turn": m{"content": "Quartz is hard."}})
	turn := alcove.ParseID(id).Key + "/000001"
	for _, what := range []struct{ tool, id string }{{"memory_delete_conversation", id}, {"memory_delete_session", session}} {
		for _, hard := range []bool{false, true} {
			if got := call[alcove.Removed](t, s, what.tool, m{"id": what.id, "hard": hard}); !got.Success || got.EntityID.String() != what.id {
				t.Errorf("%s hard=%v: %+v", what.tool, hard, got)
			}
			refused(t, s, alcove.NotFound, what.tool, m{"id": what.id, "hard": hard})
			if found, err := s.Search("quartz", 5); err != nil || len(found) != 0 {
				t.Errorf("after %s hard=%v the turn is found: %v (%v)", what.tool, hard, found, err)
			}
			if gone := s.Memory(turn) == nil; what.tool == "memory_delete_conversation" && gone != hard {
				t.Errorf("%s hard=%v: the turn is gone: %v", what.tool, hard, gone)
			}
		}
	}
	refused(t, s, alcove.NotFound, "memory_close_session", m{"sessionId": session})
}

type packOut struct {
	Facts []struct {
		FactID, Content string
		Tokens          int
		Importance      float64
		Summarized      bool
		BudgetOverflow  bool `json:"budget_overflow"`
	}
	UsedTokens, Budget, Dropped int
	Strategy                    string
}

// A context never has more tokens than its budget, as an independent count of what is shown says, unless the best fact alone has more.
func TestAContextStaysWithinItsBudget(t *testing.T) {
	counter, err := tokens.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := space(t)
	r := rand.New(rand.NewPCG(8, 6))
	words := strings.Fields("quartz Überraschung 量子 привет naïve 12345 function() {} \t\n🙂🙂 the of deployment ＡＢＣ ... ==> quartz")
	types := []string{"decision", "observation", "session_summary", "", "note"}
	var list []alcove.Memory
	for i := range 120 {
		text := "quartz"
		for range r.IntN(120) {
			text += " " + words[r.IntN(len(words))]
		}
		f := alcove.Memory{Key: fmt.Sprintf("f%03d", i), Value: alcove.JSON(text), Type: types[r.IntN(len(types))], Metadata: alcove.Metadata{}}
		if r.IntN(3) > 0 {
			f.Importance = new(float64(r.IntN(11)) / 10)
		}
		if r.IntN(2) == 0 {
			f.Metadata["summary"] = alcove.JSON(text[:6] + " in short")
		}
		if r.IntN(5) == 0 {
			f.Metadata["observationTier"] = alcove.JSON("background")
		}
		list = append(list, f)
	}
	s.Put(list...)
	strategies := map[string]int{}
	for range 60 {
		profile, budget := []string{"default", planning, incident, handoffReader}[r.IntN(4)], 100+r.IntN(12000)
		if r.IntN(3) == 0 {
			budget = 500
		}
		query := "quartz " + words[r.IntN(len(words))]
		raw := call[json.RawMessage](t, s, "memory_pack_context", m{"topic": query, "profile": profile, "tokenBudget": budget, "maxFacts": 1 + r.IntN(50)})
		var got packOut
		var forms struct{ Facts []json.RawMessage }
		if err := cmp.Or(json.Unmarshal(raw, &got), json.Unmarshal(raw, &forms)); err != nil {
			t.Fatal(err)
		}
		strategies[got.Strategy]++
		sum := 0
		for i, f := range got.Facts {
			if n := counter.Count(string(forms.Facts[i])); n > f.Tokens || f.BudgetOverflow != (i == 0 && f.Tokens+frame > got.Budget) {
				t.Errorf("%q has %d tokens in the answer, %d are said; overflow %v of %d", f.Content, n, f.Tokens, f.BudgetOverflow, got.Budget)
			}
			sum += f.Tokens
		}
		if n := counter.Count(string(raw)); n > got.UsedTokens {
			t.Errorf("%s %d: the answer has %d tokens, %d are said", profile, budget, n, got.UsedTokens)
		}
		if most := map[string]int{planning: budget * 11 / 10, incident: budget * 8 / 10}[profile]; most != 0 && got.Budget != most || most == 0 && got.Budget != budget {
			t.Errorf("the budget of %s %d is %d", profile, budget, got.Budget)
		}
		if sum += frame; sum != got.UsedTokens || sum > got.Budget && (len(got.Facts) != 1 || !got.Facts[0].BudgetOverflow) {
			t.Errorf("%s %d: %d tokens are shown, %d said, in %d facts", profile, budget, sum, got.UsedTokens, len(got.Facts))
		}
	}
	if len(strategies) != 3 {
		t.Errorf("the strategies are %v", strategies)
	}
	empty := call[packOut](t, s, "memory_pack_context", m{"topic": "nothing like it"})
	if len(empty.Facts) != 0 || empty.Budget != 4000 {
		t.Errorf("a context of nothing is %+v", empty)
	}
	s.Put(alcove.Memory{Key: "huge", Value: alcove.JSON("obsidian " + strings.Repeat("glass shards ", 2000))})
	if huge := call[packOut](t, s, "memory_pack_context", m{"topic": "obsidian", "token_budget": 100}); len(huge.Facts) != 1 || !huge.Facts[0].BudgetOverflow {
		t.Errorf("a fact beyond the budget is %+v", huge.Facts)
	}
}

func TestAReadOnlyCallerWakesAndPacksAndChangesNothing(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "k", Value: alcove.JSON("The kettle is blue.")})
	call[any](t, s, "memory_save_checkpoint", nil)
	s.Read, s.Write = []string{"default"}, []string{}
	if w := call[wakeOut](t, s, "memory_wake", nil); len(w.Context) != 1 {
		t.Errorf("awake %+v", w)
	}
	if p := call[packOut](t, s, "memory_pack_context", m{"topic": "kettle"}); len(p.Facts) != 1 {
		t.Errorf("packed %+v", p)
	}
	refused(t, s, alcove.Denied, "memory_session_start", nil)
	s.Read, s.Write = []string{"other"}, []string{"other"}
	refused(t, s, alcove.Denied, "memory_wake", nil)
	refused(t, s, alcove.Denied, "memory_pack_context", m{"topic": "kettle"})
}

func TestPinnedRulesComeWithEveryContextAndSession(t *testing.T) {
	s := space(t)
	pinned := alcove.Metadata{"pinned": alcove.JSON(true)}
	s.Put(alcove.Memory{Key: "friday", Type: "steering_rule", Value: alcove.JSON("Never deploy on a Friday."), Metadata: pinned, Importance: new(.2)},
		alcove.Memory{Key: "metric", Type: "steering_rule", Value: alcove.JSON("Use metric units."), Importance: new(.9)},
		alcove.Memory{Key: "kettle", Type: "observation", Value: alcove.JSON("The kettle is blue."), Metadata: pinned})
	for i := range 60 {
		s.Put(alcove.Memory{Key: fmt.Sprint("n", i), Value: alcove.JSON(fmt.Sprint("Note on the weather, number ", i))})
	}
	begun := call[struct{ Rules, Memories []struct{ FactID string } }](t, s, "memory_session_start", nil)
	if len(begun.Rules) != 2 || begun.Rules[0].FactID != "default#friday" || begun.Rules[1].FactID != "default#metric" || len(begun.Memories) != 10 {
		t.Errorf("memory_session_start = %+v, want the pinned rule, the other one, and ten memories", begun)
	}
	p := call[packOut](t, s, "memory_pack_context", m{"topic": "weather", "tokenBudget": 1000})
	if len(p.Facts) < 2 || p.Facts[0].FactID != "default#friday" || p.UsedTokens < 950 || p.UsedTokens > 1000 {
		t.Errorf("memory_pack_context has %d facts in %d tokens, the first %+v; want the pinned rule first, and a full budget", len(p.Facts), p.UsedTokens, p.Facts[0])
	}
	refused(t, s, alcove.InvalidArgument, "memory_pack_context", m{"topic": "weather", "maxFacts": 201})
}

func TestRulesComeFirstWhereATopicAsksForThem(t *testing.T) {
	s := space(t)
	s.Put(alcove.Memory{Key: "owner", Type: "observation", Value: alcove.JSON("Who owns the fraud rules before deploying? Priya owns our fraud rules."), Importance: new(.9)},
		alcove.Memory{Key: "friday", Type: "steering_rule", Value: alcove.JSON("Never deploy on a Friday."), Importance: new(.2)})
	for topic, want := range map[string]string{"what are our rules before deploying": "default#friday", "who owns fraud": "default#owner"} {
		if p := call[packOut](t, s, "memory_pack_context", m{"topic": topic}); len(p.Facts) == 0 || p.Facts[0].FactID != want {
			t.Errorf("%q: %+v, want %s first", topic, p.Facts, want)
		}
	}
}
