package search

import "github.com/alcove-memory/alcove/host/store"

// wordsPerStep is how many words of documents are added to the tail of a branch before waiting searches go on.
const wordsPerStep = 1 << 11

// reservation is where the postings of a document are in a growing part. Until the document has a row, it is there like a removed one.
type reservation struct {
	part  *part // nil: none
	local uint32
}

// add adds documents: their postings first, in steps between which searches go on, then all their rows at once, which make
// them visible. The caller holds adding, so that the tails stay as they are between the steps.
func (x *Index) add(docs []Doc, analysed []*preparedDoc) {
	reserved := make([]reservation, len(docs))
	for from, to := 0, 0; from < len(docs); from = to {
		for words := 0; to < len(docs) && words < wordsPerStep; to++ {
			words += len(analysed[to].words)
		}
		x.lookUp(docs[from:to], analysed[from:to])
		x.addSome(docs, analysed, reserved, from, to)
	}
}

// lookUp finds the entries that the words of documents have in the tails they will be added to, which takes the most time.
func (x *Index) lookUp(docs []Doc, analysed []*preparedDoc) {
	var on store.BranchID
	var t *tail
	for i := range docs {
		if i == 0 || docs[i].Branch != on {
			on, t = docs[i].Branch, x.tailNow(docs[i].Branch)
		}
		if t != nil {
			t.lookUp(analysed[i])
		}
	}
}

// tailNow returns the tail of a branch; nil: it has none.
func (x *Index) tailNow(id store.BranchID) *tail {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if b := x.branches[id]; b != nil {
		if p := b.tail(); p != nil {
			return p.tail
		}
	}
	return nil
}

// addSome adds the postings of some documents, and after the last of them the rows of all.
func (x *Index) addSome(docs []Doc, analysed []*preparedDoc, reserved []reservation, from, to int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := from; i < to; i++ {
		if d := &docs[i]; !d.Deleted && x.versionOf(d) == none {
			reserved[i] = x.reserve(d.Branch, d.Version, analysed[i])
		}
	}
	if to < len(docs) {
		return
	}
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	for i := range docs {
		x.insert(&docs[i], analysed[i], reserved[i])
		docs[i].analysis = nil
		x.release(analysed[i])
	}
}

// versionOf returns the row of a version of a document, or none.
func (x *Index) versionOf(d *Doc) uint32 {
	t := x.table
	space, ok := t.spaceOf[space{d.Namespace, d.Collection}]
	if !ok {
		return none
	}
	id := t.nameOf(name{space, d.Key})
	if id == none {
		return none
	}
	number := t.at(d.Branch, id, d.Version)
	if number == none || t.row(number).version != d.Version {
		return none
	}
	return number
}

// insert adds a version of a document, whose postings have a reservation, or are still missing.
func (x *Index) insert(d *Doc, p *preparedDoc, at reservation) {
	t := x.table
	n := name{t.spaceNumber(d.Namespace, d.Collection), d.Key}
	r := row{version: d.Version, branch: d.Branch, time: d.Time.UnixMicro(), name: t.nameNumber(n), previous: none, extra: none,
		importance: importanceOf(d), gone: d.Deleted}
	if !d.Deleted {
		r.agent = t.agentNumber(d.Agent)
		r.facet = t.facetNumber(facet{n.space, d.State, d.Type})
		r.length = lengthCode(p.length)
	}
	if had := t.at(d.Branch, r.name, d.Version); had != none && t.row(had).version == d.Version {
		return
	}
	var said *turn
	if !d.Deleted {
		r.extra, said = x.extraOf(d), x.turnOf(d.Turn, p, n.space)
	}
	x.insertRow(r, said, p, at)
}

// insertRow adds a row to the table, its branch, the branch's tail, and the cached views that see it.
func (x *Index) insertRow(r row, said *turn, p *preparedDoc, at reservation) {
	t := x.table
	views := x.viewsOf(r.branch, r.version)
	before := make([]uint32, len(views))
	for i, v := range views {
		before[i] = x.visibleIn(v.lineage, r.name)
	}
	number := t.add(r, said)
	t.link(number)
	x.linked(number)
	b := x.branch(r.branch)
	b.newest = max(b.newest, r.version)
	x.addToTail(number, p, at)
	if !r.gone {
		x.semanticAdd(number, p.vector)
	}
	for i, v := range views {
		v.replace(x, before[i], x.visibleIn(v.lineage, r.name))
	}
}

// addToTail adds a row to the tail of its branch. The postings of its document have a reservation, or are still missing.
func (x *Index) addToTail(number uint32, p *preparedDoc, at reservation) {
	r := x.table.row(number)
	if r.gone {
		tail := x.tailFor(r.branch, r.version)
		*x.table.places.Edit(number) = place{tail.id, uint32(len(tail.ghosts))}
		tail.ghosts = append(tail.ghosts, number)
		return
	}
	if at.part == nil {
		at = x.reserve(r.branch, r.version, p)
	}
	at.part.rows[at.local] = number
	at.part.dead--
	*x.table.places.Edit(number) = place{at.part.id, at.local}
	at.part.note(x.table, r, at.local)
}

// reserve adds the postings of a document to the tail of its branch.
func (x *Index) reserve(id store.BranchID, version uint64, p *preparedDoc) reservation {
	tail := x.tailFor(id, version)
	at := reservation{tail, uint32(tail.docs())}
	tail.rows = append(tail.rows, none)
	tail.dead++
	tail.tail.add(p)
	if x.full(tail) {
		x.signalDue()
	}
	return at
}

// tailFor returns the tail of a branch, which is new if it has none, for a version.
func (x *Index) tailFor(id store.BranchID, version uint64) *part {
	b := x.branch(id)
	tail := b.tail()
	if tail == nil {
		x.lastPart++
		tail = &part{id: x.lastPart, branch: id, tail: x.newTail(b, x.lastPart), first: version}
		x.parts[tail.id] = tail
		b.parts = append(b.parts, tail)
	}
	tail.first, tail.last = min(tail.first, version), max(tail.last, version)
	return tail
}
