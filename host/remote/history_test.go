package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

// fully exchanges with histories, both ways.
func (s *side) fully(with *side) (pulled, pushed Result) {
	s.t.Helper()
	e := Exchange{Remote: with.Caller.Agent, History: AllVersions}
	pulled, err := s.Pull(s.t.Context(), with.wire(), e)
	if err == nil {
		pushed, err = s.Push(s.t.Context(), with.wire(), e)
	}
	if err != nil {
		s.t.Fatalf("sync %s with %s: %v", s.Caller.Agent, with.Caller.Agent, err)
	}
	return pulled, pushed
}

// told is what a history of a memory says, its own versions first, each list newest first.
func (s *side) told(namespace, key string) (told []string) {
	s.t.Helper()
	at := memory.Location{Namespace: namespace}
	own, _, err := s.Memory.As(s.Caller).History(s.t.Context(), at, key, memory.AsOf{}, 0)
	if err != nil {
		s.t.Fatalf("history of %s: %v", key, err)
	}
	others, _, err := s.Memory.As(s.Caller).Elsewhere(s.t.Context(), at, key, memory.AsOf{}, "", 0)
	if err != nil {
		s.t.Fatalf("history of %s: %v", key, err)
	}
	for _, v := range append(own, others...) {
		text := strings.Trim(string(v.Value), `"`)
		switch {
		case v.Deleted:
			text = "(forgotten)"
		case v.Purged != "":
			text = "(purged)"
		}
		told = append(told, text)
	}
	return told
}

func (s *side) mustTell(namespace, key string, want ...string) {
	s.t.Helper()
	if got := s.told(namespace, key); !slices.Equal(got, want) {
		s.t.Errorf("the history of %s on %s is %q, want %q", key, s.Caller.Agent, got, want)
	}
}

func TestAHistoryTravelsWithItsTimesAndAuthors(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	laptop := newSide(t, "laptop", testspace.Options{Clock: clock.Now})
	hub := newSide(t, "hub", testspace.Options{Clock: clock.Now})
	for _, value := range []string{"one", "two"} {
		laptop.put("default", "k", value)
		clock.Add(time.Hour)
	}
	laptop.forget("default", "k")
	clock.Add(time.Hour)
	laptop.put("default", "k", "three")
	clock.Add(24 * time.Hour)
	hub.put("default", "before", "x")
	before, err := hub.Memory.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, pushed := laptop.fully(hub); pushed.Past != 3 {
		t.Errorf("a push wrote %d older versions, want 3", pushed.Past)
	}
	hub.mustTell("default", "k", "three", "(forgotten)", "two", "one")
	list, _, err := hub.Memory.As(hub.Caller).Elsewhere(t.Context(), memory.Location{}, "k", memory.AsOf{}, "", 0)
	if err != nil || len(list) != 3 {
		t.Fatalf("other spaces wrote %d versions, %v, want 3", len(list), err)
	}
	if v := list[2]; v.Agent != "laptop" || !v.Timestamp.Truncate(time.Second).Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) || v.Origin == nil || v.Origin.Version == 0 {
		t.Errorf("the first version is by %q at %s from %+v, want its author, time and origin", v.Agent, v.Timestamp, v.Origin)
	}
	past, err := hub.Memory.As(hub.Caller).Recall(t.Context(), memory.Location{}, "k", memory.AsOf{Version: before})
	if err != nil || past != nil {
		t.Errorf("at v%d, before the push, the hub has %v, %v, want nothing as it was then", before, past, err)
	}
	if report, err := hub.Memory.Verify(t.Context()); err != nil || len(report.Findings) > 0 {
		t.Errorf("the hub is verified with %+v, %v, want no findings", report, err)
	}
}

