package search

import (
	"hash/maphash"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// none stands for no row, name or part.
const none = ^uint32(0)

// row is a version of a document. Its number is stable until the row is removed.
type row struct {
	version    uint64
	until      uint64 // the next version of the document on the branch; store.Latest: none
	branch     store.BranchID
	time       int64 // µs
	name       uint32
	facet      uint32
	previous   uint32  // the row of the previous version on the branch, or none
	part       uint32  // its part's id
	local      uint32  // its number among the part's documents or tombstones
	extra      uint32  // its rare fields, or none
	importance float64 // NaN: not given
	agent      uint32
	length     byte
	gone       bool // a tombstone: it hides older versions
}

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

type nameRow struct {
	name
	rows uint32         // rows with this name
	head uint32         // the row of its newest version on a branch, or none
	on   store.BranchID // that branch, its first
}

// facet is the key by which statistics are grouped.
type facet struct {
	space       uint32
	state, kind string
}

// extra is the rare fields of a row.
type extra struct {
	tags    []string
	expires int64 // µs; 0: never
	created int64 // µs; 0: with this version
	fields  []storedField
	turn    *turn
}

func (e *extra) isZero() bool {
	return e.tags == nil && e.expires == 0 && e.created == 0 && e.fields == nil && e.turn == nil
}

// storedField is the stored form of a Field.
type storedField struct {
	name  uint32
	value Digest
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

// Numbers of rows and of names allocated at once.
const (
	rowsPerChunk  = 1 << 12
	namesPerChunk = 1 << 10
)

// table holds all rows and their interned values.
type table struct {
	chunks [][]row
	used   uint32 // the number of rows ever used
	free   []uint32

	names     [][]nameRow
	usedNames uint32    // the number of names ever used
	numbers   numbering // of names
	seed      maphash.Seed
	freeNames []uint32

	spaces       []space
	spaceOf      map[space]uint32
	facets       []facet
	facetOf      map[facet]uint32
	sessions     []string
	sessionOf    map[sessionName]uint32
	speakers     [][]string // the terms of each name
	speakerOf    map[string]uint32
	speakersWith map[string][]uint32 // the speakers whose names have a term, as often as they have it
	tags         map[string]string
	agents       []string
	agentOf      map[string]uint32
	fields       []string // the names of fields
	fieldOf      map[string]uint32

	extras     []extra
	freeExtras []uint32

	superseding map[Digest][]uint32 // rows by the keys that they replace

	newest map[headKey]uint32 // the row of a document's newest version on a branch, but for its first
	linked uint32             // the last linked row, or none

	threads threads
}

// headKey is a document on a branch.
type headKey struct {
	branch store.BranchID
	name   uint32
}

func newTable() *table {
	return &table{
		seed: maphash.MakeSeed(), spaceOf: map[space]uint32{}, facetOf: map[facet]uint32{}, sessionOf: map[sessionName]uint32{},
		linked: none, speakerOf: map[string]uint32{}, speakersWith: map[string][]uint32{}, tags: map[string]string{}, agentOf: map[string]uint32{}, fieldOf: map[string]uint32{},
		newest: map[headKey]uint32{}, superseding: map[Digest][]uint32{},
	}
}

func (t *table) nameAt(number uint32) *nameRow {
	return &t.names[number/namesPerChunk][number%namesPerChunk]
}

func (t *table) row(number uint32) *row { return &t.chunks[number/rowsPerChunk][number%rowsPerChunk] }

func (t *table) add(r row) uint32 {
	var number uint32
	if n := len(t.free); n > 0 {
		number, t.free = t.free[n-1], t.free[:n-1]
	} else {
		number = t.used
		t.used++
		if int(number/rowsPerChunk) == len(t.chunks) {
			t.chunks = append(t.chunks, make([]row, rowsPerChunk))
		}
	}
	*t.row(number) = r
	t.nameAt(r.name).rows++
	t.addTurn(number)
	t.eachSuperseded(number, func(key Digest) { t.superseding[key] = append(t.superseding[key], number) })
	return number
}

// addTurn puts a row's turn into its thread.
func (t *table) addTurn(number uint32) {
	r := t.row(number)
	if turn := t.turnOf(r); turn != nil {
		t.threads.add(number, r, turn)
	}
}

// remove frees a row, and its name with the name's last row.
func (t *table) remove(number uint32) {
	r := t.row(number)
	if n := t.nameAt(r.name); n.rows > 1 {
		n.rows--
	} else {
		t.numbers.remove(t.hashOf(n.name), r.name)
		*n = nameRow{head: none}
		t.freeNames = append(t.freeNames, r.name)
	}
	t.strip(number)
	*r = row{name: none, part: none, extra: none, previous: none}
	t.free = append(t.free, number)
}

// strip removes the rare fields of a row.
func (t *table) strip(number uint32) {
	r := t.row(number)
	t.threads.remove(number)
	t.eachSuperseded(number, func(key Digest) { t.forgetSuperseding(key, number) })
	if r.extra != none {
		t.extras[r.extra] = extra{}
		t.freeExtras = append(t.freeExtras, r.extra)
		r.extra = none
	}
}

func (t *table) turnOf(r *row) *turn {
	if r.extra == none {
		return nil
	}
	return t.extras[r.extra].turn
}

func (t *table) expiresAt(r *row) int64 {
	if r.extra == none {
		return 0
	}
	return t.extras[r.extra].expires
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

// nameNumber returns the number of a name, which is new if it has none.
func (t *table) nameNumber(n name) uint32 {
	hash := t.hashOf(n)
	if number := t.find(hash, n); number != none {
		return number
	}
	n.key = strings.Clone(n.key)
	number := t.usedNames
	if free := len(t.freeNames); free > 0 {
		number, t.freeNames = t.freeNames[free-1], t.freeNames[:free-1]
	} else if t.usedNames++; int(number/namesPerChunk) == len(t.names) {
		t.names = append(t.names, make([]nameRow, namesPerChunk))
	}
	*t.nameAt(number) = nameRow{name: n, head: none}
	t.numbers.add(hash, number)
	return number
}

// nameOf returns the number of a name, or none.
func (t *table) nameOf(n name) uint32 { return t.find(t.hashOf(n), n) }

func (t *table) find(hash uint32, n name) uint32 {
	return t.numbers.find(hash, func(number uint32) bool { return t.nameAt(number).name == n })
}

func (t *table) hashOf(n name) uint32 {
	const spread = 0x9e3779b97f4a7c15
	return uint32((maphash.String(t.seed, n.key) + uint64(n.space)*spread) >> 32)
}

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
	n := uint32(len(t.sessions))
	t.sessions = append(t.sessions, s.name)
	t.sessionOf[s] = n
	return n
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

// tag interns a tag.
func (t *table) tag(tag string) string {
	if kept, ok := t.tags[tag]; ok {
		return kept
	}
	tag = strings.Clone(tag)
	t.tags[tag] = tag
	return tag
}

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

func (t *table) addExtra(e extra) uint32 {
	if n := len(t.freeExtras); n > 0 {
		number := t.freeExtras[n-1]
		t.freeExtras = t.freeExtras[:n-1]
		t.extras[number] = e
		return number
	}
	t.extras = append(t.extras, e)
	return uint32(len(t.extras) - 1)
}

func (t *table) space(r *row) space { return t.spaces[t.nameAt(r.name).space] }

func (t *table) key(r *row) string { return t.nameAt(r.name).key }

// compareNames orders documents by namespace, collection and key.
func (t *table) compareNames(a, b *row) int {
	x, y := t.nameAt(a.name), t.nameAt(b.name)
	if x.space != y.space {
		s, u := t.spaces[x.space], t.spaces[y.space]
		if c := strings.Compare(s.namespace, u.namespace); c != 0 {
			return c
		}
		return strings.Compare(s.collection, u.collection)
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
	if n := t.nameAt(name); n.on == b {
		return n.head
	}
	if number, ok := t.newest[headKey{b, name}]; ok {
		return number
	}
	return none
}

func (t *table) setHead(b store.BranchID, name, number uint32) {
	n := t.nameAt(name)
	if n.rows == 1 {
		n.on = b
	}
	if n.on == b {
		n.head = number
		return
	}
	t.newest[headKey{b, name}] = number
}

func (t *table) forgetHead(b store.BranchID, name uint32) {
	if n := t.nameAt(name); n.on == b {
		n.head = none
		return
	}
	delete(t.newest, headKey{b, name})
}

// link inserts a row into the version chain of its document on its branch. If the chain has that version already, link
// returns its row and changes nothing; otherwise it returns none.
func (t *table) link(number uint32) (same uint32) {
	r := t.row(number)
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
		t.row(below).until = r.version
	}
	if above != none {
		r.until, t.row(above).previous = t.row(above).version, number
	} else {
		t.setHead(r.branch, r.name, number)
	}
	t.linked = number
	return none
}
