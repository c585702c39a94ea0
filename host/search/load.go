package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// Blobs stores the files of an index.
type Blobs interface {
	PutBlob(ctx context.Context, name string, r io.Reader) (store.Blob, error)
	GetBlob(ctx context.Context, name string) (store.BlobReader, error)
	DropBlob(ctx context.Context, name string) error
	Blobs(ctx context.Context, prefix string) ([]store.Blob, error)
}

// Names of an index's files.
const (
	blobPrefix   = "search/"
	manifestName = blobPrefix + "manifest"
)

// manifest lists the files of an index.
type manifest struct {
	Format    int               `json:"format"`
	Analysers map[string]string `json:"analysers"` // by collection; "" for the others
	Branches  []manifestBranch  `json:"branches"`
	Others    uint64            `json:"others"` // unlisted branches have no documents up to this version
}

type manifestBranch struct {
	ID      store.BranchID `json:"id"`
	Covered uint64         `json:"covered"` // the parts contain every version up to this one
	Parts   []string       `json:"parts"`
}

// manifestFormat is that of all files of an index: those of another are rebuilt from the store.
const manifestFormat = 4

// encode returns the manifest after its checksum.
func (m *manifest) encode() ([]byte, error) {
	data, err := json.Marshal(m)
	return append(manifestSum(data), data...), err
}

