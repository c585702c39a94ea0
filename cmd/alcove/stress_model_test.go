package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

// slot is where a memory is on a branch.
type slot struct{ namespace, key string }

// span is from when to when something was under way, on the model's own clock. An end of 0 is still to come.
type span struct{ began, ended int64 }

// state is what a slot holds from a moment within a span on. Nothing is the empty text.
type state struct {
	span
	text string
}

// line is a branch. Only its owner changes it, one call after the other, but for the first branch, where each owner changes a
// namespace of its own.
type line struct {
	name, owner, parent string
	made, gone          span
	slots               map[slot][]*state // oldest first
	common              map[slot]string   // what it last had in common with its parent
}

// now is what a slot holds, for its owner.
func (l *line) now(s slot) string {
	if list := l.slots[s]; len(list) > 0 {
		return list[len(list)-1].text
	}
	return ""
}

// held is what an owner's slots on a branch hold.
func (m *stressModel) held(l *line, owner string) map[slot]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return l.held(owner)
}

func (l *line) held(owner string) map[slot]string {
	held := map[slot]string{}
	for s := range l.slots {
		if text := l.now(s); s.namespace == owner && text != "" {
			held[s] = text
		}
	}
	return held
}

// stressModel is what the server must hold, and what reads under way may see of it.
type stressModel struct {
	mu    sync.Mutex
	clock int64
	lines map[string]*line // by name, deleted ones too
	// counted are the increments that were acknowledged, by key; logged the events, by sequence.
	counted map[string]int
	logged  map[int]string
}

const firstBranch = "default"

func newStressModel() *stressModel {
	first := &line{name: firstBranch, slots: map[slot][]*state{}, made: span{1, 1}}
	return &stressModel{clock: 1, lines: map[string]*line{firstBranch: first}, counted: map[string]int{}, logged: map[int]string{}}
}

func (m *stressModel) tick() int64 {
	m.clock++
	return m.clock
}

// during notes the span of a call.
func (m *stressModel) during(do func() error) (span, error) {
	m.mu.Lock()
	s := span{began: m.tick()}
	m.mu.Unlock()
	err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	s.ended = m.tick()
	return s, err
}

// change changes slots of a branch by a call.
func (m *stressModel) change(l *line, to map[slot]string, do func() error) error {
	var under []*state
	m.mu.Lock()
	began := m.tick()
	for s, text := range to {
		next := &state{span{began: began}, text}
		l.slots[s] = append(l.slots[s], next)
		under = append(under, next)
	}
	m.mu.Unlock()
	err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	ended := m.tick()
	for _, s := range under {
		s.ended = ended
	}
	return err
}

// fork forks a branch by a call. The new one has what its owner has on the other.
func (m *stressModel) fork(from *line, owner, name string, do func() error) (*line, error) {
	m.mu.Lock()
	l := &line{name: name, owner: owner, parent: from.name, slots: map[slot][]*state{}, common: from.held(owner), made: span{began: m.tick()}}
	for s, text := range l.common {
		l.slots[s] = []*state{{l.made, text}}
	}
	m.lines[name] = l
	m.mu.Unlock()
	err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	l.made.ended = m.tick()
	return l, err
}

// delete deletes a branch by a call.
func (m *stressModel) delete(l *line, do func() error) error {
	m.mu.Lock()
	l.gone.began = m.tick()
	m.mu.Unlock()
	err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	l.gone.ended = m.tick()
	return err
}

// merged is what a merge into the parent changes there, by the strategy source: all that changed on the branch since it was
// last the same.
func (m *stressModel) merged(l, parent *line) map[slot]string {
	mine, theirs := m.held(l, l.owner), m.held(parent, l.owner)
	changes := map[slot]string{}
	for s := range union(mine, l.common) {
		if mine[s] != l.common[s] && mine[s] != theirs[s] {
			changes[s] = mine[s]
		}
	}
	return changes
}

func union(a, b map[slot]string) map[slot]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// live are the branches of an owner that are there, in order, without the first.
func (m *stressModel) live(owner string) (list []*line) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.lines)) {
		if l := m.lines[name]; l.owner == owner && l.gone.began == 0 && name != firstBranch {
			list = append(list, l)
		}
	}
	return list
}

