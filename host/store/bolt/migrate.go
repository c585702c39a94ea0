package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

const (
	migrating   = "alcove.db.migrating" // the name of an unfinished file in the new format
	migrateRows = 2000                  // records written in one transaction
	copyBytes   = 4 << 20               // bytes written in one transaction
)

// migration converts a file of an older format: it copies the records of from to to, which has empty buckets.
type migration func(c copying) error

// migrates reports whether a file needs a migration. A format without one is an error.
func (e *Engine) migrates(found uint64) error {
	if e.options.migrations[found] == nil {
		return layout.FormatError(found)
	}
	return nil
}

// migrate converts a file that is not read as it is (see layout.Raise for those that are) to this program's format: it writes a new file, syncs it, and replaces the old one. A crash
// leaves the old file or the new one.
func (e *Engine) migrate() error {
	var found uint64
	err := e.db.View(func(tx *bbolt.Tx) (err error) {
		found, err = layout.ReadFormat(tx)
		return err
	})
	if err != nil || found == 0 || layout.Readable(found) {
		return err
	}
	if err := e.migrates(found); err != nil {
		return err
	}
	path := filepath.Join(e.dir, migrating)
	if err := e.migrateTo(path, e.options.migrations[found]); err != nil {
		return errors.Join(fmt.Errorf("migrate from format %d: %w", found, err), layout.RemoveFile(path))
	}
	if err := e.reach(MigrationCopied); err != nil {
		return errors.Join(err, layout.RemoveFile(path))
	}
	if err := e.db.Close(); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(path, e.path()), durable.SyncDir(e.dir)); err != nil {
		return err
	}
	e.passed(MigrationSwapped)
	e.logger.Info("the store is migrated", "from", found, "to", layout.Format)
	e.db, err = e.openDB()
	return err
}

func (e *Engine) migrateTo(path string, run migration) (err error) {
	to, err := layout.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.Update(layout.MakeBuckets); err != nil {
		return err
	}
	err = e.db.View(func(tx *bbolt.Tx) error { return run(copying{from: tx, to: to, reach: e.reach}) })
	if err != nil {
		return err
	}
	return to.Sync()
}

// copying is a running migration.
type copying struct {
	from  *bbolt.Tx
	to    *bbolt.DB
	reach func(Step) error
}

// row is a converted record; apart is the part of its value that is stored separately.
type row struct{ key, data, apart []byte }

func insertAll(r layout.Records, rows []row) error {
	r.FillPercent = layout.FillAppended
	for _, row := range rows {
		if err := r.AddSealed(row.key, row.data); err != nil {
			return err
		}
	}
	return nil
}

// copy converts the records of a bucket in chunks. Records that convert to nothing are omitted.
func (c copying) copy(from *bbolt.Bucket, convert func(key, value []byte) (row, error), write func(tx *bbolt.Tx, rows []row) error) error {
	if from == nil {
		return nil
	}
	var rows []row
	flush := func() error {
		err := c.to.Update(func(tx *bbolt.Tx) error { return write(tx, rows) })
		rows = rows[:0]
		return errors.Join(err, c.reach(MigrationPart))
	}
	size := 0
	err := from.ForEach(func(key, value []byte) error {
		r, err := convert(key, value)
		if err != nil || r.key == nil {
			return err
		}
		rows, size = append(rows, r), size+len(r.data)+len(r.apart)
		if len(rows) < migrateRows && size < copyBytes {
			return nil
		}
		size = 0
		return flush()
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return flush()
}
