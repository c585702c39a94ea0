package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

var (
	edges  = memory.Collection{Name: "graph/edge"}
	sites  = memory.Collection{Name: "sites/site", PerSpace: true}
	drafts = memory.Collection{Name: "graph/draft"} // which its family does not let be exchanged
)

// synced are what the families of these tests let be exchanged.
func synced() []memory.SyncedCollection {
	return []memory.SyncedCollection{{Collection: edges, Open: true}, {Collection: sites}}
}

func (s *side) keep(c memory.Collection, namespace, key, value string) {
	s.t.Helper()
	if err := keepRecord(s.t, s.Memory.As(s.Caller), c, namespace, key, value); err != nil {
		s.t.Fatalf("keep %s of %s: %v", key, c.Name, err)
	}
}

// keepRecord writes a record, or deletes it with an empty value.
func keepRecord(t *testing.T, a *memory.Access, c memory.Collection, namespace, key, value string) error {
	stage, err := a.Stage(t.Context(), memory.Default)
	if err != nil {
		return err
	}
	if value == "" {
		_, err = stage.DeleteRecords(t.Context(), c, namespace, []string{key})
	} else {
		err = stage.PutRecord(t.Context(), c, namespace, key, json.RawMessage(strconv.Quote(value)), nil)
	}
	if err == nil {
		_, err = stage.Commit(t.Context(), memory.Commit{})
	}
	return err
}

func recordIn(t *testing.T, a *memory.Access, c memory.Collection, namespace, key string) string {
	t.Helper()
	stage, err := a.Stage(t.Context(), memory.Default)
	if err != nil {
		t.Fatal(err)
	}
	list, err := stage.Records(t.Context(), c, namespace, []string{key})
	if err != nil {
		t.Fatal(err)
	}
	if list[0] == nil {
		return ""
	}
	text, err := strconv.Unquote(string(list[0].Value))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (s *side) mustKeep(c memory.Collection, namespace, key, want string) {
	s.t.Helper()
	if got := recordIn(s.t, s.Memory.As(s.Caller), c, namespace, key); got != want {
		s.t.Errorf("%s has %q for %s of %s, want %q", s.Caller.Agent, got, key, c.Name, want)
	}
}

func familiesPair(t *testing.T) (laptop, hub *side) {
	return newSide(t, "laptop", testspace.Options{Synced: synced}), newSide(t, "hub", testspace.Options{Synced: synced})
}

func TestRecordsThatTheirFamilyLetsGoTravelOnce(t *testing.T) {
	laptop, hub := familiesPair(t)
	desk := newSide(t, "desk", testspace.Options{Synced: synced})
	laptop.keep(edges, "notes", "a-b", "knows")
	laptop.keep(sites, "notes", "home", "example.org")
	laptop.keep(drafts, "notes", "idea", "stays")
	if _, pushed := laptop.sync(hub); pushed.Records != 2 {
		t.Errorf("%d records were pushed, want 2", pushed.Records)
	}
	desk.sync(hub)
	for _, s := range []*side{hub, desk} {
		s.mustKeep(edges, "notes", "a-b", "knows")
		s.mustKeep(sites, "notes", "home", "example.org")
		s.mustKeep(drafts, "notes", "idea", "")
	}
	for _, meet := range [][2]*side{{desk, laptop}, {laptop, desk}, {laptop, hub}, {desk, hub}, {desk, hub}} {
		if pulled, pushed := meet[0].sync(meet[1]); pulled.Records+pushed.Records != 0 {
			t.Errorf("%s and %s bring %d and %d records again, want none", meet[0].Caller.Agent, meet[1].Caller.Agent, pulled.Records, pushed.Records)
		}
	}
	before, _ := laptop.Memory.Newest(t.Context())
	laptop.sync(hub)
	if after, _ := laptop.Memory.Newest(t.Context()); after != before {
		t.Errorf("a sync without news wrote versions %d to %d", before, after)
	}
	desk.keep(edges, "notes", "a-b", "")
	desk.keep(sites, "notes", "home", "example.net")
	desk.sync(hub)
	laptop.sync(hub)
	laptop.mustKeep(edges, "notes", "a-b", "")
	laptop.mustKeep(sites, "notes", "home", "example.net")
}

func TestADeletionOfARecordReachesWhoHasItFromElsewhere(t *testing.T) {
	laptop, hub := familiesPair(t)
	desk := newSide(t, "desk", testspace.Options{Synced: synced})
	desk.keep(edges, "notes", "a-b", "knows")
	desk.sync(laptop)
	laptop.keep(edges, "notes", "a-b", "")
	laptop.sync(hub) // the hub never had it
	desk.sync(hub)
	for _, s := range []*side{laptop, hub, desk} {
		s.mustKeep(edges, "notes", "a-b", "")
	}
}

func TestWhoSawARecordReplacesItWhateverTheClocksSay(t *testing.T) {
	late := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	early := testclock.At(time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC))
	laptop := newSide(t, "laptop", testspace.Options{Synced: synced, Clock: late.Now})
	hub := newSide(t, "hub", testspace.Options{Synced: synced, Clock: early.Now})
	laptop.keep(edges, "notes", "a-b", "knows")
	laptop.sync(hub)
	for _, value := range []string{"likes", "loves"} {
		hub.keep(edges, "notes", "a-b", value) // six hours before what it replaces
	}
	laptop.sync(hub)
	laptop.mustKeep(edges, "notes", "a-b", "loves")
	hub.keep(edges, "notes", "a-b", "one")
	laptop.keep(edges, "notes", "a-b", "two") // without knowing of it, and later by its clock
	laptop.sync(hub)
	for _, s := range []*side{laptop, hub} {
		s.mustKeep(edges, "notes", "a-b", "two")
	}
}