func TestEachVersionOfAHistoryIsBroughtOnceByWhateverWay(t *testing.T) {
	laptop, hub := pair(t)
	desk := newSide(t, "desk", testspace.Options{})
	laptop.put("default", "k", "one")
	laptop.put("default", "k", "two")
	laptop.fully(hub)
	desk.fully(hub)
	var past int
	for range 2 {
		for _, both := range [][2]*side{{desk, laptop}, {laptop, hub}, {hub, desk}, {laptop, desk}} {
			pulled, pushed := both[0].fully(both[1])
			past += pulled.Past + pushed.Past
		}
	}
	if past != 0 {
		t.Errorf("%d versions were brought again, want none", past)
	}
	head, _ := desk.Memory.Newest(t.Context())
	for range 3 {
		desk.fully(hub)
		laptop.fully(hub)
	}
	if now, _ := desk.Memory.Newest(t.Context()); now != head {
		t.Errorf("exchanges without news made %d versions, want none, or two spaces that watch each other never rest", now-head)
	}
	desk.mustTell("default", "k", "two", "one")
}

func TestHistoriesFollowOnceTheyAreAskedForAndStop(t *testing.T) {
	laptop, hub := pair(t)
	hub.put("default", "k", "one")
	hub.put("default", "k", "two")
	laptop.sync(hub)
	laptop.mustTell("default", "k", "two")
	hub.put("default", "k", "three")
	laptop.fully(hub)
	laptop.mustTell("default", "k", "three", "two", "one")
	hub.put("default", "k", "four")
	hub.put("default", "k", "five")
	laptop.sync(hub)
	laptop.mustTell("default", "k", "five", "three", "two", "one")
}

func TestTheVersionThatLostAConflictIsInTheHistory(t *testing.T) {
	laptop, hub := pair(t)
	hub.put("default", "k", "of the hub")
	laptop.put("default", "k", "of the laptop")
	laptop.fully(hub)
	laptop.fully(hub)
	for _, s := range []*side{laptop, hub} {
		told := s.told("default", "k")
		slices.Sort(told)
		if want := []string{"of the hub", "of the laptop", "of the laptop"}; !slices.Equal(told, want) { // and the decision
			t.Errorf("%s tells %q, want %q", s.Caller.Agent, told, want)
		}
	}
}

func TestOldVersionsKeepToRightsAndToWhatNeverLeaves(t *testing.T) {
	laptop, hub := pair(t)
	for _, namespace := range []string{"project/secret", "open"} {
		laptop.put(namespace, "hideout", "under the bridge in "+namespace)
		laptop.put(namespace, "hideout", "moved from "+namespace)
	}
	w := hub.wire()
	w.sent = &bytes.Buffer{}
	if _, err := laptop.Push(t.Context(), w, Exchange{Remote: "hub", Never: []string{"project/secret"}, History: AllVersions}); err != nil {
		t.Fatalf("push: %v", err)
	}
	if strings.Contains(w.sent.String(), "secret") {
		t.Error("a namespace that never leaves is on the wire with its old versions")
	}
	hub.mustTell("project/secret", "hideout")
	hub.mustTell("open", "hideout", "moved from open", "under the bridge in open")
	guest := newSide(t, "guest", testspace.Options{})
	w = laptop.wire()
	w.who = memory.Caller{Key: "k1", Rights: memory.RightsTo([]string{"open"}, nil)}
	if _, err := guest.Pull(t.Context(), w, Exchange{Remote: "laptop", History: AllVersions}); err != nil {
		t.Fatalf("pull: %v", err)
	}
	guest.mustTell("project/secret", "hideout")
	guest.mustTell("open", "hideout", "moved from open", "under the bridge in open")
	guest.put("project/secret", "planted", "one")
	guest.put("project/secret", "planted", "two")
	if _, err := guest.Push(t.Context(), w, Exchange{Remote: "laptop", History: AllVersions}); err == nil {
		laptop.mustTell("project/secret", "planted")
	}
	laptop.mustTell("project/secret", "planted")
}

