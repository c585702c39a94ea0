package refusals

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// reports are what an account reported, as "KEY RULE ×COUNT".
type reports struct {
	mu   sync.Mutex
	list []string
}

func (r *reports) add(x Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, fmt.Sprintf("%s %s ×%d", x.Key, x.Rule, x.Count))
}

// all returns what was reported since the last reset.
func (r *reports) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

func (r *reports) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = nil
}

// recorded returns an account, and what it reports.
func recorded() (*Account, *reports) {
	got := &reports{}
	return New(Options{Report: got.add}), got
}

func TestARefusalIsReportedAtOnceAndThenCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, got := recorded()
		go a.Run(t.Context())
		denied := Refusal{Key: "k1", Agent: "reader", Namespace: "secret", Work: "tool memory_recall", Rule: "read namespace"}
		for range 5 {
			a.Add(denied)
		}
		elsewhere := denied
		elsewhere.Namespace = "other"
		a.Add(elsewhere)
		if want := []string{"k1 read namespace ×1", "k1 read namespace ×1"}; !slices.Equal(got.all(), want) {
			t.Errorf("at once got %q, want %q", got.all(), want)
		}
		got.reset()
		time.Sleep(DefaultEvery + time.Second)
		synctest.Wait()
		if want := []string{"k1 read namespace ×4"}; !slices.Equal(got.all(), want) {
			t.Errorf("after the interval got %q, want %q: the four that followed the first", got.all(), want)
		}
		got.reset()
		time.Sleep(DefaultEvery)
		synctest.Wait()
		a.Add(denied)
		if want := []string{"k1 read namespace ×1"}; !slices.Equal(got.all(), want) {
			t.Errorf("after an interval without one got %q, want %q: it is reported at once again", got.all(), want)
		}
	})
}

func TestWhatWasCountedIsReportedWhenTheServerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, got := recorded()
		a.Add(Refusal{Key: "k1", Rule: "limit calls_per_second"})
		a.Add(Refusal{Key: "k1", Rule: "limit calls_per_second"})
		a.Add(Refusal{Key: "k1", Rule: "limit calls_per_second"})
		ctx, stop := context.WithCancel(t.Context())
		go a.Run(ctx)
		stop()
		synctest.Wait()
		if want := []string{"k1 limit calls_per_second ×1", "k1 limit calls_per_second ×2"}; !slices.Equal(got.all(), want) {
			t.Errorf("got %q, want %q", got.all(), want)
		}
	})
}

// A client that names ever new namespaces gets a bounded number of kinds, and none of those of others.
func TestAHolderThatIsRefusedInEverNewWaysTakesNoRoomFromOthers(t *testing.T) {
	a, got := recorded()
	for i := range 10_000 {
		a.Add(Refusal{Key: "loud", Agent: "attacker", Namespace: fmt.Sprint("n", i), Rule: "read namespace"})
		a.Add(Refusal{From: fmt.Sprint("10.0.0.", i), Rule: "no API key or token"})
	}
	if want := 2 * (mostOfKey + 1); len(got.all()) != want {
		t.Errorf("20,000 refusals of two clients are reported %d times at once, want %d", len(got.all()), want)
	}
	got.reset()
	a.Add(Refusal{Key: "quiet", Rule: "read namespace"})
	if want := []string{"quiet read namespace ×1"}; !slices.Equal(got.all(), want) {
		t.Errorf("another client's refusal is reported as %q, want %q", got.all(), want)
	}
	got.reset()
	a.flush()
	total := 0
	for _, line := range got.all() {
		var n int
		fmt.Sscanf(line[strings.LastIndex(line, "×"):], "×%d", &n)
		total += n
	}
	if want := 20_000 - 2*(mostOfKey+1); total != want {
		t.Errorf("the counts sum up to %d, want %d", total, want)
	}
}

func TestADayOfAttacksWithManyKeysIsFewReports(t *testing.T) {
	a, got := recorded()
	longest := strings.Repeat("\x01", 1<<10)
	for hour := range 24 {
		for key := range 200 {
			for kind := range 2 * mostOfKey {
				a.Add(Refusal{Key: fmt.Sprint("k", hour, "-", key), Namespace: fmt.Sprint(kind, longest), Rule: longest})
			}
		}
		a.flush()
	}
	if most := 24 * 2 * (mostKinds + 1); len(got.all()) > most {
		t.Errorf("there are %d reports, want at most %d", len(got.all()), most)
	}
	for _, line := range got.all() {
		if most := 2*longestName + longestRule; len(line) > most {
			t.Fatalf("a report has %d bytes, want at most %d", len(line), most)
		}
	}
}
