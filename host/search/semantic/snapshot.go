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
	"slices"

	"github.com/alcove-memory/alcove/host/search/vector"
	"github.com/alcove-memory/alcove/host/store"
)

// A snapshot says which row of which file is whose vector, by the numbers of a saved state of the index, has the codes that searches scan, and
// sums of the blocks of files. So a start reads no file of vectors to find out. It is a list in one blob, and parts of the set in others, of which
// those that have not changed are kept. The format of the list; numbers are little-endian:
//
//	"alcoves2"  u32 size of the head  head  u32 check of all before
//
// The check is CRC-32C, and the head is JSON.
const (
	snapshotMagic = "alcoves2"
	partPrefix    = "part-"
	leastSnapshot = 512      // vectors; with fewer, a start is as quick without
	mostHead      = 64 << 20 // bytes
	mostChanged   = 1 << 16  // numbers that changed since a state of which no snapshot is written any more
)

// snapshotHead names the state of the index, the files that vectors are read from, and the parts of the set.
type snapshotHead struct {
	State string         `json:"state"`
	Coded bool           `json:"coded"`
	Files []snapshotFile `json:"files"`
	Parts []snapshotPart `json:"parts"`
}

type snapshotFile struct {
	Number uint32 `json:"number"`
	Rows   int    `json:"rows"`
	Sum    uint32 `json:"sum"`
	Blocks []byte `json:"blocks"` // their sums
}

// snapshotPart is a part in a blob, whose name is that of the lane, partPrefix and the number.
type snapshotPart struct {
	Number uint64 `json:"number"` // 0: there is none
	Sum    uint32 `json:"sum"`
}

// restoring is what happens until a snapshot is restored.
type restoring struct {
	state   string              // of the index, that the snapshot is to be of
	removed map[uint32]struct{} // numbers
	ended   chan struct{}       // closed when it is restored or found not to be of the numbers
}

// awaitRestored waits until a snapshot is restored, if one is being. So the first answers after a start are those of the ones that follow.
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

func (l *lane) partName(number uint64) string {
	return fmt.Sprintf("%s%s/%s%016x", blobPrefix, l.id, partPrefix, number)
}

// saveSnapshot stores a snapshot of numbers as a state of the index has them. Documents that still wait for a vector are not in it; the next
// start finds them. Nobody else uses the lane.
func (l *lane) saveSnapshot(ctx context.Context, state string) error {
	if state == "" || l.snapshot == state || !l.loaded || l.set.Len() < leastSnapshot {
		return nil
	}
	return l.storeSnapshot(ctx, state, nil, func(left int) error {
		if left > 0 {
			return fmt.Errorf("%d vectors are in no file", left)
		}
		return nil
	})
}

// scheduledSnapshot is the saved state of the index that a snapshot is to be of, and the numbers that were added and removed since. A server that is
// killed leaves that state.
type scheduledSnapshot struct {
	state   string // empty: it is being saved
	changed map[uint32]struct{}
}

// trackChanges notes the numbers that change from now on. The caller holds Keeper.mu.
func (l *lane) trackChanges() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scheduled = &scheduledSnapshot{changed: map[uint32]struct{}{}}
}

// scheduleSnapshot has a snapshot written of a state of the index, which had the numbers when the lane began to track changes. The caller holds Keeper.mu.
func (l *lane) scheduleSnapshot(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scheduled != nil {
		l.scheduled.state = state
		l.wakeUp()
	}
}

func (l *lane) isScheduled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scheduled != nil && l.scheduled.state != ""
}

// changes notes that a number was added or removed. The caller holds mu.
func (l *lane) changes(number uint32) {
	if l.scheduled == nil {
		return
	}
	if l.scheduled.changed[number] = struct{}{}; len(l.scheduled.changed) > mostChanged {
		l.scheduled = nil
	}
}

// added notes that a number is that of a new document. The caller holds Keeper.mu.
func (l *lane) added(number uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes(number)
}

