package salvage

import (
	"errors"
	"io"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

var errForeign = errors.New("the statement of the format is damaged")

// ExamineTree examines the tree of a meta page as Examine does, while bbolt has the file open. The tree's pages must not be written
// meanwhile; others may. It returns up to 20 faults, and the pages below High that the tree does not have, in ascending order.
func ExamineTree(file io.ReaderAt, m layout.Meta) (faults []error, unused []uint64) {
	p := &pages{file: file, length: m.High * m.PageSize}
	p.useMeta(m)
	s := newSurvey(p)
	if s.foreign() {
		return []error{errForeign}, nil
	}
	s.examine()
	if len(p.faults) > 0 {
		return p.faults, nil
	}
	unused = []uint64{}
	for id, visits := range p.visits[2:] {
		if visits == 0 {
			unused = append(unused, uint64(id)+2)
		}
	}
	return nil, unused
}
