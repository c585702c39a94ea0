// Package host opens a data directory: it wires the store, the index, the memory and the front ends
// together and serves them.
package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/front/admission"
	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/console"
	"github.com/alcove-memory/alcove/host/front/httpsessions"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/mcp"
	"github.com/alcove-memory/alcove/host/front/operations"
	"github.com/alcove-memory/alcove/host/front/rest"
	"github.com/alcove-memory/alcove/host/front/stream"
	"github.com/alcove-memory/alcove/host/internal/spans"
	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/account"
	"github.com/alcove-memory/alcove/host/operator/acts"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/operator/operators"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/remote"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/standby"
	"github.com/alcove-memory/alcove/host/state"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/registry"
)

// Host is an open data directory. This process owns it until Close.
type Host struct {
	options   Options
	among     among
	keys      *keys.Keys
	operators *operators.Operators // on other machines
	documents *state.Documents
	lock      *owner.Lock
	dir       *os.File // the data directory, open so that no other gets its inode
	readOnly  bool     // the directory cannot be written
	space     *space.Space
	account   *account.Account
	admission *admission.Admission
	mcp       *mcp.Server
	rest      *rest.Server
	sessions  *sessions.Sessions
	kept      *httpsessions.File // of HTTP clients; nil: the directory cannot be written
	streams   *stream.Server
	wire      *operations.Server
	remotes   *remote.Remotes
	syncing   *remote.Server
	mover     mover

	exposed atomic.Bool                         // other machines can connect
	address atomic.Pointer[operator.HubAddress] // where people join the server; nil: they cannot

	closing sync.Once
	closed  error
	closers space.Closers
}

// Open takes possession of a data directory and opens what is in it. When another process has it, the
// error is an owner.OwnedError.
func Open(ctx context.Context, o Options) (*Host, error) { return openAmong(ctx, o, among{}) }

// among is what a server shares with one of its spaces. The zero value is for a space alone.
type among struct {
	common space.Common
	lock   *owner.Lock   // of the data directory, which stays the server's; nil: the host acquires it
	lead   *cluster.Lead // nil: no other server can lead the space
}

// leader returns the id of the server that leads the space.
func (a among) leader() string {
	if a.lead == nil {
		return ""
	}
	return a.lead.Server()
}

func openAmong(ctx context.Context, o Options, a among) (*Host, error) {
	o = o.WithDefaults()
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory %s: %w", o.Dir, err)
	}
	o.Dir = dir
	o.Logger = slog.New(trace.Logging(o.Logger.Handler()))
	h := &Host{options: o, among: a, space: &space.Space{}}
	h.account = account.New(account.Options{Dir: o.Dir, Version: o.Version, LogRequests: o.LogRequests, LogCalls: o.LogCalls, Clock: o.Clock, Logger: o.Logger})
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) (err error) {
	if o := h.options.Follow; o != nil {
		if err := standby.Prepare(ctx, space.FollowingDirectory(h.options.Dir, h.options.Driver), *o); err != nil {
			return err
		}
	}
	if err := h.openDir(); err != nil {
		return err
	}
	if err := h.openDocuments(ctx); err != nil {
		return err
	}
	if h.keys, err = keys.Open(keys.Options{Path: owner.KeysPath(h.options.Dir), Clock: h.options.Clock, Documents: h.documents, Changeable: h.checkOwned, Ended: h.keyRevoked, Exceeded: h.account.Exceeded}); err != nil {
		return err
	}
	h.operators = &operators.Operators{Path: owner.OperatorsPath(h.options.Dir), Clock: h.options.Clock, Write: h.documents.Write}
	h.sessions = sessions.New(sessions.Options{Clock: h.options.Clock, Began: h.sessionBegan, Ended: h.sessionEnded})
	if !h.readOnly {
		if err := h.account.OpenRequests(ctx, &h.closers); err != nil {
			return err
		}
	}
	traces, err := h.openTraces(ctx)
	if err != nil {
		return err
	}
	h.space, err = space.Open(ctx, h.options, h.among.common.In(space.Environment{
		ReadOnly: h.readOnly, Documents: h.documents, Closing: h.switchOver, Server: h.among.leader(), CheckKey: h.keys.Check, KeyQuotas: h.keys.Quotas, WhileKey: h.keys.While, Purging: h.account.Erase, Sessions: h.sessions,
		Delegates: admission.Delegates{Keys: h.keys, Logger: h.options.Logger}, Called: h.account.Metrics().CountGuest,
		Calls: tool.Options{Limits: h.limits(), Refused: h.account.Refused, Called: h.account.Called, Traces: traces},
	}), &h.closers)
	if err != nil {
		return err
	}
	if err := h.documents.Attach(ctx, h.space.Engine); err != nil {
		return err
	}
	if err := h.keepAuditHead(ctx); err != nil {
		return err
	}
	h.account.Of(h.space, h.sessions)
	if h.among.lead != nil {
		h.account.Metrics().Lease(h.among.lead.Left)
	}
	h.closers.Later("the account of refusals", space.Running(ctx, h.account.Run)) // before the audit log closes
	if err := h.openAdmission(); err != nil {
		return err
	}
	if err := h.openHTTPSessions(); err != nil {
		return err
	}
	return h.openFronts()
}

