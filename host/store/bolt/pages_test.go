package bolt_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// branchElement is the header of an element of a branch page, at a byte of the file.
type branchElement struct{ at, key, size int }

// branchPages are the branch pages of a file whose children are leaves, as their elements.
func branchPages(data []byte) (list [][]branchElement) {
	le := binary.LittleEndian
	const branch, leaf = 1, 2
	flags := func(page uint64) uint16 { return le.Uint16(data[page*4096+8:]) }
	for page := 2; page < len(data)/4096; page++ {
		header := data[page*4096:][:16]
		if le.Uint64(header) != uint64(page) || le.Uint16(header[8:]) != branch {
			continue
		}
		var elements []branchElement
		for i := range int(le.Uint16(header[10:])) {
			at := page*4096 + 16 + i*16
			elements = append(elements, branchElement{at, at + int(le.Uint32(data[at:])), int(le.Uint32(data[at+4:]))})
		}
		if flags(le.Uint64(data[elements[0].at+8:])) == leaf {
			list = append(list, elements)
		}
	}
	return list
}

// mustLoseNothing damages a copy of a file in a way that an examination must find and a repair can mend.
func (f *flips) mustLoseNothing(name string, how func(data []byte)) {
	f.t.Helper()
	s := f.copyOf(f.dir)
	data := bytes.Clone(f.whole)
	how(data)
	s.damage(func(into []byte) { clear(into[copy(into, data):]) })
	if faults, err := driver.Examine(s.dir); err != nil || len(faults) == 0 {
		f.t.Errorf("%s: it is not found (%v)", name, err)
		return
	}
	r, err := driver.Repair(f.t.Context(), s.dir, store.Repair{Now: time.Now()})
	if err != nil {
		f.t.Errorf("%s: Repair: %v", name, err)
		return
	}
	e := s.open(s.dir, bolt.Options{NoSync: true})
	if missing, untrue := lacks(f.says, s.contents(e)); len(missing)+len(untrue) > 0 {
		f.t.Errorf("%s: after the repair of %.200q it lacks %.200q and says %.200q", name, r.Faults, missing, untrue)
	}
	s.ok(e.Check(f.t.Context()))
	s.ok(e.Close())
}

// TestAPageThatIsReferredToTwiceCountsOnce makes a page refer to one of its pages twice, and not to the next one.
func TestAPageThatIsReferredToTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	f := newFlips(t)
	for _, elements := range branchPages(f.whole) {
		f.mustLoseNothing("a page number is that of the page before", func(data []byte) {
			copy(data[elements[1].at+8:][:8], data[elements[0].at+8:][:8])
		})
	}
}

// TestAKeyOfABranchPageThatIsDamagedIsFound damages keys that have no checksum: they only lead to others.
func TestAKeyOfABranchPageThatIsDamagedIsFound(t *testing.T) {
	t.Parallel()
	f := newFlips(t)
	for _, elements := range branchPages(f.whole) {
		f.mustLoseNothing("the second key is too high", func(data []byte) { data[elements[1].key] = 0xFF })
		f.mustLoseNothing("the second key is too low", func(data []byte) { clear(data[elements[1].key:][:elements[1].size]) })
	}
}

// TestRecordsInTheWrongOrderAreFound exchanges two records of the same size in a page: both are whole, and so is their sum.
func TestRecordsInTheWrongOrderAreFound(t *testing.T) {
	t.Parallel()
	f := newFlips(t)
	le, exchanged := binary.LittleEndian, 0
	for _, elements := range branchPages(f.whole) {
		page := int(le.Uint64(f.whole[elements[0].at+8:])) * 4096
		element := func(data []byte, i int) (header, content []byte) {
			at := page + 16 + i*16
			header = data[at:][:16]
			return header[8:], data[at+int(le.Uint32(header[4:])):][:le.Uint32(header[8:])+le.Uint32(header[12:])]
		}
		for i := range int(le.Uint16(f.whole[page+10:])) - 1 {
			one, _ := element(f.whole, i)
			other, _ := element(f.whole, i+1)
			if !bytes.Equal(one, other) {
				continue
			}
			exchanged++
			f.mustLoseNothing("two records are exchanged", func(data []byte) {
				_, a := element(data, i)
				_, b := element(data, i+1)
				was := slices.Clone(a)
				copy(a, b)
				copy(b, was)
			})
			break
		}
	}
	if exchanged == 0 {
		t.Error("no two records have the same size")
	}
}
