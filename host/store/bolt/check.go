package bolt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/bolt/salvage"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// checkSlice bounds a read transaction of a check. Commits that must remap the file wait for it.
const checkSlice = 20 * time.Millisecond

// Check reads everything and returns up to 20 faults, joined. It runs in transactions of 20 ms, each of which sees the
// newest state; commits wait for at most one. Of a database that was found to be damaged in use it returns that fault.
func (e *Engine) Check(ctx context.Context) error {
	if damage := e.damage.Load(); damage != nil {
		return *damage
	}
	c := &check{engine: e, ctx: ctx}
	if err := e.Writable(); errors.Is(err, store.ErrReplaced) {
		c.report(err)
	}
	c.database()
	c.report(e.checkBlobs(ctx))
	c.report(ctx.Err())
	return errors.Join(c.faults...)
}

// database checks the database, without the blobs.
func (c *check) database() {
	c.heads()
	c.directory("the root bucket", func(tx *bbolt.Tx) *bbolt.Bucket { return tx.Cursor().Bucket() })
	for _, k := range layout.SpaceKinds() {
		judge := c.nothingMore
		switch k {
		case layout.KindPoints:
			judge = c.judgePoints()
		case layout.KindTime:
			judge = c.judgeTimes
		}
		c.records(fmt.Sprintf("the bucket %s", k.Bucket()), func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, k) }, judge)
	}
	c.branches()
	if c.continues() {
		c.report(c.overlays())
	}
}

// check is a running check.
type check struct {
	engine  *Engine
	ctx     context.Context
	shallow bool // only what pages and records show by themselves and by their sums, resting as long as it works
	faults  []error
}

func (c *check) report(err error) {
	if err != nil && len(c.faults) < salvage.MaxFaults {
		c.faults = append(c.faults, err)
	}
}

// heads checks the two meta pages. A commit may be writing one, so a damaged one is read again.
func (c *check) heads() {
	for place := range uint64(2) {
		var err error
		for range 3 {
			if err = c.head(place); err == nil || c.ctx.Err() != nil {
				break
			}
			time.Sleep(checkSlice)
		}
		if err != nil {
			c.report(fmt.Errorf("page %d, one of the two that lead to all others: %w: %w", place, store.ErrDamaged, err))
		}
	}
}

func (c *check) head(page uint64) error {
	return c.engine.read(c.ctx, func(tx *bbolt.Tx) error {
		_, err := layout.MetaAt(c.engine.open.File, page, uint64(tx.DB().Info().PageSize))
		return err
	})
}

// continues reports whether there is more to do: a shallow check ends at the first fault, behind which bbolt would read damaged pages.
func (c *check) continues() bool {
	return c.ctx.Err() == nil && !(c.shallow && len(c.faults) > 0)
}

// runPart runs a part of the check in repeated transactions until it is done.
func (c *check) runPart(what string, part func(tx *bbolt.Tx, until time.Time) (done bool)) {
	for done := false; !done && c.continues(); {
		began := time.Now()
		err := c.engine.read(c.ctx, func(tx *bbolt.Tx) error {
			done = part(tx, began.Add(checkSlice))
			return nil
		})
		took := time.Since(began)
		c.engine.written.recordCheck(took)
		if c.shallow && err != nil && !errors.Is(err, store.ErrDamaged) {
			return // of a database that is being replaced, or closed
		}
		if err != nil {
			c.report(fmt.Errorf("%s: %w", what, err))
			return
		}
		if c.shallow {
			sleep(c.ctx, took)
		}
	}
}

// directory checks the pages of a bucket of buckets.
func (c *check) directory(what string, find func(tx *bbolt.Tx) *bbolt.Bucket) {
	var after []byte
	c.runPart(what, func(tx *bbolt.Tx, until time.Time) bool {
		b := find(tx)
		if b == nil || b.Root() == 0 {
			return true
		}
		return c.scan(b, what, &after, until, func(e salvage.Element) {
			if !e.Bucket {
				c.report(fmt.Errorf("%w: %s has %q, which is not a bucket", store.ErrDamaged, what, e.Key))
				return
			}
			for _, fault := range salvage.Inline(fmt.Sprintf("%s: %q", what, e.Key), e.Value) {
				c.report(fmt.Errorf("%w: %w", store.ErrDamaged, fault))
			}
		})
	})
}

