// Package models installs the files of embedding models in a data directory.
package models

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/search/embed"
)

// Folder holds the models in a data directory, each in a folder of its own: its name, and twelve digits of its digest.
const Folder = "models"

const (
	recordFile = "alcove.json" // an Installed, beside the model's files
	pinsFile   = "pins.json"   // the digest of each model that is not known, by its name
	unfinished = ".new-"       // begins the name of a folder that is being made
	smallFile  = 1 << 20       // bytes of the files above, and of a config.json
)

// abandonedAfter is the age at which an unfinished folder is nobody's any more.
const abandonedAfter = 24 * time.Hour

// limit returns the bytes that a file of a model may have; 0: it is none of a model.
func limit(file string) int64 {
	switch file {
	case weightsFile:
		return 2 << 30
	case tokenizerFile:
		return 64 << 20
	case configFile, embed.PoolingFile:
		return smallFile
	}
	return 0
}

// Library is the models of a data directory.
type Library struct {
	Dir    string           // the data directory
	Mirror string           // the address with the known models, each under REPOSITORY/resolve/REVISION/FILE; empty: there is none
	Client *http.Client     // nil: one that follows redirects to https alone
	Now    func() time.Time // required
	Copied func(bytes int)  // told of progress; nil: nobody is
}

// Installed is a model in a data directory.
type Installed struct {
	Model
	Digest string    `json:"digest"` // SHA-256 of the lines that sha256sum prints for its files, in the order of their names
	Path   string    `json:"path"`   // of its folder, in the data directory, with slashes
	Source string    `json:"source"` // without what may be a token
	At     time.Time `json:"at"`
	// Kept has the SHA-256 of each file as it is kept: the weights of a transformer are in eight bits.
	Kept map[string]string `json:"kept"`
	// Noted says that its digest was not known before, and is remembered from now on.
	Noted bool `json:"noted,omitempty"`
}

// Request names a model to install.
type Request struct {
	Name   string
	From   string // a folder, an archive or an address; empty: the mirror
	Digest string // as Installed has it; empty: that of the known model, or of the first installation
}

// Install copies a model into the data directory, unless it is there. After an error, or an end of the process at any moment, it is
// there as a whole or not at all.
func (l Library) Install(ctx context.Context, r Request) (i Installed, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("install the model %.80s: %w", r.Name, err)
		}
	}()
	model, isKnown := known(r.Name)
	if err := embed.CheckName(r.Name); err != nil {
		return i, err
	}
	if r.Name == string(embed.Builtin) || r.Name == "none" {
		return i, errors.New("the name has another meaning: give it one of its own")
	}
	folder := filepath.Join(l.Dir, Folder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return i, err
	}
	l.tidy(folder)
	dir, err := os.MkdirTemp(folder, unfinished)
	if err != nil {
		return i, err
	}
	defer os.RemoveAll(dir)
	source, err := l.fetch(ctx, r, model, dir)
	if err != nil {
		return i, err
	}
	i = Installed{Model: model, Source: source, At: l.Now().UTC()}
	if err := i.measure(dir); err != nil {
		return i, err
	}
	if err := l.verify(r, model, isKnown, &i); err != nil {
		return i, err
	}
	return i, l.keep(dir, &i)
}

