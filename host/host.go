// Package host opens a data directory: it wires the store, the index, the memory and the front ends
// together and serves them.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/front/httpsessions"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/mcp"
	"github.com/alcove-memory/alcove/host/front/operations"
	"github.com/alcove-memory/alcove/host/front/rest"
	"github.com/alcove-memory/alcove/host/front/stream"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/operator/metrics"
	"github.com/alcove-memory/alcove/host/operator/refusals"
	"github.com/alcove-memory/alcove/host/operator/requestlog"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

// Options say what to open, and how.
type Options struct {
	Dir      string        // the data directory; made if there is none
	Version  string        // of the program, as clients are told
	ReadOnly bool          // refuse every write
	Sharing  owner.Sharing // of the data directory, which is refused when others than these can change it
	Clock    func() time.Time
	Logger   *slog.Logger
	// Families are those that the program carries; FamiliesDir is a folder with more, which may change; Locked allows only
	// those whose digests are in the lock file.
	Families    []FamilyModule
	Release     string // signatures of the catalogue of Families, as package catalogue has them; empty: there are none
	FamiliesDir string
	Locked      bool
	Compiler    sandbox.Compiler // of modules; the zero value: this program
	Cache       sandbox.Cache    // of compiled modules, which data directories share; the zero value: none
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
	// Anchor keeps the heads of the audit log elsewhere, every AnchorEvery; nil: they are not kept.
	Anchor      audit.Anchor
	AnchorEvery time.Duration // 0: 1 minute
	NoAudit     bool          // what families do is not recorded: for measurements
	// Embedder is used by searches that name none, and kept among those of the data directory; nil: as these say.
	Embedder *embedders.Config
	// Driver opens the store in the data directory; nil: the default one.
	Driver store.Driver
}

// Host is an open data directory. This process owns it until Close.
type Host struct {
	options  Options
	token    string // empty: the directory has none, and cannot be written
	keys     *keys.Keys
	lock     *owner.Lock
	dir      *os.File // the data directory, open so that no other gets its inode
	readOnly bool     // the directory cannot be written
	parts
	mcp      *mcp.Server
	rest     *rest.Server
	metrics  *metrics.Metrics
	sessions *sessions.Sessions
	refusals *refusals.Account
	kept     *httpsessions.File // of HTTP clients; nil: the directory cannot be written
	requests *requestlog.Log    // nil: none
	streams  *stream.Server
	wire     *operations.Server

	closing sync.Once
	closed  error
	closers closers
}

// Open takes possession of a data directory and opens what is in it. When another process has it, the
// error is an owner.OwnedError.
func Open(ctx context.Context, o Options) (*Host, error) {
	o = o.withDefaults()
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory %s: %w", o.Dir, err)
	}
	o.Dir = dir
	h := &Host{options: o, metrics: metrics.New(o.Version)}
	h.refusals = refusals.New(refusals.Options{Report: h.reportRefusals, Clock: o.Clock})
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Driver == nil {
		o.Driver = defaultDriver()
	}
	return o
}