func TestAPurgeOfAnOldVersionIsNotUndone(t *testing.T) {
	laptop, hub := pair(t)
	laptop.put("default", "k", "a password")
	laptop.put("default", "k", "harmless")
	laptop.fully(hub)
	if _, err := hub.Memory.Purge(t.Context(), purge.Request{Key: "k"}); err != nil {
		t.Fatalf("purge: %v", err)
	}
	hub.mustTell("default", "k", "(purged)", "(purged)")
	laptop.put("default", "k", "new")
	laptop.fully(hub)
	hub.mustTell("default", "k", "new", "(purged)", "(purged)")
	third := newSide(t, "third", testspace.Options{})
	w := hub.wire()
	if _, err := third.Pull(t.Context(), w, Exchange{Remote: "hub", History: AllVersions}); err != nil {
		t.Fatalf("pull: %v", err)
	}
	third.mustTell("default", "k", "new") // what was purged does not travel
	third.fully(laptop)
	hub.fully(third)
	hub.mustTell("default", "k", "new", "(purged)", "(purged)")
}

func TestRetentionDropsOldVersionsAndTheyStayAway(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	laptop := newSide(t, "laptop", testspace.Options{Clock: clock.Now})
	hub := newSide(t, "hub", testspace.Options{Clock: clock.Now})
	for i := range 4 {
		laptop.put("default", "k", fmt.Sprint(i))
		laptop.put("kept", "k", fmt.Sprint(i))
		clock.Add(24 * time.Hour)
	}
	laptop.fully(hub)
	clock.Add(time.Hour)
	policy := retention.Policy{Keep: 50 * 3600, Namespaces: map[string]retention.Namespace{"kept": {Forever: true}}}
	if err := hub.Memory.SetRetention(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	if done, err := hub.Memory.Retain(t.Context()); err != nil || len(done.Failed) > 0 {
		t.Fatalf("retain: %+v, %v", done, err)
	}
	hub.mustTell("default", "k", "3", "2")
	hub.mustTell("kept", "k", "3", "2", "1", "0")
	laptop.put("default", "k", "4")
	if _, pushed := laptop.fully(hub); pushed.Past != 0 {
		t.Errorf("%d versions came again, want none", pushed.Past)
	}
	hub.mustTell("default", "k", "4", "3", "2")
}

func TestHooksAreAskedAboutOldVersions(t *testing.T) {
	hub := newSide(t, "hub", testspace.Options{Hooks: func() memory.Hooks { return censor{} }})
	laptop := newSide(t, "laptop", testspace.Options{})
	for _, value := range []string{"one", "the password is tea", "two", "forbidden", "three"} {
		laptop.put("default", "k", value)
	}
	laptop.put("default", "other", "forbidden")
	laptop.forget("default", "other")
	_, pushed := laptop.fully(hub)
	hub.mustTell("default", "k", "three", "two", "one")
	hub.mustTell("default", "other", "(forgotten)")
	if pushed.Left != 3 {
		t.Errorf("%d versions were left out, want 3", pushed.Left)
	}
	if _, pushed := laptop.fully(hub); pushed.Left+pushed.Past != 0 {
		t.Errorf("another push brings %+v, want nothing", pushed)
	}
}

func TestWhatAHostileSpaceSendsOfHistoriesHasLimits(t *testing.T) {
	hub := newSide(t, "hub", testspace.Options{})
	hub.put("default", "own", "one")
	hub.put("default", "own", "two")
	own, err := hub.Memory.As(hub.Caller).Peer(t.Context(), "", 0, provenance.Scope{}, memory.ToRead)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		edit func(*page)
		says string
	}{
		"a long key":     {func(p *page) { p.versions[0].Key = strings.Repeat("x", 3000) }, "key has 3000 bytes"},
		"no origin":      {func(p *page) { p.versions[0].Origins = nil }, "it has 0 origins"},
		"a NUL":          {func(p *page) { p.versions[0].Origins[0].Replica = "a\x00b" }, "NUL"},
		"a negative age": {func(p *page) { p.versions[0].Origins[0].At = -1 }, "older than 1970"},
		"the future":     {func(p *page) { p.versions[0].Origins[0].At = time.Now().Add(48 * time.Hour).UnixMicro() }, "set the clock"},
		"our future": {func(p *page) {
			p.versions[0].Origins[0] = provenance.Version{Replica: own.Space + ".1", Version: 1 << 40}
		}, "older copy"},
		"a state":  {func(p *page) { p.versions[0].State = "forgotten" }, "state"},
		"a place":  {func(p *page) { p.next = strings.Repeat("x", 70_000) }, "at most 65536 are allowed"},
		"a space":  {func(p *page) { p.Space = "../../x" }, "is not the id of a space"},
		"a branch": {func(p *page) { p.Branch = "remotes/hub/default" }, "tracks another space"},
	} {
		_, err := hub.wire().server.takeHistories(t.Context(), hub.Caller, lying(c.edit))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is answered with %v, want %q", name, err, c.says)
		}
	}
	for name, edit := range map[string]func(*page){ // which bring nothing
		"a version that we wrote": func(p *page) {
			p.versions[0].Key, p.versions[0].Origins[0] = "own", provenance.Version{Replica: own.Space + ".1", Version: 1, At: 7}
		},
		"one that has expired": func(p *page) { p.versions[0].ExpiresAt = new(time.Now().Add(-time.Hour)) },
	} {
		done, err := hub.wire().server.takeHistories(t.Context(), hub.Caller, lying(edit))
		if err != nil || done.Past != 0 {
			t.Errorf("%s is answered with %+v, %v, want that it is left out", name, done, err)
		}
	}
	hub.mustTell("default", "own", "two", "one")
}

