package bolt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// keyErase is set while bytes of purged values may still be in unused parts of the file.
var keyErase = []byte("erase")

var _ store.Purger = (*Engine)(nil)

// Replace replaces the values of versions.
func (e *Engine) Replace(ctx context.Context, list []store.Replacement) error {
	on := map[store.BranchID]bool{}
	for _, r := range list {
		on[r.Branch] = true
	}
	e.building.Lock() // no overlay may copy values that are being replaced
	defer e.building.Unlock()
	forgotten := e.forgetOverlays(func(o *overlay) bool {
		return slices.ContainsFunc(o.run, func(s store.Segment) bool { return on[s.Branch] })
	})
	replaced := 0
	err := e.update(ctx, func(tx *bbolt.Tx) (err error) {
		if replaced, err = e.replaceAll(tx, list); err != nil || replaced == 0 {
			return err
		}
		return errors.Join(eraseOverlays(tx, forgotten), layout.InSpace(tx, layout.KindMeta).Write(keyErase, []byte{1}))
	})
	if err != nil || replaced == 0 {
		e.recallOverlays(forgotten)
		return err
	}
	e.passed(PurgeRewritten)
	return nil
}

func (e *Engine) replaceAll(tx *bbolt.Tx, list []store.Replacement) (replaced int, err error) {
	r := newReader(tx)
	for _, to := range list {
		branch := layout.Branch(tx, to.Branch)
		if branch == nil {
			continue
		}
		key := keycode.Version(keycode.Encode(to.Key), to.Version)
		data := branch.Bucket(layout.KindEntries.Bucket()).Get(key)
		if data == nil {
			continue
		}
		was, err := r.decode(key, data)
		if err != nil {
			return replaced, err
		}
		if err := e.replaceValue(tx, branch, was, to.Value); err != nil {
			return replaced, err
		}
		replaced++
	}
	return replaced, nil
}

// Erase rewrites the file if it may contain replaced values.
func (e *Engine) Erase(ctx context.Context) error {
	e.building.Lock() // an overlay in the making counts on the numbers of the file's transactions
	defer e.building.Unlock()
	pending := false
	err := e.read(ctx, func(tx *bbolt.Tx) (err error) {
		pending, err = hasErase(tx)
		return err
	})
	if err != nil || !pending {
		return err
	}
	if err := e.do(&job{ctx: context.WithoutCancel(ctx), alone: e.erase}); err != nil {
		return fmt.Errorf("values are replaced, but their bytes may still be in the file until it is compacted: %w", err)
	}
	return nil
}

// hasErase reports whether bytes of replaced values may still be in the file.
func hasErase(tx *bbolt.Tx) (bool, error) {
	mark, err := layout.InSpace(tx, layout.KindMeta).Read(keyErase)
	return mark != nil, err
}

func (e *Engine) replaceValue(tx *bbolt.Tx, branch *bbolt.Bucket, was store.Entry, value []byte) error {
	if len(value) > layout.LargeValue {
		return fmt.Errorf("replace %s: the new value has %d bytes: at most %d are allowed", was.Key, len(value), layout.LargeValue)
	}
	key := keycode.Version(keycode.Encode(was.Key), was.Version)
	r, _ := layout.NewRecord(key, store.Entry{Branch: was.Branch, Point: was.Point, Value: value})
	return errors.Join(
		layout.InBranch(branch, was.Branch, layout.KindValues).Remove(key),
		layout.InBranch(branch, was.Branch, layout.KindEntries).WriteSealed(key, r.Encode(key)),
		layout.InSpace(tx, layout.KindPurged).Write(append(layout.U64(uint64(was.Branch)), key...), layout.U64(e.head.Version)))
}

// erase runs on the writer's goroutine.
func (e *Engine) erase() error {
	if err := e.compact(); err != nil {
		return err
	}
	return e.transact(func(tx *bbolt.Tx) error { return layout.InSpace(tx, layout.KindMeta).Remove(keyErase) })
}

// finishPurge erases purged values that a crash left. It runs before the writer starts.
func (e *Engine) finishPurge() error {
	pending := false
	err := e.db.View(func(tx *bbolt.Tx) (err error) {
		pending, err = hasErase(tx)
		return err
	})
	if err != nil || !pending {
		return err
	}
	return e.erase()
}
