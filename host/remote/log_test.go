package remote

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

func (s *side) log(namespace, text string) {
	s.t.Helper()
	data, _ := json.Marshal(text)
	if _, err := s.Memory.As(s.Caller).Append(s.t.Context(), memory.Location{Namespace: namespace}, "noted", data, memory.Write{}); err != nil {
		s.t.Fatalf("log %s: %v", text, err)
	}
}

// logs are what others logged, by replica.
func (s *side) logs(namespace string) string {
	s.t.Helper()
	a, at := s.Memory.As(s.Caller), memory.Location{Namespace: namespace}
	chains, err := a.Chains(s.t.Context(), at)
	if err != nil {
		s.t.Fatalf("list logs: %v", err)
	}
	var logs []string
	for _, c := range chains {
		page, err := a.EventsOf(s.t.Context(), memory.ChainQuery{Location: at, Chain: c.ID, Oldest: true})
		if err != nil || page.Fault+c.Fault != "" {
			s.t.Fatalf("read a log: %v, %s%s", err, page.Fault, c.Fault)
		}
		var log []string
		for _, e := range page.Events {
			log = append(log, e.Agent+" "+string(e.Data))
		}
		logs = append(logs, strings.Join(log, ", "))
	}
	return strings.Join(logs, "; ")
}

func TestTheLogOfEachSpaceIsAChainOfItsOwnInTheOthers(t *testing.T) {
	laptop, hub := pair(t)
	desk := newSide(t, "desk", testspace.Options{})
	laptop.log("notes", "one")
	hub.log("notes", "mine")
	laptop.sync(hub)
	laptop.log("notes", "two")
	laptop.sync(hub)
	desk.sync(hub)
	laptop.log("notes", "three")
	desk.sync(laptop)
	desk.sync(hub)
	want := `laptop "one", laptop "two", laptop "three"`
	if got := hub.logs("notes"); got != want {
		t.Errorf("the hub has the logs %s, want %s", got, want)
	}
	if got := desk.logs("notes"); got != want+`; hub "mine"` && got != `hub "mine"; `+want {
		t.Errorf("the desk has the logs %s, want those of the laptop and of the hub", got)
	}
	if _, pushed := desk.sync(hub); pushed.Events != 0 {
		t.Errorf("a sync without news pushed %d events, want none", pushed.Events)
	}
	if report, err := hub.Memory.Verify(t.Context()); err != nil || len(report.Findings) > 0 {
		t.Errorf("the hub is verified with %+v, %v, want no findings", report, err)
	}
}

func TestALogOfWhatNeverLeavesStays(t *testing.T) {
	laptop, hub := pair(t)
	laptop.log("secret", "one")
	laptop.log("notes", "two")
	if _, err := laptop.Push(t.Context(), hub.wire(), Exchange{Remote: "hub", Never: []string{"secret"}}); err != nil {
		t.Fatalf("push: %v", err)
	}
	if got := hub.logs("secret") + hub.logs("notes"); got != `laptop "two"` {
		t.Errorf("the hub has the logs %s, want that of notes", got)
	}
}

func TestAnEventThatIsNotWhatWasLoggedIsRefused(t *testing.T) {
	hub := newSide(t, "hub", testspace.Options{})
	sums := strings.Repeat("0", 64)
	for text, says := range map[string]string{
		`{"sequence":1,"e":"noted","d":"one","g":"` + sums + `","h":"` + sums + `"}`:                                "differ from what was logged",
		`{"sequence":0,"e":"noted","g":"` + sums + `","h":"` + sums + `"}`:                                          "event 0 of a log",
		`{"sequence":1,"e":"noted","g":"0","h":"` + sums + `"}`:                                                     "no digest",
		`{"sequence":1,"e":"noted","a":"` + strings.Repeat("x", 3000) + `","g":"` + sums + `","h":"` + sums + `"}`:  "agent has 3000 bytes",
		`{"sequence":1,"e":"` + strings.Repeat("x", 300) + `","g":"` + sums + `","h":"` + sums + `"}`:               "event has 300 bytes",
		`{"sequence":1,"e":"noted","d":"` + strings.Repeat("x", 1<<20) + `","g":"` + sums + `","h":"` + sums + `"}`: "data has 1048578 bytes",
	} {
		pg := lying(func(p *page) {
			p.versions[0] = memory.Exchanged{Origins: []provenance.Version{{Replica: "0123456789abcdef.1", Version: 3, At: 5}}}
			p.versions[0].Namespace = "notes"
			if err := json.Unmarshal([]byte(text), &p.versions[0].Event); err != nil {
				t.Fatalf("read an event: %v", err)
			}
		})
		if _, err := hub.wire().server.receive(t.Context(), hub.Caller, pg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.100s is answered with %v, want %q", text, err, says)
		}
	}
}