// openDocuments updates the files that move with the space from server to server.
func (h *Host) openDocuments(ctx context.Context) (err error) {
	o := h.documentOptions()
	o.Server = serverFiles()
	if !h.readOnly {
		o.Driver = h.options.Driver
	}
	o.Replace = func(name string, data []byte) error {
		if name == registry.File {
			return space.DirectoryWith(o.Dir, o.Driver).FollowLock(data)
		}
		return state.Replace(filepath.Join(o.Dir, filepath.FromSlash(name)), data)
	}
	h.documents, err = state.Open(ctx, o)
	return err
}

// documentOptions select the files of the data directory that move with the space.
func (h *Host) documentOptions() state.Options {
	return state.Options{Dir: h.options.Dir, Clock: h.options.Clock, Logger: h.options.Logger, Folders: []string{modules.Folder, owner.AuditHeadsPath("")},
		Files: append([]string{"keys.json", "keys.required", registry.File, "embedders.json", owner.OperatorsPath("")}, serverFiles()...)}
}

// serverFiles are the documents that only servers write.
func serverFiles() []string {
	return []string{owner.HTTPSessionsPath(""), owner.OAuthCodesPath(""), owner.ConsoleSessionsPath("")}
}

// following returns a document that moves with the space, and a function that replaces it; nil: none does.
func (h *Host) following(path string) (data []byte, keep func([]byte) error, err error) {
	if h.readOnly || !h.documents.Follow() {
		return nil, nil, nil
	}
	data, err = regular.Read(path, store.DocumentLimit)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return data, func(data []byte) error { return h.documents.Write(path, data) }, err
}

// limits bounds calls by the keys of clients, and refuses them while another server may lead the space.
func (h *Host) limits() limits {
	if h.among.lead == nil {
		return h.keys
	}
	return leading{h.keys, h.among.lead}
}

// limits admits the calls of front ends and the dispatcher.
type limits interface {
	tool.Limits
	connection.Keys
}

// leading admits calls while this server leads the space.
type leading struct {
	*keys.Keys
	lead *cluster.Lead
}

// Begin implements tool.Limits.
func (l leading) Begin(key string) (end func(), err error) {
	if err := l.lead.Check(); err != nil {
		return nil, err
	}
	return l.Keys.Begin(key)
}

// openTraces returns the recorder of spans; nil: spans are not recorded.
func (h *Host) openTraces(ctx context.Context) (trace.Recorder, error) {
	if h.options.Traces == "" {
		return nil, nil
	}
	r, err := spans.New(ctx, spans.Options{URL: h.options.Traces, Version: h.options.Version, Logger: h.options.Logger})
	if err != nil {
		return nil, err
	}
	h.closers.Later("the spans", r.Close)
	return r, nil
}

