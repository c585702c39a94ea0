package autotag

import (
	"cmp"
	"encoding/base64"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/lib/meaning"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Other keys of a vocabulary: its topics, and, with this before, the words of its texts.
const (
	topicsKey  = "@"
	wordPrefix = "="
)

// How much is learned of the tags that people gave.
const (
	mostTopics   = 64        // the commonest tags
	mostWords    = 5000      // the commonest words
	mostPerWord  = 16        // tags
	mostPerTopic = 32        // memories whose vectors are looked at
	mostVectors  = 256 << 10 // bytes of them
)

// builtin is the embedder that is part of the program. A store asks no other: it would have to wait for it.
const builtin = "builtin"

// topics is the record of the tags that people gave.
//
//alcove:json
type topics struct {
	Memories int // with such tags
	Tags     []string
	Model    string `json:",omitempty"` // of the vectors
	Vectors  string `json:",omitempty"` // in base64: for each tag the center of its texts and its name, a byte for each component
}

// votes is the record of a word.
//
//alcove:json
type votes struct {
	Memories int // that hold the word and have tags that people gave
	Tags     []string
	Counts   []int // of these, for each tag
}

// into puts what is known of topics into statistics.
func (t topics) into(s *suggest.Topics) {
	s.Memories, s.Tags = t.Memories, make([]suggest.Topic, len(t.Tags))
	data, err := base64.StdEncoding.DecodeString(t.Vectors)
	size := 0
	if err == nil && len(t.Tags) > 0 {
		size = len(data) / (2 * len(t.Tags))
	}
	all := make([]int8, len(data))
	for i, b := range data {
		all[i] = int8(b)
	}
	for i, tag := range t.Tags {
		s.Tags[i].Tag = tag
		if size > 0 {
			s.Tags[i].Center, s.Tags[i].Name = all[2*i*size:(2*i+1)*size], all[(2*i+1)*size:(2*i+2)*size]
		}
	}
}

func (v votes) known() suggest.Votes {
	out := suggest.Votes{Memories: max(v.Memories, 1), Tags: make(map[string]int, len(v.Tags))}
	for i, tag := range v.Tags {
		if i < len(v.Counts) {
			out.Tags[tag] = v.Counts[i]
		}
	}
	return out
}

// lesson is what is learned of the tags that people gave. Tags that auto-tag gave teach nothing, unless somebody gave them, too.
type lesson struct {
	memories int
	uses     map[string]int            // tag → memories
	holds    map[string]int            // folded word → memories
	with     map[string]map[string]int // folded word → tag → memories
	texts    []string                  // to be embedded
	of       [][]string                // the tags of each
}

func newLesson() *lesson {
	return &lesson{uses: map[string]int{}, holds: map[string]int{}, with: map[string]map[string]int{}}
}

// add learns from a memory that has tags that people gave.
func (l *lesson) add(text string, voting, tags []string) {
	l.memories++
	wanted := false
	for _, tag := range tags {
		l.uses[tag]++
		wanted = wanted || l.uses[tag] <= mostPerTopic
	}
	for _, w := range voting {
		l.holds[w]++
		if l.with[w] == nil {
			l.with[w] = map[string]int{}
		}
		for _, tag := range tags {
			l.with[w][tag]++
		}
	}
	if wanted {
		l.texts, l.of = append(l.texts, words.Cut(text, words.Short)), append(l.of, tags)
	}
}

// tags are the commonest.
func (l *lesson) tags() []string { return commonest(l.uses, mostTopics) }

// commonest are the keys that count most, at most so many.
func commonest(counts map[string]int, most int) []string {
	list := sortedKeys(counts)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return list[:min(len(list), most)]
}

// records are the words of the lesson as the vocabulary keeps them.
func (l *lesson) records() map[string]votes {
	out := map[string]votes{}
	for _, w := range commonest(l.holds, mostWords) {
		v := votes{Memories: l.holds[w]}
		for _, tag := range commonest(l.with[w], mostPerWord) {
			v.Tags, v.Counts = append(v.Tags, tag), append(v.Counts, l.with[w][tag])
		}
		out[wordPrefix+w] = v
	}
	return out
}

// topics is the record of the lesson's tags, with vectors where there is an embedder.
func (l *lesson) topics(c *alcove.Call) topics {
	t := topics{Memories: l.memories, Tags: l.tags()}
	names, model := embed(c, t.Tags)
	texts, other := embed(c, l.texts)
	if names == nil || texts == nil || model != other || 2*len(t.Tags)*len(names[0]) > mostVectors {
		return t
	}
	var packed []byte
	for i, tag := range t.Tags {
		packed = append(append(packed, pack(l.center(tag, texts))...), pack(names[i])...)
	}
	t.Model, t.Vectors = model, base64.StdEncoding.EncodeToString(packed)
	return t
}

// center is the sum of the vectors of the texts that have a tag.
func (l *lesson) center(tag string, texts [][]float32) []float32 {
	sum := make([]float32, len(texts[0]))
	for i, v := range texts {
		if len(v) == len(sum) && slices.Contains(l.of[i], tag) {
			for k, x := range v {
				sum[k] += x
			}
		}
	}
	return sum
}

// pack is a vector, a byte for each component.
func pack(v []float32) []byte {
	out := make([]byte, len(v))
	for i, x := range suggest.Small(v) {
		out[i] = byte(x)
	}
	return out
}

// embed gives the vector of each text, all of one length; nil without an embedder.
func embed(c *alcove.Call, texts []string) (vectors [][]float32, model string) {
	v, err := meaning.Embed(c, "document", texts)
	if err != nil {
		c.Log("tags are made without vectors: %v", err)
	}
	return v.Of, v.Model
}

// glanced is how many memories are read where a vocabulary was never learned.
const glanced = 500

// glance learns from the first memories of a namespace, and stages nothing.
func (r reader) glance(c *alcove.Call, namespace string) (looked, error) {
	counted, err := r.count(c, namespace, glanced, true)
	if err != nil {
		return looked{}, err
	}
	now, _ := counted.vocabulary(nil)
	l := looked{Statistics: suggest.Statistics{Known: map[string]suggest.Known{}, Common: map[string]bool{}}}
	for fold, w := range now {
		l.Known[fold] = suggest.Known{Tag: w.Tag, Uses: w.Uses, Given: w.Given}
	}
	learned := counted.lesson(now)
	t := learned.topics(c)
	t.into(&l.Topics)
	l.model, l.Topics.Votes = t.Model, map[string]suggest.Votes{}
	for key, v := range learned.records() {
		l.Topics.Votes[key[len(wordPrefix):]] = v.known()
	}
	return l, nil
}

// vectors gives the vector of each text by the embedder of the topics' own; nil where there is none.
func (l looked) vectors(c *alcove.Call, texts []string) [][]float32 {
	if l.model != "" {
		if vectors, model := embed(c, texts); model == l.model {
			return vectors
		}
	}
	return make([][]float32, len(texts))
}

// given are the tags of a memory that people gave: all but those that the family did.
func given(tags []string, metadata alcove.Metadata) []string {
	old, own := subject{metadata: metadata}.mark()
	if !own || len(old.Tags) == 0 {
		return tags
	}
	var list []string
	for _, tag := range tags {
		if !slices.Contains(old.Tags, tag) {
			list = append(list, tag)
		}
	}
	return list
}