// measure sets what the files of a folder tell.
func (i *Installed) measure(dir string) error {
	i.Files = map[string]string{}
	lines := sha256.New()
	for _, name := range []string{configFile, weightsFile, tokenizerFile} {
		sum, size, err := digest(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		i.Files[name] = sum
		fmt.Fprintf(lines, "%s  %s\n", sum, name)
		if name == weightsFile {
			i.Bytes = size
		}
	}
	i.Digest = hex.EncodeToString(lines.Sum(nil))
	i.Path = Folder + "/" + i.Name + "-" + i.Digest[:12]
	return nil
}

func digest(path string) (sum string, size int64, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// verify refuses files that are not those of the known model, of the digest that was given, or of the first installation, and files
// that are no model.
func (l Library) verify(r Request, model Model, isKnown bool, i *Installed) error {
	for _, name := range slices.Sorted(maps.Keys(model.Files)) {
		if got, want := i.Files[name], model.Files[name]; got != want {
			return fmt.Errorf("%s has the SHA-256 %s, and that of %s is %s: it is another version, or it was changed "+
				"(to install it all the same, give it a name of its own)", name, got, model.Repository, want)
		}
	}
	pins, err := l.pins()
	if err != nil {
		return err
	}
	pinned := pins[r.Name]
	switch {
	case r.Digest != "" && !strings.EqualFold(r.Digest, i.Digest):
		return fmt.Errorf("its digest is %s, not %.80s: these are not the files that were reviewed", i.Digest, r.Digest)
	case r.Digest == "" && !isKnown && pinned != "" && pinned != i.Digest:
		return fmt.Errorf("its digest is %s, and it was %s when it was first installed: the files changed (--digest %s accepts them)",
			i.Digest, pinned, i.Digest)
	}
	i.Noted = !isKnown && r.Digest == "" && pinned == ""
	return nil
}

// keep puts a finished folder in its place.
func (l Library) keep(dir string, i *Installed) error {
	if err := i.prepare(dir); err != nil {
		return err
	}
	if _, isKnown := known(i.Name); !isKnown {
		if err := l.pin(i.Name, i.Digest); err != nil {
			return err
		}
	}
	record, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(dir, recordFile), append(record, '\n'), 0o600); err != nil {
		return err
	}
	place := filepath.Join(l.Dir, filepath.FromSlash(i.Path))
	if intact(place, i.Digest) {
		return nil
	}
	if err := os.RemoveAll(place); err != nil { // something is missing there, or damaged
		return err
	}
	return durable.Place(dir, place)
}

// prepare makes of the files what is kept, and opens it.
func (i *Installed) prepare(dir string) error {
	weights := weightsFile
	isTransformer, err := embed.Quantise(dir, func(write func(io.Writer) error) error {
		return durable.Write(filepath.Join(dir, embed.QuantisedFile), 0o600, write)
	})
	if err == nil && isTransformer {
		weights = embed.QuantisedFile
		err = errors.Join(os.Remove(filepath.Join(dir, weightsFile)), i.setPooling(dir))
	}
	if err != nil {
		return err
	}
	opened, err := embed.OpenFolder(dir)
	if err != nil {
		return err
	}
	i.Dimensions = opened.Dimensions()
	i.Kept = map[string]string{}
	for _, name := range []string{configFile, tokenizerFile, weights} {
		if i.Kept[name], _, err = digest(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// setPooling writes how the vectors of tokens of a known model are pooled. That of another one is in its files.
func (i *Installed) setPooling(dir string) error {
	if i.Repository == "" {
		return nil
	}
	path := filepath.Join(dir, filepath.FromSlash(embed.PoolingFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	content := fmt.Sprintf(`{"pooling_mode_cls_token":%t,"pooling_mode_mean_tokens":%t}`, i.First, !i.First)
	return durable.WriteFile(path, []byte(content+"\n"), 0o600)
}

// intact reports whether the model with a digest is in a folder, and none of its files is damaged.
func intact(place, of string) bool {
	there, err := readRecord(place)
	if err != nil || there.Digest != of || len(there.Kept) == 0 {
		return false
	}
	for name, want := range there.Kept {
		if sum, _, err := digest(filepath.Join(place, name)); err != nil || sum != want {
			return false
		}
	}
	return true
}

func readRecord(place string) (i Installed, err error) {
	raw, err := regular.Read(filepath.Join(place, recordFile), smallFile)
	if err == nil {
		err = json.Unmarshal(raw, &i)
	}
	return i, err
}

// tidy removes what interrupted installations left.
func (l Library) tidy(folder string) {
	list, err := os.ReadDir(folder)
	if err != nil {
		return // an installation will say so
	}
	for _, entry := range list {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), unfinished) && l.Now().Sub(info.ModTime()) > abandonedAfter {
			os.RemoveAll(filepath.Join(folder, entry.Name()))
		}
	}
}

// pins returns the digests of models that were installed and are not known.
func (l Library) pins() (map[string]string, error) {
	pins := map[string]string{}
	path := filepath.Join(l.Dir, Folder, pinsFile)
	raw, err := regular.Read(path, smallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return pins, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &pins)
	}
	if err != nil {
		return nil, fmt.Errorf("read the digests of earlier installations in %s: %w (restore the file, or delete it to trust the files as they are now)", path, err)
	}
	return pins, nil
}

func (l Library) pin(name, digest string) error {
	pins, err := l.pins()
	if err != nil || pins[name] == digest {
		return err
	}
	pins[name] = digest
	raw, err := json.MarshalIndent(pins, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(l.Dir, Folder, pinsFile), append(raw, '\n'), 0o600)
}

// List returns the installed models, in the order of their folders.
func (l Library) List() ([]Installed, error) {
	folder := filepath.Join(l.Dir, Folder)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the installed models: %w", err)
	}
	list := []Installed{}
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), unfinished) {
			continue
		}
		i, err := readRecord(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the installed model %s: %w (delete its folder, and install it again)", entry.Name(), err)
		}
		i.Path = Folder + "/" + entry.Name()
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b Installed) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// Remove deletes all versions of a model, and returns how many there were.
func (l Library) Remove(name string) (int, error) {
	list, err := l.List()
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, i := range list {
		if i.Name != name {
			continue
		}
		if err := os.RemoveAll(filepath.Join(l.Dir, filepath.FromSlash(i.Path))); err != nil {
			return removed, fmt.Errorf("remove the model %s: %w", name, err)
		}
		removed++
	}
	return removed, nil
}
