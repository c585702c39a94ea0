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

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// maxFaults is how many faults one check reports.
const maxFaults = 20

// Check reads everything and reports what is inconsistent. Commits wait while the pages of the file are looked at, and go
// on while their contents are.
func (e *Engine) Check(ctx context.Context) error {
	var faults []error
	report := func(err error) {
		if err != nil && len(faults) < maxFaults {
			faults = append(faults, err)
		}
	}
	report(e.do(&job{ctx: ctx, alone: func() error { return e.checkPages(report) }}))
	err := e.read(ctx, func(tx *bbolt.Tx) error {
		checkSums(tx, report)
		checkPoints(tx, report)
		r := newReader(tx)
		return tx.Bucket(bucketBranches).ForEachBucket(func(id []byte) error {
			checkBranch(r, store.BranchID(fromU64(id)), tx.Bucket(bucketBranches).Bucket(id), report)
			return ctx.Err()
		})
	})
	report(err)
	report(e.checkOverlays(ctx))
	report(e.checkBlobs(ctx))
	return errors.Join(faults...)
}

// checkPages makes sure that every page is used once or free. bbolt compares what a transaction sees with the pages that
// are free now, so it runs in the writer's turn: beside commits it would find faults in a whole file.
func (e *Engine) checkPages(report func(error)) error {
	return e.view(func(tx *bbolt.Tx) error {
		for fault := range tx.Check() {
			report(fault)
		}
		return nil
	})
}

// checkSums makes sure that every record is whole, and that none is missing in its bucket.
func checkSums(tx *bbolt.Tx, report func(error)) {
	for _, k := range topKinds() {
		report(top(tx, k).check(fmt.Sprintf("the bucket %s", k.bucket())))
	}
	branches := tx.Bucket(bucketBranches)
	report(branches.ForEachBucket(func(id []byte) error {
		for _, k := range branchKinds() {
			b := store.BranchID(fromU64(id))
			report(of(branches.Bucket(id), b, k).check(fmt.Sprintf("branch %d: the bucket %s", b, k.bucket())))
		}
		return nil
	}))
}

func (r records) check(what string) error {
	if r.Bucket == nil {
		return fmt.Errorf("%s is missing", what)
	}
	sum := uint64(0)
	c := r.Cursor()
	for key, data := c.First(); key != nil; key, data = c.Next() {
		if !r.counts(key) {
			continue
		}
		if err := r.whole(key, data); err != nil {
			return fmt.Errorf("%s: record %q: %w", what, key, err)
		}
		sum += weight(r.stored(data))
	}
	if sum != r.Sequence() {
		return fmt.Errorf("%s: %w", what, errIncomplete)
	}
	return nil
}

// checkPoints makes sure that versions and instants agree, and grow together without gaps.
func checkPoints(tx *bbolt.Tx, report func(error)) {
	var last store.Point
	times, points, count := top(tx, kindTime), top(tx, kindPoints), 0
	c := points.Cursor()
	for version, data := c.First(); version != nil; version, data = c.Next() {
		p, err := points.point(version, data)
		if err != nil {
			report(err)
			continue
		}
		if p.Version != last.Version+1 || !p.Time.After(last.Time) && last.Version != 0 {
			report(fmt.Errorf("version %d at %s does not follow version %d at %s", p.Version, p.Time, last.Version, last.Time))
		}
		if at, err := times.get(u64(uint64(p.Time.UnixMicro()))); err != nil || !bytes.Equal(at, version) {
			report(fmt.Errorf("version %d is missing in the index of times", p.Version))
		}
		last = p
		count++
	}
	if n := times.Stats().KeyN; n != count {
		report(fmt.Errorf("the index of times has %d instants for %d versions", n, count))
	}
}

// checkBranch makes sure that entries are whole and that the log names exactly those above the floor.
func checkBranch(r *reader, id store.BranchID, branch *bbolt.Bucket, report func(error)) {
	entries, log := of(branch, id, kindEntries), of(branch, id, kindLog)
	floor := uint64(0)
	t, ok, err := readTrim(branch, id)
	if err != nil {
		report(err)
	}
	if ok {
		floor = t.floor.Version
	}
	above := 0
	c := entries.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		e, err := r.decode(key, value)
		if err != nil {
			report(fmt.Errorf("branch %d: %w", id, err))
			continue
		}
		at, err := top(r.tx, kindPoints).get(u64(e.Version))
		if err != nil || e.Branch != id || int64(fromU64(at)) != e.Time.UnixMicro() {
			report(fmt.Errorf("branch %d: %s has version %d at %s, which was never committed", id, e.Key, e.Version, e.Time))
		}
		if e.Version <= floor {
			continue
		}
		above++
		change := append(u64(e.Version), encodeKey(e.Key)...)
		if found, err := log.change(change, log.Get(change)); err != nil || found.Deleted != e.Deleted {
			report(fmt.Errorf("branch %d: version %d of %s is missing in the change log", id, e.Version, e.Key))
		}
	}
	if n := log.Stats().KeyN; n != above && floor == 0 {
		report(fmt.Errorf("branch %d: the change log names %d changes of %d entries", id, n, above))
	}
}

// checkOverlays makes sure that overlays hold what their segments hold.
func (e *Engine) checkOverlays(ctx context.Context) error {
	e.building.Lock() // none is made or dropped meanwhile
	defer e.building.Unlock()
	e.mu.RLock()
	overlays := e.overlays
	e.mu.RUnlock()
	if err := e.checkOverlaysInUse(ctx, overlays); err != nil {
		return err
	}
	for _, o := range overlays {
		err := e.read(ctx, func(tx *bbolt.Tx) error {
			plain := newReader(tx).walk(rawBlocks(o.run), nil, nil, false)
			merged := newReader(tx).walk([]block{{segment: store.Segment{At: store.Latest}, overlay: o}}, nil, nil, false)
			return sameWalk(plain, merged)
		})
		if err != nil {
			return fmt.Errorf("overlay %d: %w", o.id, err)
		}
	}
	return nil
}

// checkOverlaysInUse makes sure that the file has no whole overlay that nobody knows of: it would not be erased with
// what it was made from.
func (e *Engine) checkOverlaysInUse(ctx context.Context, overlays []*overlay) error {
	return e.read(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketOverlays).ForEachBucket(func(id []byte) error {
			if readOverlay(tx.Bucket(bucketOverlays).Bucket(id), fromU64(id)) == nil {
				return nil
			}
			if !slices.ContainsFunc(overlays, func(o *overlay) bool { return o.id == fromU64(id) }) {
				return fmt.Errorf("overlay %d is in the file, and not in use", fromU64(id))
			}
			return nil
		})
	})
}

func sameWalk(a, b *merged) error {
	for {
		keyA, versionsA, err := a.step()
		if err != nil {
			return err
		}
		keyB, versionsB, err := b.step()
		if err != nil {
			return err
		}
		if !bytes.Equal(keyA, keyB) || versionsA != versionsB {
			return fmt.Errorf("key %q with versions %s differs from key %q with versions %s", keyA, versionsA, keyB, versionsB)
		}
		if keyA == nil {
			return nil
		}
	}
}

// step is the next key that has visible versions, and these.
func (m *merged) step() (raw []byte, versions string, err error) {
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

// checkBlobs makes sure that blobs are there and are what they are named after.
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

// replaced reports whether a blob that was listed has been replaced or dropped since, so that what was read is another.
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
