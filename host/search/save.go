package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/search/paged"
	"github.com/alcove-memory/alcove/host/store"
)

// worthStoring is the number of documents from which SaveAll stores a tail.
const worthStoring = 512

// Save stores the sealed parts of the index. Every change up to version upTo has been applied. After an interruption,
// Load finds the previous state or the new one.
func (x *Index) Save(ctx context.Context, blobs Blobs, upTo uint64) error {
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	return x.guard(func() error { return x.save(ctx, blobs, upTo) })
}

// SaveAll seals all but short tails and then does what Save does. It is for the last save before the process ends.
func (x *Index) SaveAll(ctx context.Context, blobs Blobs, upTo uint64) error {
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	if err := x.maintain(ctx, func(p *part) bool { return p.docs()+len(p.ghosts) >= worthStoring }); err != nil {
		return err
	}
	return x.guard(func() error { return x.save(ctx, blobs, upTo) })
}

// save stores the sealed parts, the table, and the manifest. The caller holds maintaining.
func (x *Index) save(ctx context.Context, blobs Blobs, upTo uint64) error {
	for _, p := range x.sealed() {
		if err := x.store(ctx, blobs, p); err != nil {
			return fmt.Errorf("save the search index: %w", err)
		}
	}
	m, snap, state, err := x.collect(upTo)
	if err != nil {
		return fmt.Errorf("save the search index: %w", err)
	}
	if err := x.saveTable(ctx, blobs, &m, snap, state); err != nil {
		return fmt.Errorf("save the search index: %w", err)
	}
	return x.dropUnused(ctx, blobs)
}

// sealed lists the sealed parts.
func (x *Index) sealed() (parts []*part) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, p := range x.parts {
		if p.sealed != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// collect copies what is to be stored, all parts of which have files: of the table, what changed. Edits wait meanwhile.
func (x *Index) collect(upTo uint64) (m manifest, snap *paged.Snapshot, state []byte, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.table
	if t.purged {
		t.forgetUnused()
	}
	t.logInterned()
	t.flushNames()
	if state, err = x.state(); err != nil {
		return m, nil, nil, err
	}
	t.toStored()
	x.notifySaving()
	return x.inventory(upTo), t.stored.set.Collect(), state, nil
}

// saveTable stores a snapshot of the table, and the manifest that names it.
func (x *Index) saveTable(ctx context.Context, blobs Blobs, m *manifest, snap *paged.Snapshot, state []byte) error {
	if x.saved == nil && !slices.ContainsFunc(m.Branches, func(b manifestBranch) bool { return b.Parts != nil }) {
		x.abandon(snap)
		return nil // nothing is stored, and rebuilding it is quick
	}
	set := &x.table.stored.set
	if !set.HasChanged(snap) && bytes.Equal(state, x.savedState) {
		x.abandon(snap)
		m.Table = set.Newest()
		if err := x.saveManifest(ctx, blobs, m); err != nil {
			return err
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.notifySaved(m.Table)
		return nil
	}
	sum := sha256.New()
	_, _ = io.Copy(sum, snap.Reader(set, state)) // from memory to a hash
	m.Table = blobPrefix + "table-" + hex.EncodeToString(sum.Sum(nil)[:16])
	_, err := blobs.PutBlob(ctx, m.Table, snap.Reader(set, state))
	if err == nil {
		err = x.saveManifest(ctx, blobs, m)
	}
	if err != nil {
		x.abandon(snap)
		return err
	}
	content, release, err := opener(ctx, blobs)(m.Table)
	if err != nil {
		x.abandon(snap)
		return err
	}
	x.savedState = state
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notifySaved(m.Table)
	return set.Commit(snap, m.Table, content, release)
}

// saveManifest stores a manifest, unless it is stored already.
func (x *Index) saveManifest(ctx context.Context, blobs Blobs, m *manifest) error {
	data, err := m.encode()
	if err != nil || bytes.Equal(data, x.saved) {
		return err
	}
	if _, err := blobs.PutBlob(ctx, manifestName, bytes.NewReader(data)); err != nil {
		return err
	}
	x.saved = data
	return nil
}

func (x *Index) abandon(snap *paged.Snapshot) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.table.stored.set.Abandon(snap)
}

// opener maps files of the index.
func opener(ctx context.Context, blobs Blobs) paged.Opener {
	return func(name string) (data []byte, release func() error, err error) {
		r, err := blobs.GetBlob(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		m, err := store.Map(r, store.Private)
		if err != nil {
			return nil, nil, err
		}
		return m.Bytes(), m.Close, nil
	}
}

// inventory returns a manifest of the sealed parts. The caller holds mu.
func (x *Index) inventory(upTo uint64) manifest {
	m := manifest{Format: manifestFormat, Analysers: x.analyserIDs(), Others: upTo}
	for _, id := range slices.Sorted(maps.Keys(x.branches)) {
		b := manifestBranch{ID: id, Covered: upTo}
		for _, p := range x.branches[id].parts {
			if p.sealed == nil {
				b.Covered = min(b.Covered, p.first-1)
				continue
			}
			b.Parts = append(b.Parts, p.blob)
		}
		m.Branches = append(m.Branches, b)
	}
	return m
}

// store writes a part that is not stored yet, and maps what it wrote. The caller holds maintaining.
func (x *Index) store(ctx context.Context, blobs Blobs, p *part) error {
	if p.blob != "" {
		return nil
	}
	data := p.sealed.Data()
	sum := sha256.Sum256(data)
	name := blobPrefix + "part-" + hex.EncodeToString(sum[:16])
	if _, err := blobs.PutBlob(ctx, name, bytes.NewReader(data)); err != nil {
		return err
	}
	mapped, err := openFile(ctx, blobs, name)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.parts[p.id] != p { // its branch was dropped
		return mapped.mapped.Close()
	}
	p.blob, p.file, p.sealed = name, mapped, mapped.sealed // which frees the memory of the written one
	p.sets.clear()
	return nil
}

// dropUnused drops files of no part. The caller holds maintaining.
func (x *Index) dropUnused(ctx context.Context, blobs Blobs) error {
	used := map[string]bool{manifestName: true}
	x.mu.RLock()
	for _, name := range x.table.stored.set.Files() {
		used[name] = true
	}
	for _, p := range x.parts {
		used[p.blob] = true
	}
	x.mu.RUnlock()
	list, err := blobs.Blobs(ctx, blobPrefix)
	if err != nil {
		return fmt.Errorf("list the files of the search index: %w", err)
	}
	for _, blob := range list {
		if used[blob.Name] {
			continue
		}
		if err := blobs.DropBlob(ctx, blob.Name); err != nil {
			return fmt.Errorf("drop %s of the search index: %w", blob.Name, err)
		}
	}
	return nil
}

// Unsave drops the stored manifest: until the next Save, Load finds no index.
func (x *Index) Unsave(ctx context.Context, blobs Blobs) error {
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	x.saved = nil
	return blobs.DropBlob(ctx, manifestName)
}