// writeScheduled writes the snapshot that is scheduled, without the numbers that have changed: digests tell whose their vectors are.
func (l *lane) writeScheduled(ctx context.Context) {
	l.work.Lock()
	defer l.work.Unlock()
	l.mu.Lock()
	o := l.scheduled
	if o == nil || o.state == "" || !l.loaded || l.snapshot == o.state || l.set.Len() < leastSnapshot {
		l.scheduled = nil
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	without := func(number uint32) bool {
		_, changed := o.changed[number]
		return changed
	}
	err := l.storeSnapshot(ctx, o.state, without, func(left int) error { return l.confirm(o, left) })
	if err == nil {
		return
	}
	l.mu.Lock()
	l.snapshot = ""
	if l.scheduled == o {
		l.scheduled = nil
	}
	l.mu.Unlock()
	if ctx.Err() == nil && !errors.Is(err, errOutdated) {
		l.keeper.options.Logger.Warn("after a kill, vectors are assigned again", "embedder", l.name, "error", err)
	}
}

// errOutdated means that the index is being saved again, or too much changed.
var errOutdated = errors.New("the state of the index is no longer the last one")

// confirm ends the tracking of changes once the parts are written: all changes meanwhile were noted.
func (l *lane) confirm(o *scheduledSnapshot, left int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scheduled != o {
		return errOutdated
	}
	l.scheduled = nil
	if l.snapshot = ""; left+len(o.changed) == 0 {
		l.snapshot = o.state
	}
	return nil
}

// storeSnapshot stores the parts that have changed, and then the list of all, if confirm allows it. The caller holds work, or nobody else uses the
// lane.
func (l *lane) storeSnapshot(ctx context.Context, state string, without func(uint32) bool, confirm func(left int) error) error {
	n, coded := l.set.Parts()
	head, left := snapshotHead{State: state, Coded: coded, Files: l.snapshotFiles()}, 0
	for i := range n {
		if i < len(l.parts) && l.parts[i].Number != 0 && !l.set.HasChanged(i) {
			head.Parts = append(head.Parts, l.parts[i])
			continue
		}
		p, out, err := l.storePart(ctx, i, without)
		if err != nil {
			return fmt.Errorf("save the state of vectors: %w", err)
		}
		head.Parts, left = append(head.Parts, p), left+out
	}
	if _, still := l.set.Parts(); still != coded {
		return errOutdated
	}
	if err := confirm(left); err != nil {
		return err
	}
	data, err := head.encode()
	if err == nil {
		_, err = l.keeper.options.Blobs.PutBlob(ctx, l.snapshotName(), bytes.NewReader(data))
	}
	if err != nil {
		return fmt.Errorf("save the state of vectors: %w", err)
	}
	return l.dropParts(ctx, head.Parts)
}

// storePart stores a part of the set, and returns how many vectors it leaves out.
func (l *lane) storePart(ctx context.Context, i int, without func(uint32) bool) (p snapshotPart, left int, err error) {
	l.parts = append(l.parts, make([]snapshotPart, max(0, i+1-len(l.parts)))...)
	l.parts[i] = snapshotPart{} // until all of the other is stored
	l.nextPart++
	p.Number = l.nextPart
	l.stored[p.Number] = true
	out, in := io.Pipe()
	check, ended := crc32.New(crc32.MakeTable(crc32.Castagnoli)), make(chan struct{})
	go func() {
		defer close(ended)
		n, err := l.set.WritePart(io.MultiWriter(in, check), i, vector.Out{Lock: &l.mu, Without: without, Number: func(r vector.Reader) uint32 { return r.(*file).number }})
		left = n
		in.CloseWithError(err)
	}()
	_, err = l.keeper.options.Blobs.PutBlob(ctx, l.partName(p.Number), out)
	out.CloseWithError(err)
	<-ended
	if err != nil {
		return p, left, err
	}
	p.Sum = check.Sum32()
	l.parts[i] = p
	return p, left, nil
}

// dropParts drops the parts that are not among some.
func (l *lane) dropParts(ctx context.Context, kept []snapshotPart) error {
	for number := range l.stored {
		if slices.ContainsFunc(kept, func(p snapshotPart) bool { return p.Number == number }) {
			continue
		}
		if err := l.keeper.options.Blobs.DropBlob(ctx, l.partName(number)); err != nil {
			return fmt.Errorf("drop a former state of vectors: %w", err)
		}
		delete(l.stored, number)
	}
	return nil
}

// snapshotFiles are the files as a snapshot has them. The caller holds work, or nobody else uses the lane.
func (l *lane) snapshotFiles() (list []snapshotFile) {
	for _, f := range l.files {
		list = append(list, snapshotFile{f.number, f.rows, f.sum(), f.sums})
	}
	return list
}

// sumsOf are the sums of the blocks of a file; nil: there is no snapshot, or it has no such file.
func (h *snapshotHead) sumsOf(number uint32) []byte {
	if h == nil {
		return nil
	}
	for _, f := range h.Files {
		if f.Number == number {
			return f.Blocks
		}
	}
	return nil
}

// encode is the list of a snapshot as it is stored.
func (h *snapshotHead) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err == nil && len(text) > mostHead {
		err = fmt.Errorf("its list has %d bytes: at most %d are read", len(text), mostHead)
	}
	data := append(binary.LittleEndian.AppendUint32([]byte(snapshotMagic), uint32(len(text))), text...)
	return binary.LittleEndian.AppendUint32(data, sumOf(data)), err
}