func TestRecordsWaitUntilTheirFamilyIsThere(t *testing.T) {
	laptop := newSide(t, "laptop", testspace.Options{Synced: synced})
	granted := false
	hub := newSide(t, "hub", testspace.Options{Synced: func() []memory.SyncedCollection {
		if granted {
			return synced()
		}
		return nil
	}})
	laptop.keep(edges, "notes", "a-b", "knows")
	laptop.sync(hub)
	hub.mustKeep(edges, "notes", "a-b", "")
	granted = true
	laptop.sync(hub)
	hub.mustKeep(edges, "notes", "a-b", "knows")
}

func TestRecordsThatNeverLeaveStay(t *testing.T) {
	laptop, hub := familiesPair(t)
	laptop.keep(edges, "secret", "a-b", "hidden")
	hub.keep(edges, "secret", "c-d", "theirs")
	e := Exchange{Remote: "hub", Never: []string{"secret"}}
	if _, err := laptop.Push(t.Context(), hub.wire(), e); err != nil {
		t.Fatal(err)
	}
	if _, err := laptop.Pull(t.Context(), hub.wire(), e); err != nil {
		t.Fatal(err)
	}
	hub.mustKeep(edges, "secret", "a-b", "")
	laptop.mustKeep(edges, "secret", "c-d", "")
}

func TestAKeyExchangesRecordsOfFamiliesAndNamespacesThatItMayUse(t *testing.T) {
	laptop, hub := familiesPair(t)
	hub.keep(edges, "notes", "a-b", "knows")
	hub.keep(edges, "secret", "a-b", "hidden")
	hub.keep(sites, "notes", "home", "private")
	who := memory.Caller{Agent: "guest", Key: "k", Rights: memory.RightsTo([]string{"notes"}, []string{"notes"}).LimitedTo([]memory.Right{memory.ToUse("graph")})}
	guest := wire{server: &Server{Memory: hub.Memory}, who: who}
	if _, err := laptop.Pull(t.Context(), guest, Exchange{Remote: "hub"}); err != nil {
		t.Fatal(err)
	}
	laptop.mustKeep(edges, "notes", "a-b", "knows")
	laptop.mustKeep(edges, "secret", "a-b", "")
	laptop.mustKeep(sites, "notes", "home", "") // may be private to an agent
	guest.who.Rights = memory.RightsTo([]string{"*"}, []string{"*"}).LimitedTo(nil)
	laptop.keep(edges, "notes", "c-d", "new")
	if _, err := laptop.Push(t.Context(), guest, Exchange{Remote: "hub"}); err != nil {
		t.Fatal(err)
	}
	hub.mustKeep(edges, "notes", "c-d", "") // the key may not use the family
}

