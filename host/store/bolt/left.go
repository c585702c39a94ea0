package bolt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// left is the state in which Close left the database: of the file, and of what bbolt reads of it when it opens it. A start that finds the
// file in this state serves without examining every page first, and examines it meanwhile. Whatever writes to the file changes its state.
type left struct {
	File     fileState `json:"file"`
	PageSize uint64    `json:"page_size"` // bytes
	Commit   uint64    `json:"commit"`    // number of the newest transaction
	Freelist string    `json:"freelist"`  // SHA-256 of the pages of the free list, hexadecimal; empty: some free pages are not listed
	Examined int64     `json:"examined"`  // when all pages were examined last, in µs since the epoch
}

// fileState changes with each write to a file.
type fileState struct {
	Size     int64  `json:"size"`     // bytes
	Modified int64  `json:"modified"` // ns since the epoch
	Changed  int64  `json:"changed"`  // likewise; of the inode, which no program can set
	Inode    uint64 `json:"inode"`
}

const (
	leftLimit   = 4 << 10 // bytes of a record
	clockTicks  = 50      // how often Close waits for the clock of the file system to go on
	clockTick   = 2 * time.Millisecond
	examinedFor = 24 * time.Hour // in which servers that end before they have examined the database need not be followed by one that does so first
)

// asLeft reports whether the database is as Close left it, and was examined within a day.
func (e *Engine) asLeft() bool {
	data, err := regular.Read(layout.Left(e.dir), leftLimit)
	if err != nil {
		return false
	}
	var then left
	if err := json.Unmarshal(data, &then); err != nil || then.PageSize < 1<<10 || then.PageSize > 1<<16 {
		return false
	}
	now, err := leftOf(e.path(), then.PageSize, then.Freelist != "")
	if err != nil {
		e.logger.Debug("the state of the database cannot be read", "error", err)
		return false
	}
	now.Examined = then.Examined
	age := e.now().Sub(time.UnixMicro(then.Examined))
	if now != then || age < 0 || age > examinedFor {
		return false
	}
	e.examined = time.UnixMicro(then.Examined)
	e.unlisted, e.open.pageSize = then.Freelist == "", then.PageSize
	return true
}

// leftOf reads the state of a database, whose free pages are listed or not. It is an error if a meta page is damaged, or the newer one has
// no list of them.
func leftOf(path string, pageSize uint64, listed bool) (l left, err error) {
	f, err := os.Open(path)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return l, err
	}
	state, ok := stateOf(info)
	if !ok {
		return l, errors.New("this system does not tell when a file was changed")
	}
	newest, _, err := layout.Metas(f, pageSize)
	if err != nil {
		return l, err
	}
	l = left{File: state, PageSize: pageSize, Commit: newest.TxID}
	if !listed {
		return l, nil
	}
	pages, err := layout.FreelistPages(f, newest)
	sum := sha256.Sum256(pages)
	l.Freelist = hex.EncodeToString(sum[:])
	return l, err
}

// recordShutdown writes the free list, so that the next start need not read all pages for it, and records the state of the file. The writer has
// ended. Without the record the next start examines the database first.
func (e *Engine) recordShutdown() error {
	if e.options.ReadOnly || e.options.NoSync || e.damage.Load() != nil || e.db == nil || e.failed != nil {
		return nil
	}
	e.requireCheck()                                                          // what it records may be left and touched afterwards
	if _, err := leftOf(e.path(), e.open.pageSize, !e.unlisted); err != nil { // something was committed, or nothing ever was
		e.db.NoFreelistSync = false
		if err := e.transact(func(*bbolt.Tx) error { return nil }); err != nil {
			return fmt.Errorf("write the list of free pages: %w", err)
		}
	}
	for range clockTicks {
		if done, err := e.recordLeft(); done || err != nil {
			return err
		}
		time.Sleep(clockTick)
	}
	return nil
}

// recordLeft writes the record under a temporary name first. It is not synced: what a power failure leaves of it is no record. done is
// false while the clock of the file system stands where it stood at the last write to the database, for a change at the same instant
// would leave no trace.
func (e *Engine) recordLeft() (done bool, err error) {
	now, err := leftOf(e.path(), e.open.pageSize, !e.unlisted)
	if err != nil {
		e.logger.Debug("the next start examines the database", "why", err)
		return true, nil
	}
	now.Examined = e.examined.UnixMicro()
	data, err := json.Marshal(now)
	if err != nil {
		return false, err
	}
	made := layout.Left(e.dir) + ".new"
	if err := os.WriteFile(made, data, 0o600); err != nil {
		return false, err
	}
	info, err := os.Stat(made)
	if err != nil {
		return false, err
	}
	if written, _ := stateOf(info); written.Changed <= now.File.Changed {
		return false, nil
	}
	return true, os.Rename(made, layout.Left(e.dir))
}