// dropSnapshot drops the snapshot. The caller holds work.
func (l *lane) dropSnapshot(ctx context.Context) error {
	l.mu.Lock()
	l.snapshot = ""
	l.mu.Unlock()
	clear(l.parts)
	return errors.Join(l.keeper.options.Blobs.DropBlob(ctx, l.snapshotName()), l.dropParts(ctx, nil))
}

// errOther means that a snapshot is of other numbers, or of files that are no longer there.
var errOther = errors.New("the state of vectors is not of these files")

// readHead returns the list of the stored snapshot if it is of the state that is to be restored; nil: it is not.
func (l *lane) readHead(ctx context.Context) *snapshotHead {
	l.mu.Lock()
	r := l.restoring
	l.mu.Unlock()
	if r == nil {
		return nil
	}
	head := &snapshotHead{}
	mapped, err := l.mapBlob(ctx, l.snapshotName())
	if err == nil {
		fault := store.Guard(func() { err = head.decode(mapped.Bytes()) })
		err = errors.Join(fault, err, mapped.Close())
	}
	if err == nil && head.State != r.state {
		err = errOther
	}
	if err != nil {
		l.unused(ctx, err)
		return nil
	}
	return head
}

// unused tells why a snapshot is not used.
func (l *lane) unused(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, errOther) && !errors.Is(err, store.ErrNotFound) {
		l.keeper.options.Logger.Warn("the state of vectors is not used; they are assigned again", "embedder", l.name, "error", err)
	}
}

// restore makes the set that of the stored snapshot, and reports whether it could. The caller holds work.
func (l *lane) restore(ctx context.Context, head *snapshotHead) bool {
	if head == nil || len(l.files) == 0 {
		return false
	}
	err := l.restoreParts(ctx, head)
	if err != nil {
		l.unused(ctx, err)
		clear(l.parts)
	}
	return err == nil
}

func (l *lane) restoreParts(ctx context.Context, head *snapshotHead) error {
	var parts [][]byte
	for _, p := range head.Parts {
		mapped, err := l.mapBlob(ctx, l.partName(p.Number))
		if err != nil {
			return err
		}
		l.mapped = append(l.mapped, mapped)
		fault := store.Guard(func() {
			if sumOf(mapped.Bytes()) != p.Sum {
				err = fmt.Errorf("the checksum of %s does not match", l.partName(p.Number))
			}
		})
		if err := errors.Join(fault, err); err != nil {
			return err
		}
		parts = append(parts, mapped.Bytes())
		l.parts = append(l.parts, p)
	}
	var err error
	fault := store.Guard(func() { err = l.apply(head, parts) })
	return errors.Join(fault, err)
}

// mapBlob maps a blob.
func (l *lane) mapBlob(ctx context.Context, name string) (*store.Mapping, error) {
	blob, err := l.keeper.options.Blobs.GetBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	mapped, err := store.Map(blob, store.ReadOnly)
	return mapped, errors.Join(err, blob.Close())
}

func closeMappings(list []*store.Mapping) (err error) {
	for _, m := range list {
		err = errors.Join(err, m.Close())
	}
	return err
}

// apply makes the set that of a snapshot, and what happened since the index was loaded.
func (l *lane) apply(head *snapshotHead, parts [][]byte) error {
	files := map[uint32]*file{}
	for _, f := range l.files {
		files[f.number] = f
	}
	merged, kept := false, map[uint32]vector.Kept{}
	for _, f := range head.Files {
		there := files[f.Number]
		switch {
		case there == nil:
			merged, kept[f.Number] = true, vector.Kept{} // digests tell whose its vectors are, wherever they went
		case there.rows != f.Rows || there.sum() != f.Sum:
			return errOther
		default:
			kept[f.Number] = vector.Kept{Reader: there, Rows: f.Rows}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.restoring == nil || l.restoring.state != head.State {
		return errOther
	}
	if err := l.set.Restore(head.Coded, parts, kept); err != nil {
		return err
	}
	if l.snapshot = head.State; merged {
		l.snapshot = ""
	}
	for number := range l.restoring.removed {
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

// decode reads the list of a snapshot, and checks it.
func (h *snapshotHead) decode(data []byte) error {
	const before = len(snapshotMagic) + 4
	if len(data) < before+4 || !bytes.HasPrefix(data, []byte(snapshotMagic)) {
		return errors.New("its magic number is not that of a state of vectors")
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if len(body)-before > mostHead || int(binary.LittleEndian.Uint32(body[before-4:])) != len(body)-before {
		return errors.New("its head is not that of a state of vectors")
	}
	if sumOf(body) != sum {
		return errors.New("its checksum does not match")
	}
	return json.Unmarshal(body[before:], h)
}
