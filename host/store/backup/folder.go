package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/store/sealing"
)

// abandoned is the age of the last write after which an unfinished file is removed.
const abandoned = time.Hour

// folder is a folder that a part is added to.
type folder struct {
	dir    string
	before Manifest // as it was
	now    time.Time
	sealer *sealing.Sealer
}

// add writes a part and appends it to the manifest if it is valid.
func (f *folder) add(ctx context.Context, m Manifest, from Source, check func(Part) error) (Part, error) {
	if err := makeFolder(f.dir); err != nil {
		return Part{}, err
	}
	if err := removeAbandoned(f.dir, "", time.Now()); err != nil {
		return Part{}, err
	}
	file, err := os.CreateTemp(f.dir, "*"+partial)
	if err != nil {
		return Part{}, err
	}
	p, err := writePart(ctx, file, f.sealer, m.Base(), from, f.now)
	if err == nil {
		err = errors.Join(check(p), f.unchanged())
	}
	if err == nil && p.repeats(m.Parts) {
		err = ErrUnchanged
	}
	if err != nil {
		return Part{}, errors.Join(err, os.Remove(file.Name()))
	}
	if err := os.Rename(file.Name(), filepath.Join(f.dir, p.File)); err != nil {
		return p, err
	}
	if err := syncFolder(f.dir); err != nil { // before the manifest lists the part
		return p, err
	}
	return p, writeManifest(f.dir, m.With(p))
}

// unchanged checks that no other process added a part meanwhile, which would be lost.
func (f *folder) unchanged() error {
	m, err := ReadManifest(f.dir)
	if err != nil && !errors.Is(err, ErrNone) && !errors.Is(err, ErrBroken) {
		return err
	}
	if !reflect.DeepEqual(m, f.before) {
		return fmt.Errorf("another backup was made in %s meanwhile: this one is dropped", f.dir)
	}
	return nil
}

// removeOthers removes the parts that a full one replaces, and those that no manifest ever named.
func (f *folder) removeOthers(keep Part) error {
	files, err := os.ReadDir(f.dir)
	for _, file := range files {
		if name := file.Name(); name != keep.File && file.Type().IsRegular() && IsPart(name) {
			err = errors.Join(err, removeSlowly(filepath.Join(f.dir, name)))
		}
	}
	return err
}

// IsPart reports whether a name is one that parts of backups have.
func IsPart(name string) bool {
	return regexp.MustCompile(`^(full|from-\d{12,20})-to-\d{12,20}-[0-9a-f]{8}\.part$`).MatchString(name)
}

// removeAbandoned removes files of interrupted backups.
func removeAbandoned(dir, prefix string, now time.Time) error {
	files, err := os.ReadDir(dir)
	for _, file := range files {
		if !strings.HasPrefix(file.Name(), prefix) || !strings.HasSuffix(file.Name(), partial) || !file.Type().IsRegular() {
			continue
		}
		if info, infoErr := file.Info(); infoErr == nil && now.Sub(info.ModTime()) > abandoned {
			err = errors.Join(err, removeSlowly(filepath.Join(dir, file.Name())))
		}
	}
	return err
}
