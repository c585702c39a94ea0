package semantic

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/alcove-memory/alcove/host/search/vector"
	"github.com/alcove-memory/alcove/host/store"
)

// A snapshot says which row of which file is whose vector, by the numbers of a saved state of the index, and has the codes that searches scan. So a
// start reads no vector to find out. Its format; numbers are little-endian:
//
//	"alcoves1"  u32 size of the head  head  vector.Set  u32 check of all before
//
// The check is CRC-32C, and the head is JSON.
const (
	snapshotMagic = "alcoves1"
	leastSnapshot = 512      // vectors; with fewer, a start is as quick without
	mostHead      = 16 << 20 // bytes

	mostWhileInUse = 4 << 20 // vectors of a snapshot that is copied to memory, 24 bytes each, while others come
	mostChanged    = 1 << 16 // numbers that changed since a state of which no snapshot is written any more
)

// snapshotHead names the state of the index, and the files in the order of the set's readers.
type snapshotHead struct {
	State string         `json:"state"`
	Files []snapshotFile `json:"files"`
}

type snapshotFile struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Sum  uint32 `json:"sum"`
}

// restoring is what happens until a snapshot is restored.
type restoring struct {
	state   string              // of the index, that the snapshot is to be of
	removed map[uint32]struct{} // numbers
	ended   chan struct{}       // closed when it is restored or found not to be of the numbers
}

// awaitRestored waits until a snapshot is restored, if one is being: half a second for a million vectors at most. So the first answers after a
// start are those of the ones that follow.
func (l *lane) awaitRestored(ctx context.Context) error {
	l.mu.Lock()
	r := l.restoring
	l.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endRestoring lets searches go on. The caller holds mu.
func (l *lane) endRestoring() {
	if l.restoring != nil {
		close(l.restoring.ended)
		l.restoring = nil
	}
}

func (l *lane) snapshotName() string { return blobPrefix + l.id + "/snapshot" }

// saveSnapshot stores a snapshot of numbers as a state of the index has them. Nobody else uses the lane.
func (l *lane) saveSnapshot(ctx context.Context, state string) error {
	if state == "" || l.snapshot == state || !l.loaded || !l.queue.isEmpty() || l.set.Len() < leastSnapshot {
		return nil
	}
	head, readers := l.headOf(state)
	return l.storeSnapshot(ctx, head, func(w io.Writer) error { return l.set.WriteTo(w, readers) })
}

// owed is a saved state of the index of which there is no snapshot yet, and the numbers that were added and removed since. A server that is
// killed leaves that state.
type owed struct {
	state   string // empty: it is being saved
	changed map[uint32]struct{}
}

// watch notes the numbers that change from now on. The caller holds Keeper.mu.
func (l *lane) watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owed = &owed{changed: map[uint32]struct{}{}}
}

// owe has a snapshot be written of a state of the index, which had the numbers when the lane began to watch. The caller holds Keeper.mu.
func (l *lane) owe(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owed != nil {
		l.owed.state = state
		l.wakeUp()
	}
}

func (l *lane) owes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owed != nil && l.owed.state != ""
}

// changes notes that a number was added or removed. The caller holds mu.
func (l *lane) changes(number uint32) {
	if l.owed == nil {
		return
	}
	if l.owed.changed[number] = struct{}{}; len(l.owed.changed) > mostChanged {
		l.owed = nil
	}
}

// added notes that a number is that of a new document. The caller holds Keeper.mu.
func (l *lane) added(number uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes(number)
}

// pay writes the snapshot that is owed, without the numbers that have changed: digests tell whose their vectors are.
func (l *lane) pay(ctx context.Context) {
	l.work.Lock()
	defer l.work.Unlock()
	l.mu.Lock()
	o := l.owed
	if n := l.set.Len(); o == nil || o.state == "" || !l.loaded || l.snapshot == o.state || n < leastSnapshot || n > mostWhileInUse {
		l.owed = nil
		l.mu.Unlock()
		return
	}
	head, readers := l.headOf(o.state)
	l.mu.Unlock()
	rows, left, err := l.set.CopyPart(&l.mu, readers, func(number uint32) bool {
		_, changed := o.changed[number]
		return changed
	})
	if !l.settle(o, left) {
		return // it is being saved again, or too much changed
	}
	if err == nil {
		err = l.storeSnapshot(ctx, head, func(w io.Writer) error { _, err := rows.WriteTo(w); return err })
	}
	if err != nil {
		l.mu.Lock()
		l.snapshot = ""
		l.mu.Unlock()
	}
	if err != nil && ctx.Err() == nil {
		l.keeper.options.Logger.Warn("after a kill, vectors are assigned again", "embedder", l.name, "error", err)
	}
}

// settle ends what is owed once it was copied, and reports whether the copy is of its state: all changes meanwhile were noted.
func (l *lane) settle(o *owed, left int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owed != o {
		return false
	}
	l.owed = nil
	if l.snapshot = ""; left+len(o.changed) == 0 {
		l.snapshot = o.state
	}
	return true
}

