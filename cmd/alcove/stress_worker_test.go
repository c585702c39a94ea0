package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	stressKeys     = 12          // of each worker on a branch
	stressBranches = 6           // of each worker at a time
	stressCounters = 3           // that all workers increment
	stressPast     = 2000        // writes that a worker remembers the version of
	stressKept     = time.Minute // the shortest past that the operator keeps
	sharedSpace    = "shared"
)

// contest is a server, its model, and all that was noticed.
type contest struct {
	*testServer
	*stressModel
	secrets *secrets

	noticing sync.Mutex
	wrong    []string
	failures map[string]int // of calls that were expected to fail, by what they said without its numbers
	done     map[string]int // operations, by kind
}

// wrongly notes what must not be.
func (c *contest) wrongly(format string, args ...any) {
	c.noticing.Lock()
	defer c.noticing.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

func (c *contest) faults() []string {
	c.noticing.Lock()
	defer c.noticing.Unlock()
	return slices.Clone(c.wrong)
}

var stressNumbers = regexp.MustCompile(`[0-9]+`)

// expected notes a failure that the model has an explanation for.
func (c *contest) expected(err error) {
	c.noticing.Lock()
	defer c.noticing.Unlock()
	text := stressNumbers.ReplaceAllString(err.Error(), "N")
	c.failures[text[:min(len(text), 90)]]++
}

func (c *contest) did(operation string) {
	c.noticing.Lock()
	defer c.noticing.Unlock()
	c.done[operation]++
}

// secrets are texts that are to be purged.
type secrets struct {
	mu     sync.Mutex
	due    []secret
	purged []secret
}

type secret struct {
	namespace, key, text string
	line                 *line // it was stored on
}

func (s *secrets) add(one secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = append(s.due, one)
}

func (s *secrets) next() (secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.due) == 0 {
		return secret{}, false
	}
	one := s.due[0]
	s.due = s.due[1:]
	return one, true
}

func (s *secrets) gone(one secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purged = append(s.purged, one)
}

func (s *secrets) all() []secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.purged)
}

// stressWorker is one client, which writes to a namespace and branches of its own, and to counters and the log of all.
type stressWorker struct {
	*contest
	name    string // also of its namespace
	session session
	random  *rand.Rand
	serial  int
	past    []write
	others  []string
}

// write is a write that was acknowledged.
type write struct {
	branch  string
	slot    slot
	text    string
	version uint64
	began   time.Time
}

func code(err error) string {
	var refused *client.Error
	if errors.As(err, &refused) {
		return classOf(refused.Code)
	}
	return ""
}

// call calls a tool and decodes the answer.
func (w *stressWorker) call(tool string, arguments map[string]any, into any) error {
	r, err := w.session.Call(context.Background(), tool, arguments)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(r.Structured, into); err != nil {
		return fmt.Errorf("%s answered %.200q: %w", tool, r.Structured, err)
	}
	return nil
}

func (w *stressWorker) text() string {
	words := strings.Fields("tea coffee green black afternoon morning deploy script staging key garden rain harbour office")
	w.serial++
	return fmt.Sprintf("%s %s number %dx%s", words[w.random.IntN(len(words))], words[w.random.IntN(len(words))], w.serial, w.name)
}

func (w *stressWorker) slot() slot { return slot{w.name, fmt.Sprint("k", w.random.IntN(stressKeys))} }

// line is one of the branches that the worker writes to.
func (w *stressWorker) line() *line {
	mine := w.live(w.name)
	if n := w.random.IntN(len(mine) + 2); n < len(mine) {
		return mine[n]
	}
	return w.first()
}

func (m *stressModel) first() *line {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lines[firstBranch]
}

// operation is something that a worker does, as often as its share of all says.
type operation struct {
	share int
	name  string
	do    func() error
}

