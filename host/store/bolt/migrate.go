package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// format is the version of the layout that this program writes. It opens older ones, which it migrates, and no newer one.
//
//	1  the first
//	2  knows what was purged: a program that does not would make increments that bring it back
//	3  every record has a checksum over its key and value, every bucket the sum of them
const format = 3

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

// checkFormat is the format of a file that says which one it has, and says it again since format 3.
func checkFormat(found, again uint64) (uint64, error) {
	if found == 0 || again != 0 && again <= format && again != found || again == 0 && found == format {
		return 0, fmt.Errorf("the file says that it has format %d, and that it has %d: %w", found, again, store.ErrDamaged)
	}
	if found > format {
		return found, fmt.Errorf("the file has format %d and this program knows %d: use a newer program", found, format)
	}
	return found, nil
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
	path := filepath.Join(e.dir, migrating)
	if err := e.migrateTo(path); err != nil {
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

func (e *Engine) migrateTo(path string) (err error) {
	to, err := createDB(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.Update(makeBuckets); err != nil {
		return err
	}
	err = e.db.View(func(tx *bbolt.Tx) error {
		m := &migration{from: tx, to: to, reach: e.reach}
		return m.run()
	})
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

// migration copies a file of format 1 or 2. Overlays are not copied: they are made again.
type migration struct {
	from  *bbolt.Tx
	to    *bbolt.DB
	reach func(Step) error
}

// row is a record on its way: what it becomes, and the part of its value that is kept apart.
type row struct{ key, data, apart []byte }

func (m *migration) run() error {
	for _, k := range topKinds() {
		p := placeOf(k, 0)
		err := m.copy(m.from.Bucket(k.bucket()), func(key, value []byte) (row, error) {
			if k == kindMeta && !bytes.Equal(key, keyErase) && !bytes.Equal(key, keyHistory) {
				return row{}, nil
			}
			return row{key, p.seal(key, value), nil}, nil
		}, func(tx *bbolt.Tx, rows []row) error { return insertAll(top(tx, k), rows) })
		if err != nil {
			return fmt.Errorf("%s: %w", k.bucket(), err)
		}
	}
	branches := m.from.Bucket(bucketBranches)
	return branches.ForEachBucket(func(id []byte) error {
		if err := m.branch(store.BranchID(fromU64(id)), branches.Bucket(id)); err != nil {
			return fmt.Errorf("branch %d: %w", fromU64(id), err)
		}
		return nil
	})
}

func insertAll(r records, rows []row) error {
	r.FillPercent = appended
	for _, row := range rows {
		if err := r.insert(row.key, row.data); err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) branch(id store.BranchID, branch *bbolt.Bucket) error {
	err := m.to.Update(func(tx *bbolt.Tx) error {
		_, err := branchBucket(tx, id)
		return err
	})
	if err != nil {
		return err
	}
	values := branch.Bucket(bucketValues)
	err = m.copy(branch.Bucket(bucketEntries), func(key, data []byte) (row, error) {
		return upgradeEntry(id, key, data, values.Get)
	}, func(tx *bbolt.Tx, rows []row) error {
		to, err := branchBucket(tx, id)
		if err != nil {
			return err
		}
		var apart []row
		for _, r := range rows {
			if r.apart != nil {
				apart = append(apart, row{key: r.key, data: r.apart})
			}
		}
		return errors.Join(insertAll(of(to, id, kindValues), apart), insertAll(of(to, id, kindEntries), rows))
	})
	for _, k := range []kind{kindLog, kindCounters, kindCounted, kindTrim} {
		p := placeOf(k, uint64(id))
		err = errors.Join(err, m.copy(branch.Bucket(k.bucket()), func(key, value []byte) (row, error) {
			return row{key, p.seal(key, value), nil}, nil
		}, func(tx *bbolt.Tx, rows []row) error {
			to, err := branchBucket(tx, id)
			if err != nil {
				return err
			}
			return insertAll(of(to, id, k), rows)
		}))
	}
	return errors.Join(err, m.to.Update(func(tx *bbolt.Tx) error {
		to, err := branchBucket(tx, id)
		if err != nil {
			return err
		}
		return writeAgain(of(to, id, kindTrim))
	}))
}

// copy converts the records of a bucket, a chunk at a time. Those that become nothing are left out.
func (m *migration) copy(from *bbolt.Bucket, convert func(key, value []byte) (row, error), write func(tx *bbolt.Tx, rows []row) error) error {
	if from == nil {
		return nil
	}
	var rows []row
	flush := func() error {
		err := m.to.Update(func(tx *bbolt.Tx) error { return write(tx, rows) })
		rows = rows[:0]
		return errors.Join(err, m.reach(MigrationPart))
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
