// Package audit keeps an append-only, hash-chained log of what families did and what operators allowed them.
package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/operator/segments"
)

const (
	nameForm    = "%020d" // of a file, by the number of its first entry
	fileBytes   = 8 << 20
	keptBytes   = 1 << 30
	flushEvery  = time.Second
	syncEvery   = 5 * time.Second
	manyPending = 1024      // entries in memory that Run writes without waiting for its second
	mostPending = 2048      // a caller that adds a further one writes them
	mostText    = 256 << 10 // bytes of lines that are written at once, but for the last line
)

// Options configures a Log. Dir is required.
type Options struct {
	Dir    string           // made if it does not exist
	Clock  func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: discards
	Bytes  int64            // of a file; 0: 8 MiB
	Kept   int64            // of all files; 0: 1 GiB. The oldest are deleted
	Keep   time.Duration    // files with older entries alone are deleted; 0: none is for its age
	// Former is the log beside which the restored backup was made; nil: nothing was restored.
	Former *FormerLog
	// Head is the store's newest version when the log is opened.
	Head uint64
	// Begin returns entries for the beginning of a server, given what the log last said of the lock file. An error ends Open after they are
	// durable. Nil: one entry says that a server began.
	Begin func(LockState) ([]Entry, error)
	// Aside opens the log beside a store that no server has open: nothing begins, and what a crash lost is left to the next server. Head and
	// Commits are not used.
	Aside bool
	// Commits visits the commits of families after a version that the store still has notes of, in any order, as entries with Version. Nil: none.
	Commits func(after uint64, visit func(Entry)) error
}

// Log appends entries. Its methods may be called concurrently.
//
// Entries are written within a second, and made durable within another five. A crash loses younger ones, but not of calls that wrote:
// Open restores these from Options.Commits.
type Log struct {
	o Options

	mu       sync.Mutex
	seq      uint64 // of the last entry
	pending  []Entry
	spare    []Entry              // room for the next ones
	many     chan struct{}        // tells Run that many are pending
	newest   uint64               // version that has an entry
	open     map[*uint64]struct{} // versions before commits without an entry yet
	failed   error                // why the last write failed
	dropped  int                  // entries that a full disk lost
	writing  sync.Mutex           // held while pending entries are written; locked before mu
	lines    segments.Log         // guarded by writing, like all below
	head     Head
	lock     LockState // of the entries that were written
	lastSync time.Time
	text     []byte    // room for lines
	begun    time.Time // when the open file's first entry was
	surplus  surplus   // files that are to be deleted
	looked   time.Time // for files that are too old
}

// Head is the last entry of a log: kept elsewhere, it shows that the entries up to it are unchanged.
type Head struct {
	Seq  uint64    `json:"seq"`
	Hash string    `json:"hash"`
	Time time.Time `json:"time"`
}

// Open opens a log, repairs its end, and adds the entries that a crash lost.
func Open(o Options) (*Log, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Bytes == 0 {
		o.Bytes = fileBytes
	}
	if o.Kept == 0 {
		o.Kept = keptBytes
	}
	if err := folder(o.Dir).Make(); err != nil {
		return nil, fmt.Errorf("make the folder of the audit log: %w", err)
	}
	l := &Log{o: o, lines: segments.Log{Folder: folder(o.Dir)}, many: make(chan struct{}, 1), open: map[*uint64]struct{}{}}
	if err := l.resume(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the audit log in %s: %w", o.Dir, err), l.lines.Close())
	}
	return l, nil
}

// resume continues the newest file, or begins one.
func (l *Log) resume() error {
	list, err := l.lines.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return l.begin(true)
	}
	newest := list[len(list)-1].Path
	end, err := scanEnd(newest)
	if err != nil {
		return err
	}
	l.seq, l.newest = end.most, end.upto
	if end.last != 0 {
		l.head = Head{Seq: end.last, Hash: end.hash.String()}
	}
	if end.damaged != "" {
		l.o.Logger.Error("the audit log was changed: alcove audit verify says more", "file", newest, "error", end.damaged)
		l.add(Entry{Kind: Damaged, Detail: filepath.Base(newest) + ": " + end.damaged})
	} else if err := l.continued(newest, end); err != nil {
		return err
	}
	l.lock = end.lock
	if !l.o.Aside {
		if err := l.recover(end, list[:len(list)-1]); err != nil {
			return err
		}
	}
	return l.begin(false)
}

