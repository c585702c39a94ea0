package bolt_test

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// pageOfBranches is the page of a closed store's bucket of branches, which is a leaf, and how many branches it has.
func (s *stage) pageOfBranches() (page, count int) {
	s.t.Helper()
	db, err := bbolt.Open(filepath.Join(s.dir, "alcove.db"), 0o600, &bbolt.Options{ReadOnly: true})
	s.ok(err)
	s.ok(db.View(func(tx *bbolt.Tx) error {
		page = int(tx.Bucket([]byte("branches")).Root())
		return nil
	}))
	s.ok(db.Close())
	header := s.file()[page*4096:][:16]
	if leaf := uint16(2); binary.LittleEndian.Uint16(header[8:]) != leaf {
		s.t.Fatal("the bucket of branches has more than a page")
	}
	return page, int(binary.LittleEndian.Uint16(header[10:]))
}

// TestABranchThatIsSaidToBeginElsewhereIsRepaired flips bits of the offsets at which the names of branches are. 16 bytes further on
// is something that looks like a branch, too.
func TestABranchThatIsSaidToBeginElsewhereIsRepaired(t *testing.T) {
	t.Parallel()
	s := small(t)
	page, count := s.pageOfBranches()
	f := flipsOf(s)
	for i := 0; i < count; i += 3 {
		f.flip(page*4096+16+i*16+4, 16)
	}
}
