package keys

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func limited(t *testing.T, l Limits) (*Keys, *testclock.Clock, string) {
	t.Helper()
	clock := testclock.At(began)
	k := open(t, path(t), clock.Now)
	g := ann
	g.Limits = l
	key, _ := k.must(t, g)
	return k, clock, key.ID
}

// wait is when to try again after an error, which must name the limit.
func wait(t *testing.T, err error, limit string) time.Duration {
	t.Helper()
	var e *memory.Error
	if !errors.As(err, &e) || e.Code != memory.Exhausted || !e.Retryable || e.Details["limit"] != limit || !strings.Contains(e.Message, "try again in") {
		t.Fatalf("%v is no error of the limit %s", err, limit)
	}
	return time.Duration(e.Details["retry_after_ms"].(int64)) * time.Millisecond
}

func TestCallsBeyondTheRateAreRefusedUntilTheTimeTheErrorNames(t *testing.T) {
	k, clock, id := limited(t, Limits{CallsPerSecond: 2, Burst: 3})
	for i := range 3 {
		if err := k.Charge(id); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	_, err := k.Begin(id)
	after := wait(t, err, "calls_per_second")
	if after != 500*time.Millisecond {
		t.Errorf("the next call is due after %v", after)
	}
	clock.Add(after - time.Millisecond)
	if err := k.Charge(id); err == nil {
		t.Error("it is admitted before its time")
	}
	clock.Add(time.Millisecond)
	end, err := k.Begin(id)
	if err != nil {
		t.Fatalf("at the time it names: %v", err)
	}
	end()
	clock.Add(-time.Hour) // set back
	if err := k.Charge(id); err == nil {
		t.Error("a clock that is set back admits calls")
	}
	clock.Add(2 * time.Hour)
	for range 3 {
		if err := k.Charge(id); err != nil {
			t.Errorf("after a pause: %v", err)
		}
	}
	wait(t, k.Charge(id), "calls_per_second")
}

func TestTooManyConcurrentCallsAreRefused(t *testing.T) {
	k, _, id := limited(t, Limits{Concurrent: 2})
	first, err := k.Begin(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Begin(id); err != nil {
		t.Fatal(err)
	}
	_, err = k.Begin(id)
	wait(t, err, "concurrent")
	if err := k.Charge(id); err != nil {
		t.Errorf("a call within one that runs: %v", err)
	}
	first()
	first() // counts once
	if _, err := k.Begin(id); err != nil {
		t.Errorf("after one ended: %v", err)
	}
	_, err = k.Begin(id)
	wait(t, err, "concurrent")
}

func TestKeysWithoutLimitsHaveThoseOfTheDirectory(t *testing.T) {
	file := path(t)
	k := open(t, file, still)
	key, _ := k.must(t, ann)
	if got, want := k.LimitsOf(key.ID), (Limits{CallsPerSecond: 1000, Burst: 5000, Concurrent: 256, BodyBytes: 16 << 20}); got != want {
		t.Errorf("the limits are %+v", got)
	}
	if err := k.Limit(Limits{CallsPerSecond: 10, BodyBytes: 4096}); err != nil {
		t.Fatal(err)
	}
	g := ann
	g.Limits = Limits{CallsPerSecond: .5, Concurrent: 1}
	own, _ := k.must(t, g)
	for range 2 { // and after a restart
		if got, want := k.LimitsOf(key.ID), (Limits{CallsPerSecond: 10, Burst: 50, Concurrent: 256, BodyBytes: 4096}); got != want {
			t.Errorf("the limits are %+v", got)
		}
		if got, want := k.LimitsOf(own.ID), (Limits{CallsPerSecond: .5, Burst: 3, Concurrent: 1, BodyBytes: 4096}); got != want {
			t.Errorf("the key's own limits are %+v", got)
		}
		if k.BodyLimit(own.ID) != 4096 || k.BodyLimit("") != 16<<20 {
			t.Errorf("bodies of %d and %d bytes", k.BodyLimit(own.ID), k.BodyLimit(""))
		}
		k = open(t, file, still)
	}
	for range 10_000 {
		if _, err := k.Begin(""); err != nil {
			t.Fatalf("the owner: %v", err)
		}
	}
}

func TestImpossibleLimitsAreRefused(t *testing.T) {
	k := open(t, path(t), still)
	for want, l := range map[string]Limits{
		"calls per second": {CallsPerSecond: -1}, "1e+07 calls": {CallsPerSecond: 1e7}, "NaN": {CallsPerSecond: math.NaN()}, "a burst of -1": {Burst: -1},
		"5000 concurrent": {Concurrent: 5000}, "a body of 10": {BodyBytes: 10}, "a body of 17000000": {BodyBytes: 17_000_000},
	} {
		g := ann
		g.Limits = l
		if _, _, err := k.Create(g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Create with limits %+v: %v, want an error that says %q", l, err, want)
		}
		if err := k.Limit(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v for all: %v", l, err)
		}
	}
}

func TestLimitsHoldAmongConcurrentClientsAndEndWithTheKey(t *testing.T) {
	k, _, id := limited(t, Limits{CallsPerSecond: 1, Burst: 100, Concurrent: 1000})
	var all sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		all.Go(func() {
			for range 50 {
				if end, err := k.Begin(id); err == nil {
					end()
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if admitted != 100 {
		t.Errorf("%d of 400 calls were admitted, not 100", admitted)
	}
	if _, err := k.Delete(id); err != nil {
		t.Fatal(err)
	}
	if len(k.uses.byID) != 0 {
		t.Errorf("%d keys that are gone are remembered", len(k.uses.byID))
	}
}

// An agent that delegates its work may do no more at once than without its delegates.
func TestCallsOfADelegateCountAgainstTheKeysThatItWasDelegatedFrom(t *testing.T) {
	clock := testclock.At(began)
	k := open(t, path(t), clock.Now)
	g := ann
	g.Limits = Limits{CallsPerSecond: 1, Burst: 6, Concurrent: 2, BodyBytes: 4096}
	parent, _ := k.must(t, g)
	child, _ := k.delegate(t, parent.Caller(), task)
	below := task
	below.Agent = "below"
	grandchild, _ := k.delegate(t, child.Caller(), below)
	if got := k.BodyLimit(grandchild.ID); got != 4096 {
		t.Errorf("a delegate's body may have %d bytes, want 4096 as its ancestor's", got)
	}
	first, err := k.Begin(grandchild.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Begin(child.ID); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{parent.ID, child.ID, grandchild.ID} {
		_, err := k.Begin(id)
		wait(t, err, "concurrent")
		if told := strings.Contains(err.Error(), "this key"); told != (id == parent.ID) {
			t.Errorf("the holder of %s is told %v", id, err)
		}
	}
	first()
	for range 4 { // of 6, two are used
		if err := k.Charge(grandchild.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{parent.ID, child.ID, grandchild.ID} {
		if after := wait(t, k.Charge(id), "calls_per_second"); after != time.Second {
			t.Errorf("the holder of %s is to try again in %v, want 1s", id, after)
		}
	}
	other, _ := k.must(t, ann)
	if err := k.Charge(other.ID); err != nil {
		t.Errorf("another key: %v", err)
	}
}

func TestWhatAKeyStoresInADayIsBoundedByItsOwnLimitsAndThoseOfAll(t *testing.T) {
	k := open(t, path(t), still)
	if err := k.Limit(Limits{MemoriesADay: 100, BytesADay: 5000}); err != nil {
		t.Fatal(err)
	}
	g := ann
	g.Limits = Limits{MemoriesADay: 7}
	key, _ := k.must(t, g)
	quotas := k.Quotas(key.ID)
	if len(quotas) != 1 || quotas[0].ID != key.ID || quotas[0].Quota.Memories != 7 || quotas[0].Quota.Bytes != 5000 || quotas[0].Quota.Links != 0 {
		t.Errorf("the quotas are %+v, want 7 memories of its own and 5000 bytes of all keys", quotas)
	}
	if got := k.Quotas(""); len(got) != 0 {
		t.Errorf("the owner has the quotas %+v, want none", got)
	}
	g.Limits = Limits{LinksADay: -1}
	if _, _, err := k.Create(g); err == nil {
		t.Error("a key with less than no links a day is made")
	}
}
