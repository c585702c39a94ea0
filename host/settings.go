package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/alcove-memory/alcove/host/backup"
	"github.com/alcove-memory/alcove/host/embedders"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/registry"
)

// Settings are the files beside the store that say what runs on it: the operator's grants, the modules that these name, and
// which embedders there are. A token is none of them, and keys are not in them.

// settings opens the files for a backup. Their holders keep them from changing meanwhile, so that they belong together.
func (h *Host) settings() (list []backup.OpenFile, err error) {
	snapshot, err := h.snapshot()
	if err != nil {
		return nil, fmt.Errorf("take along what operators decided: %w", err)
	}
	for _, m := range snapshot.Modules {
		f := backup.OpenFile{File: backup.File{Name: m.Name, SHA256: m.Digest, Bytes: m.Bytes, Absent: m.Gone}}
		if m.File != nil {
			f.Content = m.File
		}
		list = append(list, f)
	}
	if snapshot.Lock.Decides() {
		data, err := registry.Encode(snapshot.Lock)
		if err != nil {
			return nil, errors.Join(err, snapshot.Close())
		}
		list = append(list, inMemory(registry.File, data))
	}
	data, err := h.embedders.Snapshot()
	if err != nil {
		return nil, errors.Join(err, snapshot.Close())
	}
	if data != nil {
		list = append(list, inMemory(embedders.File, data))
	}
	return list, nil
}

func (h *Host) snapshot() (*family.Snapshot, error) {
	if h.families == nil { // nobody decides anything
		return family.OpenSnapshot(h.options.Dir)
	}
	return h.families.Snapshot()
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func inMemory(name string, data []byte) backup.OpenFile {
	sum := sha256.Sum256(data)
	return backup.OpenFile{
		File:    backup.File{Name: name, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))},
		Content: memoryFile{bytes.NewReader(data)},
	}
}

// writeNew writes a file that is not there, durably.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