func (w *stressWorker) operations() []operation {
	return []operation{
		{22, "store", w.store}, {6, "batch", w.batch}, {4, "twins", w.twins}, {9, "forget", w.forget}, {8, "recall", w.recall}, {9, "recall another's", w.recallOther},
		{8, "search", w.search}, {3, "recall the past", w.recallPast}, {7, "fork", w.fork}, {5, "merge", w.merge}, {3, "delete", w.delete},
		{3, "list", w.list}, {8, "increment", w.increment}, {3, "log", w.log}, {2, "secret", w.secret},
	}
}

// run works until ctx ends, or a call fails in a way that nothing explains.
func (w *stressWorker) run(ctx context.Context) {
	var drawn []operation
	for _, o := range w.operations() {
		drawn = append(drawn, slices.Repeat([]operation{o}, o.share)...)
	}
	for ctx.Err() == nil {
		o := drawn[w.random.IntN(len(drawn))]
		if err := o.do(); err != nil {
			w.wrongly("%s: %s failed, which nothing explains: %v (%s)", w.name, o.name, err, code(err))
			return
		}
		w.did(o.name)
	}
}

func (w *stressWorker) put(l *line, to map[slot]string) error {
	var items []map[string]any
	for s, text := range to {
		items = append(items, map[string]any{"key": s.key, "value": text})
	}
	var receipt struct {
		Version uint64
		Stored  []struct{ Version uint64 }
	}
	arguments, began := map[string]any{"branch": l.name, "namespace": w.name}, time.Now()
	if len(items) == 1 {
		maps.Copy(arguments, items[0])
	} else {
		arguments["items"] = items
	}
	err := w.change(l, to, func() error { return w.call("memory_store", arguments, &receipt) })
	if err != nil {
		return err
	}
	if len(receipt.Stored) > 0 {
		receipt.Version = receipt.Stored[0].Version
	}
	for s, text := range to {
		w.past = append(w.past, write{l.name, s, text, receipt.Version, began})
	}
	w.past = w.past[max(0, len(w.past)-stressPast):]
	return nil
}

func (w *stressWorker) store() error { return w.put(w.line(), map[slot]string{w.slot(): w.text()}) }

func (w *stressWorker) batch() error {
	to := map[slot]string{}
	for range 2 + w.random.IntN(8) {
		to[w.slot()] = w.text()
	}
	return w.put(w.line(), to)
}

// twins are two memories that always hold the same: who sees two of them differ sees half a commit.
func (w *stressWorker) twins() error {
	text := w.text()
	return w.put(w.first(), map[slot]string{{w.name, "left"}: text, {w.name, "right"}: text})
}

func (w *stressWorker) forget() error {
	l, to, keys := w.line(), map[slot]string{}, []string{}
	for range 1 + w.random.IntN(3) {
		to[w.slot()] = ""
	}
	there := 0
	held := w.held(l, w.name)
	for s := range to {
		keys = append(keys, s.key)
		if held[s] != "" {
			there++
		}
	}
	var answer struct{ Count int }
	err := w.change(l, to, func() error {
		return w.call("memory_forget", map[string]any{"branch": l.name, "namespace": w.name, "key": keys}, &answer)
	})
	if err == nil && answer.Count != there {
		w.wrongly("%s: forgot %d of %v on %s, where %d were", w.name, answer.Count, keys, l.name, there)
	}
	return err
}

type recalled struct {
	Found   bool
	Value   json.RawMessage
	Version uint64
}

func (r recalled) text() (text string) {
	json.Unmarshal(r.Value, &text)
	return text
}

// look recalls a slot and has the model judge it.
func (w *stressWorker) look(l *line, s slot) error {
	var got recalled
	read, err := w.during(func() error {
		return w.call("memory_recall", map[string]any{"branch": l.name, "namespace": s.namespace, "key": s.key}, &got)
	})
	missing := code(err) == "not_found"
	if err != nil && !missing {
		return err
	}
	if missing {
		w.expected(err)
	}
	if wrong := w.judge(l, s, read, got.text(), missing); wrong != "" {
		w.wrongly("%s: %s", w.name, wrong)
	}
	return nil
}

func (w *stressWorker) recall() error { return w.look(w.line(), w.slot()) }

