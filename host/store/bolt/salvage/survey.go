package salvage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// survey is the map of a database file: which buckets it has, and where.
type survey struct {
	*pages
	format   uint64
	again    uint64 // the second statement of the format
	top      map[layout.Kind]bucket
	branches bucket
	overlays bucket
	has      map[string]bool // names of the buckets at the top
	lostSome bool            // branches were lost whose ids are unknown
	search   bool            // for lost pages among those that no other refers to
	short    bool            // a bucket lacked records
	freed    []uint64        // pages that are listed as free
}

// newSurvey reads the format and the buckets at the top.
func newSurvey(p *pages) *survey {
	s := &survey{pages: p, top: map[layout.Kind]bucket{}, has: map[string]bool{}}
	if p.meta.Freelist != layout.NoFreelist {
		s.readFreelist()
	}
	var strange []bucket
	s.buckets("the root bucket", bucket{root: p.meta.Root}, func(name []byte, b bucket) {
		s.has[string(name)] = true
		switch {
		case bytes.Equal(name, layout.BucketBranches):
			s.branches = b
		case bytes.Equal(name, layout.BucketOverlays):
			s.overlays = b
		default:
			if k, ok := layout.KindOf(layout.SpaceKinds(), name); ok {
				s.top[k] = b
				return
			}
			s.structureFault("there is a bucket %q", name)
			strange = append(strange, b)
		}
	})
	if s.readFormat(); s.foreign() {
		return s // its layout is another
	}
	for _, name := range layout.TopBuckets() {
		if s.format == layout.Format && !s.has[string(name)] {
			s.structureFault("the bucket %s is missing", name)
		}
	}
	s.recognise(strange)
	s.findBranches()
	return s
}

// missing reports that the top is too damaged for a repair.
func (s *survey) missing() bool {
	for _, name := range layout.TopBuckets() {
		k, ok := layout.KindOf(layout.SpaceKinds(), name)
		_, found := s.top[k]
		if !s.has[string(name)] && !(ok && found) && !(bytes.Equal(name, layout.BucketBranches) && !s.branches.none()) && !bytes.Equal(name, layout.BucketOverlays) {
			return len(s.faults) > 0
		}
	}
	return false
}

// readFreelist reads the list of free pages.
func (s *survey) readFreelist() {
	page := s.page(s.meta.Freelist)
	if page == nil {
		return
	}
	defer s.release(page)
	free, err := layout.DecodeFreelist(page, uint64(len(s.visits)))
	if err != nil {
		s.structureFault("page %d, the list of free pages, %w", s.meta.Freelist, err)
	}
	s.freed = free
}

// judgeFreelist checks that no page in use is listed as free: the next commit would overwrite it.
func (s *survey) judgeFreelist() {
	for _, id := range s.freed {
		if s.visits[id] > 0 {
			s.structureFault("page %d is in use, and listed as free", id)
		}
	}
}

// buckets visits the buckets in a bucket, and nothing else. A name is valid until visit returns.
func (s *survey) buckets(what string, in bucket, visit func(name []byte, b bucket)) {
	s.scan(what, in, func(e Element) {
		for _, o := range e.others {
			if likelihood(o) > likelihood(e) {
				e = o
			}
		}
		if !e.Bucket {
			s.structureFault("%s has %q, which is not a bucket", what, e.Key)
		}
		if b, ok := s.bucketOf(fmt.Sprintf("%s: %q", what, e.Key), e.Value); ok {
			visit(e.Key, b.kept())
		}
	})
}

// likelihood is how much an element looks like a bucket: not at all, by its name and the length of its value, or as a branch whose
// sequence is its name.
func likelihood(e Element) int {
	switch {
	case !likely(e):
		return 0
	case len(e.Key) == keycode.VersionSize && layout.FromU64(e.Key) == fromLittle(e.Value[8:]):
		return 2
	}
	return 1
}

func likely(e Element) bool {
	_, atTop := layout.KindOf(layout.SpaceKinds(), e.Key)
	_, below := layout.KindOf(layout.BranchKinds(), e.Key)
	inline := len(e.Value) >= 16+layout.PageHeader && fromLittle(e.Value) == 0
	return (len(e.Value) == 16 || inline) && (atTop || below || len(e.Key) == keycode.VersionSize)
}

func fromLittle(value []byte) uint64 { return binary.LittleEndian.Uint64(value) }

// kept is a copy of the bucket that stays valid after a visit.
func (b bucket) kept() bucket {
	b.inline = bytes.Clone(b.inline)
	return b
}

// foreign reports whether the file has a format that this program does not read. A new file has none.
func (s *survey) foreign() bool { return s.format != 0 && s.format != layout.Format }

