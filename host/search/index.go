package search

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Params shape how BM25 scores: K1 how soon repeating a word stops to count, B how much long documents are
// held back. Zero fields are worked out from how long documents are.
type Params struct {
	K1, B float64
}

// Documents of at most brief terms on average score as remarks do, those of at least ample terms as articles do, and
// in between in between: in a remark a repeated word and a few words more say little.
const (
	brief, ample = 25, 75
	remarkK1     = .9
	remarkB      = .4
	articleK1    = 1.5
	articleB     = .75
)

// of fills in what is not set, for documents of so many terms on average.
func (p Params) of(average float64) Params {
	part := min(1, max(0, (average-brief)/(ample-brief)))
	return Params{K1: cmp.Or(p.K1, remarkK1+part*(articleK1-remarkK1)), B: cmp.Or(p.B, remarkB+part*(articleB-remarkB))}
}

// Options are how an index scores. Zero fields mean the default in the comment.
type Options struct {
	Collections  map[string]Params // how a collection scores; the others as Params.of says
	Views        int               // views kept ready; 64
	Conversation Conversation
	Semantic     Semantic // nil: words alone decide
}

// Index holds every version of every document in memory. Its methods may be called from many goroutines at
// once; a search sees each Apply wholly or not at all.
type Index struct {
	collections  map[string]Params
	maxViews     int
	conversation Conversation

	mu       sync.RWMutex
	docs     []document
	postings map[string][]posting
	versions map[store.BranchID]map[name][]version // oldest first
	expiring []uint32
	turns    map[position][]uint32
	dead     int

	cacheMu sync.Mutex
	cache   map[string]*visible
	clock   uint64 // of uses of views, for forgetting the one unused for longest
}

// name is what the versions of a document have in common.
type name struct{ namespace, collection, key string }

// version is a document at a version; doc is gone for a tombstone.
type version struct {
	at  uint64
	doc uint32
}

const gone = ^uint32(0)

type posting struct {
	doc       uint32
	frequency uint32
}

// document is what is kept of a Doc. Its text is not.
type document struct {
	name       name
	branch     store.BranchID
	version    uint64
	tags       []string
	kind       string
	state      string
	time       int64   // µs
	expires    int64   // µs; 0: never
	importance float32 // NaN: not given
	length     int     // terms that are not stop words
	turn       *turn
	dropped    bool
}

// turn is what is kept of a Turn.
type turn struct {
	position
	speaker []string // the terms of the name
	said    time.Time
}

// position is where a turn stands.
type position struct {
	namespace, collection, session string
	at                             int64
}

// New makes an empty index.
func New(o Options) *Index {
	x := &Index{
		collections:  o.Collections,
		maxViews:     cmp.Or(o.Views, 64),
		conversation: o.Conversation.withDefaults(),
	}
	x.clear()
	return x
}

func (x *Index) clear() {
	x.docs, x.dead, x.expiring = nil, 0, nil
	x.postings = map[string][]posting{}
	x.versions = map[store.BranchID]map[name][]version{}
	x.turns = map[position][]uint32{}
	x.cache = map[string]*visible{}
}