// begin adds the entries of a server that begins.
func (l *Log) begin(isNew bool) error {
	begun, failed := []Entry{{Kind: Began, Detail: "a server began"}}, error(nil)
	switch {
	case l.o.Aside:
		begun = nil
	case l.o.Begin != nil:
		begun, failed = l.o.Begin(l.lock)
	case isNew && l.o.Former == nil:
		begun[0].Detail = "a server began; the log is new: it has nothing of before"
	}
	if !l.o.Aside {
		l.newest = l.o.Head
	}
	if l.o.Former != nil {
		l.add(l.o.Former.restored(l.head))
	}
	for _, e := range begun {
		l.add(e)
	}
	return errors.Join(failed, l.Flush())
}

// continued opens the newest file to append to it, without what follows its last whole entry.
func (l *Log) continued(name string, end tail) error {
	l.begun = end.begun
	if err := l.lines.Continue(name, end.size); err != nil || end.torn == 0 {
		return err
	}
	l.o.Logger.Warn("the last line of the audit log was torn, and removed", "file", name, "bytes", end.torn)
	l.add(Entry{Kind: Repaired, Detail: fmt.Sprintf("%d bytes of an entry that was not written to its end were removed", end.torn)})
	return nil
}

// recover adds entries of commits that have none. The commits are those after the version up to which the log is complete.
func (l *Log) recover(end tail, before []segments.Segment) error {
	if l.o.Commits == nil || end.upto >= l.o.Head || end.first == 1 && !end.began { // no server had the log before
		return nil
	}
	var lost []Entry
	err := l.o.Commits(end.upto, func(e Entry) {
		if !end.versions[e.Version] {
			lost = append(lost, e)
		}
	})
	if err == nil && len(lost) > 0 && !end.began && len(before) > 0 { // their entries may be in the file before
		var earlier tail
		earlier, err = scanEnd(before[len(before)-1].Path)
		lost = slices.DeleteFunc(lost, func(e Entry) bool { return earlier.versions[e.Version] })
	}
	if err != nil || len(lost) == 0 {
		return err
	}
	slices.SortFunc(lost, func(a, b Entry) int { return cmp.Compare(a.Version, b.Version) })
	for _, e := range lost {
		e.Kind, e.Detail = Recovered, "called "+e.Time.UTC().Format(time.RFC3339Nano)
		l.add(e)
	}
	l.o.Logger.Info("entries of the audit log that a crash lost were restored from their commits", "entries", len(lost))
	return nil
}

// Dir is the folder of the log.
func (l *Log) Dir() string { return l.o.Dir }

// Add appends an entry, and returns its number.
func (l *Log) Add(e Entry) (seq uint64) {
	l.mu.Lock()
	seq = l.add(e)
	pending, failed := len(l.pending), l.failed
	l.mu.Unlock()
	if failed == nil {
		l.relieve(pending)
	}
	return seq
}

// relieve has entries written, in the background unless that does not keep up. It does not make them durable: a call waits for no disk.
func (l *Log) relieve(pending int) {
	if pending >= mostPending {
		l.writing.Lock()
		defer l.writing.Unlock()
		_ = l.write() // Ready returns the error
		return
	}
	if pending >= manyPending {
		select {
		case l.many <- struct{}{}:
		default: // it was told
		}
	}
}

// add is Add for a caller that holds mu.
func (l *Log) add(e Entry) uint64 {
	if l.failed != nil && len(l.pending) >= mostPending {
		l.dropped++
		return 0
	}
	l.seq++
	e = e.bounded()
	e.Seq, e.Time = l.seq, l.o.Clock().UTC()
	if e.Kind == Wrote {
		l.newest = max(l.newest, e.Version)
	}
	e.Upto = l.upto()
	l.pending = append(l.pending, e)
	return e.Seq
}

// upto returns the version up to which every commit has its entry. The caller holds mu.
func (l *Log) upto() uint64 {
	least := l.newest
	for before := range l.open {
		least = min(least, *before)
	}
	return least
}

