package semantic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/search/vector"
	"github.com/alcove-memory/alcove/host/store"
)

// largestFile bounds merged files, in bytes: they are written from memory.
const largestFile = 48 << 20

// mergedAtOnce is the number of files of one size class that are merged.
const mergedAtOnce = 8

// load opens the files of the lane. A damaged file is dropped and its texts are embedded again.
func (l *lane) load(ctx context.Context) {
	l.work.Lock()
	defer l.work.Unlock()
	if err := l.loadAll(ctx); err != nil && ctx.Err() == nil {
		l.keeper.options.Logger.Warn("stored vectors cannot be read", "embedder", l.name, "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endRestoring()
}

// loadAll is load, if it did not succeed before. The caller holds work.
func (l *lane) loadAll(ctx context.Context) error {
	if l.loaded {
		return nil
	}
	list, err := l.keeper.options.Blobs.Blobs(ctx, blobPrefix+l.id+"/")
	if err != nil {
		return err
	}
	head := l.readHead(ctx)
	opened := l.open(ctx, list, head)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), closeAll(slices.Values(opened)))
	}
	l.mu.Lock()
	l.files = opened // in the order of their names
	l.mu.Unlock()
	restored := l.restore(ctx, head)
	l.mu.Lock()
	l.endRestoring() // searches need nothing of what follows
	l.mu.Unlock()
	if !restored {
		for _, f := range opened { // before any of their vectors is assigned
			l.examineFile(ctx, f)
		}
	}
	l.findUnclaimed()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteTexts()
	l.loaded = true
	return nil
}

func closeAll(files iter.Seq[*file]) (err error) {
	for f := range files {
		err = errors.Join(err, f.mapped.Close())
	}
	return err
}

// open opens stored files, without those that are damaged. Of those that a snapshot has the sums of, nothing but the header is read yet.
func (l *lane) open(ctx context.Context, list []store.Blob, head *snapshotHead) (opened []*file) {
	log := l.keeper.options.Logger
	for _, b := range list {
		short := b.Name[strings.LastIndexByte(b.Name, '/')+1:]
		if part, err := strconv.ParseUint(strings.TrimPrefix(short, partPrefix), 16, 64); err == nil && strings.HasPrefix(short, partPrefix) {
			l.stored[part], l.nextPart = true, max(l.nextPart, part)
			continue
		}
		if b.Name == l.snapshotName() {
			continue
		}
		number, err := strconv.ParseUint(short, 16, 64)
		if err == nil {
			l.next = max(l.next, number+1)
		}
		f, err := openFile(ctx, l.keeper.options.Blobs, b.Name, l.dimensions, head.sumsOf(uint32(number)+1))
		if ctx.Err() != nil {
			return opened
		}
		if err != nil {
			log.Warn("a file of vectors is dropped; they are computed again", "embedder", l.name, "error", err)
			if err := l.keeper.options.Blobs.DropBlob(ctx, b.Name); err != nil {
				log.Warn("a damaged file of vectors could not be dropped", "embedder", l.name, "error", err)
			}
			continue
		}
		f.number, f.found = uint32(number)+1, &l.damaged
		opened = append(opened, f)
	}
	slices.SortFunc(opened, func(a, b *file) int { return strings.Compare(a.name, b.name) })
	return opened
}

// examine reads the files that were opened by a snapshot, while searches go on, and reports whether there were any.
func (l *lane) examine(ctx context.Context) (did bool) {
	l.mu.Lock()
	files := slices.Clone(l.files)
	l.mu.Unlock()
	for _, f := range files {
		if f.whole.Load() || ctx.Err() != nil {
			continue
		}
		did = true
		l.work.Lock()
		if slices.Contains(l.files, f) { // it was not merged meanwhile
			l.examineFile(ctx, f)
		}
		l.work.Unlock()
	}
	return did
}

