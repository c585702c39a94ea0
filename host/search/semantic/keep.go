package semantic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// largestFile bounds merged files, in bytes: they are written from memory.
const largestFile = 48 << 20

// mergedAtOnce is the number of files of one size class that are merged.
const mergedAtOnce = 8

// load opens the files of the lane. A damaged file is dropped and its texts are embedded again.
func (l *lane) load(ctx context.Context) {
	l.work.Lock()
	defer l.work.Unlock()
	log := l.keeper.options.Logger
	list, err := l.keeper.options.Blobs.Blobs(ctx, blobPrefix+l.id+"/")
	if err != nil {
		log.Warn("vectors cannot be read and are computed again", "embedder", l.name, "error", err)
		return
	}
	for _, b := range list {
		number, err := strconv.ParseUint(b.Name[strings.LastIndexByte(b.Name, '/')+1:], 16, 64)
		if err == nil {
			l.next = max(l.next, number+1)
		}
		f, err := openFile(ctx, l.keeper.options.Blobs, b.Name, l.dimensions)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log.Warn("a file of vectors is dropped; they are computed again", "embedder", l.name, "error", err)
			if err := l.keeper.options.Blobs.DropBlob(ctx, b.Name); err != nil {
				log.Warn("a damaged file of vectors could not be dropped", "embedder", l.name, "error", err)
			}
			continue
		}
		l.mu.Lock()
		l.files = append(l.files, f)
		for i := range uint32(f.rows) {
			key, _, err := f.digests(i)
			if _, twice := l.known[key]; !twice && err == nil {
				l.known[key] = location{f, i, true}
			}
		}
		l.mu.Unlock()
	}
}

// claim assigns stored vectors to documents and returns the documents without one.
func (l *lane) claim(list []pendingDoc) []pendingDoc {
	l.work.Lock()
	defer l.work.Unlock()
	return l.claimAll(list)
}

// claimAll is claim. The caller holds work.
func (l *lane) claimAll(list []pendingDoc) []pendingDoc {
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
	k := l.keeper
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.ref(w.number) != w.ref {
		return true // the document is gone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.set.PutKept(w.number, v, at.file, at.row) != nil {
		return false
	}
	delete(l.known, key)
	l.setLocation(w.number, at)
	at.file.numbers[at.row] = w.number
	at.file.claimed++
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
	l.mu.Lock()
	var rows []row
	flushed := len(l.tail)
	for i, r := range l.tail {
		if r.number != none {
			r.from = location{row: uint32(i), set: true}
			rows = append(rows, r)
		}
	}
	l.mu.Unlock()
	rows = slices.DeleteFunc(rows, func(r row) bool { return !l.set.Has(r.number) }) // it was released meanwhile
	if err := l.keep(ctx, rows, flushed, nil); err != nil {
		return err
	}
	return l.merge(ctx)
}

// keep writes rows to a new file that replaces the first rows of the tail, or some files. The caller holds work.
func (l *lane) keep(ctx context.Context, rows []row, flushed int, instead []*file) error {
	var f *file
	if len(rows) > 0 {
		var err error
		if f, err = write(ctx, l.keeper.options.Blobs, l.blobName(), l.dimensions, rows); err != nil {
			return err
		}
	}
	k := l.keeper
	k.mu.RLock() // so that no number is reused
	l.mu.Lock()
	for i, r := range rows {
		at := location{f, uint32(i), true}
		if r.number == none || int(r.number) >= len(l.locations) || l.locations[r.number] != r.from || keyOf(k.ref(r.number)) != r.key {
			l.known[r.key] = at
			continue
		}
		l.set.Moved(r.number, f, uint32(i))
		l.locations[r.number] = at
		f.numbers[i] = r.number
		f.claimed++
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
	k.mu.RUnlock()
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
	for _, f := range files {
		for i := range uint32(f.rows) {
			key, text, err := f.digests(i)
			if err != nil {
				return err
			}
			l.mu.Lock()
			r := row{number: f.numbers[i], key: key, text: text, from: location{f, i, true}}
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
	numbers := l.queue.all()
	l.claimAll(l.pending(numbers))
	for _, f := range slices.Clone(l.files) {
		l.mu.Lock()
		whole := f.claimed == f.rows
		l.mu.Unlock()
		if whole {
			continue
		}
		if err := l.rewrite(ctx, []*file{f}, claimed); err != nil {
			return err
		}
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
	l.mu.Lock()
	at := slices.IndexFunc(l.files, func(f *file) bool { return 2*f.claimed < f.rows })
	l.mu.Unlock()
	if at < 0 || l.queue.len() > 0 {
		return
	}
	if err := l.rewrite(ctx, []*file{l.files[at]}, claimed); err != nil && ctx.Err() == nil {
		l.keeper.options.Logger.Warn("unused vectors stay on the disk", "embedder", l.name, "error", err)
		return
	}
	l.wakeUp() // another file may qualify
}

// close flushes the tail and closes the files. The lane's goroutine has ended.
func (l *lane) close() error {
	if l.ended == nil {
		return nil
	}
	err := l.flushLast()
	for _, f := range l.files {
		err = errors.Join(err, f.mapped.Close())
	}
	return err
}

func (l *lane) flushLast() error {
	rows := make([]row, 0, len(l.tail))
	for _, r := range l.tail {
		if r.number != none {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	f, err := write(context.Background(), l.keeper.options.Blobs, l.blobName(), l.dimensions, rows)
	if err != nil {
		return err
	}
	return f.mapped.Close()
}

// dropAll drops the lane's files. The lane's goroutine has ended.
func (l *lane) dropAll(ctx context.Context) error {
	l.using.Lock() // waits for running searches
	defer l.using.Unlock()
	err := l.drop(ctx, l.files)
	list, more := l.keeper.options.Blobs.Blobs(ctx, blobPrefix+l.id+"/")
	err = errors.Join(err, more)
	for _, b := range list {
		err = errors.Join(err, l.keeper.options.Blobs.DropBlob(ctx, b.Name))
	}
	return err
}
