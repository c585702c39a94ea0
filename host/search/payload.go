package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// The payload of a stored part: its rows and their interned values. Numbers are varints; versions and instants are
// differences from the row before.

const payloadFormat = 3

// Flags of a stored document.
const (
	isDead = 1 << iota
	hasImportance
	hasExtra
	hasTurn
	isQuestion
	ofUser
	ofAssistant
)

// payloadWriter encodes the rows of a part.
type payloadWriter struct {
	table   *table
	strings map[string]int
	texts   []string
	facets  map[uint32]int
	list    []uint32
	out     []byte
	version uint64
	time    int64
}

// describe encodes the payload of a part.
func (x *Index) describe(p *part) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.describeRows(p)
}

// describeMerged encodes the payload of a merged part.
func (x *Index) describeMerged(m mergePlan, parts []*part) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	m.refresh(parts)
	return x.describeRows(m.into)
}

func (x *Index) describeRows(p *part) []byte {
	d := &payloadWriter{table: x.table, strings: map[string]int{}, facets: map[uint32]int{}}
	d.uint(uint64(len(p.rows)))
	for _, number := range p.rows {
		d.document(number)
	}
	ghosts := slices.DeleteFunc(slices.Clone(p.ghosts), func(number uint32) bool { return number == none })
	d.uint(uint64(len(ghosts)))
	for _, number := range ghosts {
		r := x.table.row(number)
		s := x.table.space(r)
		d.text(s.namespace)
		d.text(s.collection)
		d.bytes(x.table.key(r))
		d.when(r)
	}
	return d.finish()
}

func (d *payloadWriter) uint(n uint64) { d.out = binary.AppendUvarint(d.out, n) }
func (d *payloadWriter) int(n int64)   { d.out = binary.AppendVarint(d.out, n) }

func (d *payloadWriter) bytes(text string) {
	d.uint(uint64(len(text)))
	d.out = append(d.out, text...)
}

// number interns a text.
func (d *payloadWriter) number(text string) uint64 {
	n, ok := d.strings[text]
	if !ok {
		n = len(d.texts)
		d.strings[text] = n
		d.texts = append(d.texts, text)
	}
	return uint64(n)
}

func (d *payloadWriter) text(text string) { d.uint(d.number(text)) }

func (d *payloadWriter) when(r *row) {
	d.int(int64(r.version - d.version))
	d.int(r.time - d.time)
	d.version, d.time = r.version, r.time
}

func (d *payloadWriter) facet(number uint32) {
	n, ok := d.facets[number]
	if !ok {
		n = len(d.list)
		d.facets[number] = n
		d.list = append(d.list, number)
	}
	d.uint(uint64(n))
}

func (d *payloadWriter) document(number uint32) {
	if number == none {
		d.out = append(d.out, isDead)
		return
	}
	r := d.table.row(number)
	var flags byte
	if !math.IsNaN(r.importance) {
		flags |= hasImportance
	}
	turn := d.table.turnOf(number)
	if r.extra != none {
		flags |= hasExtra
	}
	if turn != nil {
		flags |= hasTurn | flagOf(turn.role)
		if turn.asks {
			flags |= isQuestion
		}
	}
	d.out = append(d.out, flags)
	d.facet(r.facet)
	d.bytes(d.table.key(r))
	d.when(r)
	d.text(d.table.agents[r.agent])
	if flags&hasImportance != 0 {
		d.out = binary.LittleEndian.AppendUint64(d.out, math.Float64bits(r.importance))
	}
	if r.extra != none {
		e := d.table.extras.at(r.extra)
		d.int(e.expires)
		d.int(e.created)
		d.uint(uint64(len(e.tags)))
		for _, tag := range e.tags {
			d.text(d.table.tags[tag])
		}
		d.uint(uint64(len(e.fields)))
		for _, f := range e.fields {
			d.text(d.table.fields[f.name])
			d.out = append(d.out, f.value[:]...)
		}
	}
	if turn != nil {
		d.text(d.table.sessions[turn.session])
		d.int(turn.at)
		d.text(strings.Join(d.table.speakers[turn.speaker], " "))
		d.int(turn.said)
	}
}

// flagOf is the flag of a turn's role.
func flagOf(role Role) byte { return [...]byte{Person: 0, User: ofUser, Assistant: ofAssistant}[role] }

// roleOf is the role of a turn with flags.
func roleOf(flags byte) Role {
	switch {
	case flags&ofUser != 0:
		return User
	case flags&ofAssistant != 0:
		return Assistant
	}
	return Person
}

// finish returns the interned values followed by the rows.
func (d *payloadWriter) finish() []byte {
	rows := d.out
	d.out = nil
	d.uint(uint64(len(d.list)))
	for _, number := range d.list {
		f := &d.table.facets[number]
		s := d.table.spaces[f.space]
		for _, text := range []string{s.namespace, s.collection, f.state, f.kind} {
			d.text(text)
		}
	}
	facets := d.out
	d.out = []byte{payloadFormat}
	d.uint(uint64(len(d.texts)))
	for _, text := range d.texts {
		d.bytes(text)
	}
	return slices.Concat(d.out, facets, rows)
}