// scan visits the elements of a bucket after a key, by its pages, or if it is inline by a bbolt cursor. When until has
// passed it stops and sets the key from which to continue.
func (c *check) scan(b *bbolt.Bucket, what string, after *[]byte, until time.Time, visit func(salvage.Element)) (done bool) {
	done = true
	each := func(e salvage.Element) (more bool) {
		visit(e)
		if time.Now().After(until) {
			*after, done = bytes.Clone(e.Key), false
		}
		return done
	}
	if b.Root() == 0 {
		cursor := b.Cursor()
		for key, value := cursor.First(); key != nil && done; key, value = cursor.Next() {
			if *after == nil || bytes.Compare(key, *after) > 0 {
				each(salvage.Element{Key: key, Value: value, Bucket: value == nil})
			}
		}
		return done
	}
	f := salvage.File{Reader: c.engine.open.File, Length: uint64(b.Tx().Size()), PageSize: uint64(b.Tx().DB().Info().PageSize)}
	for _, fault := range salvage.Scan(f, what, uint64(b.Root()), *after, each) {
		c.report(fmt.Errorf("%w: %w", store.ErrDamaged, fault))
	}
	return done
}

// judge returns a function that checks an intact record against others in the same transaction.
type judge func(tx *bbolt.Tx) func(e salvage.Element) error

func (c *check) nothingMore(*bbolt.Tx) func(e salvage.Element) error {
	return func(salvage.Element) error { return nil }
}

// records checks the records of a bucket, and their sum if the bucket was not written meanwhile.
func (c *check) records(what string, find func(tx *bbolt.Tx) layout.Records, with judge) {
	var after []byte
	if c.shallow {
		with = c.nothingMore
	}
	sum, sequence, began := uint64(0), uint64(0), false
	c.runPart(what, func(tx *bbolt.Tx, until time.Time) bool {
		r := find(tx)
		if r.Bucket == nil {
			return true // it was erased
		}
		if !began {
			sequence, began = r.Sequence(), true
		}
		agrees := with(tx)
		done := c.scan(r.Bucket, what, &after, until, func(e salvage.Element) {
			if e.Bucket {
				c.report(fmt.Errorf("%w: %s: %q is marked as a bucket", store.ErrDamaged, what, e.Key))
				return
			}
			if !r.IsRecord(e.Key) {
				return
			}
			sum += layout.Weight(r.StoredSum(e.Value))
			err := r.Verify(e.Key, e.Value)
			if err == nil {
				err = agrees(e)
			}
			if err != nil {
				c.report(fmt.Errorf("%s: %s: %w", what, layout.DescribeKey(r.Kind, e.Key), err))
			}
		})
		if done && sum != sequence && r.Sequence() == sequence {
			c.report(fmt.Errorf("%s: %w", what, layout.ErrIncomplete))
		}
		return done
	})
}

// judgePoints checks that versions and instants grow together without gaps and agree with the index of instants.
func (c *check) judgePoints() judge {
	var last store.Point
	return func(tx *bbolt.Tx) func(e salvage.Element) error {
		times, points := layout.InSpace(tx, layout.KindTime), layout.InSpace(tx, layout.KindPoints)
		return func(e salvage.Element) error {
			p, err := points.Point(e.Key, e.Value)
			if err != nil {
				return err
			}
			before := last
			if last = p; p.Version != before.Version+1 || !p.Time.After(before.Time) && before.Version != 0 {
				return fmt.Errorf("version %d at %s does not follow version %d at %s", p.Version, p.Time, before.Version, before.Time)
			}
			tail, err := points.Tail(e.Key, e.Value)
			if err != nil {
				return err
			}
			if tail != nil {
				return judgeTail(tx, p, *tail)
			}
			if at, err := times.Read(layout.U64(uint64(p.Time.UnixMicro()))); err != nil || !bytes.Equal(at, e.Key) {
				return fmt.Errorf("version %d is missing in the index of times", p.Version)
			}
			return nil
		}
	}
}

// judgeTail checks that what the log is going to say is so.
func judgeTail(tx *bbolt.Tx, at store.Point, tail layout.Tail) error {
	for _, c := range tail.Changes {
		branch := layout.Branch(tx, c.Branch)
		if branch == nil || branch.Bucket(layout.KindEntries.Bucket()).Get(keycode.Version(c.Raw, at.Version)) == nil {
			return fmt.Errorf("version %d changed an entry of branch %d, and it is not there: %w", at.Version, c.Branch, store.ErrDamaged)
		}
	}
	return nil
}

// tailHas reports whether the tail of a version has a change.
func tailHas(points layout.Records, version []byte, is layout.TailChange) bool {
	tail, err := points.Tail(version, points.Get(version))
	return err == nil && tail != nil && slices.ContainsFunc(tail.Changes, func(c layout.TailChange) bool {
		return c.Branch == is.Branch && c.Deleted == is.Deleted && bytes.Equal(c.Raw, is.Raw)
	})
}