// examineFile reads a file, and drops it if it is damaged: its vectors are computed again. The caller holds work.
func (l *lane) examineFile(ctx context.Context, f *file) {
	err := f.examine()
	if err == nil {
		return
	}
	l.keeper.options.Logger.Warn("a file of vectors is dropped; they are computed again", "embedder", l.name, "error", fmt.Errorf("%s is damaged: %w", f.name, err))
	l.discard(f)
	l.mu.Lock()
	l.files = slices.DeleteFunc(slices.Clone(l.files), func(other *file) bool { return other == f })
	l.mu.Unlock()
	if err := l.drop(ctx, []*file{f}); err != nil {
		l.keeper.options.Logger.Warn("a damaged file of vectors could not be dropped", "embedder", l.name, "error", err)
	}
}

// retryDamaged calls search, and again without the files that it finds damaged.
func (l *lane) retryDamaged(search func()) {
	for search(); ; search() {
		f := l.damaged.Swap(nil)
		if f == nil {
			return
		}
		l.discard(f) // the lane drops it
	}
}

// discard has the vectors of a damaged file be computed again. Then nobody reads it.
func (l *lane) discard(f *file) {
	lost := map[uint32]bool{}
	l.mu.Lock()
	l.set.ReadFrom([]vector.Reader{f}, func(number uint32, _ vector.Reader, _ uint32) { lost[number] = true })
	l.snapshot = ""
	for number := range lost {
		l.set.Remove(number)
	}
	maps.DeleteFunc(l.known, func(_ digest, at location) bool { return at.file == f })
	maps.DeleteFunc(l.texts, func(_ digest, number uint32) bool { return lost[number] })
	l.mu.Unlock()
	l.queue.push(slices.Sorted(maps.Keys(lost))...)
	l.wakeUp()
}

// findUnclaimed notes the rows of files that are no document's. Searches go on between files. The caller holds work, so only removals of
// documents change which rows those are, and note them.
func (l *lane) findUnclaimed() {
	l.mu.Lock()
	open := slices.DeleteFunc(slices.Clone(l.files), func(f *file) bool { return l.set.Uses(f) == f.rows })
	of := l.numbers(open)
	l.mu.Unlock()
	for _, f := range open {
		l.noteUnclaimed(f, of[f])
	}
}

// noteUnclaimed notes the rows of a file that have no number. The caller holds work.
func (l *lane) noteUnclaimed(f *file, numbers []uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, number := range numbers {
		if number != none {
			continue
		}
		key, _, err := f.digests(uint32(i))
		if _, twice := l.known[key]; !twice && err == nil {
			l.known[key] = location{f, uint32(i)}
		}
	}
}

// noteTexts notes whose texts have vectors, so that an equal text is not embedded again. The caller holds work and mu.
func (l *lane) noteTexts() {
	if !l.settings.Costly {
		return
	}
	for f, numbers := range l.numbers(l.files) {
		for i, number := range numbers {
			if number == none {
				continue
			}
			if _, text, err := f.digests(uint32(i)); err == nil && text != (digest{}) {
				l.texts[text] = number
			}
		}
	}
}

// numbers returns the number of each row of files; none: the row is unclaimed.
func (l *lane) numbers(files []*file) map[*file][]uint32 {
	of, readers := map[*file][]uint32{}, make([]vector.Reader, len(files))
	for i, f := range files {
		of[f], readers[i] = slices.Repeat([]uint32{none}, f.rows), f
	}
	l.set.ReadFrom(readers, func(number uint32, from vector.Reader, at uint32) { of[from.(*file)][at] = number })
	return of
}

// claim assigns stored vectors to documents and returns the documents without one.
func (l *lane) claim(list []pendingDoc) []pendingDoc {
	l.work.Lock()
	defer l.work.Unlock()
	return l.claimAll(list)
}

// claimAll is claim. The caller holds work.
func (l *lane) claimAll(list []pendingDoc) []pendingDoc {
	l.mu.Lock()
	unclaimed := len(l.known)
	l.mu.Unlock()
	if unclaimed == 0 {
		return list
	}
	var left []pendingDoc
	v := make([]float32, l.dimensions)
	for _, w := range list {
		key := keyOf(w.ref)
		l.mu.Lock()
		at, ok := l.known[key]
		l.mu.Unlock()
		if !ok || at.file.ReadVector(at.row, v) != nil || !l.assign(w, key, at, v) {
			left = append(left, w)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) == 0 {
		l.known = map[digest]location{} // a map keeps the memory of what was deleted
	}
	return left
}

// assign assigns the vector at a location to a document.
func (l *lane) assign(w pendingDoc, key digest, at location, v []float32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.isGone() {
		return true
	}
	if l.set.PutKept(w.number, v, at.file, at.row) != nil {
		return false
	}
	delete(l.known, key)
	l.snapshot = ""
	if _, text, err := at.file.digests(at.row); err == nil && l.settings.Costly && text != (digest{}) {
		l.texts[text] = w.number
	}
	return true
}

func (l *lane) blobName() string {
	l.next++
	return fmt.Sprintf("%s%s/%016x", blobPrefix, l.id, l.next-1)
}

// flush writes the tail to a file, and merges files.
func (l *lane) flush(ctx context.Context) error {
	l.work.Lock()
	defer l.work.Unlock()
	if err := l.loadAll(ctx); err != nil { // so that no stored file is overwritten
		return err
	}
	if err := l.flushTail(ctx); err != nil {
		return err
	}
	return l.merge(ctx)
}

// flushTail writes the tail to a file. The caller holds work, or nobody else uses the lane.
func (l *lane) flushTail(ctx context.Context) error {
	l.mu.Lock()
	var rows []row
	flushed := len(l.tail)
	for i, r := range l.tail {
		if r.number != none {
			r.from = location{row: uint32(i)}
			rows = append(rows, r)
		}
	}
	l.mu.Unlock()
	rows = slices.DeleteFunc(rows, func(r row) bool { return !l.set.Has(r.number) }) // it was released meanwhile
	return l.keep(ctx, rows, flushed, nil)
}

// keep writes rows to a new file that replaces the first rows of the tail, or some files. The caller holds work.
func (l *lane) keep(ctx context.Context, rows []row, flushed int, instead []*file) error {
	var f *file
	if len(rows) > 0 {
		var err error
		if f, err = write(ctx, l.keeper.options.Blobs, l.blobName(), l.dimensions, rows); err != nil {
			return err
		}
		f.number, f.found = uint32(l.next), &l.damaged
	}
	l.mu.Lock()
	l.snapshot = ""
	for i, r := range rows {
		if r.number == none || !l.isAt(r.number, r.from) { // it was removed meanwhile
			l.known[r.key] = location{f, uint32(i)}
			continue
		}
		l.set.Moved(r.number, f, uint32(i))
	}
	l.dropFlushed(flushed)
	l.files = slices.DeleteFunc(l.files, func(old *file) bool { return slices.Contains(instead, old) })
	if f != nil {
		l.files = append(l.files, f)
	}
	if len(instead) > 0 {
		maps.DeleteFunc(l.known, func(_ digest, at location) bool { return at.file != nil && slices.Contains(instead, at.file) }) // rows that were not copied are gone
	}
	l.mu.Unlock()
	return l.drop(ctx, instead)
}

func (l *lane) drop(ctx context.Context, files []*file) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.mapped.Close(), l.keeper.options.Blobs.DropBlob(ctx, f.name))
	}
	return errors.Join(errs...)
}

// merge merges files of one size class. The caller holds work.
func (l *lane) merge(ctx context.Context) error {
	levels := map[int][]*file{}
	for _, f := range l.files {
		size := sizeOf(f.dimensions, f.rows)
		if size*mergedAtOnce > largestFile {
			continue
		}
		level := 0
		for n := f.rows; n >= mergedAtOnce; n /= mergedAtOnce {
			level++
		}
		if levels[level] = append(levels[level], f); len(levels[level]) == mergedAtOnce {
			return l.rewrite(ctx, levels[level], current)
		}
	}
	return nil
}

