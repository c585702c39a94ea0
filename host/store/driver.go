package store

import (
	"context"
	"log/slog"
	"time"
)

// Driver manages spaces in data directories. The caller ensures that no other process uses a directory that is opened,
// loaded, examined or repaired.
type Driver interface {
	// Exists reports whether a directory contains a space.
	Exists(dir string) (bool, error)
	// Open opens the space of a directory, or creates one, and removes the remains of an interrupted Load. On ErrDamaged,
	// Examine lists the faults and Repair recovers what is readable.
	Open(ctx context.Context, dir string, o Options) (Engine, error)
	// Load creates a space in a directory atomically. ErrNotEmpty: it has a space already.
	Load(ctx context.Context, dir string, l Load) error
	// Examine reads a space without opening it, and returns its faults. err means that it could not be read.
	Examine(dir string) (faults []error, err error)
	// Repair replaces a damaged space by one of all its readable records, and moves the old files to a folder in SetAside.
	// An intact space stays unchanged.
	Repair(ctx context.Context, dir string, r Repair) (Repaired, error)
}

// Spaced is a Driver whose database has several spaces.
type Spaced interface {
	// In returns the driver of the space with a name.
	In(space string) (Driver, error)
}

// Connecting is a Driver of a database.
type Connecting interface {
	// Connect keeps the driver's connections open until release is called, so that its calls do not make new ones each.
	Connect(ctx context.Context) (release func(), err error)
}

// SetAside is the folder of a data directory for the files that repairs replaced.
const SetAside = "set-aside"

// Options configure Open. The zero value is ready for use.
type Options struct {
	Clock    func() time.Time // nil: time.Now
	Logger   *slog.Logger     // nil: discards
	ReadOnly bool             // open an existing space without writing to the directory; writes fail with ErrReadOnly
	Mirror   bool             // the space takes what a Mirror is given; other writes fail with ErrReadOnly
	Server   string           // the id of the server that leads the space, for a Shared driver; empty: it is led by none
}

// Load is the source of a new space.
type Load struct {
	// Read passes every piece to the loader. Files that it creates in folder appear in the directory with the space.
	Read func(l Loader, folder string) error
	// Verify opens the loaded space in a temporary directory. Its error discards the space; nil Verify accepts any.
	Verify func(ctx context.Context, dir string) error
}

// Repair are the options of a repair.
type Repair struct {
	Now  time.Time              // names the folder of the old files
	Keep func(blob string) bool // reports which blobs do not depend on entries, and are kept; nil: none
}

// Repaired is the report of a repair.
type Repaired struct {
	Faults  []string `json:"faults"`  // as Examine lists them
	Entries int      `json:"entries"` // versions in the new file
	Rescued int      `json:"rescued"` // of them, found in pages that no other referred to
	Aside   []Aside  `json:"aside"`   // records that could not be used, and those known to be lost
	Folder  string   `json:"folder"`  // of the old files; empty: nothing was damaged
}

// Aside is a record that a repair could not use, or that is lost.
type Aside struct {
	Branch BranchID `json:"branch"`
	Key    string   `json:"key"`              // the entry and version that it is about, if its key can be decoded
	Raw    string   `json:"raw_key"`          // hexadecimal
	Record string   `json:"record,omitempty"` // hexadecimal, at most 1 KiB; the old file has all of it
	Why    string   `json:"why"`
}

// Filed is a Driver that stores spaces as files of the data directory.
type Filed interface {
	// Files returns the paths of a space's files, whether they exist or not.
	Files(dir string) Files
}

// Files are the paths of a space.
type Files struct {
	Database string // exists if there is a space
	Blobs    string // the folder of blobs, created before the database
}
