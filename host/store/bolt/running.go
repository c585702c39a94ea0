package bolt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// running is how far a server has written a database that was examined. A kill of the process leaves it and the database in the page
// cache, which the kernel writes as it would have done anyway. So a start under the same kernel that finds both in agreement serves
// without examining every page first, and examines them meanwhile.
type running struct {
	Place    string `json:"place"`     // of the file: kernel, device, and inode with its birth
	PageSize uint64 `json:"page_size"` // bytes
	Commit   uint64 `json:"commit"`    // number of the newest transaction whose commit returned
	Meta     uint64 `json:"meta"`      // checksum of its meta page
	Examined int64  `json:"examined"`  // when all pages were examined last, in µs since the epoch
}

const (
	runningSize = 512              // bytes of a record, always, so that each is written in place of the one before
	wroteWithin = 10 * time.Second // after the last record, by the commit during which the process was killed
)

// follower keeps the record of a running server. The zero value keeps none.
type follower struct {
	mu   sync.Mutex
	file *os.File // nil: there is no record
	now  running
}

// begin makes the record.
func (f *follower) begin(path string, r running) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		err = f.file.Close()
	}
	made := path + ".new"
	f.now = r
	f.file, err = os.OpenFile(made, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = errors.Join(f.write(), os.Rename(made, path))
	}
	return err
}

func (f *follower) write() error {
	data, err := json.Marshal(f.now)
	if err != nil {
		return err
	}
	if len(data) > runningSize {
		return fmt.Errorf("the record has %d bytes: at most %d are written", len(data), runningSize)
	}
	_, err = f.file.WriteAt(append(data, bytes.Repeat([]byte{' '}, runningSize-len(data))...), 0)
	return err
}

// follow records a commit.
func (f *follower) follow(m layout.Meta) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	f.now.Commit, f.now.Meta = m.TxID, m.Sum()
	return f.write()
}

// end removes the record, so that the next start examines the database first unless Close records how it left it.
func (f *follower) end(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.file.Close(), layout.RemoveFile(path))
	f.file = nil
	return err
}

// close leaves the record to the next start.
func (f *follower) close() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		err = f.file.Close()
	}
	f.file = nil
	return err
}

// requireCheck has the next start examine the database first.
func (e *Engine) requireCheck() {
	if err := e.follower.end(layout.Running(e.dir)); err != nil {
		e.logger.Error("the record of a database that is not to be trusted remains: remove it", "path", layout.Running(e.dir), "error", err)
	}
}

// follow records that the database was examined. Only the writer calls it, and Open before there is one.
func (e *Engine) follow(examined time.Time) {
	if e.options.ReadOnly || e.options.NoSync || e.damage.Load() != nil || e.failed != nil {
		return
	}
	place, ok := e.place()
	newest, _, err := layout.Metas(e.open.File, e.open.pageSize)
	if ok && err == nil {
		err = e.follower.begin(layout.Running(e.dir), running{
			Place: place, PageSize: e.open.pageSize, Commit: newest.TxID, Meta: newest.Sum(), Examined: examined.UnixMicro(),
		})
	}
	if err != nil {
		e.logger.Warn("the start after a kill will examine the database before it serves", "why", err)
		e.requireCheck()
	}
}

// recordCommit records the newest commit.
func (e *Engine) recordCommit() {
	newest, _, err := layout.Metas(e.open.File, e.open.pageSize)
	if err == nil {
		err = e.follower.follow(newest)
	}
	if err != nil {
		e.logger.Warn("the start after a kill will examine the database before it serves", "why", err)
		e.requireCheck()
	}
}

// place names the file and the kernel that has its pages; ok is false where a process that is killed may take what it wrote with it.
func (e *Engine) place() (name string, ok bool) {
	if e.options.place != nil {
		return e.options.place(e.path())
	}
	return placeOf(e.path())
}

// asKilled reports whether the database is as a server that was killed had written it, and was examined within a day: one of its meta pages
// is that of the last commit recorded, the other is of the commit before or of the one that was being written, and nothing was written to
// the file since.
func (e *Engine) asKilled() bool {
	path := layout.Running(e.dir)
	data, err := regular.Read(path, runningSize)
	if err != nil {
		return false
	}
	var then running
	if err := json.Unmarshal(data, &then); err != nil || then.PageSize < 1<<10 || then.PageSize > 1<<16 {
		return false
	}
	age := e.now().Sub(time.UnixMicro(then.Examined))
	if place, ok := e.place(); !ok || place != then.Place || age < 0 || age > examinedFor {
		return false
	}
	if err := e.agrees(path, then); err != nil {
		e.logger.Info("the database is examined before it is served", "why", err)
		return false
	}
	e.examined = time.UnixMicro(then.Examined)
	e.unlisted, e.open.pageSize = true, then.PageSize
	return true
}

// agrees compares a database with the record of its server.
func (e *Engine) agrees(path string, then running) error {
	file, err := os.Open(e.path())
	if err != nil {
		return err
	}
	defer file.Close()
	written, err := changedAt(e.path())
	if err != nil {
		return err
	}
	recorded, err := changedAt(path)
	if err != nil {
		return err
	}
	if written-recorded > int64(e.options.wroteWithin) {
		return errors.New("it was changed after its server was killed")
	}
	newest, other, err := layout.Metas(file, then.PageSize)
	if err != nil {
		return err
	}
	if newest.TxID == then.Commit+1 {
		newest, other = other, newest
	}
	if newest.TxID != then.Commit || newest.Sum() != then.Meta || other.TxID+1 != then.Commit && other.TxID != then.Commit+1 {
		return fmt.Errorf("its meta pages are of commits %d and %d, and commit %d was recorded", newest.TxID, other.TxID, then.Commit)
	}
	return nil
}

func changedAt(path string) (ns int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	s, ok := stateOf(info)
	if !ok {
		return 0, errors.New("this system does not tell when a file was changed")
	}
	return s.Changed, nil
}
