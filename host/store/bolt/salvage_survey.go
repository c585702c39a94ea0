package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// survey is what is where in a database file, whatever state it is in.
type survey struct {
	*pages
	format   uint64
	again    uint64 // the format as it is said a second time
	top      map[kind]bucket
	branches bucket
	overlays bucket
	has      map[string]bool // which buckets there are at the top
	lostSome bool            // branches, of which it is not known which
	search   bool            // for pages that nothing leads to any more
	short    bool            // records of a bucket were missing
}

const freelistPage = 0x10

// take finds the buckets at the top, and the format.
func take(p *pages) *survey {
	s := &survey{pages: p, top: map[kind]bucket{}, has: map[string]bool{}}
	if p.head.freelist != noFreelist {
		s.lookAtFreelist()
	}
	var strange []bucket
	s.buckets("the outermost bucket", bucket{root: p.head.root}, func(name []byte, b bucket) {
		s.has[string(name)] = true
		switch {
		case bytes.Equal(name, bucketBranches):
			s.branches = b
		case bytes.Equal(name, bucketOverlays):
			s.overlays = b
		default:
			if k, ok := kindNamed(topKinds(), name); ok {
				s.top[k] = b
				return
			}
			s.broke("there is a bucket %q", name)
			strange = append(strange, b)
		}
	})
	if s.readFormat(); s.foreign() {
		return s // its buckets and records are others
	}
	for _, name := range topBuckets() {
		if s.format == format && !s.has[string(name)] {
			s.broke("the bucket %s is missing", name)
		}
	}
	s.recognise(strange)
	s.findBranches()
	return s
}

// missing reports whether what is known of the top is not enough to repair anything.
func (s *survey) missing() bool {
	for _, name := range topBuckets() {
		k, ok := kindNamed(topKinds(), name)
		_, found := s.top[k]
		if !s.has[string(name)] && !(ok && found) && !(bytes.Equal(name, bucketBranches) && !s.branches.none()) && !bytes.Equal(name, bucketOverlays) {
			return len(s.faults) > 0
		}
	}
	return false
}

func kindNamed(kinds []kind, name []byte) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return bytes.Equal(k.bucket(), name) })
	if i < 0 {
		return 0, false
	}
	return kinds[i], true
}

func (s *survey) lookAtFreelist() {
	page := s.page(s.head.freelist)
	if page == nil {
		return
	}
	flags, count := binary.LittleEndian.Uint16(page[8:]), int(binary.LittleEndian.Uint16(page[10:]))
	if flags != freelistPage || pageHeader+8*count > len(page) {
		s.broke("page %d should say which are free: it is damaged", s.head.freelist)
	}
	s.release(page)
}

// buckets visits the buckets in a bucket. What else is there is not visited. A bucket in a value is good until visit returns.
func (s *survey) buckets(what string, in bucket, visit func(name []byte, b bucket)) {
	s.scan(what, in, func(e element) {
		for _, o := range e.others {
			if !likely(e) && likely(o) {
				e = o
			}
		}
		if !e.bucket {
			s.broke("%s has %q, which is no bucket", what, e.key)
		}
		if b, ok := s.bucketOf(fmt.Sprintf("%s: %q", what, e.key), e.value); ok {
			visit(e.key, b.kept())
		}
	})
}

// likely reports whether an element may be of a bucket: whether it has a name that one can have.
func likely(e element) bool {
	_, atTop := kindNamed(topKinds(), e.key)
	_, below := kindNamed(branchKinds(), e.key)
	inline := len(e.value) >= 16+pageHeader && fromLittle(e.value) == 0
	return (len(e.value) == 16 || inline) && (atTop || below || len(e.key) == versionSize)
}

func fromLittle(value []byte) uint64 { return binary.LittleEndian.Uint64(value) }

// kept is the bucket for longer than a visit.
func (b bucket) kept() bucket {
	b.inline = bytes.Clone(b.inline)
	return b
}

// foreign reports whether the file has another format than this program's, and is not new.
func (s *survey) foreign() bool { return s.format != 0 && s.format != format }

func (s *survey) readFormat() {
	p := placeOf(kindMeta, 0)
	meta := s.top[kindMeta]
	if len(s.has) == 0 && s.head.txid < 2 {
		return // a new file, in which nothing was written yet
	}
	s.quietly(func() {
		s.scan("", meta, func(e element) {
			switch {
			case bytes.Equal(e.key, keyFormat):
				s.format = fromU64(e.value)
			case bytes.Equal(e.key, keyLayout):
				layout, _ := p.open(e.key, e.value)
				s.again = fromU64(layout)
			}
		})
	})
	if _, err := checkFormat(s.format, s.again); err != nil && (s.again != 0 || s.format <= format) {
		s.broke("%w", err)
		if s.format = s.again; s.format == 0 {
			s.format = format
		}
	}
}

