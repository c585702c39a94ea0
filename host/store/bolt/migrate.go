package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// format is the version of the layout that this program writes. It opens no newer one, and older ones that it migrates: none
// so far. Formats 1 and 2 were never released.
//
//	3  every record has a checksum over its key and value, every bucket the sum of them
const format = 3

// lastMigrating is the commit whose build is the last to migrate formats 1 and 2.
const lastMigrating = "50bcffc"

const (
	migrating   = "alcove.db.migrating" // the name of a file that is made in the new format
	migrateRows = 2000                  // records written in one transaction
	copyBytes   = 4 << 20               // likewise, bytes
)

var keyLayout = []byte("layout") // the format again, as a record with a checksum

// putFormat writes the format. It is no record like others: older programs read it to refuse the file.
func putFormat(tx *bbolt.Tx) error {
	return errors.Join(tx.Bucket(bucketMeta).Put(keyFormat, u64(format)), top(tx, kindMeta).put(keyLayout, u64(format)))
}

// readFormat is the format of a file; 0 for a new one.
func readFormat(tx *bbolt.Tx) (uint64, error) {
	meta := top(tx, kindMeta)
	if meta.Bucket == nil {
		if first, _ := tx.Cursor().First(); first == nil {
			return 0, nil
		}
		return 0, fmt.Errorf("what says the file's format is missing: %w", store.ErrDamaged)
	}
	layout, err := meta.get(keyLayout)
	if err != nil {
		return 0, fmt.Errorf("read the file's format: %w", err)
	}
	return checkFormat(fromU64(meta.Get(keyFormat)), fromU64(layout))
}

// checkFormat is the format of a file that says which one it has, and, since format 3, says it again.
func checkFormat(found, again uint64) (uint64, error) {
	if found == 0 || again != 0 && again <= format && again != found || again == 0 && found == format {
		return 0, fmt.Errorf("the file says that it has format %d, and that it has %d: %w", found, again, store.ErrDamaged)
	}
	return found, nil
}

// formatError says what to do with a file of a format that this program does not migrate.
func formatError(found uint64) error {
	if found > format {
		return fmt.Errorf("the file has format %d and this program knows %d: use a newer program", found, format)
	}
	return fmt.Errorf("the file has format %d, which this program does not migrate any more: open it once with a build of commit %s", found, lastMigrating)
}

// A migration makes a file of this program's format of an older one: it copies the records of from into to, which has empty
// buckets.
type migration func(c copying) error

// migrates reports whether a file of another format is migrated, and refuses it when it is not.
func (e *Engine) migrates(found uint64) error {
	if e.options.migrations[found] == nil {
		return formatError(found)
	}
	return nil
}

// migrate brings a file to the format of this program: it makes a new one beside it, which takes its place when it is
// whole and on the disk. A crash leaves the old one or the new one.
func (e *Engine) migrate() error {
	var found uint64
	err := e.db.View(func(tx *bbolt.Tx) (err error) {
		found, err = readFormat(tx)
		return err
	})
	if err != nil || found == 0 || found == format {
		return err
	}
	if err := e.migrates(found); err != nil {
		return err
	}
	path := filepath.Join(e.dir, migrating)
	if err := e.migrateTo(path, e.options.migrations[found]); err != nil {
		return errors.Join(fmt.Errorf("migrate from format %d: %w", found, err), removeIfThere(path))
	}
	if err := e.reach(MigrationCopied); err != nil {
		return errors.Join(err, removeIfThere(path))
	}
	if err := e.db.Close(); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(path, e.path()), syncDir(e.dir)); err != nil {
		return err
	}
	e.passed(MigrationSwapped)
	e.logger.Info("the store is migrated", "from", found, "to", format)
	e.db, err = e.openDB()
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (e *Engine) migrateTo(path string, run migration) (err error) {
	to, err := createDB(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.Update(makeBuckets); err != nil {
		return err
	}
	err = e.db.View(func(tx *bbolt.Tx) error { return run(copying{from: tx, to: to, reach: e.reach}) })
	if err != nil {
		return err
	}
	return to.Sync()
}

// createDB makes a file that nobody looks at yet.
func createDB(path string) (*bbolt.DB, error) {
	if err := removeIfThere(path); err != nil {
		return nil, err
	}
	return bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, NoSync: true})
}

// makeBuckets makes what an empty file lacks.
func makeBuckets(tx *bbolt.Tx) error {
	for _, name := range topBuckets() {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return putFormat(tx)
}

// copying is the work of a migration.
type copying struct {
	from  *bbolt.Tx
	to    *bbolt.DB
	reach func(Step) error
}

// row is a record on its way: what it becomes, and the part of its value that is kept apart.
type row struct{ key, data, apart []byte }

func insertAll(r records, rows []row) error {
	r.FillPercent = appended
	for _, row := range rows {
		if err := r.insert(row.key, row.data); err != nil {
			return err
		}
	}
	return nil
}

// copy converts the records of a bucket, a chunk at a time. Those that become nothing are left out.
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
