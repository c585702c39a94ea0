package remote

import (
	"encoding/json"
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
	replicas, err := a.Replicas(s.t.Context(), at)
	if err != nil {
		s.t.Fatalf("list logs: %v", err)
	}
	var logs []string
	for _, replica := range replicas {
		list, err := a.EventsOf(s.t.Context(), replica, at, 0, 0)
		if err != nil {
			s.t.Fatalf("read a log: %v", err)
		}
		var log []string
		for _, e := range list {
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
		`{"sequence":1,"e":"noted","d":"one","g":"` + sums + `","h":"` + sums + `"}`:                                "are not what was logged",
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
