package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// Blobs stores the files of an index.
type Blobs interface {
	PutBlob(ctx context.Context, name string, r io.Reader) (store.Blob, error)
	GetBlob(ctx context.Context, name string) (store.BlobReader, error)
	DropBlob(ctx context.Context, name string) error
	Blobs(ctx context.Context, prefix string) ([]store.Blob, error)
}

// Names of an index's files.
const (
	blobPrefix   = "search/"
	manifestName = blobPrefix + "manifest"
)

// manifest lists the files of an index.
type manifest struct {
	Format    int               `json:"format"`
	Analysers map[string]string `json:"analysers"` // by collection; "" for the others
	Branches  []manifestBranch  `json:"branches"`
	Others    uint64            `json:"others"` // unlisted branches have no documents up to this version
	Table     string            `json:"table"`
}

type manifestBranch struct {
	ID      store.BranchID `json:"id"`
	Covered uint64         `json:"covered"` // the parts contain every version up to this one
	Parts   []string       `json:"parts"`
}

const manifestFormat = 5

// encode returns the manifest after its checksum.
func (m *manifest) encode() ([]byte, error) {
	data, err := json.Marshal(m)
	return append(manifestSum(data), data...), err
}

func manifestSum(data []byte) []byte {
	return fmt.Appendf(nil, "%08x\n", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

func (m *manifest) decode(data []byte) error {
	sum, rest, _ := bytes.Cut(data, []byte("\n"))
	if !bytes.Equal(append(sum, '\n'), manifestSum(rest)) {
		return errors.New("its checksum does not match")
	}
	return json.Unmarshal(rest, m)
}

// maxManifest bounds a manifest, in bytes.
const maxManifest = 256 << 20

// Coverage is the version of each branch up to which an index is complete.
type Coverage struct {
	branches map[store.BranchID]uint64
	others   uint64
}

// Of returns the version up to which the index has every change of a branch; 0: none.
func (c Coverage) Of(b store.BranchID) uint64 {
	if version, ok := c.branches[b]; ok {
		return version
	}
	return c.others
}

// Branches returns the branches of which the index has documents, in ascending order.
func (c Coverage) Branches() []store.BranchID { return slices.Sorted(maps.Keys(c.branches)) }

// Load reads a saved index into an empty one and returns its coverage; the caller applies later changes. Files that are
// damaged or of another analysis are logged and dropped, and the coverage of their branches is 0. An error means that
// blobs could not be listed or dropped.
func (x *Index) Load(ctx context.Context, blobs Blobs, logger *slog.Logger) (Coverage, error) {
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	if x.tableNow().rows.Len() > 0 {
		return Coverage{}, errors.New("load the search index: the index has documents already")
	}
	m, err := x.readManifest(ctx, blobs)
	if err != nil {
		logger.Warn("the search index is rebuilt", "why", err)
		if err := blobs.DropBlob(ctx, manifestName); err != nil {
			return Coverage{}, fmt.Errorf("drop %s: %w", manifestName, err)
		}
	}
	if m.Table == "" {
		return Coverage{map[store.BranchID]uint64{}, m.Others}, x.dropUnused(ctx, blobs)
	}
	covered, err := x.loadAll(ctx, blobs, m, logger)
	if ctx.Err() != nil {
		return Coverage{}, ctx.Err()
	}
	if err != nil {
		logger.Warn("the search index is rebuilt", "why", err)
		return Coverage{}, errors.Join(x.reset(), x.dropUnused(ctx, blobs))
	}
	return covered, x.dropUnused(ctx, blobs)
}

// loadAll loads the table, and the parts of its branches. After an error the index is to be reset.
func (x *Index) loadAll(ctx context.Context, blobs Blobs, m manifest, logger *slog.Logger) (covered Coverage, err error) {
	err = x.guard(func() error {
		covered, err = x.loadState(ctx, blobs, m, logger)
		return err
	})
	return covered, err
}

func (x *Index) loadState(ctx context.Context, blobs Blobs, m manifest, logger *slog.Logger) (covered Coverage, err error) {
	state, err := x.loadTable(ctx, blobs, m.Table)
	if err != nil {
		return covered, err
	}
	covered = Coverage{map[store.BranchID]uint64{}, m.Others}
	for _, b := range m.Branches {
		covered.branches[b.ID] = b.Covered
	}
	x.beginWith(m.Table) // before rows are taken back, of which it is told
	for i := range state.Branches {
		b := &state.Branches[i]
		if err := x.loadBranch(ctx, blobs, b); err != nil {
			if ctx.Err() != nil {
				return covered, ctx.Err()
			}
			covered.branches[b.ID], x.saved = 0, nil
			logger.Warn("the search index of a branch is rebuilt", "branch", b.ID, "why", err)
			x.forget(b.ID)
		}
	}
	return covered, nil
}

// loadTable loads the rows of all branches.
func (x *Index) loadTable(ctx context.Context, blobs Blobs, name string) (s *tableState, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	data, err := x.table.stored.set.Load(name, opener(ctx, blobs))
	if err != nil {
		return nil, err
	}
	s = &tableState{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	x.lastPart, x.savedState = max(x.lastPart, s.LastPart), bytes.Clone(data)
	return s, x.table.restore(s)
}

// reset empties an index that nobody uses yet, or any more.
func (x *Index) reset() error {
	err := x.empty()
	x.broken.Store(nil)
	select {
	case <-x.damaged:
	default:
	}
	return err
}

// empty drops all that the index has.
func (x *Index) empty() error {
	x.adding.Lock()
	defer x.adding.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	for number := range x.table.rows.Len() { // whose pages may be damaged: only their numbers are asked for
		x.semanticRemove(number)
	}
	for _, p := range x.parts {
		x.retire(p)
	}
	clear(x.branches)
	clear(x.parts)
	clear(x.cache)
	err := x.table.stored.set.Close()
	x.table, x.saved, x.savedState = newTable(), nil, nil // but lastPart: the analyses of words know tails by their numbers
	x.begin("")
	return err
}

// forget removes the rows of a branch whose parts cannot be read.
func (x *Index) forget(id store.BranchID) {
	x.setAside(id)
	x.drop(id)
}

// setAside gives a branch a part with all its rows.
func (x *Index) setAside(id store.BranchID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := &part{id: none, branch: id}
	for number := range x.table.rows.Len() {
		if r := x.table.row(number); r.name != none && r.branch == id {
			*x.table.places.Edit(number) = place{p.id, uint32(len(p.rows))}
			p.rows = append(p.rows, number)
			x.table.live.remove(number)
		}
	}
	p.ghosts = p.rows
	x.parts[p.id] = p
	x.branch(id).parts = []*part{{id: none, rows: p.rows}}
}

// readManifest reads the manifest; the zero manifest if there is none. A manifest of other analysers is an error.
func (x *Index) readManifest(ctx context.Context, blobs Blobs) (m manifest, err error) {
	data, err := readBlob(ctx, blobs, manifestName, maxManifest)
	if errors.Is(err, store.ErrNotFound) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := m.decode(data); err != nil {
		return manifest{}, fmt.Errorf("read %s: %w", manifestName, err)
	}
	if m.Format != manifestFormat || !maps.Equal(m.Analysers, x.analyserIDs()) {
		return manifest{}, errors.New("it was made by another version, or by other text analysers")
	}
	x.saved = data
	return m, nil
}

func (x *Index) analyserIDs() map[string]string {
	ids := map[string]string{"": x.analyser.ID()}
	for collection, a := range x.analysers {
		ids[collection] = a.ID()
	}
	return ids
}

func readBlob(ctx context.Context, blobs Blobs, name string, most int64) (data []byte, err error) {
	r, err := blobs.GetBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Size() > most {
		return nil, fmt.Errorf("read %s: it has %d bytes: at most %d are read", name, r.Size(), most)
	}
	data = make([]byte, r.Size())
	if n, err := r.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// loadBranch reads all parts of a branch before it adds any.
func (x *Index) loadBranch(ctx context.Context, blobs Blobs, s *branchState) (err error) {
	parts := make([]*part, len(s.Parts))
	for i := range s.Parts {
		if parts[i], err = x.loadPart(ctx, blobs, s.ID, &s.Parts[i]); err != nil {
			for _, p := range parts[:i] {
				err = errors.Join(err, p.file.mapped.Close())
			}
			return fmt.Errorf("%s: %w", s.Parts[i].Blob, err)
		}
	}
	pending, err := readNumbers(s.Pending)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	b := &branch{newest: s.Newest, newestOnes: s.statistics(), parts: parts}
	x.branches[s.ID] = b
	for _, p := range parts {
		x.parts[p.id] = p
	}
	x.undo(b, s.ID, pending)
	return nil
}

// loadPart opens a part. It reads and checks its rows and lengths, and leaves its postings to searches.
func (x *Index) loadPart(ctx context.Context, blobs Blobs, id store.BranchID, s *partState) (p *part, err error) {
	f, err := openFile(ctx, blobs, s.Blob)
	if err != nil {
		return nil, err
	}
	p = &part{id: s.Number, branch: id, sealed: f.sealed, file: f, blob: s.Blob, first: s.First, last: s.Last}
	err = x.guard(func() error {
		_ = f.sealed.Lengths()
		stored, err := readPayload(f.sealed.Payload(), f.sealed.Docs())
		if err != nil {
			return err
		}
		p.rows, p.ghosts, p.facets, p.expiring = stored.rows, stored.ghosts, stored.facets, stored.expiring
		if err := errors.Join(remove(p.rows, s.Dead), remove(p.ghosts, s.DeadGhosts)); err != nil {
			return err
		}
		return p.checkRows(x.table.rows.Len())
	})
	if err != nil {
		return nil, errors.Join(err, f.mapped.Close())
	}
	return p, nil
}

// checkRows counts the removed documents of a loaded part of an index with so many rows.
func (p *part) checkRows(rows uint32) error {
	for _, number := range p.rows {
		if number == none {
			p.dead++
		} else if number >= rows {
			return errPayload
		}
	}
	return nil
}

// remove removes rows at places that numbersOf encoded.
func remove(rows []uint32, dead []byte) error {
	list, err := readNumbers(dead)
	if err != nil {
		return err
	}
	for _, at := range list {
		if int(at) >= len(rows) {
			return errPayload
		}
		rows[at] = none
	}
	return nil
}

// undo takes back the rows of parts that were not stored.
func (x *Index) undo(b *branch, id store.BranchID, pending []uint32) {
	t := x.table
	if len(pending) == 0 {
		return
	}
	lost := &part{id: none, branch: id}
	x.parts[lost.id] = lost
	defer delete(x.parts, lost.id)
	for i, number := range pending {
		lost.rows = append(lost.rows, number)
		lost.ghosts = append(lost.ghosts, number)
		*t.places.Edit(number) = place{lost.id, uint32(i)}
		x.unlink(b, number)
	}
	for _, number := range pending {
		x.erase(number)
	}
	b.newest = 0
	for _, p := range b.parts {
		b.newest = max(b.newest, p.last)
	}
}

// unlink takes a row out of its document's versions.
func (x *Index) unlink(b *branch, number uint32) {
	t := x.table
	r := t.row(number)
	x.setLive(number, false)
	above, at := none, t.head(r.branch, r.name)
	for at != none && at != number {
		above, at = at, t.row(at).previous
	}
	if at == none {
		return
	}
	switch {
	case above != none:
		t.rows.Edit(above).previous = r.previous
	case r.previous == none:
		t.forgetHead(r.branch, r.name)
	default:
		t.setHead(r.branch, r.name, r.previous)
	}
	if r.previous != none {
		before := t.rows.Edit(r.previous)
		if before.until = r.until; before.until == store.Latest && !before.gone {
			x.setLive(r.previous, true)
		}
	}
}
