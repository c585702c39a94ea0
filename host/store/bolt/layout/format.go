package layout

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// Format is the version of the layout that this program writes. It opens no newer one, and older ones that it migrates: none
// so far. Formats 1 and 2 were never released.
//
//	3  every record has a checksum over its key and value, every bucket the sum of them
const Format = 3

// lastMigrating is the commit whose build is the last to migrate formats 1 and 2.
const lastMigrating = "50bcffc"

var KeyLayout = []byte("layout") // the format again, as a record with a checksum

// putFormat writes the format. It is no record like others: older programs read it to refuse the file.
func putFormat(tx *bbolt.Tx) error {
	return errors.Join(tx.Bucket(KindMeta.Bucket()).Put(KeyFormat, U64(Format)), InSpace(tx, KindMeta).Write(KeyLayout, U64(Format)))
}

// ReadFormat is the format of a file; 0 for a new one.
func ReadFormat(tx *bbolt.Tx) (uint64, error) {
	meta := InSpace(tx, KindMeta)
	if meta.Bucket == nil {
		if first, _ := tx.Cursor().First(); first == nil {
			return 0, nil
		}
		return 0, fmt.Errorf("what says the file's format is missing: %w", store.ErrDamaged)
	}
	layout, err := meta.Read(KeyLayout)
	if err != nil {
		return 0, fmt.Errorf("read the file's format: %w", err)
	}
	return CheckFormat(FromU64(meta.Get(KeyFormat)), FromU64(layout))
}

// CheckFormat is the format of a file that says which one it has, and, since format 3, says it again.
func CheckFormat(found, again uint64) (uint64, error) {
	if found == 0 || again != 0 && again <= Format && again != found || again == 0 && found == Format {
		return 0, fmt.Errorf("the file says that it has format %d, and that it has %d: %w", found, again, store.ErrDamaged)
	}
	return found, nil
}

// FormatError says what to do with a file of a format that this program does not migrate.
func FormatError(found uint64) error {
	if found > Format {
		return fmt.Errorf("the file has format %d and this program knows %d: use a newer program", found, Format)
	}
	return fmt.Errorf("the file has format %d, which this program does not migrate any more: open it once with a build of commit %s", found, lastMigrating)
}
