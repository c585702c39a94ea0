package search

import (
	"crypto/rand"
	"hash/maphash"
	"strings"

	"github.com/alcove-memory/alcove/host/search/paged"
	"github.com/alcove-memory/alcove/host/store"
)

// none stands for no row, name or part.
const none = ^uint32(0)

// row is a version of a document. Its number is stable until the row is removed.
type row struct {
	version    uint64
	until      uint64 // the next version of the document on the branch; store.Latest: none
	branch     store.BranchID
	time       int64   // µs
	importance float64 // NaN: not given
	name       uint32  // none: the row is free
	facet      uint32
	agent      uint32
	previous   uint32 // the row of the previous version on the branch, or none
	extra      uint32 // its rare columns, or none
	length     byte
	gone       bool // a tombstone: it hides older versions
}

// place is where a row is: its part's id, and its number among the part's documents or tombstones.
type place struct{ part, local uint32 }

// newestAt reports whether the row is the newest of its document on its branch at a version.
func (r *row) newestAt(version uint64) bool {
	return r.version <= version && (version < r.until || r.until == store.Latest)
}

// space is a collection of a namespace, the unit that searches select.
type space struct{ namespace, collection string }

// name identifies a document across its versions.
type name struct {
	space uint32
	key   string
}

// nameRow is a name and the rows of its newest versions.
type nameRow struct {
	key   uint64         // its place among the table's keys
	on    store.BranchID // the first branch with the name,
	head  uint32         // and the row of its newest version there, or none
	more  uint32         // the heads on other branches, or none
	space uint32
	size  uint32 // of the key, in bytes
	rows  uint32 // with this name
	there uint32 // 1: it is in use
}

// headRow is the row of a name's newest version on a branch.
type headRow struct {
	on   store.BranchID
	row  uint32
	next uint32 // of the same name, or of those that are free; or none
}

// facet is the key by which statistics are grouped.
type facet struct {
	space       uint32
	state, kind string
}

// turn is the stored form of a Turn.
type turn struct {
	position
	speaker uint32
	said    int64 // µs; 0: not known
	role    Role
	asks    bool // a person says it, and it ends in a question mark
}

// position is a turn's session and its position there.
type position struct {
	session uint32
	at      int64
}

type sessionName struct {
	space uint32
	name  string
}

// table holds all rows and their interned values.
type table struct {
	rows   paged.Array[row]
	places paged.Array[place] // by row
	free   []uint32           // rows

	names     paged.Array[nameRow]
	keys      paged.Texts
	spareKeys uint64 // bytes of keys of no name
	heads     paged.Array[headRow]
	freeHeads uint32 // the first, or none
	numbers   nameIndex
	freeNames []uint32

	spaces       []space
	spaceOf      map[space]uint32
	facets       []facet
	facetOf      map[facet]uint32
	sessions     []sessionName
	sessionOf    map[sessionName]uint32
	speakers     [][]string // the terms of each name
	speakerOf    map[string]uint32
	speakersWith map[string][]uint32 // the speakers whose names have a term, as often as they have it
	tags         []string
	tagOf        map[string]uint32
	agents       []string
	agentOf      map[string]uint32
	fields       []string // the names of fields
	fieldOf      map[string]uint32

	extras      extras
	superseding map[Digest][]uint32 // rows by the keys that they replace
	live        bitset              // the rows that are the newest of their documents on their branches, but for tombstones
	linked      uint32              // the last linked row, or none
	threads     threads
	log         internedLog
	stored      storedTable
	purged      bool // what the table no longer has must not be in its files
}

func newTable() *table {
	t := &table{
		numbers: nameIndex{seed: maphash.MakeSeed()}, spaceOf: map[space]uint32{}, facetOf: map[facet]uint32{}, sessionOf: map[sessionName]uint32{},
		freeHeads: none, linked: none, speakerOf: map[string]uint32{}, speakersWith: map[string][]uint32{}, tagOf: map[string]uint32{},
		agentOf: map[string]uint32{}, fieldOf: map[string]uint32{}, superseding: map[Digest][]uint32{},
	}
	_, _ = rand.Read(t.numbers.salt[:]) // never fails
	t.register()
	return t
}