func manifestSum(data []byte) []byte {
	return fmt.Appendf(nil, "%08x\n", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

func (m *manifest) decode(data []byte) error {
	sum, rest, _ := bytes.Cut(data, []byte("\n"))
	if !bytes.Equal(append(sum, '\n'), manifestSum(rest)) {
		return errors.New("its checksum does not match")
	}
	return json.Unmarshal(rest, m)
}

// maxManifest bounds a manifest, in bytes.
const maxManifest = 256 << 20

// Coverage is the version of each branch up to which an index is complete.
type Coverage struct {
	branches map[store.BranchID]uint64
	others   uint64
}

// Of returns the version up to which the index has every change of a branch; 0: none.
func (c Coverage) Of(b store.BranchID) uint64 {
	if version, ok := c.branches[b]; ok {
		return version
	}
	return c.others
}

// Branches returns the branches of which the index has documents, in ascending order.
func (c Coverage) Branches() []store.BranchID { return slices.Sorted(maps.Keys(c.branches)) }

// Load opens a saved index in an empty one and returns its coverage; the caller applies later changes. Postings stay in their mapped files,
// which are verified as they are read. Files that are
// damaged or of another analysis are logged and dropped, and the coverage of their branches is 0. An error means that
// blobs could not be listed or dropped.
func (x *Index) Load(ctx context.Context, blobs Blobs, logger *slog.Logger) (Coverage, error) {
	x.tending.Lock()
	defer x.tending.Unlock()
	m, err := x.readManifest(ctx, blobs)
	if err != nil {
		logger.Warn("the search index is rebuilt", "why", err)
		if err := blobs.DropBlob(ctx, manifestName); err != nil {
			return Coverage{}, fmt.Errorf("drop %s: %w", manifestName, err)
		}
	}
	covered := Coverage{map[store.BranchID]uint64{}, m.Others}
	for _, b := range m.Branches {
		if err := x.loadBranch(ctx, blobs, b); err != nil {
			if ctx.Err() != nil {
				return Coverage{}, ctx.Err()
			}
			covered.branches[b.ID], x.saved = 0, nil
			logger.Warn("the search index of a branch is rebuilt", "branch", b.ID, "why", err)
			continue
		}
		covered.branches[b.ID] = b.Covered
	}
	return covered, x.dropUnused(ctx, blobs)
}

// readManifest reads the manifest; the zero manifest if there is none. A manifest of other analysers is an error.
func (x *Index) readManifest(ctx context.Context, blobs Blobs) (m manifest, err error) {
	data, err := readBlob(ctx, blobs, manifestName, maxManifest)
	if errors.Is(err, store.ErrNotFound) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := m.decode(data); err != nil {
		return manifest{}, fmt.Errorf("read %s: %w", manifestName, err)
	}
	if m.Format != manifestFormat || !maps.Equal(m.Analysers, x.analyserIDs()) {
		return manifest{}, errors.New("it was made by another version, or by other text analysers")
	}
	x.saved = data
	return m, nil
}

func (x *Index) analyserIDs() map[string]string {
	ids := map[string]string{"": x.analyser.ID()}
	for collection, a := range x.analysers {
		ids[collection] = a.ID()
	}
	return ids
}

func readBlob(ctx context.Context, blobs Blobs, name string, most int64) (data []byte, err error) {
	r, err := blobs.GetBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Size() > most {
		return nil, fmt.Errorf("read %s: it has %d bytes: at most %d are read", name, r.Size(), most)
	}
	data = make([]byte, r.Size())
	if n, err := r.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// loadedPart is a stored part that was opened.
type loadedPart struct {
	file   *file
	stored storedPayload
}

// loadBranch reads all parts of a branch before it adds any.
func (x *Index) loadBranch(ctx context.Context, blobs Blobs, b manifestBranch) error {
	parts := make([]loadedPart, 0, len(b.Parts))
	for _, name := range b.Parts {
		p, err := x.openPart(ctx, blobs, name)
		if err != nil {
			for _, p := range parts {
				err = errors.Join(err, p.file.mapped.Close())
			}
			return err
		}
		parts = append(parts, p)
	}
	for _, p := range parts {
		x.addPart(b.ID, p)
	}
	return nil
}

// openPart opens a stored part. It reads and checks its rows and lengths, and leaves its postings to searches.
func (x *Index) openPart(ctx context.Context, blobs Blobs, name string) (p loadedPart, err error) {
	if p.file, err = openFile(ctx, blobs, name); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	err = x.guard(func() (err error) {
		sealed := p.file.sealed
		_ = sealed.Lengths()
		p.stored, err = readPayload(sealed.Payload(), sealed.Docs())
		return err
	})
	if err != nil {
		return p, errors.Join(fmt.Errorf("%s: %w", name, err), p.file.mapped.Close())
	}
	return p, nil
}

// addPart adds the rows of a stored part.
func (x *Index) addPart(id store.BranchID, l loadedPart) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	clear(x.cache)
	x.lastPart++
	p := &part{id: x.lastPart, branch: id, sealed: l.file.sealed, file: l.file, blob: l.file.name, first: store.Latest}
	x.parts[p.id] = p
	b := x.branch(id)
	at := len(b.parts)
	if b.tail() != nil {
		at--
	}
	b.parts = slices.Insert(b.parts, at, p)
	for i := range l.stored.documents {
		p.rows = append(p.rows, x.addStored(b, p, &l.stored.documents[i], uint32(i)))
	}
	for i := range l.stored.ghosts {
		p.ghosts = append(p.ghosts, x.addStored(b, p, &l.stored.ghosts[i], uint32(i)))
	}
	p.sortExpiring()
}

// addStored adds a row and returns its number, or none when the index has that version already.
func (x *Index) addStored(b *branch, p *part, d *storedDoc, local uint32) uint32 {
	if d.dead {
		p.dead++
		return none
	}
	t := x.table
	space := t.spaceNumber(d.namespace, d.collection)
	r := row{version: d.version, branch: p.branch, time: d.time, name: t.nameNumber(name{space, d.key}), previous: none, extra: none,
		importance: d.importance, gone: d.gone}
	var said *turn
	if at := t.at(p.branch, r.name, d.version); at != none && t.row(at).version == d.version {
		p.dead++
		return none
	}
	if !d.gone {
		r.agent = t.agentNumber(d.agent)
		r.facet = t.facetNumber(facet{space, d.state, d.kind})
		r.length = p.sealed.Lengths()[local]
		r.extra, said = x.storedExtra(d), x.storedTurn(d, space)
	}
	number := t.add(r, said)
	*t.places.Edit(number) = place{p.id, local}
	t.link(number)
	x.linked(number)
	b.newest = max(b.newest, r.version)
	p.first, p.last = min(p.first, d.version), max(p.last, d.version)
	if !d.gone {
		p.note(t, t.row(number), local)
	}
	if !d.gone {
		x.semanticAdd(number, Embedding{})
	}
	return number
}

func (x *Index) storedExtra(d *storedDoc) uint32 {
	return x.table.extras.add(extra{expires: d.expires, created: d.created, tags: x.table.tagNumbers(d.tags), fields: x.table.storedFields(d.fields)})
}

func (x *Index) storedTurn(d *storedDoc, space uint32) *turn {
	if !d.turn {
		return nil
	}
	return &turn{position{x.table.sessionNumber(sessionName{space, d.session}), d.at}, x.table.speakerNumber(strings.Fields(d.speaker)), d.said, d.role, d.asks}
}