// recognise finds out by their records what buckets are whose names are damaged.
func (s *survey) recognise(strange []bucket) {
	for _, b := range strange {
		for _, k := range topKinds() {
			if _, ok := s.top[k]; !ok && s.holds(placeOf(k, 0), b) {
				s.top[k] = b
			}
		}
		if !s.has[string(bucketBranches)] && s.holdsBranches(b) {
			s.branches = b
		}
	}
}

// findBranches looks for the branches where their place is wrong in one byte, when they are not where they should be.
func (s *survey) findBranches() {
	any := false
	s.quietly(func() { s.scan("", s.branches, func(element) { any = true }) })
	if s.branches.none() || s.branches.inline != nil || s.holdsBranches(s.branches) || !any && s.branches.root < uint64(len(s.visits)) {
		return
	}
	s.broke("the bucket branches is not in page %d", s.branches.root)
	for shift := 0; shift < 64; shift += 8 {
		for b := range uint64(256) {
			near := bucket{root: s.branches.root&^(255<<shift) | b<<shift, sequence: s.branches.sequence}
			if near.root > 1 && near.root < uint64(len(s.visits)) && s.holdsBranches(near) {
				s.branches = near
				return
			}
		}
	}
}

// holds reports whether a bucket has a record of that place.
func (s *survey) holds(p place, b bucket) (yes bool) {
	s.quietly(func() {
		s.scan("", b, func(e element) { yes = yes || p.whole(e.key, e.value) == nil })
	})
	return yes
}

func (s *survey) holdsBranches(b bucket) (yes bool) {
	s.quietly(func() {
		s.buckets("", b, func(_ []byte, branch bucket) {
			s.buckets("", branch, func(name []byte, _ bucket) { yes = yes || bytes.Equal(name, bucketLog) })
		})
	})
	return yes
}

// branch is a branch in the file.
type branch struct {
	id    store.BranchID
	parts map[kind]bucket
}

func (b branch) String() string { return fmt.Sprintf("branch %d", b.id) }

// eachBranch visits the branches.
func (s *survey) eachBranch(visit func(branch)) {
	if s.branches.none() {
		return
	}
	s.quietly(func() {
		s.faults, s.more = nil, 0
		s.scan("the bucket branches", s.branches, func(element) {})
		s.lostSome = len(s.faults) > 0
	})
	s.buckets("the bucket branches", s.branches, func(name []byte, in bucket) {
		b := branch{id: store.BranchID(fromU64(name)), parts: map[kind]bucket{}}
		var strange []bucket
		s.buckets(fmt.Sprintf("branch %x", name), in, func(name []byte, part bucket) {
			if k, ok := kindNamed(branchKinds(), name); ok {
				b.parts[k] = part
				return
			}
			s.broke("%s has a bucket %q", b, name)
			strange = append(strange, part)
		})
		if s.search && !s.isBranch(b.id, b.parts) && !s.isBranch(store.BranchID(in.sequence), b.parts) {
			s.findBranch(&b)
		}
		s.identify(&b, name, in, strange)
		visit(b)
	})
}

// identify makes sure that a branch is the one that its name says, and has all that a branch has.
func (s *survey) identify(b *branch, name []byte, in bucket, strange []bucket) {
	if second := store.BranchID(in.sequence); len(name) != 8 || second != b.id {
		s.broke("a branch is called %x, and says that it is branch %d", name, second)
		if len(name) != 8 || s.isBranch(second, b.parts) && !s.isBranch(b.id, b.parts) {
			b.id = second
		}
	}
	for _, k := range branchKinds() {
		if _, ok := b.parts[k]; ok {
			continue
		}
		s.broke("%s has no bucket %s", *b, k.bucket())
		for _, part := range strange {
			if s.holds(placeOf(k, uint64(b.id)), part) {
				b.parts[k] = part
			}
		}
	}
}

// isBranch reports whether a record says that it is of a branch.
func (s *survey) isBranch(id store.BranchID, parts map[kind]bucket) (yes bool) {
	for k, part := range parts {
		p := placeOf(k, uint64(id))
		s.quietly(func() {
			s.scan("", part, func(e element) {
				r, err := splitRecord(e.value)
				yes = yes || p.whole(e.key, e.value) == nil && (k != kindEntries || err == nil && r.branch == id)
			})
		})
	}
	return yes
}

// records visits the records of a bucket: as they are stored, and what is wrong with each.
func (s *survey) records(what string, b bucket, p place, visit func(e element, err error)) {
	sum, whole := uint64(0), uint64(0) // of all, and of those that are as they were written
	each := func(e element) {
		e = s.choose(p, e)
		if e.bucket {
			s.fault("%s: %q is said to be a bucket", what, e.key)
		}
		if !p.counts(e.key) {
			return
		}
		err := p.whole(e.key, e.value)
		if !s.repeated {
			sum += weight(p.stored(e.value))
		}
		if !s.repeated && err == nil {
			whole += weight(p.stored(e.value))
		}
		visit(e, err)
	}
	if s.scan(what, b, each); sum == b.sequence {
		return
	}
	if oneByte(sum ^ b.sequence) { // records that are missing make another difference
		s.fault("%s: what its records add up to is damaged", what)
		return
	}
	s.broke("%s: %w", what, errIncomplete)
	s.short = true
	if !s.search {
		return
	}
	if id := s.orphanOf(p, b.sequence-sum, b.sequence-whole); id != 0 {
		s.walk(what, id, 0, span{}, each)
	}
}

// oneByte reports whether one byte of a number is not 0.
func oneByte(n uint64) bool {
	for ; n > 255; n >>= 8 {
		if n&255 != 0 {
			return false
		}
	}
	return n != 0
}

// choose takes of all that an element of a damaged page may be what is whole.
func (s *survey) choose(p place, e element) element {
	if len(e.others) == 0 || p.whole(e.key, e.value) == nil {
		return e
	}
	for _, o := range e.others {
		if p.whole(o.key, o.value) == nil {
			return o
		}
	}
	return e
}

// examine looks at everything.
func (s *survey) examine() {
	for _, k := range topKinds() {
		if b, ok := s.top[k]; ok {
			s.judge(fmt.Sprintf("the bucket %s", k.bucket()), b, placeOf(k, 0))
		}
	}
	s.eachBranch(func(b branch) {
		for _, k := range branchKinds() {
			if part, ok := b.parts[k]; ok {
				s.judgePart(b, k, part)
			}
		}
	})
	s.examineOverlays()
}

func (s *survey) judge(what string, b bucket, p place) {
	s.records(what, b, p, func(e element, err error) {
		if err != nil {
			s.fault("%s: record %q: %w", what, e.key, err)
		}
	})
}

func (s *survey) judgePart(b branch, k kind, part bucket) {
	p := placeOf(k, uint64(b.id))
	what := fmt.Sprintf("%s: the bucket %s", b, k.bucket())
	s.records(what, part, p, func(e element, err error) {
		if k == kindEntries && err == nil {
			err = s.judgeEntry(b.id, e)
		}
		if err != nil {
			s.fault("%s: %s: %w", b, nameOf(k, e.key), err)
		}
	})
}

// judgeEntry looks at what the checksum of an entry does not tell.
func (s *survey) judgeEntry(id store.BranchID, e element) error {
	r, err := splitRecord(e.value)
	if err == nil && r.branch != id {
		err = fmt.Errorf("it is of branch %d", r.branch)
	}
	return err
}

// nameOf is what a record is about, where it can be told.
func nameOf(k kind, key []byte) string {
	raw, version, err := splitVersion(key)
	if k == kindLog && len(key) >= versionSize {
		raw, version = key[versionSize:], changedAt(key)
	}
	if err == nil && slices.Contains([]kind{kindEntries, kindValues, kindLog, kindCounters}, k) {
		if name, err := decodeKey(raw); err == nil {
			return fmt.Sprintf("%s at version %d", name, version)
		}
	}
	return fmt.Sprintf("record %q of %s", key, k.bucket())
}

func (s *survey) examineOverlays() {
	if s.overlays.none() {
		return
	}
	s.buckets("the bucket overlays", s.overlays, func(id []byte, o bucket) {
		what, p := fmt.Sprintf("overlay %x", id), placeOf(kindOverlay, fromU64(id))
		sum := uint64(0)
		s.scan(what, o, func(e element) {
			if e.bucket {
				if part, ok := s.bucketOf(what, e.value); ok {
					s.judge(what, part, placeOf(kindEntries, 0))
				}
				return
			}
			sum += weight(p.stored(e.value))
			if err := p.whole(e.key, e.value); err != nil {
				s.fault("%s: record %q: %w", what, e.key, err)
			}
		})
		if sum != o.sequence {
			s.fault("%s: %w", what, errIncomplete)
		}
	})
}

// Examine reads a database file page by page, without opening it, and says what is damaged. Nobody may write it meanwhile. It
// needs a few pages of memory.
func Examine(dir string) ([]error, error) {
	p, f, err := openPagesOf(dbPath(dir))
	if errors.Is(err, errNoMeta) {
		return []error{err}, nil
	}
	if err != nil {
		return nil, err
	}
	s := take(p)
	if s.foreign() {
		return nil, f.Close() // Open refuses it, or migrates it
	}
	s.examine()
	return s.all(), f.Close()
}

// all are the faults, and how many more there are.
func (p *pages) all() []error {
	all := append(slices.Clone(p.headFaults), p.faults...)
	if p.more > 0 {
		all = append(all, fmt.Errorf("and %d more", p.more))
	}
	return all
}
