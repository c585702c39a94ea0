// Package hooks calls the hooks of families around a space's stores and searches.
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

// Families provides the families with hooks.
type Families interface {
	// Storing lists the families to call before a store, in any order. With an error, which is a Missing, there are required
	// ones that cannot be called.
	Storing() ([]Store, error)
	// On lists the families whose hook is on, sorted by name.
	On(hook abi.Hook) []Family
	// Changed is closed when a hook may have been turned on or off.
	Changed() <-chan struct{}
}

// Family is one version of a family.
type Family interface {
	Name() string
	Manifest() *abi.Manifest
	// ReachesOutside reports whether it may have effects that no conflict undoes.
	ReachesOutside() bool
	// Rights returns the namespaces that its hooks cover.
	Rights() memory.Rights
	// ReadsRecords reports whether it may read a collection of another family, as FAMILY/NAME.
	ReadsRecords(collection string) bool
	// Generations bounds how many hooks may answer each other before its hook is no longer called.
	Generations(hook abi.Hook) int
	// Setting returns the text of a setting of its own.
	Setting(ctx context.Context, key string) (string, error)
	// RankWhen returns what calls for its rank hook. The zero When calls for it always, as what an operator turned on by name is called for.
	RankWhen() abi.When
	// Differs reports whether one of the settings that a condition names is not its default, as it applies to an agent in a namespace.
	Differs(ctx context.Context, w abi.When, agent, namespace string) (bool, error)
	// Keeps reports whether it has a record in one of its collections.
	Keeps(ctx context.Context, at memory.Location, collection string) (bool, error)
	// Breaker counts failures, for all hooks of a version together.
	Breaker() *Breaker
	// Loaded returns its guest. ok is false while it is loading, which Loaded starts in the background.
	Loaded() (g Guest, ok bool)
	// Load waits until its guest is loaded. The error is ErrReplaced if another version replaced it.
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
	// Begin begins a request of a hook for a caller. An empty namespace is memory.Default.
	Begin(hook abi.Hook, stage *memory.Stage, c memory.Caller, namespace, requestID string) Request
}

// Request is one request to a guest.
type Request interface {
	// Operations returns the operations that serve the guest, with the stage that it works on.
	Operations() *ops.Call
	Config(ctx context.Context) (json.RawMessage, error)
	// Ask sends a request to the guest, which may use cpu of processor time; 0: its family's usual limit. A failure of the guest
	// itself is a Failure.
	Ask(ctx context.Context, kind abi.Kind, request []byte, cpu time.Duration) ([]byte, error)
	// Commit commits the staged work: as a proposal where the family may only propose.
	Commit(ctx context.Context) error
}

// ErrReplaced means that another version replaced a family before it could be called.
var ErrReplaced = errors.New("another version took its place")

// Failure is the failure of a guest.
type Failure struct{ error }

// Failed wraps a failure of a guest.
func Failed(err error) error { return Failure{err} }

func (f Failure) Unwrap() error { return f.error }

// Options configures Hooks. All fields are required.
type Options struct {
	Space    *memory.Space
	Families Families
	Behind   func(do func()) (begun bool)              // runs in the background
	Proposal func(family string, now time.Time) string // a name for a branch of a family's proposal
	Clock    func() time.Time
	Retry    time.Duration // from the first failed delivery to the next attempt
	Logger   *slog.Logger
}

// Hooks calls the hooks of all families. Its methods may be called concurrently.
type Hooks struct {
	o      Options
	passed passed
}

// New returns the hooks of families.
func New(o Options) *Hooks { return &Hooks{o: o} }

// as returns the space as a family uses it for a caller.
func (h *Hooks) as(c memory.Caller, x Family) *memory.Access {
	c.Family = x.Name()
	return h.o.Space.As(c)
}

// own returns the space as a family uses it for itself.
func (h *Hooks) own(x Family) *memory.Access { return h.as(ops.OwnCaller(x.Name()), x) }

// named returns a family whose hook is on.
func (h *Hooks) named(hook abi.Hook, name string) (Family, bool) {
	list := h.o.Families.On(hook)
	i := slices.IndexFunc(list, func(x Family) bool { return x.Name() == name })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// about reports whether a hook covers a collection; without a list it covers memories.
func about(collections []string, collection string) bool {
	if len(collections) == 0 {
		return collection == "memory"
	}
	return slices.Contains(collections, collection)
}

// commitBehind commits a hook's own staged records in the background. It overwrites no concurrent
// changes: in a conflict its writes are lost, as if the hook had not run.
func (h *Hooks) commitBehind(x Family, r Request) {
	call := r.Operations()
	if call.DryRun || call.Stage.Changes() == 0 || call.Stage.ChangesMemories() {
		return // a hook changes memories only by its answer
	}
	h.o.Behind(func() {
		if err := r.Commit(context.Background()); err != nil {
			h.o.Logger.Info("the own records of a hook were not committed", "family", x.Name(), "error", err)
		}
	})
}
