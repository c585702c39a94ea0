// Package hooks asks families about what a space stores and searches, and tells them what was stored.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// Families are those whose hooks may be on.
type Families interface {
	// Storing lists the families that are asked before a store, in any order. It is an error when one without which nothing may
	// be stored cannot be asked.
	Storing() ([]Store, error)
	// On lists the families whose hook is on, in the order of their names.
	On(hook abi.Hook) []Family
	// Changed is closed when a hook may have been turned on or off since.
	Changed() <-chan struct{}
}

// Family is one version of a family.
type Family interface {
	Name() string
	Manifest() *abi.Manifest
	// ReachesOutside reports whether it may do something that no conflict undoes.
	ReachesOutside() bool
	// Rights are the namespaces of which its hooks are told.
	Rights() memory.Rights
	// Generations is how many hooks may answer each other until its hook is not told any more.
	Generations(hook abi.Hook) int
	// Rest is how often its hooks failed; the same for all hooks of a version.
	Rest() *Rest
	// Loaded is its guest. ok is false while it is being loaded, which Loaded begins and does not wait for.
	Loaded() (g Guest, ok bool)
	// Load waits until its guest is loaded. The error is ErrReplaced when another version took its place.
	Load(ctx context.Context) (Guest, error)
	// Defer queues a job that calls Hooks.Deferred with the payload, on behalf of a caller.
	Defer(ctx context.Context, c memory.Caller, at memory.Location, payload json.RawMessage) error
}

// Store is a family whose store hook is on.
type Store struct {
	Family
	OnFailure abi.OnFailure
}

// Guest is the module of a family. It stays loaded until Release.
type Guest interface {
	Release()
	// Begin begins a request for a caller. An empty namespace is memory.Default.
	Begin(stage *memory.Stage, c memory.Caller, namespace, requestID string) Request
}

// Request is one request to a guest.
type Request interface {
	// Operations serve the guest, and have the stage that it works on.
	Operations() *ops.Call
	Config(ctx context.Context) (json.RawMessage, error)
	// Ask asks the guest, which may take cpu of a processor; 0: what its family may always take. A failure of the guest itself
	// is a Failure.
	Ask(ctx context.Context, kind abi.Kind, request []byte, cpu time.Duration) ([]byte, error)
	// Commit commits what is staged: as a proposal where the family may only propose.
	Commit(ctx context.Context) error
}

// ErrReplaced is that another version took a family's place before it could be asked.
var ErrReplaced = errors.New("another version took its place")

// Failure is that a guest was asked and failed.
type Failure struct{ error }

// Failed is a failure of a guest.
func Failed(err error) error { return Failure{err} }

func (f Failure) Unwrap() error { return f.error }

// Options are what Hooks are made of. All are required.
type Options struct {
	Space    *memory.Space
	Families Families
	Behind   func(do func()) (begun bool)              // has something done that nobody waits for
	Proposal func(family string, now time.Time) string // the name of a branch for what a family proposes
	Clock    func() time.Time
	Retry    time.Duration // from a first failure of telling a family to the next attempt
	Logger   *slog.Logger
}

// Hooks are the hooks of all families. Its methods may be called concurrently.
type Hooks struct{ o Options }

// New makes hooks.
func New(o Options) *Hooks { return &Hooks{o} }

// as is the space as a family uses it for a caller.
func (h *Hooks) as(c memory.Caller, x Family) *memory.Access {
	c.Family = x.Name()
	return h.o.Space.As(c)
}

// own is the space as a family uses it for itself.
func (h *Hooks) own(x Family) *memory.Access { return h.as(ops.OwnCaller(x.Name()), x) }

// named finds a family whose hook is on.
func (h *Hooks) named(hook abi.Hook, name string) (Family, bool) {
	list := h.o.Families.On(hook)
	i := slices.IndexFunc(list, func(x Family) bool { return x.Name() == name })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// about reports whether a hook is about a collection; without a list it is about memories.
func about(collections []string, collection string) bool {
	if len(collections) == 0 {
		return collection == "memory"
	}
	return slices.Contains(collections, collection)
}

// commitBehind commits what a hook staged of its own, without making the write wait for it. What others changed meanwhile is not
// overwritten: then it is lost, as if the hook had not run.
func (h *Hooks) commitBehind(x Family, r Request) {
	call := r.Operations()
	if call.DryRun || call.Stage.Changes() == 0 || call.Stage.ChangesMemories() {
		return // memories are changed by what the hook answers
	}
	h.o.Behind(func() {
		if err := r.Commit(context.Background()); err != nil {
			h.o.Logger.Info("what a hook kept for itself was not committed", "family", x.Name(), "error", err)
		}
	})
}