// chains are the logs that a side has from others, as they are told to a reader.
func (s *side) chains(namespace string) []memory.Chain {
	s.t.Helper()
	list, err := s.Memory.As(s.Caller).Chains(s.t.Context(), memory.Location{Namespace: namespace})
	if err != nil {
		s.t.Fatalf("list the logs of others: %v", err)
	}
	return list
}

func TestAReceivedLogIsChosenByTheNameOfItsRemoteOrItsID(t *testing.T) {
	laptop, hub := pair(t)
	for _, text := range []string{"one", "two", "three"} {
		hub.log("notes", text)
	}
	laptop.sync(hub)
	list := laptop.chains("notes")
	if len(list) != 1 || list[0].Remote != "hub" || list[0].Events != 3 || list[0].Checked != 3 || list[0].Broken != 0 || strings.Join(list[0].Agents, " ") != "hub" {
		t.Fatalf("the logs of others are %+v, want that of the hub, whole", list)
	}
	us := laptop.Memory.As(laptop.Caller)
	for _, name := range []string{"hub", list[0].ID, list[0].ID[:9]} {
		page, err := us.EventsOf(t.Context(), memory.ChainQuery{Location: memory.Location{Namespace: "notes"}, Chain: name, Agents: []string{"hub"}, Limit: 2})
		if err != nil || len(page.Events) != 2 || string(page.Events[0].Data) != `"three"` || page.Next != 2 {
			t.Errorf("the newest of %q are %+v, %v, want three and two", name, page, err)
		}
		page, err = us.EventsOf(t.Context(), memory.ChainQuery{Location: memory.Location{Namespace: "notes"}, Chain: name, After: page.Next})
		if err != nil || len(page.Events) != 1 || string(page.Events[0].Data) != `"one"` || page.Next != 0 {
			t.Errorf("the rest of %q is %+v, %v, want one", name, page, err)
		}
	}
	for _, q := range []memory.ChainQuery{{Agents: []string{"other"}}, {Types: []string{"other"}}, {Until: list[0].From}, {Since: list[0].Until.Add(1)}} {
		q.Location, q.Chain = memory.Location{Namespace: "notes"}, "hub"
		if page, err := us.EventsOf(t.Context(), q); err != nil || len(page.Events) != 0 {
			t.Errorf("%+v lists %+v, %v, want none", q, page, err)
		}
	}
	_, err := us.EventsOf(t.Context(), memory.ChainQuery{Location: memory.Location{Namespace: "notes"}, Chain: "desk"})
	if err == nil || !strings.Contains(err.Error(), "hub ("+list[0].ID+")") {
		t.Errorf("a log that is not there is answered with %v, want the names of those that are", err)
	}
	guest := laptop.Memory.As(memory.Caller{Key: "k", Rights: memory.RightsTo([]string{"open"}, nil)})
	if _, err := guest.Chains(t.Context(), memory.Location{Namespace: "notes"}); !isDenied(err) {
		t.Errorf("logs of a namespace that may not be read are listed: %v", err)
	}
	if _, err := guest.EventsOf(t.Context(), memory.ChainQuery{Location: memory.Location{Namespace: "notes"}, Chain: "hub"}); !isDenied(err) {
		t.Errorf("a log of a namespace that may not be read is shown: %v", err)
	}
}

