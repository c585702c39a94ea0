package core

import (
	_ "embed"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool"
)

// Weights of an intent's word by the part of a family's description.
const (
	inName        = 4.
	inKeywords    = 3.
	inDescription = 2.5
	inExamples    = 2.
	inTools       = 1.5 // names and descriptions of the tools
	inDocs        = .3
)

const (
	// asking are words by which people ask for anything.
	asking = `want need like let give show see tell say make use used know help try please able way thing something anything everything one memory memories`

	// common are words that are in requests of any kind: verbs that need an object to mean something, numbers, and times. A family that has
	// only these in common with an intent does not serve it.
	common = `add ask begin book bring build buy call change check choose close come compute cook create cut delete do draw drive eat
		end fill find finish fix get give go handle have help hold keep know learn leave let list load look make move need new old open order pay
		perform play pick pull push put read ready remove request reset right run schedule search see sell send set show start stop take talk tell
		test think try turn update use wait want watch work write
		all any both each every few first last many more most much next other same several some single such whole
		one two three four five six seven eight nine ten dozen hundred thousand half
		now today tomorrow tonight yesterday second minute hour day week month year monthly weekly daily morning evening night time times date
		monday tuesday wednesday thursday friday saturday sunday`
)

// Vectors gives texts vectors of length 1: those of texts that mean similar things are near.
type Vectors interface {
	Vector(text string) []float32 // nil if it knows too few of the words
}

// others has requests, one a line, for what no memory does and other tools do, and words of such requests.
//
//go:embed elsewhere.txt
var others string

// intents knows what the families of a snapshot are described with, and the words that tell nothing of an intent. It does not change.
type intents struct {
	snapshot  *tool.Snapshot
	vectors   Vectors // nil: words alone decide
	families  map[*tool.Set]*described
	elsewhere *described
	mean      []float32 // of all vectors: what requests have in common tells nothing

	asking, common []string // sorted terms
}

// described is what a family, or other tools, are described with.
type described struct {
	terms   map[string]float64 // their weights
	phrases [][]float32        // vectors of examples and descriptions, the mean taken off
}

func newIntents(s *tool.Snapshot, v Vectors) *intents {
	n := &intents{snapshot: s, vectors: v, families: map[*tool.Set]*described{}, asking: search.Keywords(asking), common: search.Keywords(common)}
	n.elsewhere = &described{terms: map[string]float64{}}
	for line := range strings.Lines(others) {
		n.elsewhere.says(line, inExamples)
		n.elsewhere.means(v, line)
	}
	for _, f := range s.Sets {
		n.families[f] = describe(f, v)
	}
	n.centre()
	return n
}

// intents returns what is known of the families of a snapshot. It is worked out once.
func (k *kit) intents(s *tool.Snapshot) *intents {
	known := k.described.Load()
	if known == nil || known.snapshot != s {
		known = newIntents(s, k.Vectors)
		k.described.Store(known)
	}
	return known
}

// describe gathers what describes a family. What the tools of a deprecated family do, its successors do: it is found only by what its
// manifest says of the family.
func describe(f *tool.Set, v Vectors) *described {
	d := &described{terms: map[string]float64{}}
	keywords := strings.Join(f.Keywords, " ")
	d.says(spaced(f.Name), inName)
	d.says(f.Description, inDescription)
	d.says(keywords, inKeywords)
	d.means(v, f.Description)
	d.means(v, keywords)
	for _, example := range f.Examples {
		d.says(example, inExamples)
		d.means(v, example)
	}
	if f.Deprecated {
		return d
	}
	d.says(f.Docs, inDocs)
	for _, t := range f.Tools {
		d.says(spaced(t.Name)+" "+t.Description, inTools)
		d.says(t.Docs, inDocs)
		d.means(v, t.Description)
	}
	return d
}

// says adds the terms of a text.
func (d *described) says(text string, weight float64) {
	for _, term := range search.Keywords(text) {
		d.terms[term] = max(d.terms[term], weight)
	}
}

// means adds the vector of a text.
func (d *described) means(v Vectors, text string) {
	if v == nil {
		return
	}
	if vector := v.Vector(text); vector != nil {
		d.phrases = append(d.phrases, slices.Clone(vector))
	}
}

// centre takes the mean of all vectors off each.
func (n *intents) centre() {
	count := 0
	all := []*described{n.elsewhere}
	for _, f := range n.snapshot.Sets {
		all = append(all, n.families[f])
	}
	for _, d := range all {
		for _, v := range d.phrases {
			if n.mean == nil {
				n.mean = make([]float32, len(v))
			}
			for i := range v {
				n.mean[i] += v[i]
			}
			count++
		}
	}
	for i := range n.mean {
		n.mean[i] /= float32(count)
	}
	for _, d := range all {
		for _, v := range d.phrases {
			n.off(v)
		}
	}
}

// off takes the mean off a vector, and gives it the length 1 again.
func (n *intents) off(v []float32) {
	square := 0.
	for i := range v {
		v[i] -= n.mean[i]
		square += float64(v[i]) * float64(v[i])
	}
	length := float32(math.Sqrt(max(square, math.SmallestNonzeroFloat32)))
	for i := range v {
		v[i] /= length
	}
}

// nearest are the weights of the phrases that are nearest to an intent.
var nearest = [...]float64{.6, .25, .15}

// meaningOf returns what tells how near an intent is to the nearest phrases of a description; nil if it has no vector.
func (n *intents) meaningOf(intent string) func(*described) float64 {
	if n.vectors == nil || n.mean == nil {
		return nil
	}
	asked := slices.Clone(n.vectors.Vector(intent))
	if len(asked) != len(n.mean) {
		return nil
	}
	n.off(asked)
	return func(d *described) (near float64) {
		var top [len(nearest)]float64
		for _, v := range d.phrases {
			for i, c := 0, cosine(asked, v); i < len(top); i++ {
				if c > top[i] {
					c, top[i] = top[i], c
				}
			}
		}
		for i, c := range top {
			near += nearest[i] * c
		}
		return near
	}
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// spaced returns a name as words.
func spaced(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-", r) {
			return ' '
		}
		return r
	}, name)
}