func (h *Host) open(ctx context.Context) (err error) {
	if err := h.openDir(); err != nil {
		return err
	}
	if h.keys, err = keys.Open(keys.Options{Path: owner.KeysPath(h.options.Dir), Clock: h.options.Clock, Changeable: h.changeable, Ended: h.keyEnded, Exceeded: h.exceeded}); err != nil {
		return err
	}
	h.sessions = sessions.New(sessions.Options{Clock: h.options.Clock, Began: h.sessionBegan, Ended: h.sessionEnded})
	if err := h.openRequests(ctx); err != nil {
		return err
	}
	a := assembly{readOnly: h.readOnly, checkKey: h.keys.Check, whileKey: h.keys.While, purging: h.eraseRequests, sessions: h.sessions, delegates: delegates{h.keys, h.options.Logger}, called: h.metrics.CountGuest}
	if h.parts, err = assemble(ctx, h.options, a, &h.closers); err != nil {
		return err
	}
	h.closers.later("the account of refusals", running(ctx, h.refusals.Run)) // before the audit log closes
	if err := h.readToken(); err != nil {
		return err
	}
	if err := h.openHTTPSessions(); err != nil {
		return err
	}
	dispatcher, err := h.dispatcher()
	if err != nil {
		return err
	}
	h.mcp = mcp.New(dispatcher, mcp.Options{
		Version: h.options.Version, Logger: h.options.Logger, Clock: h.options.Clock, ReadOnly: h.options.ReadOnly || h.readOnly,
		Identify: h.identify, Limits: h.keys, Sessions: h.sessions, Kept: h.keptSessions(),
	})
	h.rest = rest.New(rest.Options{
		Dispatcher: dispatcher, Client: h.clientOf, Limits: h.keys, Version: h.options.Version, Logger: h.options.Logger, Bodies: h.mcp.Input(),
	})
	h.streams = stream.New(stream.Options{
		Space: h.space, Dispatcher: dispatcher, Logger: h.options.Logger, Input: h.mcp.Input(), Stopped: stopped(),
		Client: func(r *http.Request) stream.Client { return stream.Client(h.clientOf(r)) }, Sessions: h.sessions,
		Limits: stream.Limits{Streams: listen.Streams(listen.Descriptors())}, Keys: h.keys,
	})
	h.wire = operations.New(operations.Options{Dispatcher: dispatcher, Logger: h.options.Logger, Input: h.mcp.Input(), Limits: h.keys, Sessions: h.sessions})
	return nil
}

// dispatcher calls the core tools and those of the families.
func (h *Host) dispatcher() (*tool.Dispatcher, error) {
	var families tool.Source
	if h.families != nil {
		families = familyTools{h.families}
	}
	all := tool.NewRegistry(families)
	o := core.Options{Space: h.space, Version: h.options.Version, Writable: h.Writable, Locked: h.Locked}
	if h.families != nil {
		o.Meaning = h.meaning
	}
	err := all.Add(core.Specs(o)...)
	d := tool.NewDispatcher(all, tool.Options{Logger: h.options.Logger, Clock: h.options.Clock, Limits: h.keys, Refused: h.refused, Called: func(c tool.Done) {
		h.metrics.Count(c)
		if c.Tool.Name != operation.Name { // its operations count
			h.sessions.Visited(c.Request.Caller, c.At)
		}
		h.logRequest(c)
		if h.usage != nil {
			h.usage.Count(c.Request.Caller.Agent, c.Tool.Name, c.Tool.Alias(c.Request), c.Err != nil)
		}
	}})
	if h.families != nil {
		h.families.SetCallable(callable{d})
	}
	return d, err
}

// openDir takes possession of the data directory.
func (h *Host) openDir() (err error) {
	dir := h.options.Dir
	warnings, err := h.options.Sharing.CheckDir(dir)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		h.options.Logger.Warn(w)
	}
	if h.lock, err = owner.AcquireLock(dir); err != nil {
		return err
	}
	h.closers.later("the lock", h.lock.Close)
	if h.dir, err = os.Open(dir); err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	h.closers.later("the data directory", h.dir.Close)
	if err := owner.Writable(dir); err != nil {
		h.options.Logger.Warn("the data directory cannot be written: it is served read-only, without tool families", "error", err)
		h.readOnly = true
	}
	if err := h.directory().CheckDatabase(); err != nil {
		return err
	}
	if h.readOnly {
		return h.mustHaveStore()
	}
	return nil
}

// mustHaveStore is for a directory in which none can be made.
func (h *Host) mustHaveStore() error {
	has, err := h.directory().HasStore()
	if err == nil && !has {
		err = fmt.Errorf("there is no store in %s, and this user cannot make one there: choose another directory with --data", h.options.Dir)
	}
	return err
}

// openHTTPSessions opens the sessions of HTTP clients that earlier servers kept.
func (h *Host) openHTTPSessions() (err error) {
	if h.readOnly {
		return nil
	}
	h.kept, err = httpsessions.Open(httpsessions.Options{Path: owner.HTTPSessionsPath(h.options.Dir), Clock: h.options.Clock, Logger: h.options.Logger})
	if err != nil {
		return err
	}
	h.closers.later("the HTTP sessions", h.kept.Close)
	return nil
}

// keptSessions is what keeps the sessions of HTTP clients, or nil.
func (h *Host) keptSessions() mcp.Kept {
	if h.kept == nil {
		return nil
	}
	return h.kept
}

