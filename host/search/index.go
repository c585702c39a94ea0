package search

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/store"
)

// Params are BM25's parameters: K1 sets how fast a repeated term saturates, B how much long documents are penalised.
// Zero fields are derived from the average length of the documents.
type Params struct {
	K1, B float64
}

// Default parameters are interpolated by the average length, in terms: those for remarks apply up to brief, those for
// articles from ample. In a remark, repetition and length say little.
const (
	brief, ample = 25, 75
	remarkK1     = .9
	remarkB      = .4
	articleK1    = 1.5
	articleB     = .75
)

// of fills in the defaults for an average document length in terms.
func (p Params) of(average float64) Params {
	part := min(1, max(0, (average-brief)/(ample-brief)))
	return Params{K1: cmp.Or(p.K1, remarkK1+part*(articleK1-remarkK1)), B: cmp.Or(p.B, remarkB+part*(articleB-remarkB))}
}

// Options configure an index. Zero fields mean the default in the comment.
type Options struct {
	Collections  map[string]Params // by collection; derived from the average length
	Views        int               // cached views; 64
	Conversation Conversation
	Semantic     Semantic // nil: lexical search alone
	// Language applies to collections that are not in Languages; "english".
	Language  string
	Languages map[string]string
	// Tail is the number of documents of a branch that stay uncompressed; 8192.
	Tail int
}

// Index is an in-memory full-text index of every version of every document. It is safe for concurrent use; a search sees
// each Apply wholly or not at all.
type Index struct {
	collections  map[string]Params
	maxViews     int
	maxTail      int
	conversation Conversation
	semantic     atomic.Pointer[Semantic] // nil: lexical search alone
	nearWords    atomic.Pointer[NearWords]
	analyser     *Analyser
	analysers    map[string]*Analyser // of collections with a language of their own

	mu       sync.RWMutex
	table    *table
	branches map[store.BranchID]*branch
	parts    map[uint32]*part
	lastPart uint32
	spare    atomic.Pointer[tail] // an empty one with the memory of a sealed one; nil: none

	adding sync.Mutex // held while documents are added, which is done in steps that hold mu; locked before mu, and after maintaining and building

	maintaining sync.Mutex // held while parts are compressed, merged, stored or loaded
	saved       []byte     // the last stored manifest
	savedState  []byte     // of the table, as the newest of its files has it
	due         chan struct{}
	damaged     chan error            // of a file
	broken      atomic.Pointer[error] // why nothing can be answered any more; nil: all can
	resets      atomic.Uint64         // how often it was emptied to be filled again
	refilling   atomic.Bool           // it is broken, but takes writes
	retired     []*file               // of dropped parts: to be unmapped; guarded by mu

	building sync.Mutex        // held while columns are built; locked before mu
	wanted   map[columnID]bool // by listings; guarded by building

	sheets     sync.Pool // of zeroed *sheet
	turnSheets sync.Pool // of zeroed *turnSheet
	analyses   sync.Pool // of *analyses that are no longer used

	cacheMu sync.Mutex
	cache   map[string]*visible
	clock   uint64 // counts view lookups, for evicting the least recently used
}

// branch is the index of a branch.
type branch struct {
	parts      []*part    // sealed parts, oldest first, then the tail, if any
	newest     uint64     // the newest version of a row
	newestOnes statistics // of the rows that are live
}

// each calls do for the rows, tombstones included. do may erase rows.
func (b *branch) each(do func(number uint32)) {
	for _, p := range b.parts {
		p.each(do)
	}
}

// size is about how many rows the branch has.
func (b *branch) size() (n int) {
	for _, p := range b.parts {
		n += len(p.rows) + len(p.ghosts)
	}
	return n
}

// tail returns the part that grows, or nil.
func (b *branch) tail() *part {
	if n := len(b.parts); n > 0 && b.parts[n-1].tail != nil && !b.parts[n-1].frozen {
		return b.parts[n-1]
	}
	return nil
}