// instantOf reads the instant of a version, in µs.
func instantOf(points layout.Records, version []byte) (micros []byte, err error) {
	value, err := points.Read(version)
	micros, _ = layout.SplitPoint(value)
	return micros, err
}

func (c *check) judgeTimes(tx *bbolt.Tx) func(e salvage.Element) error {
	times, points := layout.InSpace(tx, layout.KindTime), layout.InSpace(tx, layout.KindPoints)
	return func(e salvage.Element) error {
		version, err := times.Open(e.Key, e.Value)
		if err != nil {
			return err
		}
		if at, err := instantOf(points, version); err != nil || !bytes.Equal(at, e.Key) {
			return fmt.Errorf("an instant is that of version %d, which is of another", layout.FromU64(version))
		}
		return nil
	}
}

// branches checks each branch that exists when it begins.
func (c *check) branches() {
	c.directory("the bucket branches", func(tx *bbolt.Tx) *bbolt.Bucket { return layout.Branches(tx) })
	if !c.continues() {
		return
	}
	var ids []store.BranchID
	c.report(c.engine.read(c.ctx, func(tx *bbolt.Tx) error {
		return layout.Branches(tx).ForEachBucket(func(id []byte) error {
			if second := layout.Branches(tx).Bucket(id).Sequence(); len(id) != 8 || second != layout.FromU64(id) {
				return fmt.Errorf("%w: a branch has the name %x and the sequence %d", store.ErrDamaged, id, second)
			}
			ids = append(ids, store.BranchID(layout.FromU64(id)))
			return nil
		})
	}))
	for _, id := range ids {
		what := fmt.Sprintf("branch %d", id)
		find := func(tx *bbolt.Tx) *bbolt.Bucket { return layout.Branch(tx, id) }
		c.directory(what, find)
		c.parts(what, id, find)
	}
}

func (c *check) parts(what string, id store.BranchID, find func(tx *bbolt.Tx) *bbolt.Bucket) {
	for _, k := range layout.BranchKinds() {
		with := c.nothingMore
		switch k {
		case layout.KindEntries:
			with = c.judgeEntries(id)
		case layout.KindLog:
			with = c.judgeChanges(id)
		}
		c.records(fmt.Sprintf("%s: the bucket %s", what, k.Bucket()), func(tx *bbolt.Tx) layout.Records {
			branch := find(tx)
			if branch == nil {
				return layout.Records{}
			}
			if branch.Bucket(k.Bucket()) == nil {
				c.report(fmt.Errorf("%s has no bucket %s: %w", what, k.Bucket(), store.ErrDamaged))
			}
			return layout.InBranch(branch, id, k)
		}, with)
	}
}

// judgeEntries checks that entries were committed, with their values, and that the log has those above the floor.
func (c *check) judgeEntries(id store.BranchID) judge {
	return func(tx *bbolt.Tx) func(e salvage.Element) error {
		r, points := newReader(tx), layout.InSpace(tx, layout.KindPoints)
		branch := layout.Branch(tx, id)
		log := layout.InBranch(branch, id, layout.KindLog)
		t, _, _ := layout.ReadTrim(branch, id) // the check of its own record reports damage
		return func(raw salvage.Element) error {
			e, err := r.decode(raw.Key, raw.Value)
			if err != nil {
				return err
			}
			at, err := instantOf(points, layout.U64(e.Version))
			if err != nil || e.Branch != id || int64(layout.FromU64(at)) != e.Time.UnixMicro() {
				return fmt.Errorf("it is of branch %d at %s, when nothing was committed", e.Branch, e.Time)
			}
			if e.Version <= t.Floor.Version {
				return nil
			}
			version, key := layout.U64(e.Version), keycode.Encode(e.Key)
			if tailHas(points, version, layout.TailChange{Branch: id, Raw: key, Deleted: e.Deleted}) {
				return nil
			}
			change := append(version, key...)
			if found, err := log.Change(change, log.Get(change)); err != nil || found.Deleted != e.Deleted {
				return fmt.Errorf("it is missing in the change log: %w", store.ErrDamaged)
			}
			return nil
		}
	}
}

