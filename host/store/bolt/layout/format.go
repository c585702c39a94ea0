package layout

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// Format is the version of the layout. Files of formats from oldest on are read as they are, and raised to Format by the first engine
// that may write. Others are refused unless there is a migration from them; there is none so far. Formats 1 and 2 were never released.
//
//	3  every record has a checksum over its key and value, every bucket the sum of them
//	4  as 3; and a commit's point may have a note, the tree has a stamp, and families' records have indexes. A program that knows
//	   format 3 alone reads a noted commit's instant as 1970, and leaves stamps and indexes outdated: the number keeps it away
//	5  as 4; and the newest points may have tails
const (
	Format = 5
	oldest = 3
)

// Readable reports whether files of a format are read as they are.
func Readable(format uint64) bool { return format >= oldest && format <= Format }

// lastMigrating is the commit whose build is the last to migrate formats 1 and 2.
const lastMigrating = "50bcffc"

// KeyLayout is the key of the format in a record with a checksum. KeyFormat has it without one.
var KeyLayout = []byte("layout")

// putFormat writes the format twice: as a plain value, which every program can read to refuse the file, and as a record.
func putFormat(tx *bbolt.Tx) error {
	return errors.Join(tx.Bucket(KindMeta.Bucket()).Put(KeyFormat, U64(Format)), InSpace(tx, KindMeta).Write(KeyLayout, U64(Format)))
}

// Raise makes a readable file one of this program's format, and returns the format that it had. Its records stay as they are. It
// belongs into the transaction that writes first: then no file has anything that its format does not tell.
func Raise(tx *bbolt.Tx) (from uint64, err error) {
	from, err = ReadFormat(tx)
	if err != nil || from == Format {
		return from, err
	}
	return from, putFormat(tx)
}

// ReadFormat is the format of a file; 0 for a new one. A file whose two statements disagree is damaged.
func ReadFormat(tx *bbolt.Tx) (uint64, error) {
	meta := InSpace(tx, KindMeta)
	if meta.Bucket == nil {
		if first, _ := tx.Cursor().First(); first == nil {
			return 0, nil
		}
		return 0, fmt.Errorf("the bucket of the format is missing: %w", store.ErrDamaged)
	}
	again, err := meta.Read(KeyLayout)
	if err != nil {
		return 0, fmt.Errorf("read the file's format: %w", err)
	}
	return CheckFormat(FromU64(meta.Get(KeyFormat)), FromU64(again))
}

// CheckFormat compares the two statements of a file about its format; again is 0 where there is only one, which no readable file
// has. It returns the format, or store.ErrDamaged.
func CheckFormat(found, again uint64) (uint64, error) {
	if found == 0 || again != 0 && again <= Format && again != found || again == 0 && Readable(found) {
		return 0, fmt.Errorf("the two statements of its format disagree: %d and %d: %w", found, again, store.ErrDamaged)
	}
	return found, nil
}

// FormatError is the refusal of a file of a format that this program neither has nor migrates. It says which program opens it.
func FormatError(found uint64) error {
	if found > Format {
		return fmt.Errorf("the file has format %d and this program knows %d: use a newer program", found, Format)
	}
	return fmt.Errorf("the file has format %d, which this program does not migrate any more: open it once with a build of commit %s", found, lastMigrating)
}