// Apply adds versions of documents. They may come in any order, and again.
func (x *Index) Apply(docs ...Doc) {
	analysed := make([]prepared, len(docs)) // outside the lock: it is most of the work
	for i, d := range docs {
		analysed[i] = prepare(d)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	for _, p := range analysed {
		x.add(p)
	}
}

// prepared is a document with its terms counted, which needs no lock.
type prepared struct {
	doc     document
	deleted bool
	terms   map[string]uint32
}

func prepare(d Doc) prepared {
	importance := float32(math.NaN())
	if d.Importance != nil {
		importance = float32(*d.Importance)
	}
	p := prepared{deleted: d.Deleted, doc: document{importance: importance,
		name: name{d.Namespace, d.Collection, d.Key}, branch: d.Branch, version: d.Version,
		tags: d.Tags, kind: d.Type, state: d.State, time: d.Time.UnixMicro(),
	}}
	if d.Deleted {
		return p
	}
	if !d.Expires.IsZero() {
		p.doc.expires = d.Expires.UnixMicro()
	}
	p.terms = map[string]uint32{}
	count := func(text string) {
		eachWord(text, func(w word) {
			p.terms[w.term]++
			if !w.stop {
				p.doc.length++
			}
		})
	}
	for _, texts := range [][]string{d.Text, d.Tags, {d.Key}} {
		for _, text := range texts {
			count(text)
		}
	}
	if t := d.Turn; t != nil {
		count(t.Speaker)
		count(t.Caption)
		p.doc.turn = &turn{position{d.Namespace, d.Collection, t.Session, t.Position}, queryTerms(t.Speaker), t.Said.UTC()}
	}
	return p
}

func (x *Index) add(p prepared) {
	names := x.versions[p.doc.branch]
	if names == nil {
		names = map[name][]version{}
		x.versions[p.doc.branch] = names
	}
	list := names[p.doc.name]
	at, found := slices.BinarySearchFunc(list, p.doc.version, func(v version, want uint64) int { return cmp.Compare(v.at, want) })
	if found {
		return
	}
	views := x.viewsOf(p.doc.branch, p.doc.version)
	before := make([]uint32, len(views))
	for i, v := range views {
		before[i] = x.visibleIn(v.lineage, p.doc.name)
	}
	names[p.doc.name] = slices.Insert(list, at, version{p.doc.version, x.insert(p)})
	for i, v := range views {
		v.replace(x.docs, before[i], x.visibleIn(v.lineage, p.doc.name))
	}
}

// insert adds the document itself, and its postings.
func (x *Index) insert(p prepared) uint32 {
	if p.deleted {
		return gone
	}
	id := uint32(len(x.docs))
	x.docs = append(x.docs, p.doc)
	if p.doc.expires != 0 {
		x.expiring = append(x.expiring, id)
	}
	if t := p.doc.turn; t != nil {
		x.turns[t.position] = append(x.turns[t.position], id)
	}
	for term, frequency := range p.terms {
		x.postings[term] = append(x.postings[term], posting{id, frequency})
	}
	return id
}

// visibleIn finds the document of a name that a lineage sees, or gone.
func (x *Index) visibleIn(l store.Lineage, n name) uint32 {
	for _, segment := range l {
		if v, ok := newest(x.versions[segment.Branch][n], segment.At); ok {
			return v.doc
		}
	}
	return gone
}

func newest(list []version, at uint64) (version, bool) {
	after, found := slices.BinarySearchFunc(list, at, func(v version, want uint64) int { return cmp.Compare(v.at, want) })
	if found {
		return list[after], true
	}
	if after == 0 {
		return version{}, false
	}
	return list[after-1], true
}

// Drop forgets a branch that no view will ask for any more.
func (x *Index) Drop(b store.BranchID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	for _, list := range x.versions[b] {
		for _, v := range list {
			x.drop(v)
		}
	}
	delete(x.versions, b)
	for id, v := range x.cache {
		if v.sees(b, 0) {
			delete(x.cache, id)
		}
	}
	x.giveBack()
}

// Trim forgets the versions on a branch that no view will ask for any more: of each document it keeps the newest at or
// below floor, all above it, and the newest at or below each pin. Pins are in ascending order.
func (x *Index) Trim(b store.BranchID, floor uint64, pins []uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	for n, list := range x.versions[b] {
		if len(list) > 1 { // the newest is always kept
			x.versions[b][n] = x.trim(list, floor, pins)
		}
	}
	for id, v := range x.cache {
		if v.before(b, floor) {
			delete(x.cache, id)
		}
	}
	x.giveBack()
}

// trim is what is kept of a document's versions, which are in ascending order.
func (x *Index) trim(list []version, floor uint64, pins []uint64) []version {
	kept := make([]version, 0, len(list))
	for i, v := range list {
		next := store.Latest
		if i+1 < len(list) {
			next = list[i+1].at
		}
		pin, _ := slices.BinarySearch(pins, v.at)
		if next > floor || pin < len(pins) && pins[pin] < next {
			kept = append(kept, v)
			continue
		}
		x.drop(v)
	}
	return kept
}

func (x *Index) drop(v version) {
	if v.doc != gone {
		x.docs[v.doc] = document{dropped: true}
		x.dead++
	}
}

// giveBack compacts the index when that is worth its while.
func (x *Index) giveBack() {
	if x.dead > 1000 && x.dead > len(x.docs)/2 {
		x.compact()
	}
}

// compact gives the memory of dropped documents back.
func (x *Index) compact() {
	moved := make([]uint32, len(x.docs))
	live := make([]document, 0, len(x.docs)-x.dead)
	for i, d := range x.docs {
		moved[i] = gone
		if !d.dropped {
			moved[i] = uint32(len(live))
			live = append(live, d)
		}
	}
	for term, list := range x.postings {
		kept := make([]posting, 0, len(list))
		for _, p := range list {
			if moved[p.doc] != gone {
				kept = append(kept, posting{moved[p.doc], p.frequency})
			}
		}
		if x.postings[term] = kept; len(kept) == 0 {
			delete(x.postings, term)
		}
	}
	x.turns = map[position][]uint32{}
	for _, names := range x.versions {
		for _, list := range names {
			for i := range list {
				if list[i].doc != gone {
					list[i].doc = moved[list[i].doc]
				}
			}
		}
	}
	x.docs, x.dead, x.expiring, x.cache = live, 0, nil, map[string]*visible{}
	for i, d := range live {
		if d.expires != 0 {
			x.expiring = append(x.expiring, uint32(i))
		}
		if d.turn != nil {
			x.turns[d.turn.position] = append(x.turns[d.turn.position], uint32(i))
		}
	}
}
