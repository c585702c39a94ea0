package owner

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

const (
	logLimit = 1 << 20 // bytes in a log before it is set aside
	tailSize = 2 << 10 // bytes of the log that an error quotes
)

// Log is an owner's log file. When it is full it is set aside as owner.log.1, so that the two together
// stay below about two megabytes. All processes that write to it append.
type Log struct {
	mu   sync.Mutex
	path string
	file *os.File
}

// OpenLog opens the log of a data directory for appending. That of one in which nothing can be written is in a private
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

// currentLog is where the log of a data directory is.
func currentLog(dir string) string {
	if Writable(dir) == nil {
		return LogPath(dir)
	}
	return PrivatePath(dir, ".log")
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

// setAside copies the log and empties it in place, because a process that was started with
// it as its standard error keeps writing to this very file.
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

// logTail quotes the end of the log, to be appended to an error; empty when there is none.
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
