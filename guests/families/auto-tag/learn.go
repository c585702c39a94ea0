package autotag

import (
	"cmp"
	"iter"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Learn counts which tags a namespace has and which words all of it has in common.
//
//alcove:job every=1d
//alcove:description Counts the tags and words of a namespace
type Learn struct {
	reader
	Namespace string // empty: each, by a job of its own
	Force     bool   `json:",omitempty"` // also when the vocabulary is fresh
}

// Learned is what was counted.
type Learned struct {
	Namespace string
	Documents int
	Tags      int
	Folded    int  // forms of tags that now lead to another
	Fresh     bool `json:",omitempty"`
	Queued    int  `json:",omitempty"` // namespaces, each with a job of its own
}

// How much is learned of a namespace.
const (
	learnPage  = 500
	learnMost  = 20_000 // memories that are looked at
	commonMost = 120    // words
)

// tally is what is counted.
type tally struct {
	brief     bool // only what was given is counted
	documents int
	forms     map[string]map[string]int // folded tag → form → uses
	given     map[string]int            // folded tag → memories to which somebody gave it
	holds     map[string]int            // folded word → memories that hold it
	taught    []taught
}

// taught is a memory with tags that somebody gave.
type taught struct {
	text   string
	voting []string
	tags   []string
}

// Run learns one namespace, or queues the learning of each.
func (j Learn) Run(c *alcove.Call) (Learned, error) {
	if j.Namespace == "" { // on schedule
		return learnAll(c)
	}
	if known := lookUp(c, j.Namespace, nil); known.fresh && known.Common != nil && !j.Force {
		return Learned{Namespace: j.Namespace, Fresh: true}, nil
	}
	known, texts, err := all(c, j.Namespace)
	if err != nil {
		return Learned{}, err
	}
	counted, err := j.count(c, j.Namespace, learnMost, false)
	if err != nil {
		return Learned{}, err
	}
	words, folded := counted.vocabulary(known)
	if err := writeWords(c, j.Namespace, known, words); err != nil {
		return Learned{}, err
	}
	if err := counted.lesson(words).write(c, j.Namespace, texts); err != nil {
		return Learned{}, err
	}
	o := overview{Learned: now(c), Documents: counted.documents, Common: counted.common()}
	err = vocabulary.In(j.Namespace).Put(c, overviewKey, alcove.JSON(o))
	return Learned{Namespace: j.Namespace, Documents: counted.documents, Tags: len(words), Folded: folded}, err
}

func learnAll(c *alcove.Call) (Learned, error) {
	found, err := c.MemoryNamespaces()
	if err != nil {
		return Learned{}, err
	}
	for _, namespace := range found.Namespaces {
		if _, err := c.Enqueue(Learn{Namespace: namespace}, 0); err != nil {
			return Learned{}, err
		}
	}
	return Learned{Queued: len(found.Namespaces)}, nil
}

func (r reader) count(c *alcove.Call, namespace string, most int, brief bool) (*tally, error) {
	counted := &tally{brief: brief, forms: map[string]map[string]int{}, given: map[string]int{}, holds: map[string]int{}}
	list := alcove.MemoryListRequest{Namespace: namespace, Limit: learnPage}
	for {
		page, err := c.MemoryList(list)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			r.add(counted, &page.Memories[i])
		}
		if page.Next == "" || counted.documents >= most {
			return counted, nil
		}
		list.After = page.Next
		if err := c.Progress(counted.documents, 0, "counting tags and words"); err != nil {
			return nil, err
		}
	}
}

func (r reader) add(t *tally, m *alcove.Memory) {
	t.documents++
	for _, tag := range m.Tags {
		fold := words.Fold(tag)
		if fold == "" {
			continue
		}
		if t.forms[fold] == nil {
			t.forms[fold] = map[string]int{}
		}
		t.forms[fold][tag]++
	}
	tags := given(m.Tags, m.Metadata)
	if t.brief && len(tags) == 0 {
		return
	}
	text := words.Text(m.Value, words.Long)
	if !t.brief {
		for _, candidate := range r.suggest.Read(text).Candidates {
			t.holds[candidate.Fold]++
		}
	}
	for _, tag := range tags {
		t.given[words.Fold(tag)]++
	}
	if len(tags) > 0 {
		t.taught = append(t.taught, taught{words.Cut(text, words.Short), r.suggest.Voting(text), tags})
	}
}

