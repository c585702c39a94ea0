// Package regular opens and replaces regular files only. Other files could block the reader for ever, as a FIFO does, or be endless,
// as some devices are; and a device that was replaced is gone for the whole machine.
package regular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNot says that a path leads to something else than a regular file.
var ErrNot = errors.New("not a regular file")

// ErrTooLong says that a file is longer than its reader takes.
var ErrTooLong = errors.New("the file is too long")

// Open opens a regular file for reading; symbolic links are followed. It never waits.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(path, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a FIFO meanwhile
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Destination is the file that an output to a path makes or replaces: the path itself, or the regular file that a symbolic link
// there leads to. Anything else that is there is refused.
func Destination(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("%s is a symbolic link to a file that does not exist, %w", path, ErrNot)
		}
		return path, nil
	}
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		return "", err
	}
	if info, err = os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, err
	}
	return filepath.EvalSymlinks(path)
}

// Replaceable refuses a path where something is that is neither a regular file nor a symbolic link.
func Replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil
	}
	return check(path, info)
}

// Read is the content of a regular file of at most so many bytes.
func Read(path string, most int64) (data []byte, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return ReadAll(f, most)
}

// ReadAll is the rest of an open file of at most so many bytes.
func ReadAll(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), most)) + bytes.MinRead) // so that it need not be copied
	if _, err := data.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > most {
		return nil, fmt.Errorf("%s has more than %d bytes: %w", f.Name(), most, ErrTooLong)
	}
	return data.Bytes(), nil
}

func check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s is %s, %w", path, kind(info.Mode()), ErrNot)
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