// recallOther reads what another worker may just be writing, or on a branch that it may just be deleting.
func (w *stressWorker) recallOther() error {
	all := w.all()
	l := all[max(0, len(all)-1-w.random.IntN(3*stressBranches))]
	owner := l.owner
	if w.random.IntN(3) == 0 || owner == "" {
		l, owner = w.first(), w.others[w.random.IntN(len(w.others))]
	}
	return w.look(l, slot{owner, w.slot().key})
}

// search looks for what one of the worker's own memories holds: it must be found, and nothing that is not there.
func (w *stressWorker) search() error {
	l := w.line()
	held := w.held(l, w.name)
	if len(held) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(held), func(a, b slot) int { return strings.Compare(a.key, b.key) })
	want := keys[w.random.IntN(len(keys))]
	var found struct {
		Results []struct {
			Namespace, Key string
			Value          json.RawMessage
		}
	}
	purged := w.secrets.all()
	if err := w.call("memory_search", map[string]any{"query": held[want], "branch": l.name, "namespace": w.name, "k": 30}, &found); err != nil {
		return err
	}
	there := false
	for _, hit := range found.Results {
		text := recalled{Value: hit.Value}.text()
		there = there || hit.Key == want.key
		if s := (slot{cmp.Or(hit.Namespace, w.name), hit.Key}); held[s] != text && !strings.HasPrefix(hit.Key, "secret") {
			w.wrongly("%s: a search on %s found %v as %q; it is %q", w.name, l.name, s, text, held[s])
		}
		if slices.ContainsFunc(purged, func(s secret) bool { return strings.Contains(text, s.text) }) {
			w.wrongly("%s: a search on %s found the purged %q", w.name, l.name, text)
		}
	}
	if !there {
		w.wrongly("%s: a search on %s for %q did not find %s", w.name, l.name, held[want], want.key)
	}
	return nil
}

// recallPast reads what was acknowledged as of its own version.
func (w *stressWorker) recallPast() error {
	live := append(w.live(w.name), w.first())
	past := slices.DeleteFunc(slices.Clone(w.past), func(p write) bool {
		return p.version == 0 || !slices.ContainsFunc(live, func(l *line) bool { return l.name == p.branch })
	})
	if len(past) == 0 {
		return nil
	}
	p := past[w.random.IntN(len(past))]
	var got recalled
	err := w.call("memory_recall", map[string]any{"branch": p.branch, "namespace": p.slot.namespace, "key": p.slot.key, "as_of": fmt.Sprint("v", p.version)}, &got)
	if err != nil && strings.Contains(err.Error(), "further back than is kept") && time.Since(p.began) > stressKept {
		w.expected(err)
		return nil
	}
	if err == nil && got.text() != p.text {
		w.wrongly("%s: %v on %s as of v%d is %q; %q was acknowledged", w.name, p.slot, p.branch, p.version, got.text(), p.text)
	}
	return err
}

// fork forks a branch. What others write to the first branch meanwhile is on the new one as a whole, or not at all.
func (w *stressWorker) fork() error {
	if len(w.live(w.name)) >= stressBranches {
		return w.delete()
	}
	from := w.line()
	w.serial++
	name := fmt.Sprintf("%s/%d", w.name, w.serial)
	l, err := w.stressModel.fork(from, w.name, name, func() error {
		return w.call("memory_branch", map[string]any{"action": "fork", "name": name, "source": from.name}, nil)
	})
	if err != nil || from.name != firstBranch {
		return err
	}
	other := w.others[w.random.IntN(len(w.others))]
	var twins [2]string
	for i, key := range []string{"left", "right"} {
		var got recalled
		if err := w.call("memory_recall", map[string]any{"branch": name, "namespace": other, "key": key}, &got); err != nil {
			return err
		}
		twins[i] = got.text()
		if wrong := w.judge(from, slot{other, key}, l.made, got.text(), false); wrong != "" {
			w.wrongly("%s: %s as it was forked: %s", w.name, name, wrong)
		}
	}
	if twins[0] != twins[1] {
		w.wrongly("%s: %s has half a commit of %s: %q and %q", w.name, name, other, twins[0], twins[1])
	}
	return nil
}

