package layout

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// Format is the format of the file: the word "alcove", and 1. Builds before version 1 wrote small numbers without the word, 1 to 5.
const (
	Format = word<<16 | 1

	word  = 'a'<<40 | 'l'<<32 | 'c'<<24 | 'o'<<16 | 'v'<<8 | 'e'
	early = 5 // the last format of builds before version 1
)

// KeyLayout is the key of the format in a record with a checksum. KeyFormat has it without one.
var KeyLayout = []byte("layout")

// putFormat writes the format twice: as a plain value, which every program can read to refuse the file, and as a record.
func putFormat(tx *bbolt.Tx) error {
	return errors.Join(tx.Bucket(KindMeta.Bucket()).Put(KeyFormat, U64(Format)), InSpace(tx, KindMeta).Write(KeyLayout, U64(Format)))
}

// CheckFormat compares the two statements of a file about its format; again is 0 where there is only one, which a file of Format never
// has. It returns the format, or store.ErrDamaged.
func CheckFormat(found, again uint64) (uint64, error) {
	alone := found <= early || found>>16 == word && found != Format // needs no second statement
	if found == 0 || again == 0 && !alone || again != 0 && again <= Format && again != found {
		return 0, fmt.Errorf("the two statements of its format disagree: %x and %x: %w", found, again, store.ErrDamaged)
	}
	return found, nil
}

// FormatError is the refusal of the file of a directory, which has another format. It says how the store is moved.
func FormatError(dir string, found uint64) error {
	if found > Format {
		return fmt.Errorf("the file has format %d and this program knows 1: use a newer program", found&0xffff)
	}
	return fmt.Errorf("a build before version 1 wrote it: export it with that build (alcove export alcove.jsonl --data %q), and import the export into a new directory with this one (alcove import alcove.jsonl --data DIRECTORY)", dir)
}
