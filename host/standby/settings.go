package standby

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/settings"
)

const (
	settingsFolder = "settings"      // grants, modules and embedders of a state, complete
	readyFile      = "settings.json" // tells of which state they are
	mostSetting    = 64 << 20        // bytes of a file
)

// ready says from which version on the settings in a folder of the work folder are in force.
type ready struct {
	Version uint64 `json:"version"`
	Folder  string `json:"folder"`
}

// errChanged means that settings here are not those of the parts before.
var errChanged = errors.New("the settings here were changed")

// incoming collects the settings of an increment. Contents that earlier parts have are in the data directory.
type incoming struct {
	dir, made string // the data directory, and the folder in which they are made
	restorer  *settings.Restorer
	have      map[string]bool // digests
}

func newIncoming(dir, work string) (*incoming, error) {
	made, empty := filepath.Join(work, settingsFolder), filepath.Join(work, "none")
	err := errors.Join(os.RemoveAll(filepath.Join(work, readyFile)), os.RemoveAll(made), os.MkdirAll(made, 0o700), os.MkdirAll(empty, 0o700))
	return &incoming{dir: dir, made: made, restorer: settings.NewRestorer(empty, made, settings.Options{}), have: map[string]bool{}}, err
}

// File implements backup.Files.
func (i *incoming) File(digest string, content []byte) error {
	i.have[digest] = true
	return i.restorer.File(digest, content)
}

// Files implements backup.Files.
func (i *incoming) Files(list []backup.File) error {
	if err := i.restorer.Files(list); err != nil { // names that are no settings go no further
		return err
	}
	for _, f := range list {
		if f.Absent != "" || i.have[f.SHA256] {
			continue
		}
		content, err := regular.Read(filepath.Join(i.dir, filepath.FromSlash(f.Name)), f.Bytes)
		if err != nil {
			return fmt.Errorf("%s is not in the increment, and cannot be read here: %w: %w", f.Name, err, errChanged)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.SHA256 {
			return fmt.Errorf("%s is not in the increment, and another one is here: %w", f.Name, errChanged)
		}
		if err := i.File(f.SHA256, content); err != nil {
			return err
		}
	}
	return nil
}

// finish notes that the settings are complete.
func (i *incoming) finish(version uint64) error {
	if _, err := i.restorer.Finish(); err != nil {
		return err
	}
	return noteReady(filepath.Dir(i.made), settingsFolder, version)
}

// noteReady notes that a folder has the settings of a version, completely.
func noteReady(work, folder string, version uint64) error {
	data, err := json.Marshal(ready{version, folder})
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(work, readyFile), data, 0o600)
}

// settingNames are the files and folders of settings in a data directory. The lock file, which names the others, is the last.
func settingNames() []string {
	return []string{"embedders.json", "families", "audit", "audit.head", "alcove.lock"}
}

// putInForce copies settings to the data directory whose store has reached their state. It goes on after a crash, and drops settings whose
// state was not reached.
func putInForce(dir string, version uint64) error {
	work := filepath.Join(dir, workFolder)
	data, err := regular.Read(filepath.Join(work, readyFile), markLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r ready
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", readyFile, err)
	}
	if r.Version <= version && (r.Folder == settingsFolder || r.Folder == copyFolder) {
		if err := copySettings(filepath.Join(work, r.Folder), dir); err != nil {
			return fmt.Errorf("put the settings of version %d in force: %w", r.Version, err)
		}
	}
	return os.Remove(filepath.Join(work, readyFile))
}

func copySettings(from, dir string) error {
	for _, name := range settingNames() {
		err := filepath.WalkDir(filepath.Join(from, name), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // there is none
			}
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			to := filepath.Join(dir, rel)
			if entry.IsDir() {
				return os.MkdirAll(to, 0o700)
			}
			content, err := regular.Read(path, mostSetting)
			if err != nil {
				return err
			}
			return durable.WriteFile(to, content, 0o600)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
