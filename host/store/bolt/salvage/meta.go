package salvage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// Each commit writes one of the two meta pages, in turn, when all else is on the disk, and is acknowledged when that is. bbolt reads
// the newer intact one. If the newer one is damaged, it reads the other, which does not refer to the newest commit, and reuses the
// pages of that. So a damaged meta page is mended before bbolt sees it, or the file is not opened.

var (
	errNoMeta    = errors.New("both of the database's two first pages are damaged: nothing can be read; restore a backup")
	errMetaByte  = errors.New("one of the database's two first pages is damaged in one byte, which its checksum restores: nothing is lost")
	errMetaFound = errors.New("one of the database's two first pages is damaged; the newest commit, which it referred to, was found by its pages: nothing is lost")
	errStaleMeta = errors.New("one of the database's two first pages is damaged: if it was the newer one, the newest commit is lost")
)

// findMeta reads both meta pages of a file whose pages have a size in bytes.
func (p *pages) findMeta(size uint64) bool {
	var heads []layout.Meta
	var faults []error
	for place := range uint64(2) {
		page := make([]byte, layout.PageHeader+layout.MetaSize+8)
		if n, _ := p.file.ReadAt(page, int64(place*size)); n < len(page) {
			continue
		}
		raw := page[layout.PageHeader:]
		m, err := layout.ReadMeta(raw, size)
		if err == nil && !bytes.Equal(page[:layout.PageHeader], layout.MetaHeader(place)) {
			faults, p.mended = append(faults, errMetaByte), slices.Concat(layout.MetaHeader(place), raw)
		}
		if err != nil && repairByte(raw, size) {
			m, err = layout.ReadMeta(raw, size)
			faults, p.mended = append(faults, errMetaByte), slices.Concat(layout.MetaHeader(place), raw)
		}
		if err == nil {
			heads = append(heads, m)
		}
	}
	if len(heads) == 0 {
		return false
	}
	if p.useMeta(heads[0]); len(heads) == 2 && heads[1].TxID > heads[0].TxID {
		p.useMeta(heads[1])
	}
	if p.metaFaults = faults; len(heads) == 1 {
		p.findNewest()
	}
	return true
}

// useMeta makes a meta page the one that all others are found by.
func (p *pages) useMeta(m layout.Meta) {
	p.meta = m
	p.visits = make([]uint8, min(m.High, p.length/m.PageSize))
}

// repairByte restores a meta page with one damaged byte. Its checksum has 64 bits, so no other content fits it.
func repairByte(raw []byte, size uint64) bool {
	known := layout.Meta{PageSize: size}.Encode()[:12] // the begin of every meta page
	differ := 0
	for i := range known {
		if raw[i] != known[i] {
			differ++
		}
	}
	if differ > 1 {
		return false // no meta page, or one of another page size
	}
	for at := range raw {
		was := raw[at]
		for b := range 256 {
			raw[at] = byte(b)
			if bytes.Equal(raw[:len(known)], known) && binary.LittleEndian.Uint64(raw[layout.MetaSize:]) == layout.MetaSum(raw) {
				return true
			}
		}
		raw[at] = was
	}
	return false
}

// findNewest looks for the tree that the damaged meta page referred to. All its pages were on the disk before its meta page was written,
// so it is intact, sums included, and later than that of the other. Commits that failed may have left such trees too: theirs have lower
// stamps. Of those with the same stamp, there must be only one.
func (p *pages) findNewest() {
	known, ok := p.ageOf(p.meta)
	if !ok {
		known.stamp = math.MaxUint64 // nothing can be told to be later
	}
	found := p.newestTrees(p.meta.TxID+1, known)
	if len(found) != 1 {
		p.metaFaults = append(p.metaFaults, errStaleMeta)
		return
	}
	p.metaFaults = append(p.metaFaults, errMetaFound)
	p.mended = slices.Concat(layout.MetaHeader(found[0].TxID%2), found[0].Encode())
	p.useMeta(found[0].Meta)
}

// useNewestTree uses the newest intact tree when that of the meta page has none. Later commits are not in it.
func (p *pages) useNewestTree() bool {
	best := tree{Meta: p.meta}
	for _, t := range p.newestTrees(p.meta.TxID, age{}) {
		if t.version > best.version {
			best = t
		}
	}
	p.useMeta(best.Meta)
	return best.version > 0
}

// age orders the trees in a file.
type age struct{ stamp, version uint64 }

// after reports whether a tree was written after another: no transaction takes versions away.
func (a age) after(b age) bool {
	return a.version >= b.version && a.stamp >= b.stamp && a != b
}

// tree is the tree of a meta page.
type tree struct {
	layout.Meta
	age
}

// ageOf is the age of the tree of a meta page; ok is false where its stamp is damaged.
func (p *pages) ageOf(m layout.Meta) (a age, ok bool) {
	s := p.as(m)
	a.stamp, ok = layout.OpenStamp(s.branches.sequence)
	a.version = s.newestVersion()
	return a, ok
}

// newestTrees are the intact trees that are after another, as a transaction's: the one with the highest stamp, or several with the same.
func (p *pages) newestTrees(id uint64, than age) (found []tree) {
	newest := than.stamp
	for _, root := range p.roots() {
		m := layout.Meta{PageSize: p.meta.PageSize, Root: root, Freelist: layout.NoFreelist, High: p.length / p.meta.PageSize, TxID: id}
		its, ok := p.ageOf(m)
		if !ok || !its.after(than) || its.stamp < newest {
			continue
		}
		high, whole := p.wholeTree(m)
		if !whole {
			continue
		}
		m.High = high
		if its.stamp > newest {
			found = nil
		}
		found, newest = append(found, tree{m, its}), its.stamp
	}
	return found
}

// roots are the pages that may have been the root of a tree.
func (p *pages) roots() (list []uint64) {
	p.probe(func() {
		p.eachPage(func(id uint64, page []byte, leaf bool) {
			elements, _ := p.elements("", page, id)
			if len(elements) > 1 && bytes.Equal(elements[0].Key, layout.TopBuckets()[0]) && id != p.meta.Root && elements[0].Bucket == leaf {
				list = append(list, id)
			}
		})
	})
	return list
}

// as is a survey of the file by another meta page.
func (p *pages) as(m layout.Meta) *survey {
	other := &pages{file: p.file, length: p.length}
	other.useMeta(m)
	return newSurvey(other)
}

// newestVersion is the newest version of which there is an intact record.
func (s *survey) newestVersion() (version uint64) {
	s.scan("", s.top[layout.KindPoints], func(e Element) {
		if _, err := layout.TableOf(layout.KindPoints, 0).Open(e.Key, e.Value); err == nil {
			version = max(version, layout.FromU64(e.Key))
		}
	})
	return version
}

// wholeTree reports whether the tree of a meta page is intact, and where its last page ends.
func (p *pages) wholeTree(m layout.Meta) (high uint64, whole bool) {
	s := p.as(m)
	if s.foreign() {
		return 0, false
	}
	s.examine()
	for id, n := range s.visits {
		if n > 0 {
			high = uint64(id) + 1
		}
	}
	return high, len(s.all()) == 0 && s.format == layout.Format
}

// hasLostCommit reports whether a commit was written that the meta page does not refer to.
func (p *pages) hasLostCommit() (yes bool) {
	known := p.as(p.meta).newestVersion()
	p.eachOrphan(func(e Element) {
		if _, err := layout.TableOf(layout.KindPoints, 0).Open(e.Key, e.Value); err == nil && layout.FromU64(e.Key) > known {
			yes = true
		}
	})
	return yes
}