// storedPayload is a decoded payload.
type storedPayload struct {
	documents []storedDoc
	ghosts    []storedDoc
}

// storedDoc is a version of a document, or a tombstone.
type storedDoc struct {
	dead                       bool
	gone                       bool // a tombstone
	namespace, collection, key string
	state, kind                string
	version                    uint64
	time                       int64
	importance                 float64
	agent                      string
	expires, created           int64
	fields                     []Field
	tags                       []string
	turn, asks                 bool
	session, speaker           string
	at, said                   int64
	role                       Role
}

var errPayload = errors.New("the payload is damaged")

// payloadReader decodes a payload. After the first error everything reads as zero.
type payloadReader struct {
	in      []byte
	texts   []string
	facets  [][4]string
	bad     bool
	version uint64
	time    int64
}

// readPayload decodes the payload of a part with this many documents.
func readPayload(data []byte, documents int) (s storedPayload, err error) {
	r := &payloadReader{in: data}
	if len(data) == 0 {
		return s, errPayload
	}
	if data[0] != payloadFormat {
		return s, fmt.Errorf("the payload has format %d: this version reads format %d", data[0], payloadFormat)
	}
	r.in = data[1:]
	for range r.count(1) {
		r.texts = append(r.texts, r.bytes())
	}
	for range r.count(4) {
		r.facets = append(r.facets, [4]string{r.text(), r.text(), r.text(), r.text()})
	}
	n := r.count(1)
	if n != documents {
		return s, fmt.Errorf("%w: it has %d documents of %d", errPayload, n, documents)
	}
	s.documents = make([]storedDoc, n)
	for i := range s.documents {
		r.document(&s.documents[i])
	}
	s.ghosts = make([]storedDoc, r.count(5))
	for i := range s.ghosts {
		g := &s.ghosts[i]
		g.gone = true
		g.namespace, g.collection, g.key = r.text(), r.text(), r.bytes()
		r.when(g)
	}
	if r.bad || len(r.in) != 0 {
		return s, errPayload
	}
	return s, nil
}

func (r *payloadReader) uint() uint64 {
	n, size := binary.Uvarint(r.in)
	if size <= 0 {
		r.bad, r.in = true, nil
		return 0
	}
	r.in = r.in[size:]
	return n
}

func (r *payloadReader) int() int64 {
	n, size := binary.Varint(r.in)
	if size <= 0 {
		r.bad, r.in = true, nil
		return 0
	}
	r.in = r.in[size:]
	return n
}

// count reads the number of elements that follow, each of at least so many bytes.
func (r *payloadReader) count(least int) int {
	n := r.uint()
	if n > uint64(len(r.in)/least) {
		r.bad, r.in = true, nil
		return 0
	}
	return int(n)
}

func (r *payloadReader) next(n int) []byte {
	if n > len(r.in) {
		r.bad, r.in = true, nil
		return make([]byte, min(n, 16))
	}
	taken := r.in[:n]
	r.in = r.in[n:]
	return taken
}

func (r *payloadReader) bytes() string { return string(r.next(r.count(1))) }

func (r *payloadReader) text() string {
	if n := r.uint(); n < uint64(len(r.texts)) {
		return r.texts[n]
	}
	r.bad = true
	return ""
}

func (r *payloadReader) when(d *storedDoc) {
	r.version += uint64(r.int())
	r.time += r.int()
	if d.version, d.time = r.version, r.time; d.version == 0 || d.version == store.Latest {
		r.bad = true
	}
}

func (r *payloadReader) document(d *storedDoc) {
	flags := r.next(1)[0]
	if flags&isDead != 0 {
		d.dead = true
		return
	}
	if n := r.uint(); n < uint64(len(r.facets)) {
		f := &r.facets[n]
		d.namespace, d.collection, d.state, d.kind = f[0], f[1], f[2], f[3]
	} else {
		r.bad = true
	}
	d.key = r.bytes()
	r.when(d)
	d.agent = r.text()
	d.importance = math.NaN()
	if flags&hasImportance != 0 {
		d.importance = math.Float64frombits(binary.LittleEndian.Uint64(r.next(8)))
	}
	if flags&hasExtra != 0 {
		d.expires, d.created = r.int(), r.int()
		for range r.count(1) {
			d.tags = append(d.tags, r.text())
		}
		for range r.count(1 + len(Digest{})) {
			d.fields = append(d.fields, Field{r.text(), Digest(r.next(len(Digest{})))})
		}
	}
	d.asks, d.role = flags&isQuestion != 0, roleOf(flags)
	if d.turn = flags&hasTurn != 0; d.turn {
		d.session, d.at, d.speaker, d.said = r.text(), r.int(), r.text(), r.int()
	}
}