func isDenied(err error) bool {
	e, ok := errors.AsType[*memory.Error](err)
	return ok && e.Code == memory.Denied
}

// TestABrokenReceivedLogIsNamed has a peer that sends events of a real log, and leaves out or alters one.
func TestABrokenReceivedLogIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]memory.Exchanged) []memory.Exchanged
		says   string
		broken uint64
	}{
		"one is missing":     {func(list []memory.Exchanged) []memory.Exchanged { return append(list[:2], list[3]) }, "event 3 is missing", 3},
		"two are missing":    {func(list []memory.Exchanged) []memory.Exchanged { return append(list[:1], list[3]) }, "events 2 to 3 are missing", 2},
		"the first are gone": {func(list []memory.Exchanged) []memory.Exchanged { return list[2:] }, "events 1 to 2 are missing", 3},
		"the agent is another": {func(list []memory.Exchanged) []memory.Exchanged {
			list[1].Event.Agent = "someone"
			return list
		}, "event 2 does not continue the chain", 2},
		"the moment is another": {func(list []memory.Exchanged) []memory.Exchanged {
			list[2].Origins[0].At++
			return list
		}, "event 3 does not continue the chain", 3},
	} {
		t.Run(name, func(t *testing.T) {
			laptop, hub := pair(t)
			for _, text := range []string{"one", "two", "three", "four"} {
				laptop.log("notes", text)
			}
			ours, err := laptop.Memory.As(laptop.Caller).Peer(t.Context(), memory.Default, 0, provenance.Scope{}, memory.ToRead)
			if err != nil {
				t.Fatal(err)
			}
			pg, err := listed(t.Context(), laptop.Memory.As(laptop.Caller), ours, nil, "", 0)
			if err != nil || len(pg.versions) != 4 {
				t.Fatalf("there are %d events to send, %v, want 4", len(pg.versions), err)
			}
			pg.versions = c.change(pg.versions)
			if _, err := hub.wire().server.receive(t.Context(), hub.Caller, pg); err != nil {
				t.Fatal(err)
			}
			if list := hub.chains("notes"); len(list) != 1 || list[0].Broken != c.broken || list[0].Fault != c.says {
				t.Errorf("the log is told as %+v, want %q at event %d", list, c.says, c.broken)
			}
			report, err := hub.Memory.Verify(t.Context())
			if err != nil || len(report.Findings) != 1 || !strings.Contains(report.Findings[0].What, c.says) {
				t.Errorf("the hub is verified with %+v, %v, want a finding that %s", report, err, c.says)
			}
			if name == "the first are gone" {
				return // what is shown has no gap
			}
			page, err := hub.Memory.As(hub.Caller).EventsOf(t.Context(), memory.ChainQuery{Location: memory.Location{Namespace: "notes"}, Chain: hub.chains("notes")[0].ID, Oldest: true})
			if err != nil || page.Fault != c.says {
				t.Errorf("the log is shown with the fault %q, %v, want %q", page.Fault, err, c.says)
			}
		})
	}
}

func TestTheLogOfAForkContinuesThatOfItsBranch(t *testing.T) {
	laptop, hub := pair(t)
	laptop.log("notes", "one")
	laptop.log("notes", "two")
	a := laptop.Memory.As(laptop.Caller)
	if _, err := a.Fork(t.Context(), memory.Default, "work", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Append(t.Context(), memory.Location{Branch: "work", Namespace: "notes"}, "noted", json.RawMessage(`"three"`), memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := laptop.Push(t.Context(), hub.wire(), Exchange{Remote: "hub", Branch: "work"}); err != nil {
		t.Fatal(err)
	}
	list, err := hub.Memory.As(hub.Caller).Chains(t.Context(), memory.Location{Branch: "work", Namespace: "notes"})
	if err != nil || len(list) != 2 || list[0].Fault+list[1].Fault != "" || list[0].Events+list[1].Events != 3 {
		t.Errorf("the logs of the fork are %+v, %v, want two whole ones of three events", list, err)
	}
}
