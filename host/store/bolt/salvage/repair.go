package salvage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// aside is a store.Aside that knows of which kind the record is.
type aside struct {
	store.Aside
	kind layout.Kind
}

const (
	asideBytes = 1 << 10
	maxAside   = 100_000
)

func newAside(id store.BranchID, k layout.Kind, key, record []byte, why error) aside {
	return aside{kind: k, Aside: store.Aside{Branch: id, Key: layout.DescribeKey(k, key), Raw: hex.EncodeToString(key), Why: why.Error(),
		Record: hex.EncodeToString(record[:min(len(record), asideBytes)])}}
}

// Repair makes a new database of all that can be read of a damaged one, and moves the old one and a report into a folder in
// store.SetAside. Change logs, the index of instants, overlays and blobs are rebuilt from the entries, except blobs that want.Keep
// accepts. No process may have the space open. Without damage it does nothing.
func Repair(ctx context.Context, dir string, want store.Repair) (r store.Repaired, err error) {
	p, f, err := openPagesOf(layout.Database(dir))
	if err != nil {
		return store.Repaired{}, fmt.Errorf("repair: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := newSurvey(p)
	r = store.Repaired{Faults: []string{}, Aside: []store.Aside{}}
	if s.foreign() {
		return r, fmt.Errorf("repair: %w", layout.FormatError(dir, s.format))
	}
	if s.missing() && p.useNewestTree() {
		p.metaFaults = append(p.metaFaults, errFellBack)
		s = newSurvey(p)
	}
	if s.foreign() {
		return r, fmt.Errorf("repair: %w", layout.FormatError(dir, s.format))
	}
	s.examine()
	for _, f := range s.all() {
		r.Faults = append(r.Faults, f.Error())
	}
	if len(r.Faults) == 0 {
		return r, nil
	}
	r.Folder = filepath.Join(dir, store.SetAside, want.Now.UTC().Format("20060102-150405.000000"))
	keeps := func(blob store.Blob) bool {
		return want.Keep != nil && want.Keep(blob.Name) && isWhole(layout.Blobs(dir), blob)
	}
	if err := rebuild(ctx, dir, p, keeps, &r); err != nil {
		return r, fmt.Errorf("repair: %w", err)
	}
	return r, nil
}

var errFellBack = errors.New("the root bucket is damaged: the state of an earlier commit is repaired, and what later ones wrote is set aside")

// rebuild makes the new file under a temporary name, links the old one into the folder, and renames the new one. A crash leaves the old
// one under its name, or the new one.
func rebuild(ctx context.Context, dir string, p *pages, keeps func(store.Blob) bool, r *store.Repaired) error {
	made := filepath.Join(dir, layout.Repairing)
	if err := os.MkdirAll(r.Folder, 0o700); err != nil {
		return err
	}
	if err := rebuildTo(ctx, made, p, keeps, r); err != nil {
		return errors.Join(err, layout.RemoveFile(made))
	}
	report, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.Folder, "report.json"), append(report, '\n'), 0o600); err != nil {
		return err
	}
	kept := layout.Database(r.Folder)
	if err := os.Link(layout.Database(dir), kept); err != nil { // where there are no links, a copy
		if err := copyTo(layout.Database(dir), kept); err != nil {
			return err
		}
	}
	return errors.Join(durable.SyncDir(r.Folder), os.Rename(made, layout.Database(dir)), durable.SyncDir(dir))
}

// isWhole reports whether the file of a blob has the size and the digest of its record.
func isWhole(dir string, blob store.Blob) bool {
	f, err := os.Open(filepath.Join(dir, blob.Digest))
	if err != nil {
		return false
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	return errors.Join(err, f.Close()) == nil && n == blob.Size && hex.EncodeToString(h.Sum(nil)) == blob.Digest
}

func copyTo(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