func (s *survey) readFormat() {
	p := layout.TableOf(layout.KindMeta, 0)
	meta := s.top[layout.KindMeta]
	if len(s.has) == 0 && s.meta.TxID < 2 {
		return // a new file, in which nothing was written yet
	}
	s.probe(func() {
		s.scan("", meta, func(e Element) {
			switch {
			case bytes.Equal(e.Key, layout.KeyFormat):
				s.format = layout.FromU64(e.Value)
			case bytes.Equal(e.Key, layout.KeyLayout):
				again, _ := p.Open(e.Key, e.Value)
				s.again = layout.FromU64(again)
			}
		})
	})
	if _, err := layout.CheckFormat(s.format, s.again); err != nil {
		s.structureFault("%w", err)
		if s.format = s.again; s.format == 0 {
			s.format = layout.Format
		}
	}
}

// recognise identifies buckets with damaged names by their records.
func (s *survey) recognise(strange []bucket) {
	for _, b := range strange {
		for _, k := range layout.SpaceKinds() {
			if _, ok := s.top[k]; !ok && s.holds(layout.TableOf(k, 0), b) {
				s.top[k] = b
			}
		}
		if !s.has[string(layout.BucketBranches)] && s.holdsBranches(b) {
			s.branches = b
		}
	}
}

