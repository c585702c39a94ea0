package search

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/search/paged"
	"github.com/alcove-memory/alcove/host/search/segment"
	"github.com/alcove-memory/alcove/host/store"
)

// ErrDamaged is the error of a search, or of upkeep, that needs a damaged part of the index's files. Other work continues.
var ErrDamaged = errors.New("a file of the search index is damaged, and is being rebuilt from the store: try again")

// ErrBroken is ErrDamaged for the table of rows: all work fails until Reset, and Repair cannot help.
var ErrBroken = fmt.Errorf("%w, whole", ErrDamaged)

// guard calls do, which reads files of the index. The caller holds no lock. If a block is damaged or unreadable, do ends there, and the error
// is ErrDamaged with the name of the file.
func (x *Index) guard(do func() error) error {
	begun := x.resets.Load()
	if broken := x.broken.Load(); broken != nil {
		return *broken
	}
	if err := x.catch(do); err != nil {
		return err
	}
	if x.resets.Load() != begun { // do may have looked at an index that was not full again
		return ErrBroken
	}
	return nil
}

// guardWrite is guard for writes, which an index also takes while it is being refilled.
func (x *Index) guardWrite(do func() error) error {
	if broken := x.broken.Load(); broken != nil && !x.refilling.Load() {
		return *broken
	}
	return x.catch(do)
}

// catch turns damage that do encounters into an error.
func (x *Index) catch(do func() error) (err error) {
	fault := store.Guard(func() {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case *segment.DamageError:
				err = x.markDamaged(func(f *file) bool { return f.sealed == p.Segment }, p)
			case *paged.DamagedError:
				err = x.markTableDamaged(p)
			default:
				panic(p)
			}
		}()
		err = do()
	})
	var at *store.FaultError
	if errors.As(fault, &at) {
		if name := x.tableFileAt(at.Address); name != "" {
			return x.markTableDamaged(fmt.Errorf("%s: %w", name, at))
		}
		return x.markDamaged(func(f *file) bool { return at.In(f.mapped) }, at)
	}
	return err
}

// tableFileAt returns the name of the table's file that has an address, or "".
func (x *Index) tableFileAt(address uintptr) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.table.stored.set.FileAt(address)
}

// markTableDamaged marks the table as damaged, and returns the error for its readers. Without the table, the index cannot answer.
func (x *Index) markTableDamaged(why error) error {
	err := fmt.Errorf("%w: %w", ErrBroken, why)
	x.broken.CompareAndSwap(nil, &err)
	select {
	case x.damaged <- err:
	default:
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

// markDamaged marks the first selected file as damaged, and returns the error for its readers.
func (x *Index) markDamaged(meant func(*file) bool, why error) error {
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

// Verification pauses for upkeep after this many blocks of a part, and for writes after this many pages of the table.
const (
	verifyStep      = 4096
	verifyPagesStep = 8
)

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
	return errors.Join(found, x.verifyTable(ctx))
}

// verifyTable reads the stored pages of the table.
func (x *Index) verifyTable(ctx context.Context) error {
	for from, more := 0, true; more && ctx.Err() == nil; from += verifyPagesStep {
		err := x.guard(func() error {
			x.mu.RLock()
			defer x.mu.RUnlock()
			more = x.table.stored.set.Verify(from, from+verifyPagesStep)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// verify verifies blocks of a file, unless it is no longer in use.
func (x *Index) verify(f *file, from, to int) error {
	x.maintaining.Lock() // no file is unmapped meanwhile
	defer x.maintaining.Unlock()
	return x.guard(func() error {
		for block := from; block < to && !f.retired.Load(); block++ {
			f.sealed.Verify(block)
		}
		return nil
	})
}

// retire releases the file of a dropped part. Running searches may still read it, so it is unmapped later. The caller holds mu.
func (x *Index) retire(p *part) {
	if f := p.file; f != nil {
		f.retired.Store(true)
		x.retired = append(x.retired, f)
		p.file = nil
	}
}

// unmapRetired unmaps files of dropped parts. The caller holds maintaining: only upkeep, and who builds columns, read parts without holding mu.
func (x *Index) unmapRetired() error {
	x.building.Lock() // which waits for those who build columns from them,
	defer x.building.Unlock()
	x.mu.Lock() // and for searches
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
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	x.semantic.Store(nil) // which keeps the vectors of documents that are not removed
	return errors.Join(x.reset(), x.unmapRetired())
}

// Reset empties a broken index for a refill. Until Refilled, it accepts only writes.
func (x *Index) Reset() error {
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	x.broken.CompareAndSwap(nil, &ErrBroken)
	x.resets.Add(1)
	x.refilling.Store(true)
	return errors.Join(x.empty(), x.unmapRetired())
}

// Refilled marks an index as complete after Reset.
func (x *Index) Refilled() {
	if x.refilling.Load() {
		x.broken.Store(nil)
		x.refilling.Store(false)
	}
}

// Reread reads versions of documents from the store. Deleted ones may be missing.
type Reread func(ctx context.Context, refs []Ref) ([]Doc, error)

// Repair rebuilds the parts whose files are damaged. Their documents keep their numbers.
func (x *Index) Repair(ctx context.Context, read Reread) error {
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	if broken := x.broken.Load(); broken != nil {
		return *broken
	}
	x.mu.RLock()
	var damaged []*part
	for _, p := range x.parts {
		if p.file != nil && p.file.damaged.Load() {
			damaged = append(damaged, p)
		}
	}
	x.mu.RUnlock()
	err := x.guard(func() error {
		for _, p := range damaged {
			if err := x.rebuild(ctx, p, read); err != nil {
				return fmt.Errorf("rebuild %s: %w", p.file.name, err)
			}
		}
		return nil
	})
	return errors.Join(err, x.unmapRetired())
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

// refs lists documents of a part, with their numbers there.
func (x *Index) refs(p *part, from, to int) (locals map[Ref]int, list []Ref) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	locals = map[Ref]int{}
	for local := from; local < to; local++ {
		if number := p.rows[local]; number != none {
			ref := x.ref(x.table.row(number))
			locals[ref], list = local, append(list, ref)
		}
	}
	return locals, list
}

// repairStep is how many documents are read at once for a repair.
const repairStep = 1000

// reread adds documents of a part to the tail that replaces it; empty ones for those that are gone.
func (x *Index) reread(ctx context.Context, p *part, t *tail, from, to int, read Reread) error {
	locals, refs := x.refs(p, from, to)
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
	x.adding.Lock() // which guards what the analyses of words remember of a tail
	defer x.adding.Unlock()
	for i := range prepared {
		t.add(&prepared[i])
	}
	return nil
}