// openFronts opens the front ends.
func (h *Host) openFronts() error {
	views, err := console.Views()
	if err != nil {
		return err
	}
	limits := connection.Limits{Keys: h.limits()}.WithDefaults()
	h.mcp = mcp.New(h.space.Tools, mcp.Options{
		Version: h.options.Version, Logger: h.options.Logger, Clock: h.options.Clock, ReadOnly: h.refusesWrites(), Why: h.whyReadOnly(),
		Identify: h.admission.Identify, Limits: limits, Sessions: h.sessions, Kept: h.keptSessions(),
		Space: h.space.Memory, Views: views,
	})
	h.rest = rest.New(rest.Options{
		Dispatcher: h.space.Tools, Client: h.admission.Client, Limits: limits, Version: h.options.Version, Logger: h.options.Logger,
	})
	h.streams = stream.New(stream.Options{
		Space: h.space.Memory, Dispatcher: h.space.Tools, Logger: h.options.Logger, Stopped: stopped(),
		Client: h.admission.Client, Sessions: h.sessions,
		Limits: stream.Limits{Limits: connection.Limits{Keys: limits.Keys, Input: limits.Input}, Streams: listen.Streams(listen.Descriptors())},
	})
	h.remotes = &remote.Remotes{Path: owner.RemotesPath(h.options.Dir), Space: &remote.Space{Memory: h.space.Memory, Caller: acts.Operator()}}
	h.syncing = &remote.Server{
		Memory: h.space.Memory, Caller: func(r *http.Request) memory.Caller { return h.admission.Client(r).Caller },
		Longest: func(r *http.Request) int64 { return limits.Longest(h.admission.Client(r).Caller.Key) },
	}
	h.wire = operations.New(operations.Options{Dispatcher: h.space.Tools, Logger: h.options.Logger, Limits: limits, Sessions: h.sessions})
	return nil
}

// refusesWrites reports whether all clients are read-only.
func (h *Host) refusesWrites() bool {
	return h.options.ReadOnly || h.readOnly || h.options.Follow != nil
}

// whyReadOnly is the reason in the error of a refused write; empty: the default.
func (h *Host) whyReadOnly() string {
	if h.options.Follow == nil {
		return ""
	}
	return standby.Why(h.options.Follow.Place)
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
	if h.lock = h.among.lock; h.lock == nil {
		if h.lock, err = owner.AcquireLock(dir); err != nil {
			return err
		}
		h.closers.Later("the lock", h.lock.Close)
	}
	if h.dir, err = os.Open(dir); err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	h.closers.Later("the data directory", h.dir.Close)
	if err := owner.Writable(dir); err != nil {
		h.options.Logger.Warn("the data directory cannot be written: it is served read-only, without tool families", "error", err)
		h.readOnly = true
	}
	if h.options.Follow == nil && !h.readOnly {
		if err := standby.CheckAlone(dir); err != nil {
			return err
		}
	}
	if err := h.locate(); err != nil {
		return err
	}
	d := space.DirectoryWith(h.options.Dir, h.options.Driver)
	if err := d.CheckDatabase(); err != nil {
		return err
	}
	if h.readOnly {
		return h.mustHaveStore()
	}
	if has, err := d.HasStore(); has || err != nil {
		return err
	}
	return d.ForgetTranscripts() // of another store, which was removed
}

// mustHaveStore returns an error if the directory has no store and none can be made.
func (h *Host) mustHaveStore() error {
	has, err := space.DirectoryWith(h.options.Dir, h.options.Driver).HasStore()
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
	path, changed := owner.HTTPSessionsPath(h.options.Dir), make(chan struct{}, 1)
	h.kept, err = httpsessions.Open(httpsessions.Options{Path: path, Clock: h.options.Clock, Logger: h.options.Logger, Changed: func() {
		select {
		case changed <- struct{}{}:
		default: // a save is pending
		}
	}})
	if err != nil {
		return err
	}
	h.closers.Later("the HTTP sessions", h.kept.Close)
	if h.documents.Follow() {
		h.closers.Later("the HTTP sessions of the next server", space.Running(context.Background(), func(ctx context.Context) { h.followSessions(ctx, path, changed) }))
	}
	return nil
}

