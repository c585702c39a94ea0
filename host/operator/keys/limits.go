package keys

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Limits bound what the clients with a key do at once, all together. Zero fields mean the data directory's limits, and of those the
// default in the comment.
type Limits struct {
	CallsPerSecond float64 `json:"calls_per_second,omitempty"` // 1,000
	Burst          int     `json:"burst,omitempty"`            // calls at once after a pause; what CallsPerSecond allows in 5 s
	Concurrent     int     `json:"concurrent,omitempty"`       // calls; 256
	BodyBytes      int64   `json:"body_bytes,omitempty"`       // of a request; 16 MiB, the most that the server takes from anyone
	// What they store in a day (in UTC), in all namespaces together: versions of memories, added links, and bytes; unlimited.
	MemoriesADay int64 `json:"memories_a_day,omitempty"`
	LinksADay    int64 `json:"links_a_day,omitempty"`
	BytesADay    int64 `json:"bytes_a_day,omitempty"`
}

const (
	defaultRate       = 1000
	defaultConcurrent = 256
	mostBody          = 16 << 20
	burstSeconds      = 5

	mostRate, leastRate = 1e6, 0.01
	mostBurst           = 1_000_000
	mostConcurrent      = 4096
	leastBody           = 1 << 10

	// afterBusy is when to try again if too many calls run: nobody knows when one ends.
	afterBusy = time.Second
)

// check returns what is wrong with limits.
func (l Limits) check() error {
	switch {
	case l.CallsPerSecond != 0 && !(l.CallsPerSecond >= leastRate && l.CallsPerSecond <= mostRate):
		return fmt.Errorf("%g calls per second: name %g to %g", l.CallsPerSecond, leastRate, float64(mostRate))
	case l.Burst < 0 || l.Burst > mostBurst:
		return fmt.Errorf("a burst of %d calls: name 1 to %d", l.Burst, mostBurst)
	case l.Concurrent < 0 || l.Concurrent > mostConcurrent:
		return fmt.Errorf("%d concurrent calls: name 1 to %d", l.Concurrent, mostConcurrent)
	case l.BodyBytes != 0 && (l.BodyBytes < leastBody || l.BodyBytes > mostBody):
		return fmt.Errorf("a body of %d bytes: name %d to %d", l.BodyBytes, leastBody, mostBody)
	case l.MemoriesADay < 0 || l.LinksADay < 0 || l.BytesADay < 0:
		return fmt.Errorf("%d memories, %d links and %d bytes a day: name at least 1, or 0 for those of all keys", l.MemoriesADay, l.LinksADay, l.BytesADay)
	}
	return nil
}

// within returns the limits that apply to a key with limits l in a data directory with limits d.
func (l Limits) within(d Limits) Limits {
	own := l.CallsPerSecond != 0
	l.CallsPerSecond = cmp.Or(l.CallsPerSecond, d.CallsPerSecond, defaultRate)
	if !own {
		l.Burst = cmp.Or(l.Burst, d.Burst)
	}
	l.Burst = cmp.Or(l.Burst, int(max(1, math.Ceil(burstSeconds*l.CallsPerSecond))))
	l.Concurrent = cmp.Or(l.Concurrent, d.Concurrent, defaultConcurrent)
	l.BodyBytes = cmp.Or(l.BodyBytes, d.BodyBytes, mostBody)
	l.MemoriesADay, l.LinksADay, l.BytesADay = cmp.Or(l.MemoriesADay, d.MemoriesADay), cmp.Or(l.LinksADay, d.LinksADay), cmp.Or(l.BytesADay, d.BytesADay)
	return l
}

// use is what the clients with a key have used: a token bucket, and the number of running calls.
type use struct {
	tokens  float64
	at      time.Time // when tokens was right
	running int
}

// uses are kept for keys in use. There are no more than keys.
type uses struct {
	mu   sync.Mutex
	byID map[string]*use
}

// reportExceeded reports the refusal of a call by the holder of a key, and returns it.
func (k *Keys) reportExceeded(id string, err error) error {
	var known *memory.Error
	if k.o.Exceeded == nil || !errors.As(err, &known) {
		return err
	}
	limit, _ := known.Details["limit"].(string)
	holder := Key{ID: id}
	k.mu.RLock()
	if s := k.byID[id]; s != nil {
		holder = s.Key
	}
	k.mu.RUnlock()
	k.o.Exceeded(holder, limit)
	return err
}

// Begin admits a call of a key's holder, if the limits of the key and of those that it was delegated from permit. The caller calls end
// when the call is over. An empty id is the owner of the data directory, without limits.
func (k *Keys) Begin(id string) (end func(), err error) {
	end, err = k.begin(id)
	return end, k.reportExceeded(id, err)
}

func (k *Keys) begin(id string) (end func(), err error) {
	all := k.bounds(id)
	k.uses.mu.Lock()
	defer k.uses.mu.Unlock()
	k.uses.refill(all, k.o.Clock())
	for _, b := range all {
		if b.use.running >= b.limits.Concurrent {
			return nil, exceeded("concurrent", float64(b.limits.Concurrent), afterBusy, "running calls with %s: at most %d; let one end first", b.name(id), b.limits.Concurrent)
		}
	}
	if err := take(all, id); err != nil {
		return nil, err
	}
	for _, b := range all {
		b.use.running++
	}
	var once sync.Once
	return func() { once.Do(func() { k.uses.end(all) }) }, nil
}

