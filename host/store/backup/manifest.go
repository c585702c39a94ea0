package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
)

// The file that lists the parts of a backup.
const (
	ManifestName = "backup.json"
	ManifestSize = 16 << 20 // bytes of a manifest, at most
)

const (
	format        = 1
	kindOfFolder  = "backup folder"
	earlyManifest = "backup" // of builds before version 1
	extension     = ".part"
	partial       = ".partial"
)

// Part is a file in the folder.
type Part struct {
	File      string        `json:"file"`
	Since     uint64        `json:"since"` // the base version; 0: a full part
	SinceTime time.Time     `json:"since_time,omitzero"`
	Until     uint64        `json:"until"` // the newest version in it
	UntilTime time.Time     `json:"until_time,omitzero"`
	History   store.History `json:"history,omitempty"`
	Pieces    int           `json:"pieces"`
	Bytes     int64         `json:"bytes"`
	SHA256    string        `json:"sha256"`          // in its last frame
	Blobs     []string      `json:"blobs,omitempty"` // digests of those whose content is in it
	Files     []File        `json:"files,omitempty"` // beside the store, as of this part
	Made      time.Time     `json:"made"`
	State     string        `json:"state,omitempty"` // Base.State
	Sealed    bool          `json:"encrypted,omitempty"`

	// What is stored of it in a bucket, which may be encrypted.
	Stored       int64  `json:"stored,omitempty"` // bytes
	StoredSHA256 string `json:"stored_sha256,omitempty"`
}

// Manifest lists the parts of a folder: a full part and its increments, in order.
type Manifest struct {
	Alcove string `json:"alcove"` // kindOfFolder
	Format int    `json:"format"`
	Parts  []Part `json:"parts"`
	Chain  string `json:"chain,omitempty"`  // its name, in a bucket
	SHA256 string `json:"sha256,omitempty"` // of the name and the parts as JSON, where it has a name
}

// Base is the state that an increment continues from.
func (m Manifest) Base() Base {
	if len(m.Parts) == 0 {
		return Base{}
	}
	last := m.Parts[len(m.Parts)-1]
	base := Base{Version: last.Until, Time: last.UntilTime, History: last.History}
	for _, p := range m.Parts {
		base.Blobs = append(base.Blobs, p.Blobs...)
		for _, f := range p.Files {
			if f.carried() {
				base.Files = append(base.Files, f.SHA256)
			}
		}
	}
	return base
}

// ErrNone means that a folder has no backup.
var ErrNone = errors.New("there is no backup")

// ErrEarly means that a build before version 1 made a backup.
var ErrEarly = errors.New("a build before version 1 made it: restore it with that build, and move the directory with an export (alcove export alcove.jsonl --data DIRECTORY)")

// ErrBroken means that the parts of a backup are inconsistent.
var ErrBroken = errors.New("the backup cannot be restored: make a full one")

