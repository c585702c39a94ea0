package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// poll polls for events, which must go well.
func (u *user) poll(arguments string) (kinds string, p struct {
	Events []struct {
		EventType, AgentID, ScopeID, Timestamp string
		Payload                                struct {
			FactID, AgentID, ScopeID string
			Changes                  struct{ Sequence int }
		}
		Watermark uint64
	}
	LatestWatermark json.RawMessage
	HasMore         bool
}) {
	u.t.Helper()
	answer, _ := u.must("memory_poll_events", arguments)
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		u.t.Fatal(err)
	}
	for _, e := range p.Events {
		kinds += fmt.Sprintf("%s %s%s by %s; ", e.EventType, e.ScopeID, strings.TrimPrefix(e.Payload.FactID, e.ScopeID), e.AgentID)
		if e.Payload.AgentID != e.AgentID || e.Payload.ScopeID != e.ScopeID || e.Timestamp == "" || e.Watermark == 0 {
			u.t.Errorf("an event is %+v", e)
		}
	}
	return kinds, p
}

func TestEventsArePolledFromAWatermark(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"tea","value":"green"}`)
	u.must("memory_log", `{"event":"brewed","data":1,"namespace":"kitchen"}`)
	u.caller.Agent = "other"
	u.must("memory_forget", `{"key":"tea"}`)
	kinds, all := u.poll(`{"agentId":"me"}`)
	if kinds != "memory_stored default#tea by tester; event_logged kitchen by tester; memory_forgotten default#tea by other; " || all.HasMore || all.Events[1].Payload.Changes.Sequence != 1 {
		t.Errorf("polled is %s, %+v", kinds, all)
	}
	for arguments, want := range map[string]string{
		`{"lastWatermark":` + string(all.LatestWatermark) + `}`:                          "",
		`{"agent_id":"me","last_watermark":1,"event_types":"memory_stored","limit":"5"}`: "memory_stored default#tea by tester; ",
		`{"kinds":["event_logged","memory_forgotten"],"agents":"other"}`:                 "memory_forgotten default#tea by other; ",
		`{"scopeIds":["kitchen"]}`: "event_logged kitchen by tester; ",
		`{"namespaces":"kit/*"}`:   "",
		fmt.Sprintf(`{"watermark":%d,"limit":1}`, all.Events[0].Watermark):                              "event_logged kitchen by tester; ",
		`{"eventTypes":["fact_created"],"lastWatermark":"` + fmt.Sprint(all.Events[0].Watermark) + `"}`: "",
	} {
		kinds, p := u.poll(arguments)
		if kinds != want || p.HasMore != strings.Contains(arguments, `"limit":1`) {
			t.Errorf("%s is answered with %s, %+v", arguments, kinds, p)
		}
	}
	_, empty := u.poll(`{"lastWatermark":2,"kinds":["none"]}`)
	if string(empty.LatestWatermark) != "2" {
		t.Errorf("an empty answer moves the watermark to %s", empty.LatestWatermark)
	}
	if got := u.refused("memory_poll_events", `{"lastWatermark":99999}`); !strings.Contains(got, "later than the newest") {
		t.Errorf("a watermark of another memory: %s", got)
	}
	if got := u.refused("memory_poll_events", `{"lastWatermark":"12+x"}`); !strings.Contains(got, "12+x") {
		t.Errorf("no watermark: %s", got)
	}
}

func TestManyEventsArePolledInPages(t *testing.T) {
	u := newUser(t)
	ctx := t.Context()
	for round := range 3 {
		items := make([]memory.Item, 700)
		for i := range items {
			items[i] = memory.Item{Key: fmt.Sprintf("k%d", i), Value: json.RawMessage(`1`)}
		}
		stage, err := u.space.As(u.caller).Stage(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		for part := range 3 { // 2,100 in one commit, more than an answer has
			for i := range items {
				items[i].Key = fmt.Sprintf("p%d-%d-%d", round, part, i)
			}
			if _, err := stage.Put(ctx, "default", items); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := stage.Commit(ctx, memory.Commit{}); err != nil {
			t.Fatal(err)
		}
	}
	seen, last, pages := map[string]int{}, "0", 0
	for more := true; more; pages++ {
		_, p := u.poll(`{"limit":500,"lastWatermark":` + last + `}`)
		if len(p.Events) > mostTogether+mostEvents {
			t.Fatalf("an answer has %d events", len(p.Events))
		}
		for _, e := range p.Events {
			seen[fmt.Sprint(e.Watermark, e.Payload.FactID)]++
		}
		last, more = string(p.LatestWatermark), p.HasMore
	}
	if len(seen) != 6300 || pages < 7 {
		t.Errorf("%d events were polled in %d pages", len(seen), pages)
	}
	for event, n := range seen {
		if n != 1 {
			t.Fatalf("%s came %d times", event, n)
		}
	}
	_, none := u.poll(`{"kinds":["none"],"limit":500}`)
	if string(none.LatestWatermark) == "0" {
		t.Error("what was passed over is passed over again with each poll")
	}
}

func TestAKeyPollsForItsAgentAlone(t *testing.T) {
	u := newUser(t)
	u.caller = memory.Caller{Agent: "ann", Key: "1", Rights: memory.RightsTo([]string{"default"}, nil).LimitedTo(nil)}
	u.poll(`{"agentId":"ann"}`)
	if got := u.refused("memory_poll_events", `{"agentId":"bob"}`); !strings.Contains(got, "act_as") {
		t.Errorf("another's name: %s", got)
	}
	u.caller.Rights = memory.RightsTo([]string{"default"}, nil).LimitedTo([]memory.Right{memory.ToActAs})
	u.poll(`{"agentId":"bob"}`)
}