// New returns an empty index. It panics when a language is not one of Languages.
func New(o Options) *Index {
	x := &Index{
		analyser:     mustAnalyser(NewAnalyser(o.Language)),
		analysers:    map[string]*Analyser{},
		collections:  o.Collections,
		maxViews:     cmp.Or(o.Views, 64),
		maxTail:      cmp.Or(o.Tail, 8192),
		conversation: o.Conversation.withDefaults(),
		table:        newTable(),
		branches:     map[store.BranchID]*branch{},
		parts:        map[uint32]*part{},
		cache:        map[string]*visible{},
		wanted:       map[columnID]bool{},
		due:          make(chan struct{}, 1),
		damaged:      make(chan error, 1),
	}
	if o.Semantic != nil {
		x.semantic.Store(&o.Semantic)
		x.begin("")
	}
	for collection, language := range o.Languages {
		x.analysers[collection] = mustAnalyser(NewAnalyser(language))
	}
	return x
}

func mustAnalyser(a *Analyser, err error) *Analyser {
	if err != nil {
		panic(err)
	}
	return a
}

// Analyser is the analyser of a collection.
func (x *Index) Analyser(collection string) *Analyser {
	if a := x.analysers[collection]; a != nil {
		return a
	}
	return x.analyser
}

// queryAnalyser is the analyser for queries over a view: that of its collections, or the index's when they differ.
func (x *Index) queryAnalyser(v View) *Analyser {
	for i, collection := range v.Collections {
		if a := x.Analyser(collection); a != x.Analyser(v.Collections[0]) {
			return x.analyser
		} else if i == len(v.Collections)-1 {
			return a
		}
	}
	return x.analyser
}

// Apply adds versions of documents, in any order. Versions that the index has already are skipped.
func (x *Index) Apply(docs ...Doc) {
	_ = x.guardWrite(func() error { // a broken index takes nothing more
		x.apply(docs)
		return nil
	})
}

func (x *Index) apply(docs []Doc) {
	analysed := x.analyse(docs) // outside the lock, as it takes most of the time
	for i, p := range analysed {
		if p == nil {
			here, _ := x.prepare(&docs[i], nil)
			analysed[i] = &here
		}
	}
	x.adding.Lock()
	defer x.adding.Unlock()
	x.add(docs, analysed)
}

// Prepare analyses documents before Apply, so that their commit need not wait for it. Versions and times may be set later; nothing
// else of the documents may change in between. A document that was prepared is applied once.
func (x *Index) Prepare(docs []Doc) {
	for i, p := range x.analyse(docs) {
		docs[i].analysis = p
	}
}

// analyse analyses documents, many of them on several processors. An analysis that panicked is missing: the caller's own panics
// where it can be recovered.
func (x *Index) analyse(docs []Doc) []*preparedDoc {
	list := make([]*preparedDoc, len(docs))
	work := func(from, to int) {
		defer func() { _ = recover() }()
		x.prepareAll(docs[from:to], list[from:to])
	}
	workers := min(runtime.GOMAXPROCS(0), 1+len(docs)/docsPerWorker)
	var others sync.WaitGroup
	for w := range workers - 1 {
		others.Go(func() { work(len(docs)*w/workers, len(docs)*(w+1)/workers) })
	}
	work(len(docs)*(workers-1)/workers, len(docs))
	others.Wait()
	return list
}

// docsPerWorker is the number of documents from which another processor pays.
const docsPerWorker = 16

// preparedDoc is the analysis of a document, made without the lock.
type preparedDoc struct {
	words   []wordPosition // in their order
	length  int            // words that are not stop words
	speaker []string
	asks    bool // it ends in a question mark
	vector  Embedding
	digest  uint64 // of what was analysed
	of      *analyses
}

// analyses are those of documents that were analysed together. They share memory, which serves others once all are applied.
type analyses struct {
	list  []preparedDoc
	words []wordPosition
	left  int // not applied yet; guarded by Index.mu
}

// release gives up an analysis.
func (x *Index) release(p *preparedDoc) {
	if p.of == nil {
		return
	}
	if p.of.left--; p.of.left == 0 {
		x.analyses.Put(p.of)
	}
}

// prepareAll analyses documents that have no analysis yet.
func (x *Index) prepareAll(docs []Doc, list []*preparedDoc) {
	all, _ := x.analyses.Get().(*analyses)
	if all == nil {
		all = &analyses{}
	}
	all.list, all.left = slices.Grow(all.list[:0], len(docs)), 0
	words := all.words[:0]
	for i := range docs {
		if list[i] = docs[i].analysis; list[i] != nil {
			continue
		}
		p, more := x.prepare(&docs[i], words)
		all.list, words = append(all.list, p), more
		list[i] = &all.list[len(all.list)-1]
	}
	if all.words, all.left = words, len(all.list); all.left == 0 {
		x.analyses.Put(all)
		return
	}
	for i := range all.list {
		p := &all.list[i]
		n := len(p.words)
		p.words, words, p.of = words[:n:n], words[n:], all
	}
}