// Charge counts one more call within one that Begin admitted, such as those of a batch.
func (k *Keys) Charge(id string) error { return k.reportExceeded(id, k.charge(id)) }

func (k *Keys) charge(id string) error {
	all := k.bounds(id)
	k.uses.mu.Lock()
	defer k.uses.mu.Unlock()
	k.uses.refill(all, k.o.Clock())
	return take(all, id)
}

// limitedKey is a key against whose limits a call counts.
type limitedKey struct {
	id     string
	limits Limits
	use    *use
}

// name returns how the holder of a key is told of the bound.
func (b limitedKey) name(holder string) string {
	if b.id == holder {
		return "this key"
	}
	return "the key " + b.id + ", from which this one was delegated,"
}

// bounds returns what bounds the calls with a key: the key, and those that it was delegated from. Nothing bounds the owner.
func (k *Keys) bounds(id string) (all []limitedKey) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for range MaxDepth + 1 {
		if id == "" {
			break
		}
		s := k.byID[id]
		if s == nil {
			return append(all, limitedKey{id: id, limits: Limits{}.within(k.file.Limits)})
		}
		all = append(all, limitedKey{id: id, limits: s.Limits.within(k.file.Limits)})
		id = s.parent()
	}
	return all
}

// LimitsOf returns the limits that apply to a key. Of an unknown key they are those of the data directory.
func (k *Keys) LimitsOf(id string) Limits {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var own Limits
	if s := k.byID[id]; s != nil {
		own = s.Limits
	}
	return own.within(k.file.Limits)
}

// Quotas returns what the holders of a key may store in a day, and those of the keys that it was delegated from.
func (k *Keys) Quotas(id string) (list []memory.KeyQuota) {
	for _, b := range k.bounds(id) {
		list = append(list, memory.KeyQuota{ID: b.id, Quota: memory.Allowance{Memories: b.limits.MemoriesADay, Links: b.limits.LinksADay, Bytes: b.limits.BytesADay}})
	}
	return list
}

// BodyLimit returns the most bytes of a request by a key's holder. An empty id has the server's own limit.
func (k *Keys) BodyLimit(id string) int64 {
	most := int64(mostBody)
	for _, b := range k.bounds(id) {
		most = min(most, b.limits.BodyBytes)
	}
	return most
}

// Limits returns the limits of keys that have none of their own.
func (k *Keys) Limits() Limits { return k.LimitsSet().Effective() }

// LimitsSet returns what Limit set last; zero fields have the default.
func (k *Keys) LimitsSet() Limits {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.file.Limits
}

// Effective returns limits of a data directory with the defaults in place of zero fields.
func (l Limits) Effective() Limits { return Limits{}.within(l) }

// Limit sets the limits of keys that have none of their own, from now on and by later servers of the data directory. Zero fields
// restore the default.
func (k *Keys) Limit(l Limits) error {
	if err := l.check(); err != nil {
		return err
	}
	k.changing.Lock()
	defer k.changing.Unlock()
	file := k.snapshot()
	file.Limits = l
	if err := k.replace(file); err != nil {
		return fmt.Errorf("keep the limits of keys: %w", err)
	}
	return nil
}

// refill sets the uses of some bounds, refilled up to now. The caller holds mu.
func (u *uses) refill(all []limitedKey, now time.Time) {
	for i, b := range all {
		all[i].use = u.of(b.id, b.limits, now)
	}
}

// of returns the use of a key, refilled up to now. The caller holds mu.
func (u *uses) of(id string, l Limits, now time.Time) *use {
	if u.byID == nil {
		u.byID = map[string]*use{}
	}
	one := u.byID[id]
	if one == nil {
		one = &use{tokens: float64(l.Burst), at: now}
		u.byID[id] = one
	}
	if passed := now.Sub(one.at).Seconds(); passed > 0 { // a clock that was set back refills nothing
		one.tokens += passed * l.CallsPerSecond
	}
	one.tokens, one.at = min(one.tokens, float64(l.Burst)), now
	return one
}

// take takes a token of each bound, or none and returns when there will be one.
func take(all []limitedKey, holder string) error {
	for _, b := range all {
		if b.use.tokens < 1 {
			l := b.limits
			wait := time.Duration(math.Ceil((1 - b.use.tokens) / l.CallsPerSecond * float64(time.Second)))
			return exceeded("calls_per_second", l.CallsPerSecond, wait, "calls per second with %s: at most %g, and %d at once after a pause", b.name(holder), l.CallsPerSecond, l.Burst)
		}
	}
	for _, b := range all {
		b.use.tokens--
	}
	return nil
}

func (u *uses) end(all []limitedKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, b := range all {
		b.use.running--
	}
}

// keep forgets the use of keys that no longer exist.
func (u *uses) keep(exists func(id string) bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id := range u.byID {
		if !exists(id) {
			delete(u.byID, id)
		}
	}
}

// exceeded returns the error of a call beyond a limit, with when to send it again.
func exceeded(limit string, value float64, wait time.Duration, format string, args ...any) error {
	wait = max(wait, time.Millisecond)
	return &memory.Error{Code: memory.Exhausted, Retryable: true,
		Message: fmt.Sprintf(format, args...) + fmt.Sprintf("; nothing was done, try again in %v", wait.Round(time.Millisecond)),
		Details: map[string]any{"limit": limit, limit: value, "retry_after_ms": wait.Milliseconds()}}
}
