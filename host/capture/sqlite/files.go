package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/alcove-memory/alcove/host/regular"
)

// snapshot are the files of a database, as long as they were at first. It is the file system that SQLite sees.
type snapshot struct {
	main, log view // without a log, its file is nil
	salts     []byte
	changed   time.Time
}

// view is a file up to the size that it had.
type view struct {
	file *os.File
	info fs.FileInfo
}

// logSuffix is what SQLite appends to a database's name for the name of its log.
const logSuffix = "-wal"

// Log is the path of a database's log of writes, which may not exist.
func Log(path string) string { return path + logSuffix }

// saltsEnd is where the header of a log ends, which is written anew when the log begins again.
const saltsEnd = 32

func take(path string, most int64) (_ *snapshot, err error) {
	s := &snapshot{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	// The database first, so that what is moved to it from the log since is noticed.
	for _, f := range []struct {
		into *view
		path string
	}{{&s.main, path}, {&s.log, Log(path)}} {
		if *f.into, err = stat(f.path, most); errors.Is(err, fs.ErrNotExist) && f.into == &s.log {
			continue
		}
		if err != nil {
			return nil, err
		}
		if at := f.into.info.ModTime(); at.After(s.changed) {
			s.changed = at
		}
	}
	s.salts, err = s.header()
	return s, err
}

func stat(path string, most int64) (v view, err error) {
	if v.file, err = regular.Open(path); err != nil {
		return view{}, err
	}
	if v.info, err = v.file.Stat(); err == nil && v.info.Size() > most {
		err = fmt.Errorf("%s has %d bytes, and at most %d are read", path, v.info.Size(), most)
	}
	if err != nil {
		return view{}, errors.Join(err, v.file.Close())
	}
	return v, nil
}

func (s *snapshot) header() ([]byte, error) {
	if s.log.file == nil {
		return nil, nil
	}
	head := make([]byte, saltsEnd)
	n, err := s.log.file.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

func (s *snapshot) moved() (bool, error) {
	info, err := s.main.file.Stat()
	if err != nil {
		return false, err
	}
	salts, err := s.header()
	same := info.Size() == s.main.info.Size() && info.ModTime().Equal(s.main.info.ModTime()) && bytes.Equal(salts, s.salts)
	return !same, err
}

func (s *snapshot) close() (err error) {
	for _, v := range []view{s.main, s.log} {
		if v.file != nil {
			err = errors.Join(err, v.file.Close())
		}
	}
	return err
}

// Open implements vfs.VFS.
func (s *snapshot) Open(_ string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	v := s.main
	if flags&vfs.OPEN_WAL != 0 {
		v = s.log
	} else if flags&vfs.OPEN_MAIN_DB == 0 {
		return nil, flags, sqlite3.CANTOPEN
	}
	if v.file == nil {
		return nil, flags, sqlite3.CANTOPEN
	}
	return v, flags&^(vfs.OPEN_READWRITE|vfs.OPEN_CREATE) | vfs.OPEN_READONLY, nil
}

// Access implements vfs.VFS: there is no journal, which an interrupted write would have to be taken back from.
func (s *snapshot) Access(name string, _ vfs.AccessFlag) (bool, error) {
	return s.log.file != nil && strings.HasSuffix(name, logSuffix), nil
}

// Delete implements vfs.VFS.
func (*snapshot) Delete(string, bool) error { return sqlite3.IOERR_DELETE }

// FullPathname implements vfs.VFS.
func (*snapshot) FullPathname(name string) (string, error) { return name, nil }

// ReadAt implements vfs.File. What lies behind the size that the file had is not there.
func (v view) ReadAt(p []byte, offset int64) (int, error) {
	size := v.info.Size()
	if offset >= size {
		return 0, io.EOF
	}
	n, err := v.file.ReadAt(p[:min(int64(len(p)), size-offset)], offset)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Size implements vfs.File.
func (v view) Size() (int64, error) { return v.info.Size(), nil }

// Close implements vfs.File: the snapshot closes the file.
func (view) Close() error { return nil }

// WriteAt implements vfs.File.
func (view) WriteAt([]byte, int64) (int, error) { return 0, sqlite3.IOERR_WRITE }

// Truncate implements vfs.File.
func (view) Truncate(int64) error { return sqlite3.IOERR_TRUNCATE }

// Sync implements vfs.File.
func (view) Sync(vfs.SyncFlag) error { return sqlite3.IOERR_FSYNC }

// Lock implements vfs.File: nobody else writes what a snapshot has.
func (view) Lock(vfs.LockLevel) error { return nil }

// Unlock implements vfs.File.
func (view) Unlock(vfs.LockLevel) error { return nil }

// CheckReservedLock implements vfs.File.
func (view) CheckReservedLock() (bool, error) { return false, nil }

// SectorSize implements vfs.File.
func (view) SectorSize() int { return 0 }

// DeviceCharacteristics implements vfs.File.
func (view) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }
