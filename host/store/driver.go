package store

import (
	"context"
	"log/slog"
	"time"
)

// Driver keeps spaces in data directories, each in the layout of its engine. The caller makes sure that no other process uses
// a directory that is opened, loaded, examined or repaired.
type Driver interface {
	// Exists reports whether a directory has a space.
	Exists(dir string) (bool, error)
	// Open opens the space of a directory, or makes one, and removes what an interrupted Load left there.
	Open(ctx context.Context, dir string, o Options) (Engine, error)
	// Load makes a space in a directory that has none, wholly or not at all; ErrNotEmpty where there is one.
	Load(ctx context.Context, dir string, l Load) error
	// Examine reads a space without opening it, and returns what is damaged.
	Examine(dir string) (faults []error, err error)
	// Repair replaces a damaged space by one of all that can be read of it, and moves the old files into a folder in SetAside.
	// Without damage it does nothing.
	Repair(ctx context.Context, dir string, r Repair) (Repaired, error)
}

// SetAside is the folder of a data directory in which repairs leave the files that they replaced.
const SetAside = "set-aside"

// Options are how a Driver opens a space. The zero value is fit for use.
type Options struct {
	Clock    func() time.Time // nil: time.Now
	Logger   *slog.Logger     // nil: discards
	ReadOnly bool             // open what is there without writing to the directory; all writes are refused
}

// Load is how a space comes into a directory that has none.
type Load struct {
	// Read gives the loader everything. Files that it puts into the folder appear in the directory with the space.
	Read   func(l Loader, folder string) error
	Verify func(ctx context.Context, dir string) error // opens what was loaded, under a passing name, and judges it; nil: it is accepted
}

// Repair is how a damaged space is repaired.
type Repair struct {
	Now  time.Time              // names the folder of the old files
	Keep func(blob string) bool // which blobs stay true whatever is stored, and need not be made anew; nil: none
}

// Repaired is what a repair did.
type Repaired struct {
	Faults  []string `json:"faults"`  // what was found
	Entries int      `json:"entries"` // versions that are in the store now
	Rescued int      `json:"rescued"` // of them, those to which nothing led any more
	Aside   []Aside  `json:"aside"`   // what could not be used, and what is missing
	Folder  string   `json:"folder"`  // where the old files are; empty: nothing was damaged
}

// Aside is a record that a repair could not use, or that is missing.
type Aside struct {
	Branch BranchID `json:"branch"`
	Key    string   `json:"key"`              // what it is about, where that can be told
	Raw    string   `json:"raw_key"`          // hexadecimal
	Record string   `json:"record,omitempty"` // hexadecimal, the first KiB; the old file has all of it
	Why    string   `json:"why"`
}

// Filed is a Driver whose spaces are files of the data directory.
type Filed interface {
	// Files tells where a directory has the files of a space, whether they exist or not.
	Files(dir string) Files
}

// Files are where a space is kept.
type Files struct {
	Database string // without which there is no space
	Blobs    string // the folder beside it, made before the database
}
