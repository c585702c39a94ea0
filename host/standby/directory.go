package standby

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

// Files of a data directory.
const (
	markFile   = "follows.json" // the directory follows a bucket
	workFolder = "following"    // what is on its way from the bucket
	markLimit  = 64 << 10       // bytes
)

// mark says what a directory follows.
type mark struct {
	Place string `json:"place"`
}

func markPath(dir string) string { return filepath.Join(dir, markFile) }

// Of returns what a directory follows; empty: nothing.
func Of(dir string) (place string, err error) {
	data, err := regular.Read(markPath(dir), markLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var m mark
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil && m.Place == "" {
		err = errors.New("it names nothing")
	}
	if err != nil {
		return "", fmt.Errorf("read what %s follows, in %s: %w", dir, markFile, err)
	}
	return m.Place, nil
}

// CheckAlone refuses a directory that follows a bucket, for a server that writes.
func CheckAlone(dir string) error {
	place, err := Of(dir)
	if err == nil && place != "" {
		err = fmt.Errorf("%s follows %s, and writes here would be missing there: serve it with --follow %[2]s, or make it a memory of its own with: alcove follow promote --data %[1]q", dir, place)
	}
	return err
}

// Promote makes a directory that follows a bucket one of its own, which a server may write. It returns what it followed.
func Promote(dir string) (place string, err error) {
	lock, err := owner.AcquireLock(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if place, err = Of(dir); err != nil {
		return "", err
	}
	if place == "" {
		return "", fmt.Errorf("%s follows no bucket: a server may write it already", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, workFolder, readyFile)); err == nil {
		return place, fmt.Errorf("a crash left grants of the backup that are not in force in %s: serve it with --follow once more, or, to go on with older ones, remove %q first", dir, filepath.Join(dir, workFolder))
	}
	return place, errors.Join(os.RemoveAll(filepath.Join(dir, workFolder)), os.Remove(markPath(dir)), durable.SyncDir(dir))
}

// Prepare makes a directory that has no store a copy of what is in a bucket, which a server follows then.
func Prepare(ctx context.Context, d datadir.Directory, o Options) error {
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return err
	}
	has, err := d.HasStore()
	if err != nil {
		return err
	}
	was, err := Of(d.Path)
	if err == nil && has && was == "" {
		err = fmt.Errorf("the store in %s is its own, and does not follow %s: name an empty directory with --data", d.Path, o.Place)
	}
	if err != nil {
		return err
	}
	if was != o.Place {
		data, err := json.Marshal(mark{o.Place})
		if err == nil {
			err = durable.WriteFile(markPath(d.Path), append(data, '\n'), 0o600)
		}
		if err != nil {
			return fmt.Errorf("note what %s follows: %w", d.Path, err)
		}
	}
	if has {
		return nil
	}
	c, err := o.Newest(ctx)
	if err == nil {
		_, err = d.RestoreFrom(ctx, c, datadir.RestoreOptions{Opener: o.Opener, KeepSettings: true})
	}
	if err != nil {
		return fmt.Errorf("begin to follow %s: %w", o.Place, err)
	}
	return nil
}