// Committing begins a commit of the request that an entry reports. done adds its entry; version 0: nothing was written.
func (l *Log) Committing(call Entry) (done func(version uint64, branch string)) {
	l.mu.Lock()
	before := new(uint64)
	*before = l.newest // commits of now have higher versions than those of before
	l.open[before] = struct{}{}
	l.mu.Unlock()
	return func(version uint64, branch string) {
		l.mu.Lock()
		delete(l.open, before)
		if version != 0 {
			l.add(Entry{Kind: Wrote, Family: call.Family, Call: call.Call, Of: call.Seq, Version: version, Branch: branch})
		}
		pending, failed := len(l.pending), l.failed
		l.mu.Unlock()
		if failed == nil {
			l.relieve(pending)
		}
	}
}

// Ready returns an error while the log cannot be written. After a failure it tries again.
func (l *Log) Ready() error {
	if l.failure() == nil {
		return nil
	}
	l.tick()
	return l.failure()
}

// failure is the error of the last write; nil: it succeeded.
func (l *Log) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// Flush writes all entries, and makes them durable.
func (l *Log) Flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.flush()
}

// flush is Flush for a caller that holds writing.
func (l *Log) flush() error {
	err := l.write()
	if err == nil && l.surplus.entry > l.head.Seq { // it was added meanwhile
		err = l.write()
	}
	if err != nil {
		return err
	}
	return l.sync()
}

// Head makes all entries durable and returns the last one.
func (l *Log) Head() (Head, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.flush(); err != nil {
		return Head{}, err
	}
	return l.head, nil
}

// write writes the pending entries. The caller holds writing.
func (l *Log) write() error {
	l.mu.Lock()
	batch := l.pending
	l.pending, l.spare = l.spare, nil
	l.mu.Unlock()
	n, err := 0, l.lines.Present()
	if err == nil {
		n, err = l.writeAll(batch)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n == len(batch) {
		clear(batch) // what they point to is free
		l.spare = batch[:0]
	} else {
		l.pending = append(batch[n:len(batch):len(batch)], l.pending...)
	}
	if err != nil && l.failed == nil {
		l.o.Logger.Error("the audit log cannot be written: families are not called until it can", "error", err)
	}
	if l.failed = err; err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	if l.dropped > 0 {
		l.add(Entry{Kind: Dropped, Detail: fmt.Sprintf("%d entries, because the log could not be written", l.dropped)})
		l.dropped = 0
	}
	return nil
}

// writeAll writes entries, and returns how many it wrote.
func (l *Log) writeAll(batch []Entry) (n int, err error) {
	for n < len(batch) {
		if !l.lines.IsOpen() || l.lines.Size() >= l.o.Bytes || l.ages(l.begun) {
			if err := l.next(batch[n]); err != nil {
				return n, err
			}
			n++
			continue
		}
		prev, err := parseHash(l.head.Hash)
		if err != nil {
			return n, err
		}
		text, m := l.text[:0], n
		for ; m < len(batch) && l.lines.Size()+int64(len(text)) < l.o.Bytes && len(text) < mostText; m++ {
			text, prev = appendLine(text, prev, &batch[m])
		}
		l.text = text
		if err := l.lines.Append(text); err != nil {
			return n, err
		}
		for i := n; i < m; i++ {
			l.lock.note(&batch[i])
		}
		l.head, n = Head{Seq: batch[m-1].Seq, Hash: prev.String(), Time: batch[m-1].Time}, m
	}
	return n, nil
}

// chain appends the line of an entry.
func chain(text []byte, head Head, e Entry) ([]byte, Head, error) {
	prev, err := parseHash(head.Hash)
	if err != nil && head.Hash != "" {
		return text, head, err
	}
	text, h := appendLine(text, prev, &e)
	return text, Head{Seq: e.Seq, Hash: h.String(), Time: e.Time}, nil
}

// next begins a file with an entry, and deletes the oldest files beyond the limit.
func (l *Log) next(first Entry) error {
	first.Prev = l.head.Hash
	if first.Lock == "" {
		first.Lock, first.Locked = l.lock.Digest, l.lock.Locked
	}
	text, head, err := chain(nil, l.head, first)
	if err != nil {
		return err
	}
	if err := l.lines.Begin(fmt.Sprintf(nameForm, first.Seq), text); err != nil {
		return err
	}
	l.head, l.begun = head, first.Time
	l.lock.note(&first)
	return l.makeRoom()
}

// sync makes what is written durable. The caller holds writing.
func (l *Log) sync() error {
	if l.lines.Dirty() {
		if err := l.lines.Sync(); err != nil {
			return fmt.Errorf("make the audit log durable: %w", err)
		}
		l.lastSync = l.o.Clock()
	}
	return l.deleteSurplus()
}

// Run writes entries until ctx ends.
func (l *Log) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-l.many:
		}
		l.tick()
	}
}