// sessionsAfter is how long changes of sessions are gathered before they are saved for another server.
const sessionsAfter = 200 * time.Millisecond

// followSessions saves the sessions of HTTP clients for the next leader of the space. If this server dies, unsaved changes of sessions are
// lost, but no memories.
func (h *Host) followSessions(ctx context.Context, path string, changed <-chan struct{}) {
	keep := func() {
		if err := h.documents.Edited(path); err != nil {
			h.options.Logger.Warn("HTTP sessions are not kept for the next server of the space", "error", err)
		}
	}
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(sessionsAfter):
		case <-ctx.Done():
		}
		keep()
	}
}

// keptSessions returns the file of HTTP sessions, or nil.
func (h *Host) keptSessions() mcp.Kept {
	if h.kept == nil {
		return nil
	}
	return h.kept
}

// keyRevoked removes what is stored for the holders of a key.
func (h *Host) keyRevoked(id string) {
	if h.kept != nil {
		h.kept.DeleteOf(id)
	}
}

// openAdmission reads the token, or makes one, and admits clients.
func (h *Host) openAdmission() (err error) {
	path := owner.TokenPath(h.options.Dir)
	h.admission = &admission.Admission{
		Keys: h.keys, TokenPath: path, ReadOnly: h.refusesWrites(), Why: h.whyReadOnly(), Refused: h.account.NotAdmitted,
		Home: func(k keys.Key) string { return h.space.Memory.As(k.Caller()).Home(k.Namespaces) },
	}
	if _, missing := os.Stat(path); h.readOnly && errors.Is(missing, fs.ErrNotExist) {
		return nil
	}
	h.admission.Token, err = listen.Token(path)
	return err
}

func (h *Host) sessionBegan(s sessions.Session) {
	if h.space.Families != nil {
		h.space.Families.SessionBegan(s)
	}
}

func (h *Host) sessionEnded(s sessions.Session) {
	if h.space.Families != nil {
		h.space.Families.SessionEnded(s)
	}
}

// checkOwned returns an error if another server may own the data directory by now: its files must not be changed then.
func (h *Host) checkOwned() error {
	if err := h.Writable(); err != nil {
		return err
	}
	if h.readOnly {
		return fmt.Errorf("%s is served read-only: %w", h.options.Dir, store.ErrReadOnly)
	}
	return nil
}

// Operator runs operator commands in this process.
func (h *Host) Operator() *admin.Server {
	acts := h.acts()
	return operator.NewServer(acts.Bindings(), operator.ServerOptions{Logger: h.options.Logger, Record: acts})
}

func (h *Host) acts() acts.Acts {
	var at operator.HubAddress
	if address := h.address.Load(); address != nil {
		at = *address
	}
	return acts.New(acts.Options{Address: at, Dir: h.options.Dir, Space: h.space, Keys: h.keys, Remotes: h.remotes, Operators: h.operators, Account: h.account, Exposed: h.exposed.Load(), Clock: h.options.Clock, Logger: h.options.Logger})
}

// RequireKeys decides whether clients without an API key are refused, by this server and later ones. Operators need none.
func (h *Host) RequireKeys(required bool) error { return h.acts().RequireKeys(required) }

// Close closes everything, last opened first, and gives up the data directory. Only the first call does
// so; later ones return what it returned.
func (h *Host) Close() error {
	h.closing.Do(func() {
		h.closed = h.closers.Close()
	})
	return h.closed
}

// Locked reports whether the data directory is locked: only families in the lock file run, and grants are refused.
func (h *Host) Locked() bool { return h.space.Locked() }

// Memory returns the memory, for a program that embeds the server. Its writes are checked, indexed and announced like those of clients.
func (h *Host) Memory() *memory.Space { return h.space.Memory }

// Token returns the token of HTTP clients; empty: the directory has none and is read-only.
func (h *Host) Token() string { return h.admission.Token }

// Writable returns why writes fail unexpectedly, such as deleted store files; nil if they succeed or the server is read-only.
func (h *Host) Writable() error { return h.space.Writable() }
