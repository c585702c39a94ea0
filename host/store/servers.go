package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Shared is a Driver whose spaces several servers share. One server at a time leads a space.
type Shared interface {
	// Servers returns the table of the servers that share the database, and its spaces. The caller closes it.
	Servers(ctx context.Context) (Catalog, error)
	// Space is the name of the driver's own space.
	Space() string
}

// Servers is the table of the servers that share a database, and of the spaces that they lead. All of its clocks are the database's.
type Servers interface {
	// Renew makes a server count as running for another term, and returns the table, whose leases are as after that. One that renews too late
	// leads those spaces on that nobody has taken meanwhile.
	Renew(ctx context.Context, s Server, term time.Duration) (Table, error)
	// Leave ends a server, which leads nothing any more.
	Leave(ctx context.Context, id string) error
	// Create creates a space, unless there is one with its name. The error is a FormerError if one had it.
	Create(ctx context.Context, space string) error
	// Lead has a running server lead a space, unless another one that is running does, and returns who leads it then. It creates a space
	// that does not exist. The error is a DepartedError if the space was moved away.
	Lead(ctx context.Context, space, id string) (Lease, error)
	// Release ends the lead of a server over a space.
	Release(ctx context.Context, space, id string) error
	// List returns the table.
	List(ctx context.Context) (Table, error)
	Close() error
}

// Catalog is the servers of a database, and its spaces.
type Catalog interface {
	Servers
	// Add creates a space. The error wraps ErrExists if there is one with its name.
	Add(ctx context.Context, space string) error
	// Rename gives a space another name, in one transaction that ends its lead and fences what has it open. server leads it, or is empty: then
	// nobody does. The error wraps ErrExists if the name is taken, and is a LedError while another server leads the space.
	Rename(ctx context.Context, space, to, server string) error
	// Delete ends a space as Rename does. What it had is erased by Sweep.
	Delete(ctx context.Context, space, server string) error
	// Sweep erases what is left of deleted spaces, in small transactions. left reports that one waits until reads that had begun are done.
	Sweep(ctx context.Context) (left bool, err error)
	// Former returns a FormerError if a space had a name, and none has it now.
	Former(ctx context.Context, name string) error
	// Identify returns the spaces that have one of the names or one of the identities.
	Identify(ctx context.Context, names, identities []string) ([]Named, error)
	// Spaces returns all spaces, by name.
	Spaces(ctx context.Context) ([]ListedSpace, error)
}

// Named is a space of a database.
type Named struct {
	Name     string
	Identity string // which it keeps when it is renamed
}

// ListedSpace is a space as a database shows it.
type ListedSpace struct {
	Name    string    `json:"name"`
	Bytes   int64     `json:"bytes"`              // of keys, values and blobs; -1: not known
	Version uint64    `json:"version"`            // the newest
	Written time.Time `json:"written,omitzero"`   // when
	Leader  string    `json:"leader,omitempty"`   // the address of the server that leads it; empty: none does
	MovedTo string    `json:"moved_to,omitempty"` // where it was moved; empty: it is here
}

// ErrExists is wrapped by errors about a name that another space has.
var ErrExists = errors.New("there is such a space")

// FormerError means that no space has a name that one had.
type FormerError struct {
	Name string
	To   string // its name now; empty: it was deleted
}

func (e *FormerError) Error() string {
	if e.To == "" {
		return fmt.Sprintf("the space %s was deleted: ask the operator, who can make another one with: alcove space create %s", e.Name, e.Name)
	}
	return fmt.Sprintf("the space %s was renamed to %s: use that name, as in /s/%s/mcp or --space %s; keys stay as they are", e.Name, e.To, e.To, e.To)
}

// Table is the servers and leases, those of servers that count as gone included.
type Table struct {
	Servers []Server
	Leases  []Lease
}

// Server is one of the servers that share a database.
type Server struct {
	ID       string        `json:"id"`      // of one process
	Address  string        `json:"address"` // where the others reach it
	Version  string        `json:"version"` // of its program
	Draining bool          `json:"draining,omitempty"`
	Started  time.Time     `json:"started"`
	Left     time.Duration `json:"left_ns"` // until it counts as gone; 0 or less: it does
}

// Lease says which server leads a space.
type Lease struct {
	Space   string    `json:"space"`
	Server  string    `json:"server"`  // its id
	Address string    `json:"address"` // of the server
	Gone    bool      `json:"gone,omitempty"`
	Since   time.Time `json:"since"`
	Epoch   uint64    `json:"epoch"`
	Head    uint64    `json:"head"` // the newest version of the space

	Identity string `json:"-"` // of the space
}

// Following is an engine that was opened read-only, and follows the one that writes the space elsewhere. Its reads see what Follow let them.
type Following interface {
	Engine
	// Look returns where the space is, with one question. Documents with one of some names, or in one of some
	// folders, whose names end in a slash, do not count.
	Look(ctx context.Context, but ...string) (Sight, error)
	// Follow lets reads see the commits up to a point that Look returned.
	Follow(to Point)
	// Tidy removes copies of blobs that are gone. The directory is the engine's alone.
	Tidy(ctx context.Context) error
	// Written returns those of branches that were written after a version and up to another, with one question.
	Written(ctx context.Context, branches []BranchID, after, upTo uint64) ([]BranchID, error)
}

// Sight is where a space is.
type Sight struct {
	Head Point
	Mark string // another one whenever something changed that is no commit: who writes the space, its name, its documents, purged values
}

// LedError means that another server leads the space that was to be opened.
type LedError struct{ Space, Address string }

func (e *LedError) Error() string {
	return fmt.Sprintf("the server at %s leads %s: start this one with the same --cluster-key-file, and it forwards to that server", e.Address, e.Space)
}