func (l *Log) tick() {
	l.writing.Lock()
	defer l.writing.Unlock()
	err := l.write() // Ready returns the error
	if err == nil {
		err = l.makeRoomByAge()
	}
	if err == nil && (l.o.Clock().Sub(l.lastSync) >= syncEvery || l.o.Clock().Before(l.lastSync)) {
		err = l.sync()
	}
	if err != nil {
		l.mu.Lock()
		l.failed = err
		l.mu.Unlock()
	}
}

// Close writes all entries and ends the log.
func (l *Log) Close() error {
	err := l.Flush()
	l.writing.Lock()
	defer l.writing.Unlock()
	return errors.Join(err, l.lines.Close())
}

var _ io.Closer = (*Log)(nil)

// folder is where the log's files are.
func folder(dir string) segments.Folder { return segments.Folder{Dir: dir, Name: 20} }

// tail is the end of a file.
type tail struct {
	first    uint64 // number of the first entry
	begun    time.Time
	last     uint64 // number of the last verified entry; 0: none
	hash     hash   // its
	most     uint64 // number of the last entry, verified or not
	size     int64  // up to the end of the last whole entry
	torn     int    // bytes after it
	upto     uint64
	versions map[uint64]bool // that have entries, since the last server began
	began    bool            // a server did in this file
	lock     LockState       // of the verified entries
	damaged  string          // why it cannot be verified to its end; empty: it can
}

// scanEnd reads a whole file, whose size is bounded.
func scanEnd(name string) (end tail, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return end, err
	}
	if end.most, err = strconv.ParseUint(segments.Segment{Path: name}.Name(), 10, 64); err != nil {
		return end, err
	}
	end.versions, end.first = map[uint64]bool{}, end.most
	if i := bytes.LastIndexByte(data, '\n'); i+1 < len(data) {
		end.torn = len(data) - i - 1
		data = data[:i+1]
	}
	end.size = int64(len(data))
	c, verified := checker{}, []byte(nil)
	for line := range bytes.Lines(data) {
		body, h, err := c.check(line)
		if err != nil && end.damaged == "" {
			end.damaged = fmt.Sprintf("after entry %d: %v", end.last, err)
		}
		end.most = max(end.most, c.seq)
		if end.damaged == "" {
			end.last, end.hash = c.seq, h
		}
		if end.scan(body); end.damaged == "" {
			verified = body
		}
		if end.begun.IsZero() {
			e, _ := decode(body) // of a damaged one nothing is known
			end.begun = e.Time
		}
	}
	if e, err := decode(verified); err == nil {
		end.upto = e.Upto
	}
	if end.last == 0 && end.damaged == "" {
		end.damaged = "it has no whole entry"
	}
	return end, nil
}

// mayMention reports whether the text of an entry may have what look reads.
func mayMention(body []byte) bool {
	return bytes.Contains(body, []byte(`"version":`)) || bytes.Contains(body, []byte(`"lock":`)) ||
		bytes.Contains(body, []byte(`"kind":"began"`)) || bytes.Contains(body, []byte(`"kind":"edited"`))
}

// scan notes the versions of an entry, and what it says of the lock file.
func (t *tail) scan(body []byte) {
	if !mayMention(body) {
		return
	}
	e, err := decode(body)
	if err == nil && t.damaged == "" {
		t.lock.note(&e)
	}
	if err == nil && e.Kind == Began {
		t.began = true
		clear(t.versions) // a restored store has lower ones
	}
	if err == nil && e.Version != 0 {
		t.versions[e.Version] = true
	}
}