// keyEnded forgets what is kept for the holders of a key.
func (h *Host) keyEnded(id string) {
	if h.kept != nil {
		h.kept.DeleteOf(id)
	}
}

// readToken reads the token, or makes one.
func (h *Host) readToken() (err error) {
	path := owner.TokenPath(h.options.Dir)
	if _, missing := os.Stat(path); h.readOnly && errors.Is(missing, fs.ErrNotExist) {
		return nil
	}
	h.token, err = listen.Token(path)
	return err
}

// Close closes everything, last opened first, and gives up the data directory. Only the first call does
// so; later ones return what it returned.
func (h *Host) Close() error {
	h.closing.Do(func() {
		h.closed = h.closers.close()
	})
	return h.closed
}

// Locked reports whether families run only as the lock file says, and nothing is granted.
func (h *Host) Locked() bool { return h.locked || h.families != nil && h.families.Locked() }

// Token is what HTTP clients present.
func (h *Host) Token() string { return h.token }

// Writable tells why nothing can be written though it should be: the files of the store are gone, for instance. nil when
// writes are kept, or are refused by intention.
func (h *Host) Writable() error {
	e, ok := h.engine.(store.WriteChecker)
	if !ok || h.readOnly {
		return nil
	}
	return e.Writable()
}

// withoutFamilies tells why there are no families though there should be; nil: nothing is missing.
func (h *Host) withoutFamilies() error { return h.without }

// readyWithin is how long a question whether the server is ready may wait for the answer to become yes.
const readyWithin = time.Second

// ready tells why clients would have to wait; nil when they would not.
func (h *Host) ready(ctx context.Context) error {
	if err := h.Writable(); err != nil {
		return fmt.Errorf("nothing can be stored: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := h.space.Ready(ctx); err != nil {
		return fmt.Errorf("searches wait for the index, which is being rebuilt: %w", err)
	}
	return nil
}

// session serves a client of the socket that admitHello admitted.
func (h *Host) session(ctx context.Context, hello owner.Hello, r io.Reader, w io.Writer) error {
	session := mcp.SessionOf(ctx)
	if hello.Protocol != owner.Operations {
		return h.mcp.ServeConn(ctx, r, w, session)
	}
	client := operations.Client{Caller: h.callerOf(session, session.Agent), Namespace: session.Namespace, Branch: session.Branch}
	return h.wire.ServeConn(ctx, r, w, client)
}

// routes are what HTTP clients reach who were admitted.
func (h *Host) routes() map[string]http.Handler {
	routes := h.rest.Routes()
	routes["/mcp"] = h.mcp.Handler()
	routes["/metrics"] = h.rest.Admitted(http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		rights := h.clientOf(r).Caller.Rights
		h.metrics.Serve(w, r, func(family string) bool { return family == tool.CoreFamily || rights.May(memory.ToUse(family)) }, h.Locked())
	})
	return routes
}

// lasting are the routes whose requests become connections of their own.
func (h *Host) lasting() map[string]http.Handler {
	return map[string]http.Handler{"/stream": h.streams}
}

// agentHeader names the agent of an HTTP client.
const agentHeader = "Alcove-Agent"

// clientOf returns who sent a request that admitBearer admitted. An agent's name is the key's, if there is one.
func (h *Host) clientOf(r *http.Request) rest.Client {
	session := mcp.SessionOf(r.Context())
	return rest.Client{Caller: h.callerOf(session, cmp.Or(session.Agent, r.Header.Get(agentHeader))), Namespace: session.Namespace}
}

// callerOf returns the author of a session's operations.
func (h *Host) callerOf(session mcp.Session, agent string) memory.Caller {
	who := memory.Caller{Agent: mcp.AgentName(agent), Key: session.Key, Principal: session.Principal, Rights: session.Rights}
	if h.options.ReadOnly || h.readOnly {
		who.Rights = who.Rights.ReadOnly()
	}
	return who
}

// CoreTools are the core tools, with their aliases.
func CoreTools() []tool.Spec { return core.Specs(core.Options{}) }

// Tools lists the tools that clients are offered, in the form that model APIs take.
func Tools() []ExportedTool { return core.Export() }

// ExportedTool is a tool in the form that model APIs take.
type ExportedTool = tool.Exported