func (w *stressWorker) merge() error {
	mine := slices.DeleteFunc(w.live(w.name), func(l *line) bool { return !w.lives(l.parent) })
	if len(mine) == 0 {
		return nil
	}
	l := mine[w.random.IntN(len(mine))]
	parent := w.called(l.parent)
	changes := w.merged(l, parent)
	var answer struct {
		Merged  bool
		Applied int
	}
	err := w.change(parent, changes, func() error {
		return w.call("memory_branch", map[string]any{"action": "merge", "source": l.name, "target": parent.name, "strategy": "source"}, &answer)
	})
	if err != nil {
		return err
	}
	if l.common = w.held(l, w.name); len(changes) > 0 && (!answer.Merged || answer.Applied < len(changes)) {
		w.wrongly("%s: merging %s into %s applied %d changes of %v", w.name, l.name, parent.name, answer.Applied, changes)
	}
	return nil
}

func (m *stressModel) called(name string) *line {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lines[name]
}

func (m *stressModel) lives(name string) bool {
	l := m.called(name)
	return l != nil && l.gone.began == 0
}

func (w *stressWorker) delete() error {
	mine := w.live(w.name)
	if len(mine) < stressBranches/2 {
		return nil
	}
	l := mine[w.random.IntN(len(mine))]
	return w.stressModel.delete(l, func() error {
		return w.call("memory_branch", map[string]any{"action": "delete", "name": l.name, "force": true}, nil)
	})
}

func (w *stressWorker) list() error {
	names, read, err := w.branches()
	for _, wrong := range w.judgeBranches(names, read) {
		w.wrongly("%s: %s", w.name, wrong)
	}
	return err
}

func (w *stressWorker) branches() (names []string, read span, err error) {
	var answer struct{ Branches []struct{ Name string } }
	read, err = w.during(func() error { return w.call("memory_branch", map[string]any{"action": "list"}, &answer) })
	for _, b := range answer.Branches {
		names = append(names, b.Name)
	}
	return names, read, err
}

// increment adds one to a counter of all, by comparing and setting, until that succeeds.
func (w *stressWorker) increment() error {
	key := fmt.Sprint("counter", w.random.IntN(stressCounters))
	for {
		var now recalled
		if err := w.call("memory_recall", map[string]any{"namespace": sharedSpace, "key": key}, &now); err != nil {
			return err
		}
		n := 0
		if now.Found {
			if err := json.Unmarshal(now.Value, &n); err != nil {
				return err
			}
		}
		err := w.call("memory_store", map[string]any{"namespace": sharedSpace, "key": key, "value": n + 1, "if_version": now.Version}, nil)
		if code(err) != "conflict" {
			if err == nil {
				w.mu.Lock()
				w.counted[key]++
				w.mu.Unlock()
			}
			return err
		}
		w.expected(err)
	}
}

func (w *stressWorker) log() error {
	text := w.text()
	var receipt struct{ Sequence int }
	if err := w.call("memory_log", map[string]any{"event": "stress", "data": text}, &receipt); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, there := w.logged[receipt.Sequence]; there {
		w.wrongly("%s: the event %q has number %d, which %q has", w.name, text, receipt.Sequence, other)
	}
	w.logged[receipt.Sequence] = text
	return nil
}

// secret stores what the operator is to purge.
func (w *stressWorker) secret() error {
	l := w.line()
	w.serial++
	s := secret{w.name, fmt.Sprint("secret", w.serial), fmt.Sprintf("confidential-%s-%d-end", w.name, w.serial), l}
	err := w.call("memory_store", map[string]any{"branch": l.name, "namespace": s.namespace, "key": s.key, "value": strings.Repeat(s.text+" ", 1+w.random.IntN(300))}, nil)
	if err == nil {
		w.secrets.add(s)
	}
	return err
}