// headOf names a state and the files. The caller holds mu, or nobody else uses the lane.
func (l *lane) headOf(state string) (head snapshotHead, readers []vector.Reader) {
	head.State, readers = state, make([]vector.Reader, len(l.files))
	for i, f := range l.files {
		head.Files, readers[i] = append(head.Files, snapshotFile{f.name, f.rows, f.sum()}), f
	}
	return head, readers
}

func (l *lane) storeSnapshot(ctx context.Context, head snapshotHead, rows func(io.Writer) error) error {
	out, in := io.Pipe()
	go func() { in.CloseWithError(writeSnapshot(in, head, rows)) }()
	if _, err := l.keeper.options.Blobs.PutBlob(ctx, l.snapshotName(), out); err != nil {
		out.CloseWithError(err)
		return fmt.Errorf("save the state of vectors: %w", err)
	}
	return nil
}

func writeSnapshot(w io.Writer, head snapshotHead, rows func(io.Writer) error) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	check := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	all := io.MultiWriter(w, check)
	if _, err := all.Write(append(binary.LittleEndian.AppendUint32([]byte(snapshotMagic), uint32(len(text))), text...)); err != nil {
		return err
	}
	if err := rows(all); err != nil {
		return err
	}
	_, err = w.Write(binary.LittleEndian.AppendUint32(nil, check.Sum32()))
	return err
}

func (l *lane) dropSnapshot(ctx context.Context) error {
	l.mu.Lock()
	l.snapshot = ""
	l.mu.Unlock()
	return l.keeper.options.Blobs.DropBlob(ctx, l.snapshotName())
}

// errOther means that a snapshot is of other numbers, or of files that are no longer there.
var errOther = errors.New("the state of vectors is not of these files")

// restore makes the set that of the stored snapshot if it is of the documents' numbers. The caller holds work.
func (l *lane) restore(ctx context.Context, files map[string]*file) {
	l.mu.Lock()
	r := l.restoring
	l.mu.Unlock()
	if r == nil || len(files) == 0 {
		return
	}
	err := l.readSnapshot(ctx, func(data []byte) error { return l.apply(data, r, files) })
	if err != nil && ctx.Err() == nil && !errors.Is(err, errOther) && !errors.Is(err, store.ErrNotFound) {
		l.keeper.options.Logger.Warn("the state of vectors is not used; they are assigned again", "embedder", l.name, "error", err)
	}
}

// readSnapshot reads the stored snapshot.
func (l *lane) readSnapshot(ctx context.Context, read func(data []byte) error) error {
	blob, err := l.keeper.options.Blobs.GetBlob(ctx, l.snapshotName())
	if err != nil {
		return err
	}
	mapped, err := store.Map(blob, store.ReadOnly)
	if err = errors.Join(err, blob.Close()); err != nil {
		return err
	}
	fault := store.Guard(func() { err = read(mapped.Bytes()) })
	return errors.Join(fault, err, mapped.Close())
}

// apply makes the set that of a snapshot, and what happened since the index was loaded.
func (l *lane) apply(data []byte, r *restoring, files map[string]*file) error {
	head, rest, err := splitSnapshot(data)
	if err != nil {
		return err
	}
	if head.State != r.state {
		return errOther
	}
	merged, kept := false, make([]vector.Kept, len(head.Files))
	for i, f := range head.Files {
		there := files[f.Name]
		if there == nil {
			merged = true // digests tell whose its vectors are, wherever they went
			continue
		}
		if there.rows != f.Rows || there.sum() != f.Sum {
			return errOther
		}
		kept[i] = vector.Kept{Reader: there, Rows: f.Rows}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.set.Restore(rest, kept); err != nil {
		return err
	}
	if l.snapshot = r.state; merged {
		l.snapshot = ""
	}
	for number := range r.removed {
		l.forgetStored(number)
	}
	for i, row := range l.tail {
		if row.number == none {
			continue
		}
		if err := l.set.PutKept(row.number, decoded(row.raw), nil, uint32(i)); err != nil {
			return err
		}
		l.snapshot = ""
	}
	return nil
}

// forgetStored removes what a snapshot has of a number. The caller holds mu.
func (l *lane) forgetStored(number uint32) {
	if l.set.Has(number) {
		l.set.Remove(number)
		l.snapshot = ""
	}
}

// splitSnapshot checks a snapshot and splits it into its head and the set.
func splitSnapshot(data []byte) (head snapshotHead, set []byte, err error) {
	const before = len(snapshotMagic) + 4
	if len(data) < before+4 || !bytes.HasPrefix(data, []byte(snapshotMagic)) {
		return head, nil, errors.New("its magic number is not that of a state of vectors")
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != sum {
		return head, nil, errors.New("its checksum does not match")
	}
	size := binary.LittleEndian.Uint32(body[before-4:])
	if size > mostHead || int(size) > len(body)-before {
		return head, nil, errors.New("its head is not that of a state of vectors")
	}
	err = json.Unmarshal(body[before:before+int(size)], &head)
	return head, body[before+int(size):], err
}
