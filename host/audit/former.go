package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
)

// FormerFile has, in a restored data directory, the head of the log beside which the backup was made, until a log names it.
// The log itself is in no backup: its entries are evidence where they were written.
const FormerFile = "audit.head"

// FormerLimit bounds that file, in bytes.
const FormerLimit = 1 << 10

// FormerText returns the content of FormerFile.
func FormerText(h Head) ([]byte, error) { return json.Marshal(h) }

// Former reads the head in a restored data directory; nil: there is none.
func Former(dir string) (*Head, error) {
	path := filepath.Join(dir, FormerFile)
	data, err := regular.Read(path, FormerLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var h Head
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err == nil && h.Seq > 0 {
		_, err = parseHash(h.Hash)
	}
	if err != nil {
		return nil, fmt.Errorf("read the head of the former audit log, in %s: %w; move the file away to begin a log that does not name it", path, err)
	}
	return &h, nil
}

// ForgetFormer removes the file, once a log has it.
func ForgetFormer(dir string) error {
	if err := os.Remove(filepath.Join(dir, FormerFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the head of the former audit log: %w", err)
	}
	return nil
}

// restored says what became of the log with the head.
func (h Head) restored() string {
	return fmt.Sprintf("restored from a backup that was made beside a log with the head %d:%s of %s: entries up to there are in that log, not in this one", h.Seq, h.Hash, h.Time.UTC().Format(time.RFC3339))
}