// all are all branches that ever were.
func (m *stressModel) all() (list []*line) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.lines)) {
		list = append(list, m.lines[name])
	}
	return list
}

// mayBe says whether a read may have seen a branch; mayNotBe whether it may have missed it.
func (l *line) mayBe(read span) bool {
	return l.made.began < read.ended && (l.gone.ended == 0 || l.gone.ended > read.began)
}

func (l *line) mayNotBe(read span) bool {
	return l.made.ended == 0 || l.made.ended > read.began || l.gone.began != 0 && l.gone.began < read.ended
}

// judge says what is wrong with a read of a slot; empty when nothing is. A text was seen, nothing, or that there is no branch.
func (m *stressModel) judge(l *line, s slot, read span, text string, noBranch bool) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if noBranch {
		if l.mayNotBe(read) {
			return ""
		}
		return fmt.Sprintf("branch %s was not there from %d to %d; it is from %v to %v", l.name, read.began, read.ended, l.made, l.gone)
	}
	if !l.mayBe(read) {
		return fmt.Sprintf("deleted branch %s answered %q from %d to %d; it is from %v to %v", l.name, text, read.began, read.ended, l.made, l.gone)
	}
	list := l.slots[s]
	seen := []string{}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].began < read.ended {
			seen = append(seen, list[i].text)
		}
		if list[i].ended != 0 && list[i].ended < read.began {
			break // whatever was before was overwritten when the read began
		}
		if i == 0 {
			seen = append(seen, "")
		}
	}
	if len(list) == 0 {
		seen = append(seen, "")
	}
	if slices.Contains(seen, text) {
		return ""
	}
	return fmt.Sprintf("%s %v was %q from %d to %d; it may have been any of %q", l.name, s, text, read.began, read.ended, seen)
}

// judgeBranches says what is wrong with a list of branches.
func (m *stressModel) judgeBranches(names []string, read span) (wrong []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		l := m.lines[name]
		if l == nil || !l.mayBe(read) {
			wrong = append(wrong, fmt.Sprintf("branch %s is listed and was deleted, or never made", name))
		}
	}
	for name, l := range m.lines {
		if !slices.Contains(names, name) && !l.mayNotBe(read) {
			wrong = append(wrong, fmt.Sprintf("branch %s is missing from the list", name))
		}
	}
	return wrong
}

// TestTheModelNoticesWhatNoOrderExplains shows that the model can fail.
func TestTheModelNoticesWhatNoOrderExplains(t *testing.T) {
	done := func() error { return nil }
	m := newStressModel()
	first, k := m.first(), slot{"w0", "k"}
	m.change(first, map[slot]string{k: "old"}, done)
	old, _ := m.during(done)
	m.change(first, map[slot]string{k: "new"}, done)
	young, _ := m.during(done)
	fork, _ := m.fork(first, "w0", "w0/1", done)
	during := span{old.began, young.ended}
	m.delete(fork, done)
	late, _ := m.during(done)
	for _, c := range []struct {
		name     string
		line     *line
		read     span
		text     string
		noBranch bool
		right    bool
	}{
		{"what was there", first, old, "old", false, true}, {"a write that was still to come", first, old, "new", false, false},
		{"a write that was lost", first, young, "old", false, false}, {"a memory that vanished", first, young, "", false, false},
		{"either, while it was written", first, during, "old", false, true}, {"either, once more", first, during, "new", false, true},
		{"neither", first, during, "odd", false, false}, {"a branch that rose again", fork, late, "new", false, false},
		{"a branch that is gone", fork, late, "", true, true}, {"a branch that went missing", first, late, "", true, false},
	} {
		if wrong := m.judge(c.line, k, c.read, c.text, c.noBranch); (wrong == "") != c.right {
			t.Errorf("%s: judged %q", c.name, wrong)
		}
	}
	if wrong := m.judgeBranches([]string{"w0/1", "odd"}, late); len(wrong) != 3 {
		t.Errorf("a wrong list of branches: %q", wrong)
	}
	if wrong := m.judgeBranches([]string{firstBranch}, late); len(wrong) != 0 {
		t.Errorf("the right list of branches: %q", wrong)
	}
}
