// Package settings carries the settings of a data directory in backups and bundles.
//
// Settings are the files beside the store that say what runs on it: the operator's grants, the modules that the grants name,
// and the embedders. They contain no token and no keys.
package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/registry"
)

// Files returns the settings for a backup, which closes the modules of the snapshot; on an error they are closed already.
// embedded is the content of the embedders' file; nil: there is none. So is head, which is the audit log's, as audit.Head in JSON, and parts
// are its files, which the backup closes, too.
func Files(s *modules.Snapshot, embedded, head []byte, parts []backup.OpenFile) (list []backup.OpenFile, err error) {
	for _, m := range s.Modules {
		f := backup.OpenFile{File: backup.File{Name: m.Name, SHA256: m.Digest, Bytes: m.Bytes, Absent: m.Gone}}
		if m.File != nil {
			f.Content = m.File
		}
		list = append(list, f)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Signatures)) {
		list = append(list, inMemory(name, s.Signatures[name]))
	}
	if s.Lock.Decides() || s.Lock.Posture != "" {
		data, err := registry.Encode(s.Lock)
		if err != nil {
			return nil, errors.Join(err, s.Close(), closeAll(parts))
		}
		list = append(list, inMemory(registry.File, data))
	}
	if embedded != nil {
		list = append(list, inMemory(embedders.File, embedded))
	}
	if head != nil {
		list = append(list, inMemory(audit.FormerFile, head))
	}
	return append(list, parts...), nil
}

// AuditFiles are the files of an audit log for a backup. On an error they are closed already.
func AuditFiles(parts []audit.Part) (list []backup.OpenFile, err error) {
	for _, p := range parts {
		sum := sha256.New()
		if _, err := io.Copy(sum, io.NewSectionReader(p.File, 0, p.Bytes)); err != nil {
			return nil, errors.Join(fmt.Errorf("read the audit log: %w", err), audit.CloseParts(parts))
		}
		list = append(list, backup.OpenFile{File: backup.File{Name: p.Name, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: p.Bytes}, Content: p.File})
	}
	return list, nil
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

// writeNew writes a file durably. It is an error if the file exists.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func closeAll(list []backup.OpenFile) (err error) {
	for _, f := range list {
		err = errors.Join(err, f.Content.Close())
	}
	return err
}
