package configfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

// AppliedFile is the file, in a data directory, that says which configuration file was applied last.
const (
	AppliedFile  = "config-applied.json"
	appliedLimit = 1 << 16 // bytes
)

// Applied is a configuration file that was applied in full. The zero value is none.
type Applied struct {
	Path   string    `json:"path"`   // absolute
	Digest string    `json:"digest"` // SHA-256 of its bytes, hexadecimal
	At     time.Time `json:"at"`
}

// DigestOf is the digest of a file's bytes.
func DigestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Note keeps in a data directory that the file was applied.
func (a Applied) Note(dir string) error {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("note which file was applied: %w", err)
	}
	if err := durable.WriteFile(filepath.Join(dir, AppliedFile), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("note which file was applied: %w", err)
	}
	return nil
}

// LastApplied returns the file that was applied to a data directory last.
func LastApplied(dir string) (a Applied, err error) {
	data, err := regular.Read(filepath.Join(dir, AppliedFile), appliedLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("read which file was applied: %w", err)
	}
	if err = json.Unmarshal(data, &a); err == nil && a.Path == "" {
		err = errors.New("it names no path")
	}
	if err != nil {
		return Applied{}, fmt.Errorf("%s is damaged: apply the configuration file again: %w", AppliedFile, err)
	}
	return a, nil
}