// ReadManifest reads the manifest of a folder.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	f, err := regular.Open(filepath.Join(dir, ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w in %s: make a full one first", ErrNone, dir)
	}
	if err != nil {
		return m, fmt.Errorf("read the backup's manifest: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, ManifestSize))
	if err != nil {
		return m, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return ParseManifest(data, dir)
}

// ParseManifest returns the manifest in a text, which is of a place that errors name.
func ParseManifest(data []byte, place string) (Manifest, error) {
	var m Manifest
	err := json.Unmarshal(data, &m)
	if err == nil && m.Alcove == earlyManifest {
		return Manifest{}, fmt.Errorf("the backup in %s: %w", place, ErrEarly)
	}
	if err != nil || m.Alcove != kindOfFolder {
		return m, fmt.Errorf("%s in %s is not the manifest of a backup (%w)", ManifestName, place, err)
	}
	if m.Format != format {
		return m, fmt.Errorf("the backup has format %d and this program knows %d: use a newer program", m.Format, format)
	}
	if m.Chain != "" && m.SHA256 != digestOf(m.Chain, data) {
		return m, fmt.Errorf("%s in %s has another sha256 than it says: it was changed: %w", ManifestName, place, ErrBroken)
	}
	return m, m.check()
}

// digestOf returns the digest of a chain's name, and of the parts in a manifest as they are written.
func digestOf(chain string, manifest []byte) string {
	var text struct {
		Parts json.RawMessage `json:"parts"`
	}
	compact := bytes.NewBufferString(chain + "\n")
	if json.Unmarshal(manifest, &text) != nil || json.Compact(compact, text.Parts) != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(compact.Bytes()))
}

// check validates the names and the sequence of the parts.
func (m Manifest) check() error {
	for i, p := range m.Parts {
		if p.File != filepath.Base(p.File) || filepath.Ext(p.File) != extension {
			return fmt.Errorf("the backup's manifest names %q, which is not a part: %w", p.File, ErrBroken)
		}
		if p.Until < p.Since {
			return fmt.Errorf("%s goes from version %d back to %d: %w", p.File, p.Since, p.Until, ErrBroken)
		}
		if err := checkFiles(p.Files); err != nil {
			return fmt.Errorf("%s: %w: %w", p.File, err, ErrBroken)
		}
		if i == 0 && p.Since != 0 {
			return fmt.Errorf("%s continues version %d, and the full part before it is missing: %w", p.File, p.Since, ErrBroken)
		}
		if i == 0 {
			continue
		}
		if err := p.follows(m.Parts[i-1]); err != nil {
			return fmt.Errorf("%w: %w", err, ErrBroken)
		}
	}
	return nil
}

// follows checks that a part continues exactly where the previous one ends.
func (p Part) follows(last Part) error {
	switch {
	case p.Since > last.Until:
		return fmt.Errorf("an increment is missing: %s ends with version %d, and %s continues version %d", last.File, last.Until, p.File, p.Since)
	case p.Since < last.Until:
		return fmt.Errorf("the order is wrong: %s continues version %d, and %s before it ends with version %d", p.File, p.Since, last.File, last.Until)
	case !p.SinceTime.Equal(last.UntilTime), len(last.History) > 0 && !p.History.Continues(last.History, last.Until):
		return fmt.Errorf("%s continues version %d of another store, or of another time, than %s ends with", p.File, p.Since, last.File)
	}
	return nil
}

// repeats reports whether a part adds nothing to the parts before it but later entries of the audit log.
func (p Part) repeats(before []Part) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	return p.Until == last.Until && p.State == last.State && slices.Equal(p.History, last.History) && slices.Equal(lasting(p.Files), lasting(last.Files))
}

// lasting returns files without the audit log and its head, which each call of a family changes, and without where their contents are.
func lasting(list []File) (kept []File) {
	for _, f := range list {
		if f.Earlier = false; f.Name != audit.FormerFile && !audit.IsPart(f.Name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// matches checks a part against its description in the manifest.
func (p Part) matches(found Part) error {
	if found.SHA256 != p.SHA256 || found.Since != p.Since || found.Until != p.Until || found.History.Root() != p.History.Root() {
		return fmt.Errorf("it is another part than the manifest says: from version %d to %d with the sum %s", found.Since, found.Until, found.SHA256)
	}
	if !slices.Equal(found.Files, p.Files) {
		return errors.New("it carries other files than the manifest says")
	}
	return nil
}

// Encode returns the manifest as a text, which ParseManifest reads.
func (m Manifest) Encode() ([]byte, error) {
	if m.Chain != "" {
		text, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		m.SHA256 = digestOf(m.Chain, text)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// With returns the manifest with one more part.
func (m Manifest) With(p Part) Manifest {
	m.Alcove, m.Format, m.Parts = kindOfFolder, format, append(slices.Clone(m.Parts), p)
	return m
}

func writeManifest(dir string, m Manifest) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ManifestName+"*"+partial)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, ManifestName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(dir) // or a power failure could bring back the previous manifest, whose parts are about to be removed
}
