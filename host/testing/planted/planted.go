// Package planted makes sets of memories in which some say the same and some contradict each other, and that are written
// down: tests measure what is found of them.
package planted

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Memory is one of a set.
type Memory struct {
	Key  string
	Text string
}

// Pair are the keys of two memories.
type Pair [2]string

// Set is a set of memories, and what was planted in it.
type Set struct {
	Memories       []Memory
	Duplicates     []Pair
	Contradictions []Pair
}

// Options say how many of each there are.
type Options struct {
	Memories       int // in all
	Duplicates     int // pairs
	Contradictions int // pairs
	Seed           uint64
}

// Make makes a set. The same options make the same set.
func Make(o Options) *Set {
	m := &maker{random: rand.New(rand.NewPCG(o.Seed, 7)), seen: map[string]bool{}}
	plain := o.Memories - o.Duplicates - o.Contradictions
	for i := range plain {
		m.add(m.fresh(i))
	}
	order := m.random.Perm(plain)
	for _, i := range order[:o.Duplicates] {
		original := m.set.Memories[i]
		m.set.Duplicates = append(m.set.Duplicates, Pair{original.Key, m.add(m.again(original.Text)).Key})
	}
	planted := 0
	for _, i := range order[o.Duplicates:] {
		if planted == o.Contradictions {
			break
		}
		original := m.set.Memories[i]
		if text, ok := m.contradict(i, original.Text); ok {
			m.set.Contradictions = append(m.set.Contradictions, Pair{original.Key, m.add(text).Key})
			planted++
		}
	}
	m.random.Shuffle(len(m.set.Memories), func(i, j int) { m.set.Memories[i], m.set.Memories[j] = m.set.Memories[j], m.set.Memories[i] })
	return &m.set
}

type maker struct {
	random *rand.Rand
	set    Set
	seen   map[string]bool
	facts  []fact // how each plain memory was made
}

// fact is a template that was filled in.
type fact struct {
	template template
	values   map[string]string
}

func (m *maker) add(text string) Memory {
	memory := Memory{fmt.Sprintf("m%05d", len(m.set.Memories)), text}
	m.set.Memories = append(m.set.Memories, memory)
	m.seen[text] = true
	return memory
}

// fresh fills in a template in a way that was not there before: its subject is another one.
func (m *maker) fresh(i int) string {
	all := templates()
	for {
		f := fact{template: all[m.random.IntN(len(all))], values: map[string]string{}}
		text := m.fill(f)
		subject := m.subject(f)
		if !m.seen[text] && !m.seen[subject] {
			m.seen[subject] = true
			m.facts = append(m.facts, f)
			return text
		}
	}
}

// subject is what a fact is about: two memories with the same one would contradict each other by chance.
func (m *maker) subject(f fact) string {
	text := f.template.about
	if text == "" {
		text = f.template.text
	}
	for slot, value := range f.values {
		if slot != f.template.value || f.template.about != "" {
			text = strings.ReplaceAll(text, "{"+slot+"}", value)
		}
	}
	return "subject: " + text
}

// fill fills in what is not filled in yet.
func (m *maker) fill(f fact) string {
	text := f.template.text
	for slot := range slots(text) {
		if _, ok := f.values[slot]; !ok {
			f.values[slot] = m.pick(slot)
		}
		text = strings.ReplaceAll(text, "{"+slot+"}", f.values[slot])
	}
	return text
}

// slots are the names in braces, in their order.
func slots(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for {
			_, rest, ok := strings.Cut(text, "{")
			if !ok {
				return
			}
			var slot string
			slot, text, _ = strings.Cut(rest, "}")
			if !yield(slot) {
				return
			}
		}
	}
}

func (m *maker) pick(slot string) string {
	kind := strings.TrimRight(slot, "0123456789")
	switch kind {
	case "n":
		return fmt.Sprint(2 + m.random.IntN(998))
	case "port":
		return fmt.Sprint(1024 + m.random.IntN(60000))
	case "date":
		return fmt.Sprintf("2026-%02d-%02d", 1+m.random.IntN(12), 1+m.random.IntN(28))
	case "code":
		return fmt.Sprintf("%c%c-%d", 'A'+m.random.IntN(26), 'A'+m.random.IntN(26), 100+m.random.IntN(9000))
	case "person":
		return m.word("first") + " " + m.word("last")
	case "system":
		return m.word("area") + " " + m.word("part")
	}
	return m.word(kind)
}

func (m *maker) word(kind string) string {
	list := lists()[kind]
	return list[m.random.IntN(len(list))]
}

// again says the same in other words: one to three small changes.
func (m *maker) again(text string) string {
	changes := []func(string) string{m.filler, m.filler, m.trailer, m.swap, m.swap, m.slip, m.lower, m.plural, m.turn}
	before := text
	for text == before || m.seen[text] {
		text = before
		for range 1 + m.random.IntN(3) {
			text = changes[m.random.IntN(len(changes))](text)
		}
	}
	return text
}

// contradict says something else of the same subject, or that it is not so.
func (m *maker) contradict(i int, text string) (string, bool) {
	f := m.facts[i]
	if f.template.negation != "" && m.random.IntN(3) == 0 {
		from, to, _ := strings.Cut(f.template.negation, "|")
		return m.maybeFiller(strings.Replace(text, from, to, 1)), strings.Contains(text, from)
	}
	if f.template.value == "" {
		return "", false
	}
	other := fact{f.template, map[string]string{}}
	for slot, value := range f.values {
		if slot != f.template.value {
			other.values[slot] = value
		}
	}
	changed := m.fill(other)
	return m.maybeFiller(changed), changed != text
}

func (m *maker) maybeFiller(text string) string {
	if m.random.IntN(3) == 0 {
		return m.filler(text)
	}
	return text
}
