package compare

import "github.com/alcove-memory/alcove/guests/lib/words"

// kin is how two words stand to each other, of which the first was read earlier.
type kin struct {
	key     uint64 // of both words; 0: none
	cosine  float32
	near    bool // but for a slip of a key they are the same
	derived bool // one is made of the other
	derives bool // the same, seen from the second: of two that are equally long, the ending of the latter counts
}

// kinship keeps how words stand to each other: pairs of facts share many. A pair of words may take the place of another.
type kinship struct {
	list []kin
	bits int
}

// How many pairs of words are kept, as powers of two: by a reader of many words, and of few.
const (
	manyKin  = 14
	fewKin   = 9
	fewWords = 100
)

// kinOf is how two words stand to each other. It is valid until the next call.
func (r *Reader) kinOf(x, y uint32) *kin {
	x, y = min(x, y), max(x, y)
	if r.kin.list == nil {
		r.kin.bits = manyKin
		if len(r.words) < fewWords {
			r.kin.bits = fewKin
		}
		r.kin.list = make([]kin, 1<<r.kin.bits)
	}
	key := uint64(y)<<32 | uint64(x) + 1
	k := &r.kin.list[key*0x9e3779b97f4a7c15>>(64-r.kin.bits)]
	if k.key == key {
		return k
	}
	a, b := r.words[x], r.words[y]
	*k = kin{key: key, near: words.Near(a, b), derived: derived(a, b), derives: derived(b, a)}
	if r.vectors != nil {
		k.cosine = cosine(r.mean(x), r.mean(y))
	}
	return k
}

// nearWords is how near two words are by meaning; 0 where one is not known.
func (r *Reader) nearWords(x, y uint32) float64 { return float64(r.kinOf(x, y).cosine) }
