package search

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"slices"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/search/segment"
	"github.com/alcove-memory/alcove/host/store"
)

// ErrDamaged is the error of a search, or of upkeep, that needs a damaged part of the index's files. What needs no such part goes on.
var ErrDamaged = errors.New("a file of the search index is damaged, and is being rebuilt from the store: try again")

// guard calls do, which reads files of the index. It is called without any lock. If a block of them is damaged or cannot be read, do ends
// there, and the error is ErrDamaged and names the file.
func (x *Index) guard(do func() error) (err error) {
	fault := store.Guard(func() {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case *segment.DamageError:
				err = x.distrust(func(f *file) bool { return f.sealed == p.Segment }, p)
			default:
				panic(p)
			}
		}()
		err = do()
	})
	var at *store.FaultError
	if errors.As(fault, &at) {
		err = x.distrust(func(f *file) bool { return at.In(f.mapped) }, at)
	}
	return err
}

// file is the mapped file of a part.
type file struct {
	name    string
	sealed  *segment.Segment
	mapped  *store.Mapping
	retired atomic.Bool // its part is gone
	damaged atomic.Bool
}

// openFile maps a stored file.
func openFile(ctx context.Context, blobs Blobs, name string) (*file, error) {
	r, err := blobs.GetBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	mapped, err := store.Map(r, store.ReadOnly)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	sealed, err := segment.Open(name, mapped.Bytes())
	if err != nil {
		return nil, errors.Join(err, mapped.Close())
	}
	return &file{name: name, sealed: sealed, mapped: mapped}, nil
}

// distrust notes that the first file which is meant is damaged, and returns the error of those who need it.
func (x *Index) distrust(meant func(*file) bool, why error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.parts {
		if p.file != nil && meant(p.file) {
			p.file.damaged.Store(true)
			why = fmt.Errorf("%s of branch %d: %w", p.file.name, p.branch, why)
			break
		}
	}
	err := fmt.Errorf("%w: %w", ErrDamaged, why)
	select {
	case x.damaged <- err:
	default:
	}
	return err
}

// Damaged signals that a file of the index was found to be damaged: Repair rebuilds it.
func (x *Index) Damaged() <-chan error { return x.damaged }

// verifyStep is how many blocks of a part are verified before the index is free for its upkeep.
const verifyStep = 4096

// Verify reads all files of the index. The error is ErrDamaged.
func (x *Index) Verify(ctx context.Context) error {
	x.mu.RLock()
	var files []*file
	for _, p := range x.parts {
		if p.file != nil {
			files = append(files, p.file)
		}
	}
	x.mu.RUnlock()
	var found error
	for _, f := range files {
		for from := 0; from < f.sealed.Blocks(); from += verifyStep {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := x.verify(f, from, min(from+verifyStep, f.sealed.Blocks())); err != nil {
				found = errors.Join(found, err)
				break
			}
		}
	}
	return found
}

// verify verifies blocks of a file, unless it is no longer in use.
func (x *Index) verify(f *file, from, to int) error {
	x.tending.Lock() // no file is unmapped meanwhile
	defer x.tending.Unlock()
	return x.guard(func() error {
		for block := from; block < to && !f.retired.Load(); block++ {
			f.sealed.Verify(block)
		}
		return nil
	})
}

// retire gives up the file of a part that is dropped. Searches that began before may still read it, so it is unmapped later. The caller holds mu.
func (x *Index) retire(p *part) {
	if f := p.file; f != nil {
		f.retired.Store(true)
		x.retired = append(x.retired, f)
		p.file = nil
	}
}

// unmapRetired unmaps files of dropped parts. The caller holds tending: only upkeep reads parts without holding mu.
func (x *Index) unmapRetired() error {
	x.mu.Lock() // which waits for those who read them
	retired := x.retired
	x.retired = nil
	x.mu.Unlock()
	var failed error
	for _, f := range retired {
		failed = errors.Join(failed, f.mapped.Close())
	}
	return failed
}

// Close unmaps the index's files. The index is empty afterwards.
func (x *Index) Close() error {
	x.tending.Lock()
	defer x.tending.Unlock()
	x.semantic.Store(nil) // which keeps the vectors of documents that are not removed
	x.mu.RLock()
	branches := slices.Collect(maps.Keys(x.branches))
	x.mu.RUnlock()
	for _, id := range branches {
		x.Drop(id)
	}
	return x.unmapRetired()
}

// Reread reads versions of documents from the store. Those that are gone may be missing.
type Reread func(ctx context.Context, refs []Ref) ([]Doc, error)

// Repair rebuilds the parts whose files are damaged. Their documents keep their numbers.
func (x *Index) Repair(ctx context.Context, read Reread) error {
	x.tending.Lock()
	defer x.tending.Unlock()
	x.mu.RLock()
	var damaged []*part
	for _, p := range x.parts {
		if p.file != nil && p.file.damaged.Load() {
			damaged = append(damaged, p)
		}
	}
	x.mu.RUnlock()
	for _, p := range damaged {
		if err := x.rebuild(ctx, p, read); err != nil {
			return fmt.Errorf("rebuild %s: %w", p.file.name, err)
		}
	}
	return x.unmapRetired()
}

// rebuild replaces the postings of a part.
func (x *Index) rebuild(ctx context.Context, p *part, read Reread) error {
	x.mu.Lock()
	x.lastPart++
	t := newTail(x.lastPart)
	x.mu.Unlock()
	for from := 0; from < p.docs(); from += repairStep {
		if err := x.reread(ctx, p, t, from, min(from+repairStep, p.docs()), read); err != nil {
			return err
		}
	}
	w := &segment.Writer{}
	x.storeColumns(w, p)
	sealed, err := t.write(w, x.describe(p))
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if p.file == nil { // its branch was dropped
		return nil
	}
	x.retire(p)
	p.sealed, p.blob = sealed, ""
	p.sets.clear() // they read the file
	return nil
}

// repairStep is how many documents are read at once for a repair.
const repairStep = 1000

// reread adds documents of a part to the tail that replaces it; empty ones for those that are gone.
func (x *Index) reread(ctx context.Context, p *part, t *tail, from, to int, read Reread) error {
	locals, refs := map[Ref]int{}, []Ref(nil)
	x.mu.RLock()
	for local := from; local < to; local++ {
		if number := p.rows[local]; number != none {
			ref := x.ref(x.table.row(number))
			locals[ref], refs = local, append(refs, ref)
		}
	}
	x.mu.RUnlock()
	docs, err := read(ctx, refs)
	if err != nil {
		return err
	}
	prepared := make([]preparedDoc, to-from)
	for i := range docs {
		d := &docs[i]
		if local, ok := locals[Ref{d.Branch, d.Version, d.Namespace, d.Collection, d.Key}]; ok {
			prepared[local-from], _ = x.prepare(d, nil)
		}
	}
	x.mu.Lock() // which guards what the analyses of words remember of a tail
	defer x.mu.Unlock()
	for i := range prepared {
		t.add(&prepared[i])
	}
	return nil
}