func (t *table) row(number uint32) *row { return t.rows.At(number) }

func (t *table) placeOf(number uint32) place { return *t.places.At(number) }

// held is the number of rows.
func (t *table) held() int { return int(t.rows.Len()) - len(t.free) }

// add adds a row with its turn, if it has one.
func (t *table) add(r row, said *turn) (number uint32) {
	if n := len(t.free); n > 0 {
		number, t.free = t.free[n-1], t.free[:n-1]
		*t.rows.Edit(number) = r
	} else {
		number = t.rows.Append(r)
		t.places.Append(place{part: none})
	}
	t.names.Edit(r.name).rows++
	t.enrich(number, said)
	return number
}

// enrich notes a row's turn, and what the row replaces.
func (t *table) enrich(number uint32, said *turn) {
	if said != nil {
		t.threads.add(number, t.row(number), said)
	}
	t.eachSuperseded(number, func(key Digest) { t.superseding[key] = append(t.superseding[key], number) })
}

// remove frees a row, and its name with the name's last row.
func (t *table) remove(number uint32) {
	if id := t.row(number).name; t.names.At(id).rows > 1 {
		t.names.Edit(id).rows--
	} else {
		t.removeName(id)
	}
	t.strip(number)
	*t.rows.Edit(number) = row{name: none, extra: none, previous: none}
	*t.places.Edit(number) = place{part: none}
	t.free = append(t.free, number)
}

func (t *table) removeName(id uint32) {
	n := t.names.Edit(id)
	t.numbers.remove(t.nameAt(id), id)
	for n.more != none {
		t.unlinkHead(&n.more)
	}
	t.spareKeys += uint64(n.size)
	*n = nameRow{head: none, more: none}
	t.freeNames = append(t.freeNames, id)
}

// strip removes the rare columns of a row.
func (t *table) strip(number uint32) {
	t.threads.remove(number)
	t.eachSuperseded(number, func(key Digest) { t.forgetSuperseding(key, number) })
	if r := t.rows.Edit(number); r.extra != none {
		t.extras.remove(r.extra)
		r.extra = none
	}
}

// compact moves keys and rare columns together if less than half of either is in use.
func (t *table) compact() {
	if t.spareKeys > mostSpareBytes && 2*t.spareKeys > t.keys.Size() {
		t.compactKeys()
	}
	if t.extras.isSparse() {
		t.compactExtras()
	}
}

// forgetUnused makes the next save store everything anew, without what no row has.
func (t *table) forgetUnused() {
	t.blank()
	t.compactKeys()
	t.compactExtras()
	t.numbers.renew(t.names.Len(), t.nameIfThere)
	t.stored.set.Renew()
	t.purged = false
}

// flushNames moves the names since the last save to where they are stored.
func (t *table) flushNames() {
	if t.numbers.isSparse(int(t.names.Len()) - len(t.freeNames)) {
		t.numbers.renew(t.names.Len(), t.nameIfThere)
		return
	}
	t.numbers.flush(t.nameIfThere)
}

// mostSpareBytes is how many unused bytes are always kept.
const mostSpareBytes = 1 << 16

func (t *table) compactKeys() {
	var keys paged.Texts
	for id := range t.names.Len() {
		if n := t.names.At(id); n.there == 1 {
			key, _ := keys.Append(t.keys.At(n.key, n.size))
			t.names.Edit(id).key = key
		}
	}
	t.keys.Replace(keys)
	t.spareKeys = 0
}

func (t *table) compactExtras() {
	var kept extras
	for number := range t.rows.Len() {
		if r := t.row(number); r.name != none && r.extra != none {
			t.rows.Edit(number).extra = kept.add(t.extras.at(r.extra))
		}
	}
	t.extras.words.Replace(kept.words)
	t.extras.spare = 0
}

