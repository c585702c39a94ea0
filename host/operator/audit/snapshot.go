package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"sync"
)

const (
	// Folder is that of the log in a data directory.
	Folder = "audit"
	// LargestFile bounds a file of a log, in bytes, and MostBytes all of them.
	LargestFile = 2 * fileBytes
	MostBytes   = 16 << 30
)

var partName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + Folder + `/[0-9]{20}\.jsonl$`) })

// IsPart reports whether a file of a backup, named as in the data directory, is one of a log.
func IsPart(name string) bool { return partName().MatchString(name) }

// Part is a file of a log as it was at a moment.
type Part struct {
	Name  string // in the data directory
	Bytes int64  // what follows was written later
	File  *os.File
}

// Snapshot makes the log durable, and opens its files with its last entry. The caller closes them.
func (l *Log) Snapshot() (h Head, parts []Part, err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.flush(); err != nil {
		return h, nil, err
	}
	list, err := l.lines.List()
	for _, s := range list {
		f, err := os.Open(s.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return h, nil, errors.Join(fmt.Errorf("read the audit log: %w", err), CloseParts(parts))
		}
		parts = append(parts, Part{Folder + "/" + s.Name() + ".jsonl", s.Size, f})
	}
	return l.head, parts, err
}

// CloseParts closes files of a snapshot.
func CloseParts(parts []Part) (err error) {
	for _, p := range parts {
		err = errors.Join(err, p.File.Close())
	}
	return err
}

// Has reports whether a folder has a log.
func Has(dir string) (bool, error) {
	list, err := folder(dir).List()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(list) > 0, err
}