// findBranches looks for the bucket of branches when its page number is wrong in one byte.
func (s *survey) findBranches() {
	any := false
	s.probe(func() { s.scan("", s.branches, func(Element) { any = true }) })
	if s.branches.none() || s.branches.inline != nil || s.holdsBranches(s.branches) || !any && s.branches.root < uint64(len(s.visits)) {
		return
	}
	s.structureFault("the bucket branches is not in page %d", s.branches.root)
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

// holds reports whether a bucket has an intact record of a table.
func (s *survey) holds(p layout.Table, b bucket) (yes bool) {
	s.probe(func() {
		s.scan("", b, func(e Element) { yes = yes || p.Verify(e.Key, e.Value) == nil })
	})
	return yes
}

func (s *survey) holdsBranches(b bucket) (yes bool) {
	s.probe(func() {
		s.buckets("", b, func(_ []byte, branch bucket) {
			s.buckets("", branch, func(name []byte, _ bucket) { yes = yes || bytes.Equal(name, layout.KindLog.Bucket()) })
		})
	})
	return yes
}

// branch is a branch in the file.
type branch struct {
	id    store.BranchID
	parts map[layout.Kind]bucket
}

func (b branch) String() string { return fmt.Sprintf("branch %d", b.id) }

// eachBranch visits the branches.
func (s *survey) eachBranch(visit func(branch)) {
	if s.branches.none() {
		return
	}
	s.probe(func() {
		s.faults, s.more = nil, 0
		s.scan("the bucket branches", s.branches, func(Element) {})
		s.lostSome = len(s.faults) > 0
	})
	s.buckets("the bucket branches", s.branches, func(name []byte, in bucket) {
		b := branch{id: store.BranchID(layout.FromU64(name)), parts: map[layout.Kind]bucket{}}
		var strange []bucket
		s.buckets(fmt.Sprintf("branch %x", name), in, func(name []byte, part bucket) {
			if k, ok := layout.KindOf(layout.BranchKinds(), name); ok {
				b.parts[k] = part
				return
			}
			s.structureFault("%s has a bucket %q", b, name)
			strange = append(strange, part)
		})
		if s.search && !s.isBranch(b.id, b.parts) && !s.isBranch(store.BranchID(in.sequence), b.parts) {
			s.findBranch(&b)
		}
		s.identify(&b, name, in, strange)
		visit(b)
	})
}

// identify checks the name of a branch against its sequence, and that it has all its buckets.
func (s *survey) identify(b *branch, name []byte, in bucket, strange []bucket) {
	if second := store.BranchID(in.sequence); len(name) != 8 || second != b.id {
		s.structureFault("a branch has the name %x and the sequence %d", name, second)
		if len(name) != 8 || s.isBranch(second, b.parts) && !s.isBranch(b.id, b.parts) {
			b.id = second
		}
	}
	for _, k := range layout.BranchKinds() {
		if _, ok := b.parts[k]; ok {
			continue
		}
		s.structureFault("%s has no bucket %s", *b, k.Bucket())
		for _, part := range strange {
			if s.holds(layout.TableOf(k, uint64(b.id)), part) {
				b.parts[k] = part
			}
		}
	}
}

// isBranch reports whether buckets have an intact record of a branch.
func (s *survey) isBranch(id store.BranchID, parts map[layout.Kind]bucket) (yes bool) {
	for k, part := range parts {
		p := layout.TableOf(k, uint64(id))
		s.probe(func() {
			s.scan("", part, func(e Element) {
				r, err := layout.SplitRecord(e.Value)
				yes = yes || p.Verify(e.Key, e.Value) == nil && (k != layout.KindEntries || err == nil && r.Branch == id)
			})
		})
	}
	return yes
}

// records visits the stored records of a bucket, each with its fault.
func (s *survey) records(what string, b bucket, p layout.Table, visit func(e Element, err error)) {
	sum, whole := uint64(0), uint64(0) // of all records, and of the intact ones
	each := func(e Element) {
		e = s.choose(p, e)
		if e.Bucket {
			s.fault("%s: %q is marked as a bucket", what, e.Key)
		}
		if !p.IsRecord(e.Key) {
			return
		}
		err := p.Verify(e.Key, e.Value)
		if !s.repeated {
			sum += layout.Weight(p.StoredSum(e.Value))
		}
		if !s.repeated && err == nil {
			whole += layout.Weight(p.StoredSum(e.Value))
		}
		visit(e, err)
	}
	if s.scan(what, b, each); sum == b.sequence {
		return
	}
	if oneByte(sum ^ b.sequence) { // a missing record changes more than one byte
		s.fault("%s: its sequence, the sum of the checksums, is damaged", what)
		return
	}
	s.structureFault("%s: %w", what, layout.ErrIncomplete)
	s.short = true
	if !s.search {
		return
	}
	if id := s.orphanOf(p, b.sequence-sum, b.sequence-whole); id != 0 {
		s.walk(what, id, 0, keyRange{}, each)
	}
}

// oneByte reports whether exactly one byte of a number is not 0.
func oneByte(n uint64) bool {
	for ; n > 255; n >>= 8 {
		if n&255 != 0 {
			return false
		}
	}
	return n != 0
}

// choose picks the intact one of the readings of an element of a damaged page.
func (s *survey) choose(p layout.Table, e Element) Element {
	if len(e.others) == 0 || p.Verify(e.Key, e.Value) == nil {
		return e
	}
	for _, o := range e.others {
		if p.Verify(o.Key, o.Value) == nil {
			return o
		}
	}
	return e
}

// examine reads every bucket and notes the faults of its records.
func (s *survey) examine() {
	for _, k := range layout.SpaceKinds() {
		if b, ok := s.top[k]; ok {
			s.judge(fmt.Sprintf("the bucket %s", k.Bucket()), b, layout.TableOf(k, 0))
		}
	}
	s.eachBranch(func(b branch) {
		for _, k := range layout.BranchKinds() {
			if part, ok := b.parts[k]; ok {
				s.judgePart(b, k, part)
			}
		}
	})
	s.examineOverlays()
	s.judgeFreelist()
}

func (s *survey) judge(what string, b bucket, p layout.Table) {
	s.records(what, b, p, func(e Element, err error) {
		if err != nil {
			s.fault("%s: record %q: %w", what, e.Key, err)
		}
	})
}

func (s *survey) judgePart(b branch, k layout.Kind, part bucket) {
	p := layout.TableOf(k, uint64(b.id))
	what := fmt.Sprintf("%s: the bucket %s", b, k.Bucket())
	s.records(what, part, p, func(e Element, err error) {
		if k == layout.KindEntries && err == nil {
			err = s.judgeEntry(b.id, e)
		}
		if err != nil {
			s.fault("%s: %s: %w", b, layout.DescribeKey(k, e.Key), err)
		}
	})
}

// judgeEntry checks what the checksum of an entry does not cover.
func (s *survey) judgeEntry(id store.BranchID, e Element) error {
	r, err := layout.SplitRecord(e.Value)
	if err == nil && r.Branch != id {
		err = fmt.Errorf("it is of branch %d", r.Branch)
	}
	return err
}

func (s *survey) examineOverlays() {
	if s.overlays.none() {
		return
	}
	s.buckets("the bucket overlays", s.overlays, func(id []byte, o bucket) {
		what, p := fmt.Sprintf("overlay %x", id), layout.TableOf(layout.KindOverlay, layout.FromU64(id))
		sum := uint64(0)
		s.scan(what, o, func(e Element) {
			if e.Bucket {
				if part, ok := s.bucketOf(what, e.Value); ok {
					s.judge(what, part, layout.TableOf(layout.KindEntries, 0))
				}
				return
			}
			sum += layout.Weight(p.StoredSum(e.Value))
			if err := p.Verify(e.Key, e.Value); err != nil {
				s.fault("%s: record %q: %w", what, e.Key, err)
			}
		})
		if sum != o.sequence {
			s.fault("%s: %w", what, layout.ErrIncomplete)
		}
	})
}

// all are the faults, with a count of those not listed.
func (p *pages) all() []error {
	all := append(slices.Clone(p.metaFaults), p.faults...)
	if p.more > 0 {
		all = append(all, fmt.Errorf("and %d more", p.more))
	}
	return all
}