// turnOf is the turn of a row, or nil.
func (t *table) turnOf(number uint32) *turn {
	if slot := t.threads.slotOfRow(number); slot != none {
		return &t.threads.turns[slot]
	}
	return nil
}

func (t *table) expiresAt(r *row) int64 {
	if r.extra == none {
		return 0
	}
	return t.extras.expiresAt(r.extra)
}

// intern returns the number of a value; equal values share it.
func intern[K comparable](numbers map[K]uint32, list *[]K, key K) uint32 {
	if n, ok := numbers[key]; ok {
		return n
	}
	n := uint32(len(*list))
	*list = append(*list, key)
	numbers[key] = n
	return n
}

func (t *table) spaceNumber(namespace, collection string) uint32 {
	if n, ok := t.spaceOf[space{namespace, collection}]; ok {
		return n
	}
	return intern(t.spaceOf, &t.spaces, space{strings.Clone(namespace), strings.Clone(collection)})
}

// nameAt returns a name. Its key is valid as long as the index is locked.
func (t *table) nameAt(id uint32) name {
	n := t.names.At(id)
	return name{n.space, t.keys.At(n.key, n.size)}
}

// nameNumber returns the number of a name, which is new if it has none.
func (t *table) nameNumber(n name) (id uint32) {
	if id := t.nameOf(n); id != none {
		return id
	}
	kept := nameRow{there: 1, space: n.space, head: none, more: none}
	kept.key, kept.size = t.keys.Append(n.key)
	if free := len(t.freeNames); free > 0 {
		id, t.freeNames = t.freeNames[free-1], t.freeNames[:free-1]
		*t.names.Edit(id) = kept
	} else {
		id = t.names.Append(kept)
	}
	t.numbers.add(n, id)
	return id
}

// nameOf returns the number of a name, or none.
func (t *table) nameOf(n name) uint32 {
	return t.numbers.find(n, func(id uint32) bool { return t.isName(id) && t.nameAt(id) == n })
}

// nameIfThere returns the name with a number; ok is false if none has it.
func (t *table) nameIfThere(id uint32) (n name, ok bool) {
	if !t.isName(id) {
		return name{}, false
	}
	return t.nameAt(id), true
}

// isName reports whether a number is that of a name that is there.
func (t *table) isName(id uint32) bool { return t.names.At(id).there == 1 }

func (t *table) facetNumber(f facet) uint32 {
	if n, ok := t.facetOf[f]; ok {
		return n
	}
	f.state, f.kind = strings.Clone(f.state), strings.Clone(f.kind)
	return intern(t.facetOf, &t.facets, f)
}

func (t *table) sessionNumber(s sessionName) uint32 {
	if n, ok := t.sessionOf[s]; ok {
		return n
	}
	s.name = strings.Clone(s.name)
	return intern(t.sessionOf, &t.sessions, s)
}

// speakerNumber interns a speaker by the terms of the name.
func (t *table) speakerNumber(terms []string) uint32 {
	joined := strings.Join(terms, " ")
	if n, ok := t.speakerOf[joined]; ok {
		return n
	}
	n := uint32(len(t.speakers))
	t.speakers = append(t.speakers, strings.Fields(joined))
	t.speakerOf[joined] = n
	for _, term := range t.speakers[n] {
		t.speakersWith[term] = append(t.speakersWith[term], n)
	}
	return n
}

func (t *table) tagNumber(tag string) uint32 { return internText(t.tagOf, &t.tags, tag) }

// internText is intern for texts that the caller does not own.
func internText(numbers map[string]uint32, list *[]string, text string) uint32 {
	if n, ok := numbers[text]; ok {
		return n
	}
	return intern(numbers, list, strings.Clone(text))
}

func (t *table) agentNumber(agent string) uint32 { return internText(t.agentOf, &t.agents, agent) }