// judgeChanges checks that the entries in the log above the floor exist.
func (c *check) judgeChanges(id store.BranchID) judge {
	return func(tx *bbolt.Tx) func(e salvage.Element) error {
		branch := layout.Branch(tx, id)
		entries := branch.Bucket(layout.KindEntries.Bucket())
		t, _, _ := layout.ReadTrim(branch, id)
		return func(e salvage.Element) error {
			version := layout.ChangeVersion(e.Key)
			if version > t.Floor.Version && entries.Get(keycode.Version(e.Key[keycode.VersionSize:], version)) == nil {
				return fmt.Errorf("the change log has it, and it is not there: %w", store.ErrDamaged)
			}
			return nil
		}
	}
}

// overlays checks that overlays equal their segments.
func (c *check) overlays() error {
	e := c.engine
	e.building.Lock() // no overlay is built or dropped meanwhile
	defer e.building.Unlock()
	e.mu.RLock()
	overlays := e.overlays
	e.mu.RUnlock()
	if err := e.checkOverlaysInUse(c.ctx, overlays); err != nil {
		return err
	}
	for _, o := range overlays {
		what := fmt.Sprintf("overlay %d", o.id)
		c.records(what, func(tx *bbolt.Tx) layout.Records { return layout.In(o.bucket(tx), layout.KindEntries, 0) }, c.nothingMore)
		if c.shallow {
			continue
		}
		var from []byte
		c.runPart(what, func(tx *bbolt.Tx, until time.Time) bool {
			plain := newReader(tx).walk(rawBlocks(o.run), nil, from)
			merged := newReader(tx).walk([]block{{segment: store.Segment{At: store.Latest}, overlay: o}}, nil, from)
			next, err := sameWalk(plain, merged, until)
			if err != nil {
				c.report(fmt.Errorf("%s: %w", what, err))
			}
			from = next
			return next == nil
		})
	}
	return nil
}

// checkOverlaysInUse checks that every complete overlay in the file is in use: an unknown one would not be erased with its
// segments.
func (e *Engine) checkOverlaysInUse(ctx context.Context, overlays []*overlay) error {
	return e.read(ctx, func(tx *bbolt.Tx) error {
		return layout.Overlays(tx).ForEachBucket(func(id []byte) error {
			if readOverlay(layout.Overlays(tx).Bucket(id), layout.FromU64(id)) == nil {
				return nil
			}
			if !slices.ContainsFunc(overlays, func(o *overlay) bool { return o.id == layout.FromU64(id) }) {
				return fmt.Errorf("overlay %d is in the file, and not in use", layout.FromU64(id))
			}
			return nil
		})
	})
}

// sameWalk compares two walks until it is time to stop; then it returns the key from which to continue.
func sameWalk(a, b *mergeIterator, until time.Time) (next []byte, err error) {
	for {
		keyA, versionsA, err := a.step()
		if err != nil {
			return nil, err
		}
		keyB, versionsB, err := b.step()
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(keyA, keyB) || versionsA != versionsB {
			return nil, fmt.Errorf("key %q with versions %s differs from key %q with versions %s", keyA, versionsA, keyB, versionsB)
		}
		if keyA == nil {
			return nil, nil
		}
		if time.Now().After(until) {
			return bytes.Clone(a.next()), nil
		}
	}
}

// step returns the next key with visible versions, and those versions.
func (m *mergeIterator) step() (raw []byte, versions string, err error) {
	for raw = bytes.Clone(m.next()); raw != nil; raw = bytes.Clone(m.next()) {
		_, err = m.versions(raw, store.Latest, func(e store.Entry) bool {
			versions += fmt.Sprintf("%d/%d/%t ", e.Version, e.Branch, e.Deleted)
			return true
		})
		if err != nil || versions != "" {
			return raw, versions, err
		}
	}
	return nil, "", nil
}

// checkBlobs checks that blobs exist and match their digests.
func (e *Engine) checkBlobs(ctx context.Context) error {
	blobs, err := e.Blobs(ctx, "")
	if err != nil {
		return err
	}
	for _, blob := range blobs {
		if err := e.checkBlob(ctx, blob); err != nil && !e.replaced(ctx, blob) {
			return fmt.Errorf("blob %s: %w", blob.Name, err)
		}
	}
	return nil
}

// replaced reports whether a listed blob has been replaced or dropped since.
func (e *Engine) replaced(ctx context.Context, blob store.Blob) bool {
	now, err := e.Blobs(ctx, blob.Name)
	return err == nil && (len(now) == 0 || now[0] != blob)
}

func (e *Engine) checkBlob(ctx context.Context, blob store.Blob) (err error) {
	r, err := e.GetBlob(ctx, blob.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, r.Size())); err != nil {
		return err
	}
	if found := hex.EncodeToString(h.Sum(nil)); found != blob.Digest {
		return fmt.Errorf("its digest is %s instead of %s", found, blob.Digest)
	}
	return nil
}
