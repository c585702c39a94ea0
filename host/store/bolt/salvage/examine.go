// Package salvage examines and repairs a database file by its pages. It reads them without bbolt, which takes every page for whole
// and ends the process where one is not.
package salvage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Findings are what an examination of a database file found.
type Findings struct {
	Format     uint64  // of a file of a format that this program does not read, which is not examined further; 0: it reads it
	Faults     []error // of pages and records
	Meta       []error // of the two meta pages; the rest can be read
	LostCommit bool    // a commit was written that the meta page that is left does not lead to: writing would give its pages away

	more     int    // faults that are not listed
	mended   []byte // a meta page as it must be; nil: both are whole, or it cannot be told
	pageSize uint64
}

// Examine reads a database file page by page, without bbolt, and says what is damaged. Nobody may write it meanwhile. It needs a
// few pages of memory.
func Examine(path string) (f Findings, err error) {
	p, file, err := openPagesOf(path)
	if errors.Is(err, errNoMeta) {
		return Findings{Faults: []error{err}}, nil
	}
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s := newSurvey(p)
	if s.foreign() {
		return Findings{Format: s.format}, nil
	}
	s.examine()
	f = Findings{Faults: p.faults, Meta: p.metaFaults, more: p.more, mended: p.mended, pageSize: p.meta.PageSize}
	f.LostCommit = len(p.faults) == 0 && slices.Contains(p.metaFaults, errStaleMeta) && p.hasLostCommit()
	return f, nil
}

// All are the faults, those of the meta pages first, and how many more there are.
func (f Findings) All() []error {
	all := slices.Concat(f.Meta, f.Faults)
	if f.more > 0 {
		all = append(all, fmt.Errorf("and %d more", f.more))
	}
	return all
}

// NeedsMend reports whether a meta page is to be written before bbolt sees the file.
func (f Findings) NeedsMend() bool { return f.mended != nil }

// RepairMeta writes the meta page that was damaged as it must be, and syncs it.
func (f Findings) RepairMeta(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	page := binary.LittleEndian.Uint64(f.mended)
	_, err = file.WriteAt(f.mended, int64(page*f.pageSize))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write meta page %d: %w", page, err)
	}
	return nil
}
