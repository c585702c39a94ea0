package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// worthStoring is the number of documents from which SaveAll stores a tail.
const worthStoring = 512

// Save stores the sealed parts of the index. Every change up to version upTo has been applied. After an interruption,
// Load finds the previous state or the new one.
func (x *Index) Save(ctx context.Context, blobs Blobs, upTo uint64) error {
	x.tending.Lock()
	defer x.tending.Unlock()
	return x.save(ctx, blobs, upTo)
}

// SaveAll seals all but short tails and then does what Save does. It is for the last save before the process ends.
func (x *Index) SaveAll(ctx context.Context, blobs Blobs, upTo uint64) error {
	x.tending.Lock()
	defer x.tending.Unlock()
	if err := x.tend(ctx, func(p *part) bool { return p.docs()+len(p.ghosts) >= worthStoring }); err != nil {
		return err
	}
	return x.save(ctx, blobs, upTo)
}

// save stores the sealed parts and the manifest. The caller holds tending.
func (x *Index) save(ctx context.Context, blobs Blobs, upTo uint64) error {
	branches, m := x.inventory(upTo)
	for i, parts := range branches {
		for _, p := range parts {
			if err := x.store(ctx, blobs, p); err != nil {
				return fmt.Errorf("save the search index: %w", err)
			}
			m.Branches[i].Parts = append(m.Branches[i].Parts, p.blob)
		}
	}
	if x.saved == nil && !slices.ContainsFunc(m.Branches, func(b manifestBranch) bool { return b.Parts != nil }) {
		return x.dropUnused(ctx, blobs) // nothing is stored, and rebuilding it is quick
	}
	data, err := m.encode()
	if err != nil || bytes.Equal(data, x.saved) {
		return err
	}
	if _, err := blobs.PutBlob(ctx, manifestName, bytes.NewReader(data)); err != nil {
		return fmt.Errorf("save the search index: %w", err)
	}
	x.saved = data
	return x.dropUnused(ctx, blobs)
}

// inventory returns the sealed parts of each branch and a manifest without their names.
func (x *Index) inventory(upTo uint64) (branches [][]*part, m manifest) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	m = manifest{Format: manifestFormat, Analysers: x.analyserIDs(), Others: upTo}
	for _, id := range slices.Sorted(maps.Keys(x.branches)) {
		covered := upTo
		var sealed []*part
		for _, p := range x.branches[id].parts {
			if p.sealed == nil {
				covered = min(covered, p.first-1)
				continue
			}
			sealed = append(sealed, p)
		}
		branches = append(branches, sealed)
		m.Branches = append(m.Branches, manifestBranch{ID: id, Covered: covered})
	}
	return branches, m
}

// store writes a part that is not stored yet, and maps what it wrote. The caller holds tending.
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

// dropUnused drops files of no part. The caller holds tending.
func (x *Index) dropUnused(ctx context.Context, blobs Blobs) error {
	used := map[string]bool{manifestName: true}
	x.mu.RLock()
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
	x.tending.Lock()
	defer x.tending.Unlock()
	x.saved = nil
	return blobs.DropBlob(ctx, manifestName)
}
