package suggest

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

//go:embed thesaurus.txt
var thesaurusText string

// thesaurus is topics that texts are filed under in general, and the words that tell them. It is not changed once it is made.
type thesaurus struct {
	headings []heading
	cues     map[string][]cue // by the singular of a word, or of words with hyphens between
	begins   map[string]bool  // words with which cues of several words begin
}

// heading is a topic.
type heading struct {
	name  string
	folds []string // what its name and its other names fold to
}

// cue is what a word tells of a heading.
type cue struct {
	heading  int16
	weight   float32
	taggable bool // the word itself may be a tag
}

// How much a cue tells: one that is certain is enough, of others there must be two.
const (
	certain   = 1
	uncertain = .5
)

func newThesaurus() *thesaurus {
	const most = 6000 // cues, about
	t := &thesaurus{cues: make(map[string][]cue, most), begins: make(map[string]bool, most/4)}
	for line := range strings.Lines(thesaurusText) {
		names, cues, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || line[0] == '#' {
			continue
		}
		h := heading{}
		for name := range strings.SplitSeq(names, ",") {
			h.folds = append(h.folds, words.Fold(name))
			h.name = cmp.Or(h.name, words.Tag(name))
		}
		t.headings = append(t.headings, h)
		for field := range strings.FieldsSeq(cues) {
			t.read(field)
		}
		for name := range strings.SplitSeq(names, ",") { // as far as no cue says otherwise
			t.add(singular(name), cue{int16(len(t.headings) - 1), certain, true})
		}
	}
	return t
}

// read reads a cue of the last heading.
func (t *thesaurus) read(field string) {
	c := cue{int16(len(t.headings) - 1), certain, true}
	field, weak := strings.CutPrefix(field, "~")
	if weak {
		c.weight = uncertain
	}
	field, mute := strings.CutPrefix(field, "-")
	c.taggable = !mute
	t.add(singular(field), c)
}

// singular is what a cue is found by: its words without a plural, with hyphens between.
func singular(cue string) string {
	if !strings.ContainsAny(cue, " _-") {
		return words.Singular(cue)
	}
	parts := strings.FieldsFunc(cue, func(r rune) bool { return r == ' ' || r == '_' || r == '-' })
	for i, part := range parts {
		parts[i] = words.Singular(part)
	}
	return strings.Join(parts, "-")
}

func (t *thesaurus) add(fold string, c cue) {
	if slices.ContainsFunc(t.cues[fold], func(old cue) bool { return old.heading == c.heading }) {
		return
	}
	t.cues[fold] = append(t.cues[fold], c)
	if first, _, pair := strings.Cut(fold, "-"); pair {
		t.begins[first] = true
	}
}

// Subject is a topic of the thesaurus that a text shows.
type Subject struct {
	Name          string
	Folds         []string // what its name and its other names fold to
	Score         float64  // 1 and more: it is told for certain
	at            int      // the first word that tells it
	phrase, named bool     // a cue of several words tells it, or one of its names
}

// longest is the longest cue that begins at a word, and how many words it has; the word alone where there is none.
func (t *thesaurus) longest(list []marked, i int) (n int, cue string) {
	first := words.Singular(list[i].Lower)
	n, cue = 1, first
	if !t.begins[first] {
		return n, cue
	}
	all := first
	for k := i + 1; k < len(list) && k < i+3 && !list[k].Apart; k++ {
		all += "-" + words.Singular(list[k].Lower)
		if t.cues[all] != nil {
			n, cue = k-i+1, all
		}
	}
	return n, cue
}

// subjects are the topics of a text, those that it shows most first.
func (t *thesaurus) subjects(list []marked) []Subject {
	f := found{at: map[int16]int{}, seen: map[string]bool{}}
	for i := 0; i < len(list); {
		n, cue := t.longest(list, i)
		f.tell(t, cue, i, n > 1)
		for k := range n {
			list[i+k].part = n > 1
		}
		i += n
	}
	slices.SortStableFunc(f.list, func(a, b Subject) int { return cmp.Compare(b.Score, a.Score) })
	return f.list
}

// found are topics of a text, in the order in which it shows them.
type found struct {
	list []Subject
	at   map[int16]int // in the list, by heading
	seen map[string]bool
}

// tell adds what a cue tells that is there for the first time.
func (f *found) tell(t *thesaurus, cue string, at int, phrase bool) {
	if f.seen[cue] {
		return
	}
	f.seen[cue] = true
	for _, c := range t.cues[cue] {
		i, ok := f.at[c.heading]
		if !ok {
			i = len(f.list)
			f.at[c.heading] = i
			h := &t.headings[c.heading]
			f.list = append(f.list, Subject{Name: h.name, Folds: h.folds, at: at})
		}
		s := &f.list[i]
		s.Score += float64(c.weight)
		s.phrase = s.phrase || phrase
		s.named = s.named || slices.Contains(s.Folds, cue)
	}
}