// lesson is what is learned of the tags that people gave, in the forms that the vocabulary has.
func (t *tally) lesson(now map[string]word) *lesson {
	l := newLesson()
	for _, m := range t.taught {
		var tags []string
		for _, tag := range m.tags {
			if tag = or(now[words.Fold(tag)].Tag, tag); !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		l.add(m.text, m.voting, tags)
	}
	return l
}

// write stages a lesson. texts are the words that are known.
func (l *lesson) write(c *alcove.Call, namespace string, texts map[string]string) error {
	different := map[string]alcove.Raw{topicsKey: alcove.JSON(l.topics(c))}
	var gone []string
	learned := l.records()
	for key, v := range learned {
		if value := alcove.JSON(v); string(value) != texts[key] {
			different[key] = value
		}
	}
	for _, key := range sortedKeys(texts) {
		if _, ok := learned[key]; !ok {
			gone = append(gone, key)
		}
	}
	if err := vocabulary.In(namespace).PutAll(c, inOrder(different)); err != nil || len(gone) == 0 {
		return err
	}
	_, err := vocabulary.In(namespace).Delete(c, gone...)
	return err
}

// inOrder are the values of a map in the order of their keys.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range sortedKeys(m) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// common are the words that so many memories hold that they tell nothing.
func (t *tally) common() []string {
	least := max(t.documents/5, 20)
	var common []string
	for w, n := range t.holds {
		if n >= least {
			common = append(common, w)
		}
	}
	slices.SortFunc(common, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.holds[b], t.holds[a]), cmp.Compare(a, b))
	})
	return common[:min(len(common), commonMost)]
}

// vocabulary is the words as they will be: each fold with the form that most memories have, and forms with a slip of a
// key led to the right one. What was merged by hand stays so.
func (t *tally) vocabulary(known map[string]word) (now map[string]word, folded int) {
	now = map[string]word{}
	for fold, forms := range t.forms {
		w := word{}
		for _, form := range sortedKeys(forms) {
			if forms[form] > w.Uses || forms[form] == w.Uses && len(form) < len(w.Tag) {
				w.Tag, w.Uses = form, forms[form]
			}
		}
		folded += len(forms) - 1
		w.Given = t.given[fold]
		now[fold] = w
	}
	folded += correct(now)
	for fold, w := range known {
		if w.Merged {
			w.Uses, w.Given = now[fold].Uses, now[fold].Given
			now[fold] = w
		}
	}
	return now, folded
}

// frequent is how many of the tags that are used most are held against the others.
const frequent = 1000

// correct leads tags with a slip of a key to those that are used at least three times as often.
func correct(now map[string]word) int {
	folds := sortedKeys(now)
	slices.SortStableFunc(folds, func(a, b string) int { return cmp.Compare(now[b].Uses, now[a].Uses) })
	n := 0
	for _, rare := range folds {
		if often, ok := slip(rare, folds[:min(len(folds), frequent)], now); ok {
			w := now[rare]
			w.Tag = now[often].Tag
			now[rare] = w
			n++
		}
	}
	return n
}

// slip is a fold that differs from another by a slip of a key, and is used much more often. folds are in the order of
// their uses.
func slip(fold string, folds []string, now map[string]word) (string, bool) {
	for _, other := range folds {
		if now[other].Uses < 3*now[fold].Uses {
			return "", false
		}
		if words.Near(fold, other) {
			return other, true
		}
	}
	return "", false
}

// writeWords stages what differs from what is known.
func writeWords(c *alcove.Call, namespace string, known, now map[string]word) error {
	different := map[string]word{}
	for fold, w := range now {
		if known[fold] != w {
			different[fold] = w
		}
	}
	if err := vocabulary.In(namespace).PutAll(c, records(different)); err != nil {
		return err
	}
	var gone []string
	for _, fold := range sortedKeys(known) {
		if _, ok := now[fold]; !ok {
			gone = append(gone, fold)
		}
	}
	_, err := vocabulary.In(namespace).Delete(c, gone...)
	return err
}
