package store

import "context"

// Documented is a Driver whose spaces have documents: files of the data directory that have to follow a space to the next server.
type Documented interface {
	// Documents returns the documents of a directory's space without their data; none if there is no space.
	Documents(ctx context.Context, dir string) ([]Document, error)
	// Document returns one with its data; ErrNotFound if there was never such a one.
	Document(ctx context.Context, dir, name string) (Document, error)
}

// Documenting is an engine of a Documented driver.
type Documenting interface {
	// PutDocument replaces a document with a revision, or the zero one that does not exist, and returns the new revision. Nil data removes
	// it. A document with another revision stays, and the error is ErrConflict.
	PutDocument(ctx context.Context, d Document) (revision uint64, err error)
}

// DocumentLimit is the size limit of a document in bytes.
const DocumentLimit = 64 << 20

// Document is a file of a data directory, as a database has it.
type Document struct {
	Name     string // its path in the directory, with slashes
	Revision uint64 // of all documents of the space, those with higher ones were changed later
	Data     []byte
	Removed  bool
}
