package memory

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

var errTodo = errors.New("not built yet")

type Space struct{}

// AsOf is a moment in a branch's past; the zero AsOf is now.
type AsOf struct {
	Version uint64
	Time    time.Time
}

// ParseAsOf reads what people and models write: RFC 3339; a date (its end, UTC); "1h ago", "2 days ago",
// "yesterday"; an epoch in s, ms or µs told apart by size; "v123" for a version. Empty is now.
func ParseAsOf(text string, now time.Time) (AsOf, error) { return AsOf{}, errTodo }

// ParseTime reads the same forms but for versions, and also spans ahead such as "in 2h" (for expiry).
func ParseTime(text string, now time.Time) (time.Time, error) { return time.Time{}, errTodo }

func (s *Space) Store(ctx context.Context, p Place, items []Item, w Write) ([]Stored, error) {
	return nil, errTodo
}

// Recall gives the memory under a key, or nil when there is none.
func (s *Space) Recall(ctx context.Context, p Place, key string, at AsOf) (*Memory, error) {
	return nil, errTodo
}

// Forget deletes the memories under keys and reports how many there were; the past keeps them.
func (s *Space) Forget(ctx context.Context, p Place, keys []string, w Write) (int, error) {
	return 0, errTodo
}

// SetState moves memories to a state (archive, restore…); reports how many there were.
func (s *Space) SetState(ctx context.Context, p Place, keys []string, state State, w Write) (int, error) {
	return 0, errTodo
}

// History lists the versions of a key, newest first, at most limit, none newer than at. more is the
// version to ask for next (as AsOf), 0 when that was all.
func (s *Space) History(ctx context.Context, p Place, key string, at AsOf, limit int) (versions []Memory, more uint64, err error) {
	return nil, 0, errTodo
}
func (s *Space) Extent(ctx context.Context, branch string) (Extent, error) { return Extent{}, errTodo }
func (s *Space) Status(ctx context.Context, p Place) (Status, error)       { return Status{}, errTodo }
func (s *Space) Search(ctx context.Context, q Search) (Found, error)       { return Found{}, errTodo }

// Append adds an event to the log of a branch and namespace.
func (s *Space) Append(ctx context.Context, p Place, event string, data json.RawMessage, w Write) (Event, error) {
	return Event{}, errTodo
}

// Events reads the log, oldest first, from sequence from on.
func (s *Space) Events(ctx context.Context, p Place, at AsOf, from uint64, limit int) ([]Event, error) {
	return nil, errTodo
}
func (s *Space) Counters(ctx context.Context, p Place, key string) (Counters, error) {
	return Counters{}, errTodo
}

func (s *Space) Branches(ctx context.Context) ([]Branch, error) { return nil, errTodo }

// Fork makes a branch from what another sees at a moment, in constant time.
func (s *Space) Fork(ctx context.Context, from, name string, at AsOf, w Write) (Branch, error) {
	return Branch{}, errTodo
}

// Create makes an empty branch.
func (s *Space) Create(ctx context.Context, name string, w Write) (Branch, error) {
	return Branch{}, errTodo
}
func (s *Space) Delete(ctx context.Context, name string, w Write) error { return errTodo }

// Diff compares a branch with another since they parted.
func (s *Space) Diff(ctx context.Context, q DiffQuery) (Diff, error) { return Diff{}, errTodo }

// Merge brings a branch's changes into another.
func (s *Space) Merge(ctx context.Context, m Merge, w Write) (MergeResult, error) {
	return MergeResult{}, errTodo
}

// Side is the state of a key on one side of a diff or merge; nil Memory: not there.
type Side = *Memory

// Difference is a key whose state differs between two branches.
type Difference struct {
	Namespace            string
	Collection           string // "memory", or a family's own
	Key                  string
	Base, Source, Target Side
	Conflict             string // "", "edit/edit", "edit/delete", "add/add"
}

type DiffQuery struct {
	Source, Target string // Source's changes against Target
	Namespaces     []string
	Limit          int
}

type Diff struct {
	Source, Target          string
	Added, Changed, Removed int // what Source has that Target has not, differently, not
	Differences             []Difference
	Truncated               bool
}

// Strategy says how a merge settles conflicts.
type Strategy string

const (
	Strict Strategy = "strict"
	Source Strategy = "source"
	Target Strategy = "target"
	Newest Strategy = "newest"
	Fields Strategy = "fields"
)

// Resolution settles one key: the "source" or "target" side, "delete", or a Value of its own.
type Resolution struct {
	Namespace string
	Key       string
	Take      string // "source", "target", "delete" or "value"
	Value     json.RawMessage
}

type Merge struct {
	Source, Target string
	Strategy       Strategy
	Resolutions    []Resolution
	Namespaces     []string
	Preview        bool // work everything out, write nothing
}

type MergeResult struct {
	Source, Target string
	Preview        bool
	Merged         bool         // written
	Applied        []Difference // what the target gets
	Conflicts      []Difference // what was, or would have to be, settled; unresolved ones stop the merge
	Unresolved     int
	Version        uint64
	Timestamp      time.Time
}