// passageGap is the distance in positions between passages; it keeps phrases from matching across them.
const passageGap = 8

// prepare analyses a document, whose words it appends to those of others.
func (x *Index) prepare(d *Doc, others []wordPosition) (p preparedDoc, all []wordPosition) {
	if d.Deleted {
		return p, others
	}
	a := wordCollector{by: x.Analyser(d.Collection), words: others}
	a.texts(d.Text)
	passages := len(a.words)
	a.texts(d.Tags)
	before := len(a.words)
	speaker, caption := before, before
	if t := d.Turn; t == nil {
		a.text(d.Key)
	} else { // the key of a turn is an address: its numbers match those of dates
		a.text(t.Speaker)
		speaker = len(a.words)
		a.text(t.Caption)
		caption = len(a.words)
		p.speaker = a.by.terms(t.Speaker)
		p.asks = slices.ContainsFunc(d.Text, asks)
	}
	p.words, p.length, p.digest = a.words[len(others):], a.length, digestOf(d)
	if s := x.vectors(); s != nil {
		p.vector = s.EmbedDocument(d, DocumentWords{a.by, [3][]wordPosition{a.words[before:speaker], a.words[len(others):passages], a.words[speaker:caption]}})
	}
	return p, a.words
}

// wordCollector collects the words of a document.
type wordCollector struct {
	by     *Analyser
	words  []wordPosition
	at     uint32
	length int
}

// wordPosition is a word at a position.
type wordPosition struct {
	*wordAnalysis
	at uint32
}

func (a *wordCollector) texts(list []string) {
	for _, text := range list {
		a.text(text)
	}
}

func (a *wordCollector) text(text string) {
	a.by.eachWord(text, func(w word) {
		a.words = append(a.words, wordPosition{w.wordAnalysis, a.at})
		a.at++
		if !w.stop {
			a.length++
		}
	})
	a.at += passageGap
}

func importanceOf(d *Doc) float64 {
	if d.Importance == nil {
		return math.NaN()
	}
	return *d.Importance
}

// extraOf stores the rare columns of a document.
func (x *Index) extraOf(d *Doc) uint32 {
	e := extra{tags: x.table.tagNumbers(d.Tags), fields: x.table.storedFields(d.Fields)}
	if !d.Expires.IsZero() {
		e.expires = d.Expires.UnixMicro()
	}
	if !d.Created.IsZero() && !d.Created.Equal(d.Time) {
		e.created = d.Created.UnixMicro()
	}
	return x.table.extras.add(e)
}

// turnOf is the stored form of a turn, or nil for none.
func (x *Index) turnOf(t *Turn, p *preparedDoc, space uint32) *turn {
	if t == nil {
		return nil
	}
	kept := &turn{position: position{x.table.sessionNumber(sessionName{space, t.Session}), t.Position}, speaker: x.table.speakerNumber(p.speaker), role: t.Role,
		asks: p.asks && t.Role == Person}
	if !t.Said.IsZero() {
		kept.said = t.Said.UnixMicro()
	}
	return kept
}

func (x *Index) branch(id store.BranchID) *branch {
	b := x.branches[id]
	if b == nil {
		b = &branch{newestOnes: newStatistics()}
		x.branches[id] = b
	}
	return b
}

// visibleIn returns the row of a document that a lineage sees, or none.
func (x *Index) visibleIn(l store.Lineage, name uint32) uint32 {
	for _, segment := range l {
		if number := x.table.at(segment.Branch, name, segment.At); number != none {
			if x.table.row(number).gone {
				return none
			}
			return number
		}
	}
	return none
}

// vectors returns the index's Semantic; nil: none.
func (x *Index) vectors() Semantic {
	if s := x.semantic.Load(); s != nil {
		return *s
	}
	return nil
}

func (x *Index) ref(r *row) Ref {
	s := x.table.space(r)
	return Ref{Branch: r.branch, Version: r.version, Namespace: s.namespace, Collection: s.collection, Key: strings.Clone(x.table.key(r))}
}