// rowFilter selects the rows of a file.
type rowFilter int

const (
	claimed rowFilter = iota // of present documents
	current                  // likewise, and unclaimed ones without a newer copy, which a document may claim later
)

// rewrite merges the selected rows of files into one file. The caller holds work.
func (l *lane) rewrite(ctx context.Context, files []*file, keep rowFilter) error {
	var list []row
	of := l.numbers(files)
	for _, f := range files {
		for i := range uint32(f.rows) {
			key, text, err := f.digests(i)
			if err != nil {
				return err
			}
			l.mu.Lock()
			r := row{number: of[f][i], key: key, text: text, from: location{f, i}}
			newest := l.known[key] == r.from
			l.mu.Unlock()
			if r.number == none && (keep == claimed || !newest) {
				continue
			}
			if r.raw, err = f.rawVector(i); err != nil {
				return err
			}
			list = append(list, r)
		}
	}
	return l.keep(ctx, list, 0, files)
}

// scrub rewrites files with unclaimed rows.
func (l *lane) scrub(ctx context.Context) error {
	l.work.Lock()
	defer l.work.Unlock()
	if err := errors.Join(l.loadAll(ctx), l.claimWaiting()); err != nil {
		return err
	}
	if err := l.dropSnapshot(ctx); err != nil {
		return err
	}
	for _, f := range slices.Clone(l.files) {
		if l.set.Uses(f) == f.rows {
			continue
		}
		if err := l.rewrite(ctx, []*file{f}, claimed); err != nil {
			return err
		}
	}
	return nil
}

// claimWaiting assigns stored vectors to the documents that wait. The caller holds work.
func (l *lane) claimWaiting() error {
	numbers, below := l.queue.all()
	for more := true; more; {
		in := l.depart(numbers)
		list, err := l.pending(numbers, in)
		if err == nil {
			l.claimAll(list)
		}
		l.arrive(in)
		if err != nil {
			return err
		}
		numbers, below = l.set.Without(below, takenAtOnce)
		more = len(numbers) > 0
	}
	return nil
}

// tidy rewrites a file with mostly unclaimed rows if no waiting document could claim them.
func (l *lane) tidy(ctx context.Context) {
	l.keeper.mu.RLock()
	settled := l.keeper.settled
	l.keeper.mu.RUnlock()
	if !settled {
		return
	}
	l.work.Lock()
	defer l.work.Unlock()
	at := slices.IndexFunc(l.files, func(f *file) bool { return 2*l.set.Uses(f) < f.rows })
	if at < 0 || !l.queue.isEmpty() {
		return
	}
	if err := l.rewrite(ctx, []*file{l.files[at]}, claimed); err != nil && ctx.Err() == nil {
		l.keeper.options.Logger.Warn("unused vectors stay on the disk", "embedder", l.name, "error", err)
		return
	}
	l.wakeUp() // another file may qualify
}

// close writes the tail, and a snapshot if the numbers are of a saved state of the index, and closes the files. The lane's goroutine has
// ended.
func (l *lane) close(state string) error {
	if l.ended == nil {
		return nil
	}
	ctx := context.Background()
	err := l.loadAll(ctx)
	if err == nil {
		err = l.flushTail(ctx)
	}
	if err == nil {
		err = l.saveSnapshot(ctx, state)
	}
	return errors.Join(err, closeAll(slices.Values(l.files)), closeMappings(l.mapped))
}

// dropAll drops the lane's files. The lane's goroutine has ended.
func (l *lane) dropAll(ctx context.Context) error {
	l.using.Lock() // waits for running searches
	defer l.using.Unlock()
	err := errors.Join(l.drop(ctx, l.files), closeMappings(l.mapped))
	list, more := l.keeper.options.Blobs.Blobs(ctx, blobPrefix+l.id+"/")
	err = errors.Join(err, more)
	for _, b := range list {
		err = errors.Join(err, l.keeper.options.Blobs.DropBlob(ctx, b.Name))
	}
	return err
}