func TestAMemoryHasAtMostSoManyVersionsOfOtherSpaces(t *testing.T) {
	hub := newSide(t, "hub", testspace.Options{})
	var left int
	for from := 0; from < 10_500; from += 500 {
		done, err := hub.wire().server.takeHistories(t.Context(), hub.Caller, lying(func(p *page) {
			one := p.versions[0]
			p.versions = nil
			for i := range 500 { // out of order
				one.Origins = []provenance.Version{{Replica: "0123456789abcdef.1", Version: uint64(from + i + 1), At: int64(1 + (from+i)*7919%10_501)}}
				p.versions = append(p.versions, one)
			}
			p.next = "on"
		}))
		if err != nil {
			t.Fatal(err)
		}
		left += done.Left
	}
	if left != 500 {
		t.Errorf("%d versions were left out, want 500 beyond 10,000", left)
	}
	var last time.Time
	for after, n := "", 0; ; n++ {
		list, next, err := hub.Memory.As(hub.Caller).Elsewhere(t.Context(), memory.Location{}, "k", memory.AsOf{}, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if !last.IsZero() && v.Timestamp.After(last) {
				t.Fatalf("a version of %s is listed after one of %s, want the latest first", v.Timestamp, last)
			}
			last = v.Timestamp
		}
		if after = next; next == "" {
			if n != 9 {
				t.Errorf("the history has %d pages of 1000, want 10", n+1)
			}
			return
		}
	}
}

// endless is a server whose histories have no end.
type endless struct {
	wire
	full bool
}

func (w endless) History(ctx context.Context, r request) (page, error) {
	p, err := w.wire.History(ctx, r)
	if p.next = "again"; !w.full {
		p.versions = nil
	}
	return p, err
}

func TestAHistoryWithoutEndIsNotFollowed(t *testing.T) {
	laptop, hub := pair(t)
	hub.put("default", "k", "one")
	for _, full := range []bool{false, true} {
		_, err := laptop.Pull(t.Context(), endless{hub.wire(), full}, Exchange{Remote: "hub", History: AllVersions})
		if err == nil || !strings.Contains(err.Error(), "without end") && !strings.Contains(err.Error(), "the cursor is not from") {
			t.Errorf("a history without end is answered with %v, want that it is one", err)
		}
	}
}

