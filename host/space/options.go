package space

import (
	"log/slog"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/operator/push"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/standby"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/registry"
)

// Options say what to open, and how.
type Options struct {
	Dir      string        // the data directory; made if there is none
	Name     string        // of a space among others; empty: it is a server's own
	Version  string        // of the program, as clients are told
	ReadOnly bool          // refuse every write
	Sharing  owner.Sharing // of the data directory, which is refused when others than these can change it
	Clock    func() time.Time
	Logger   *slog.Logger
	// Families are those that the program carries; FamiliesDir is a folder with more, which may change; Locked allows only
	// those whose digests are in the lock file.
	Families    []modules.Module
	Release     string // signatures of the catalogue of Families, as package catalogue has them; empty: there are none
	FamiliesDir string
	Locked      bool
	// Posture is recorded in a directory that is new: registry.Personal or registry.Careful; empty: nothing is, which is careful.
	Posture  registry.Posture
	Compiler sandbox.Compiler // of modules; the zero value: this program
	Cache    sandbox.Cache    // of compiled modules, which data directories share; the zero value: none
	// InterpretFirst has installed families answer from an interpreter until they are compiled: for authors, on throwaway data.
	InterpretFirst bool
	Inspect        func(family string, memory []byte) // is given guests' memory after each request; nil: nobody looks
	Outside        ops.Outside                        // reaches endpoints for families; nil: over HTTP
	// Language is that of the texts that are searched, one of search.Languages; empty: English. Collections may have others:
	// "german,notes=french".
	Language string
	// BM25 says how collections score, as in memory=1.2/0.75, and Conversations how turns are searched: off, or as in
	// zone=0.4,speaker=0.125. Empty: as measurements suggest.
	BM25          string
	Conversations string
	// LogRequests keeps calls of tools in the request log, in the data directory.
	LogRequests bool
	// LogCalls writes who calls what to Logger, without values and keys of memories.
	LogCalls bool
	// Traces is the URL of a collector of OpenTelemetry, to which spans of calls are sent; empty: none are.
	Traces string
	// Anchor keeps the heads of the audit log elsewhere, every AnchorEvery; nil: they are not kept.
	Anchor      audit.Anchor
	AnchorEvery time.Duration // 0: 1 minute
	// AuditKeep and AuditBytes bound the audit log; 0: no age, and 1 GiB. AuditTo says where it is sent.
	AuditKeep  time.Duration
	AuditBytes int64
	AuditTo    push.To
	NoAudit    bool // what families do is not recorded: for measurements
	// Embedder is used by searches that name none, and kept among those of the data directory; nil: as these say.
	Embedder *embedders.Config
	// Lexical makes searches that name no embedder lexical: the built-in embedder is not used.
	Lexical bool
	// Follow keeps the store as a bucket has it, and has the server refuse writes; nil: the store is the directory's own.
	Follow *standby.Options
	// Driver opens the store in the data directory, unless it was moved; nil: the default one.
	Driver store.Driver
	// MoveStep is called at each step of a move of the store. For tests; nil in production.
	MoveStep func(step string)
}

// Environment is what surrounds a space: what a server gives it, or a test.
type Environment struct {
	ReadOnly  bool                                     // the directory cannot be written: nothing is embedded, and there are no families
	Dormant   bool                                     // likewise, by choice: a space that is only verified sends its texts nowhere
	Sandbox   *sandbox.Sandbox                         // of the families; the caller closes it. Nil: a new one
	Words     embedders.Words                          // nil: the space reads its own
	CheckKey  func(id string) error                    // returns why an API key does not hold; nil: none is known
	KeyQuotas func(id string) []memory.KeyQuota        // returns what the holder of an API key may store; nil: none is known
	WhileKey  family.While                             // ends a job with its caller's key; nil: none is known
	Sessions  *sessions.Sessions                       // nil: there are none
	Documents family.Documents                         // keeps the files that follow the space; nil: they are files alone
	Closing   func(store.Engine) error                 // called when nothing uses the engine any more, before it is closed; nil: nobody is
	Server    string                                   // the id of the server that leads the space, for a store.Shared driver; empty: none does
	Delegates ops.Delegates                            // nil: no keys can be made
	Watch     func(catalogue.Guest) catalogue.Guest    // replaces the guests of families, which then run stepwise; nil: they are as admitted
	Purging   func(holds func(text []byte) bool) error // erases from files beside the store; nil: there are none
	Calls     tool.Options                             // bounds the calls of tools, and receives them; Logger and Clock are the space's
	Called    func(audit.Entry)                        // receives each request to a guest; nil: what families do is not recorded
}

// WithDefaults returns the options with the wall clock, no log and the default driver where none is chosen.
func (o Options) WithDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Driver == nil {
		o.Driver = DefaultDriver()
	}
	return o
}