func (t *table) storedFields(fields []Field) []storedField {
	var kept []storedField
	for _, f := range fields {
		kept = append(kept, storedField{internText(t.fieldOf, &t.fields, f.Name), f.Value})
	}
	return kept
}

func (t *table) tagNumbers(tags []string) []uint32 {
	var kept []uint32
	for _, tag := range tags {
		kept = append(kept, t.tagNumber(tag))
	}
	return kept
}

func (t *table) space(r *row) space { return t.spaces[t.names.At(r.name).space] }

// key is the key of a row. It is valid as long as the index is locked.
func (t *table) key(r *row) string { return t.nameAt(r.name).key }

// compareNames orders documents by namespace, collection and key.
func (t *table) compareNames(a, b *row) int {
	x, y := t.nameAt(a.name), t.nameAt(b.name)
	if x.space != y.space {
		return t.spaces[x.space].compare(t.spaces[y.space])
	}
	return strings.Compare(x.key, y.key)
}

// at returns the row of a document on a branch at a version, tombstones included, or none.
func (t *table) at(b store.BranchID, name uint32, version uint64) uint32 {
	number := t.head(b, name)
	for number != none && t.row(number).version > version {
		number = t.row(number).previous
	}
	return number
}

// head returns the row of a document's newest version on a branch, or none.
func (t *table) head(b store.BranchID, name uint32) uint32 {
	n := t.names.At(name)
	if n.on == b {
		return n.head
	}
	for at := n.more; at != none; {
		h := t.heads.At(at)
		if h.on == b {
			return h.row
		}
		at = h.next
	}
	return none
}

func (t *table) setHead(b store.BranchID, name, number uint32) {
	n := t.names.Edit(name)
	if n.rows == 1 {
		n.on = b
	}
	if n.on == b {
		n.head = number
		return
	}
	for at := n.more; at != none; at = t.heads.At(at).next {
		if t.heads.At(at).on == b {
			t.heads.Edit(at).row = number
			return
		}
	}
	n.more = t.addHead(headRow{on: b, row: number, next: n.more})
}

func (t *table) addHead(h headRow) (at uint32) {
	if at = t.freeHeads; at == none {
		return t.heads.Append(h)
	}
	t.freeHeads = t.heads.At(at).next
	*t.heads.Edit(at) = h
	return at
}

func (t *table) forgetHead(b store.BranchID, name uint32) {
	n := t.names.Edit(name)
	if n.on == b {
		n.head = none
		return
	}
	for link := &n.more; *link != none; link = &t.heads.Edit(*link).next {
		if t.heads.At(*link).on == b {
			t.unlinkHead(link)
			return
		}
	}
}

// unlinkHead frees the head that a link points to.
func (t *table) unlinkHead(link *uint32) {
	at := *link
	h := t.heads.Edit(at)
	*link = h.next
	*h = headRow{row: none, next: t.freeHeads}
	t.freeHeads = at
}

// link inserts a row into the version chain of its document on its branch. If the chain has that version already, link
// returns its row and changes nothing; otherwise it returns none.
func (t *table) link(number uint32) (same uint32) {
	r := t.rows.Edit(number)
	above, below := none, t.head(r.branch, r.name)
	if t.linked != none { // versions in descending order continue at the last linked row
		if l := t.row(t.linked); l.branch == r.branch && l.name == r.name && l.version > r.version {
			above, below = t.linked, l.previous
		}
	}
	for below != none && t.row(below).version > r.version {
		above, below = below, t.row(below).previous
	}
	if below != none && t.row(below).version == r.version {
		return below
	}
	r.previous, r.until = below, store.Latest
	if below != none {
		t.rows.Edit(below).until = r.version
	}
	if above != none {
		r.until, t.rows.Edit(above).previous = t.row(above).version, number
	} else {
		t.setHead(r.branch, r.name, number)
	}
	t.linked = number
	return none
}