func TestAServerThatKnowsNoHistoriesBringsTheNewest(t *testing.T) {
	laptop, hub := pair(t)
	hub.put("default", "k", "one")
	hub.put("default", "k", "two")
	served := &Server{Memory: hub.Memory, Caller: func(*http.Request) memory.Caller { return hub.Caller }}
	routes := http.NewServeMux()
	for path, serve := range served.Routes() {
		if !strings.HasPrefix(path, historyPath) {
			routes.HandleFunc(path, serve)
		}
	}
	for _, answers := range []string{"404 page not found", `{"error":{"code":"not_found","message":"there is nothing here: clients use /mcp"}}`} {
		routes := routes
		if strings.HasPrefix(answers, "{") {
			inner := routes
			routes = http.NewServeMux()
			routes.Handle("/", inner)
			routes.HandleFunc(historyPath, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				w.Write([]byte(answers))
			})
		}
		server := httptest.NewServer(routes)
		defer server.Close()
		peer, err := newClient(server.URL, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		done, err := laptop.Pull(t.Context(), peer, Exchange{Remote: "hub", History: AllVersions})
		if err != nil || !done.NewestOnly {
			t.Errorf("a pull of histories from an older server brings %+v, %v, want that it has the newest alone", done, err)
		}
		if done, err = laptop.Push(t.Context(), peer, Exchange{Remote: "hub", History: AllVersions}); strings.HasPrefix(answers, "4") && (err != nil || !done.NewestOnly) {
			t.Errorf("a push of histories to an older server brings %+v, %v, want that it has the newest alone", done, err)
		}
	}
	laptop.mustTell("default", "k", "two")
}

// breaking is a server whose answers break off after so many pages of histories.
type breaking struct {
	wire
	left *int
}

func (w breaking) History(ctx context.Context, r request) (page, error) {
	if *w.left--; *w.left < 0 {
		return page{}, errors.New("the line was cut")
	}
	return w.wire.History(ctx, r)
}

func TestAHistoryThatWasCutIsContinued(t *testing.T) {
	laptop, hub := pair(t)
	for i := range 40 {
		hub.put("default", fmt.Sprint("k", i%8), fmt.Sprint(i))
	}
	w := hub.wire()
	w.server.Page = 5
	past := 0
	for range 30 {
		left := 2
		done, err := laptop.Pull(t.Context(), breaking{w, &left}, Exchange{Remote: "hub", History: AllVersions})
		if past += done.Past; err == nil {
			break
		}
	}
	if past != 32 {
		t.Errorf("%d older versions came in all, want each of 32 once", past)
	}
	laptop.mustTell("default", "k7", "39", "31", "23", "15", "7")
}

func TestWhatRetentionKeepsInHistoriesTravels(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	laptop := newSide(t, "laptop", testspace.Options{Clock: clock.Now})
	hub := newSide(t, "hub", testspace.Options{Clock: clock.Now})
	other := newSide(t, "other", testspace.Options{Clock: clock.Now})
	other.put("default", "k", "of another")
	laptop.fully(other)
	for i := range 4 {
		laptop.put("default", "k", fmt.Sprint(i))
		clock.Add(24 * time.Hour)
	}
	if err := laptop.Memory.SetRetention(t.Context(), retention.Policy{Keep: 3600, Versions: 5}); err != nil {
		t.Fatal(err)
	}
	if done, err := laptop.Memory.Retain(t.Context()); err != nil || len(done.Trimmed) != 1 {
		t.Fatalf("retain: %+v, %v, want one trimmed branch", done, err)
	}
	laptop.fully(hub)
	hub.mustTell("default", "k", "3", "2", "1", "0", "of another")
}
