package owner

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

const (
	logLimit = 1 << 20 // bytes in a log before rotation
	tailSize = 2 << 10 // bytes of the log that an error quotes
)

// Log is an owner's log file. A full log is rotated to owner.log.1, so both together
// stay below about two megabytes. All writing processes append.
type Log struct {
	mu   sync.Mutex
	path string
	file *os.File
}

// OpenLog opens the log of a data directory for appending. The log of an unwritable directory is in a private
// directory for temporary files.
func OpenLog(dir string) (*Log, error) {
	path := currentLog(dir)
	if path != LogPath(dir) {
		if err := MakeSocketDir(path); err != nil {
			return nil, fmt.Errorf("open the server's log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	return &Log{path: path, file: f}, nil
}

// currentLog returns the path of a data directory's log.
func currentLog(dir string) string {
	if Writable(dir) == nil {
		return LogPath(dir)
	}
	return privatePath(dir, ".log")
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.file.Stat(); err == nil && info.Size()+int64(len(p)) > logLimit {
		if err := l.setAside(info.Size()); err != nil {
			return 0, err
		}
	}
	return l.file.Write(p)
}

// setAside copies the log and truncates it in place, because a process that has it as
// standard error keeps writing to this file.
func (l *Log) setAside(size int64) error {
	old, err := os.OpenFile(l.path+".1", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("set the server's log aside: %w", err)
	}
	defer old.Close()
	kept := min(size, logLimit)
	if _, err := io.Copy(old, io.NewSectionReader(l.file, size-kept, kept)); err != nil {
		return fmt.Errorf("set the server's log aside: %w", err)
	}
	return l.file.Truncate(0)
}

// Close closes the log.
func (l *Log) Close() error { return l.file.Close() }

// logTail quotes the end of the log, for an error; empty without a log.
func logTail(dir string) string {
	f, err := os.Open(currentLog(dir))
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(0, info.Size()-tailSize)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, tailSize))
	if err != nil || len(tail) == 0 {
		return ""
	}
	text := string(tail)
	if _, whole, found := strings.Cut(text, "\n"); from > 0 && found {
		text = whole
	}
	return "\nits log ends:\n" + strings.TrimRight(text, "\n")
}