// TestARecordThatMayNotComeIsRefused has a peer that sends what nobody offered.
func TestARecordThatMayNotComeIsRefused(t *testing.T) {
	_, hub := familiesPair(t)
	good := memory.ExchangedRecord{Namespace: "notes", Collection: "graph/edge", Key: "a-b", Value: json.RawMessage(`1`),
		Stamp: provenance.Version{Replica: "0123456789abcdef.1", Version: 3, At: 5}}
	for says, change := range map[string]func(*memory.ExchangedRecord){
		"records of graph/draft are not accepted": func(e *memory.ExchangedRecord) { e.Collection = "graph/draft" },
		"records of other/x are not accepted":     func(e *memory.ExchangedRecord) { e.Collection = "other/x" },
		"records of memory are not accepted":      func(e *memory.ExchangedRecord) { e.Collection = "memory" },
		"records of _keys are not accepted":       func(e *memory.ExchangedRecord) { e.Collection = "_keys" },
		"records of sites/site are not accepted":  func(e *memory.ExchangedRecord) { e.Collection = "sites/site" }, // which branches share
		"has 300 characters":                      func(e *memory.ExchangedRecord) { e.Namespace = strings.Repeat("x", 300) },
		"value has 1048578 bytes":                 func(e *memory.ExchangedRecord) { e.Value, _ = json.Marshal(strings.Repeat("x", 1<<20)) },
		"not valid JSON":                          func(e *memory.ExchangedRecord) { e.Value = json.RawMessage(`{`) },
		"agent has 3000 bytes":                    func(e *memory.ExchangedRecord) { e.Agent = strings.Repeat("x", 3000) },
		"key has 3000 bytes":                      func(e *memory.ExchangedRecord) { e.Key = strings.Repeat("x", 3000) },
		"its origin":                              func(e *memory.ExchangedRecord) { e.Stamp.Replica = "" },
		"set the clock that is wrong":             func(e *memory.ExchangedRecord) { e.Stamp.At = time.Now().AddDate(1, 0, 0).UnixMicro() },
	} {
		one := good
		change(&one)
		pg := page{header: header{Space: "0123456789abcdef", Branch: memory.Default, Collections: []string{"graph/edge"}}, records: []memory.ExchangedRecord{one}}
		if _, err := hub.wire().server.record(t.Context(), hub.Caller, pg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a record of %s is answered with %v, want %q", one.Collection, err, says)
		}
	}
	many := page{header: header{Space: "0123456789abcdef", Branch: memory.Default}}
	for i := range hub.Memory.Limits().Batch + 1 {
		one := good
		one.Key = fmt.Sprint(i)
		many.records = append(many.records, one)
	}
	if _, err := hub.wire().server.record(t.Context(), hub.Caller, many); err == nil || !strings.Contains(err.Error(), "at most 1000") {
		t.Errorf("too many records are answered with %v, want a limit", err)
	}
	reader := memory.Caller{Key: "r", Rights: memory.RightsTo([]string{"*"}, nil)}
	pg := page{header: header{Space: "0123456789abcdef", Branch: memory.Default}, records: []memory.ExchangedRecord{good}}
	if _, err := hub.wire().server.record(t.Context(), reader, pg); !isDenied(err) {
		t.Errorf("a record of who may only read is answered with %v", err)
	}
	pg.records = []memory.ExchangedRecord{good, good}
	if _, err := hub.wire().server.record(t.Context(), hub.Caller, pg); err == nil || !strings.Contains(err.Error(), "sent twice") {
		t.Errorf("a record that is sent twice is answered with %v", err)
	}
	hub.mustKeep(edges, "notes", "a-b", "")
}

// A family's quota holds for what others send.
func TestRecordsBeyondAQuotaAreRefused(t *testing.T) {
	laptop := newSide(t, "laptop", testspace.Options{Synced: synced})
	small := edges
	small.Quota = memory.Quota{Records: 3}
	hub := newSide(t, "hub", testspace.Options{Synced: func() []memory.SyncedCollection { return []memory.SyncedCollection{{Collection: small, Open: true}} }})
	for i := range 5 {
		laptop.keep(edges, "notes", fmt.Sprint(i), "x")
	}
	_, err := laptop.Push(t.Context(), hub.wire(), Exchange{Remote: "hub"})
	if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.Exhausted {
		t.Errorf("records beyond the quota are answered with %v, want %s", err, memory.Exhausted)
	}
}

func TestManyRecordsComeInPages(t *testing.T) {
	laptop, hub := familiesPair(t)
	laptop.Page = 7
	for i := range 40 {
		laptop.keep(edges, "notes", fmt.Sprint(i%25), fmt.Sprint("v", i))
	}
	if _, pushed := laptop.sync(hub); pushed.Records != 25 {
		t.Errorf("%d records were pushed, want 25", pushed.Records)
	}
	hub.mustKeep(edges, "notes", "3", "v28")
}

// record changes or deletes a record of a space.
func (m *model) record(w *world) {
	c := edges
	if m.random.IntN(2) == 0 {
		c = sites
	}
	namespace, value := []string{"default", "notes"}[m.random.IntN(2)], ""
	if m.random.IntN(4) > 0 {
		m.kept++
		value = fmt.Sprint(w.name, m.kept)
	}
	if err := keepRecord(m.t, w.access(), c, namespace, fmt.Sprint("r", m.random.IntN(6)), value); err != nil {
		m.t.Fatalf("keep a record on %s: %v", w.name, err)
	}
}

// recordsAlike fails unless all spaces have the same records.
func (m *model) recordsAlike() {
	m.lastArrived()
	for _, c := range []memory.Collection{edges, sites} {
		for _, namespace := range []string{"default", "notes"} {
			for i := range 6 {
				key := fmt.Sprint("r", i)
				for _, w := range m.worlds[1:] {
					if got, want := recordIn(m.t, w.access(), c, namespace, key), recordIn(m.t, m.worlds[0].access(), c, namespace, key); got != want {
						m.t.Fatalf("after a circle %s has %q for %s of %s, and %s %q", w.name, got, key, c.Name, m.worlds[0].name, want)
					}
				}
			}
		}
	}
	w := m.worlds[m.random.IntN(3)] // whose clock may be hours behind
	m.kept++
	m.last = fmt.Sprint("last", m.kept)
	if err := keepRecord(m.t, w.access(), edges, "notes", "last", m.last); err != nil {
		m.t.Fatalf("keep a record on %s: %v", w.name, err)
	}
}

// lastArrived fails unless what one space wrote after the last circle, when all had the same, is in all of them.
func (m *model) lastArrived() {
	for _, w := range m.worlds {
		if got := recordIn(m.t, w.access(), edges, "notes", "last"); got != m.last {
			m.t.Fatalf("after a circle %s has %q for the only record that was changed, want %q", w.name, got, m.last)
		}
	}
}
