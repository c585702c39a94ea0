package host

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/follow"
	"github.com/alcove-memory/alcove/host/front/admission"
	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/mcp"
	"github.com/alcove-memory/alcove/host/front/rest"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/registry"
)

const (
	mostFollowers  = 50              // copies of spaces in memory
	mostOpening    = 2               // copies being opened at a time: running calls need the processor
	followerIdle   = time.Minute     // an unused copy is closed after this time
	followerOpens  = time.Minute     // to open one
	followerFailed = 2 * time.Second // before it is tried again
	followerCall   = time.Hour       // a call becomes a task after this time; tasks are local to a server
	followWithin   = time.Second     // for a copy to catch up, before the request goes to the leader
	followerFolder = "followed"      // in the data directory: copies of blobs, by space

	settingsNamespace  = "_"         // where families keep settings, which change semantic search
	settingsCollection = "_settings" // and in which collection
)

// followers are the copies of spaces that other servers lead.
type followers struct {
	spaces *Spaces

	opening chan struct{} // semaphore

	mu    sync.Mutex
	open  map[string]*follower // by space; including those being opened and those that failed
	ended bool
	all   sync.WaitGroup
}

// follower is a copy of a space, with the rights to read it.
type follower struct {
	name   string
	opened chan struct{}
	used   time.Time // guarded by followers.mu

	failure   error // this and the others are set before opened is closed
	copy      *follow.Copy
	space     *space.Space
	admission admission.Admission
	routes    map[string]http.Handler
	ranked    bool // a family ranks searches
	means     bool // semantic search needs an embedder that the copy does not have
	closers   space.Closers
}

// serve answers a request that accepts an answer of some age. It returns false if the leader must answer.
func (f *followers) serve(w http.ResponseWriter, r *http.Request, name, path string, a follow.Asked) bool {
	arrived := time.Now()
	call, ok := callOf(r, path)
	if !ok || !f.use() {
		return false
	}
	x := f.of(r, name)
	if x == nil || call.Query && x.ranked {
		return false
	}
	ctx, stop, err := x.admission.Bearer(r.Context(), path, listen.BearerOf(r))
	if err != nil {
		return false // the leader knows keys that are newer
	}
	defer stop()
	version, age, done, err := x.read(ctx, arrived, a)
	if errors.Is(err, follow.ErrOutdated) {
		f.drop(x)
	}
	if err != nil {
		return false
	}
	defer done()
	if call.Mean && !x.semanticReady(ctx) {
		return false
	}
	w.Header().Set(follow.VersionHeader, strconv.FormatUint(version, 10))
	w.Header().Set(follow.AgeHeader, strconv.FormatInt(age.Milliseconds(), 10))
	r = r.WithContext(ctx)
	r.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	cluster.Rewind(r)
	x.routes[routeOf(path)].ServeHTTP(w, r)
	return true
}

// callOf reads a call of a tool, if a copy may answer it.
func callOf(r *http.Request, path string) (c follow.Call, ok bool) {
	route := routeOf(path)
	if route == "" || r.Method != http.MethodPost || r.GetBody == nil {
		return c, false
	}
	body, err := r.GetBody()
	if err != nil {
		return c, false
	}
	data, err := io.ReadAll(body) // from memory
	if err != nil {
		return c, false
	}
	if route == operationsPath {
		return follow.CallOf(strings.TrimPrefix(path, operationsPath), data)
	}
	if r.Header.Get("Mcp-Method") == "" || r.Header.Get("Mcp-Session-Id") != "" { // the leader has the session
		return c, false
	}
	return follow.MessageOf(data)
}

// routeOf is what serves a path, if a copy has it.
func routeOf(path string) string {
	switch {
	case path == mcpPath:
		return mcpPath
	case strings.HasPrefix(path, operationsPath):
		return operationsPath
	}
	return ""
}

const mcpPath = "/mcp"

// use reports whether this server answers reads of spaces that it does not lead: it reaches the database, and calls need no accounting at
// the leader.
func (f *followers) use() bool {
	o := f.spaces.each
	return f.spaces.sharing.member.Ready() == nil && !o.LogRequests && !o.LogCalls && o.Traces == ""
}

// of returns the copy of a space for a client with the right to it. If there is none, it starts to open one.
func (f *followers) of(r *http.Request, name string) *follower {
	f.mu.Lock()
	x := f.open[name]
	if x != nil {
		x.used = time.Now()
	}
	f.mu.Unlock()
	if x == nil {
		if f.spaces.admit(r, name) == nil {
			f.begin(name)
		}
		return nil
	}
	select {
	case <-x.opened:
	default:
		return nil
	}
	if x.failure != nil {
		return nil
	}
	return x
}

// begin opens the copy of a space, in the background.
func (f *followers) begin(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[name] != nil || f.ended || len(f.open) >= mostFollowers {
		return
	}
	x := &follower{name: name, opened: make(chan struct{}), used: time.Now()}
	f.open[name] = x
	f.all.Go(func() {
		f.opening <- struct{}{}
		defer func() { <-f.opening }()
		ctx, cancel := context.WithTimeout(f.spaces.running, followerOpens)
		defer cancel()
		x.failure = x.openIn(ctx, f.spaces)
		close(x.opened)
		if x.failure != nil && ctx.Err() == nil {
			f.spaces.each.Logger.Warn("reads of a space that another server leads are forwarded", "space", name, "error", x.failure)
		}
	})
}

// read waits until the copy is as new as asked.
func (x *follower) read(ctx context.Context, arrived time.Time, a follow.Asked) (version uint64, age time.Duration, done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, followWithin)
	defer cancel()
	return x.copy.Read(ctx, arrived, a)
}

// semanticReady reports whether semantic search gives the same results here as at the leader.
func (x *follower) semanticReady(ctx context.Context) bool {
	set, err := x.space.Memory.HasShared(ctx, settingsNamespace, settingsCollection)
	return err == nil && !set && x.means
}

// openIn opens a copy, or closes what it opened and returns an error.
func (x *follower) openIn(ctx context.Context, s *Spaces) (err error) {
	o, err := s.optionsOf(x.name)
	if err != nil {
		return err
	}
	dir, err := s.dirOf(x.name)
	if err != nil {
		return err
	}
	o.Dir, o.Posture, o.Anchor = filepath.Join(s.sharing.dir, followerFolder, x.name), "", nil
	opened, err := positionOf(ctx, o)
	if err != nil {
		return err
	}
	if err := x.admit(ctx, dir, s, o); err != nil {
		return err
	}
	x.space, err = space.Open(context.WithoutCancel(ctx), o, s.shared().In(space.Environment{ReadOnly: true, CheckKey: x.admission.Keys.Check}), &x.closers)
	if err != nil {
		return err
	}
	if err := x.space.Memory.Ready(ctx); err != nil {
		return err
	}
	engine := x.space.Engine.(store.Following) // as positionOf found
	if x.copy, err = follow.New(ctx, follow.Options{Engine: engine, Memory: x.space.Memory, Opened: opened, But: unneededDocuments()}); err != nil {
		return err
	}
	x.closers.Later("the copy", x.copy.Close)
	x.serve(o)
	return nil
}

// serve builds the handler of the copy.
func (x *follower) serve(o Options) {
	limits := connection.Limits{Keys: x.admission.Keys}.WithDefaults()
	operations := rest.New(rest.Options{Dispatcher: x.space.Tools, Client: x.admission.Client, Limits: limits, Version: o.Version, Logger: o.Logger})
	messages := mcp.New(x.space.Tools, mcp.Options{Version: o.Version, Logger: o.Logger, Clock: o.Clock, ReadOnly: true, Limits: limits, LongCall: followerCall})
	x.closers.Later("what answers messages", func() error {
		messages.Close(context.Background())
		return nil
	})
	x.routes = map[string]http.Handler{operationsPath: operations.Routes()[operationsPath], mcpPath: messages.Handler()}
}

// unneededDocuments lists documents that reads do not depend on.
func unneededDocuments() []string {
	return append(serverFiles(), owner.OperatorsPath(""), owner.AuditHeadsPath("")+"/")
}

// positionOf returns the position of a space before anything is read, and removes the files of earlier copies.
func positionOf(ctx context.Context, o Options) (s store.Sight, err error) {
	e, err := o.Driver.Open(ctx, o.Dir, store.Options{Clock: o.Clock, Logger: o.Logger, ReadOnly: true})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	f, ok := e.(store.Following)
	if !ok {
		return s, errors.New("the store cannot be followed")
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return s, err
	}
	if err := f.Tidy(ctx); err != nil {
		return s, err
	}
	return f.Look(ctx, unneededDocuments()...)
}

// admit loads the keys of the space, and which families take part in searches.
func (x *follower) admit(ctx context.Context, dir string, s *Spaces, o Options) (err error) {
	none := admission.Admission{TokenPath: "token of the space's data directory", ReadOnly: true, Refused: func(string, error) {}}
	if x.admission, err = s.sharing.admission(none, x.name, dir, o.Clock); err != nil {
		return err
	}
	x.admission.Home = func(k keys.Key) string { return x.space.Memory.As(k.Caller()).Home(k.Namespaces) }
	from := o.Driver.(store.Documented) // as admission found
	list, err := from.Documents(ctx, dir)
	if err != nil || len(list) == 0 {
		return errors.Join(err, errUnled)
	}
	x.means = o.Embedder == nil
	for _, d := range list {
		switch {
		case d.Removed:
		case d.Name == "embedders.json":
			x.means = false
		case d.Name == registry.File:
			if d, err = from.Document(ctx, dir, d.Name); err == nil {
				x.ranked, err = ranks(d.Data)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errUnled means that a space has no documents yet: its first leader writes them.
var errUnled = errors.New("no server has led the space yet")

// ranks reports whether a lock file has a family that ranks searches.
func ranks(file []byte) (bool, error) {
	lock, err := registry.Parse(file)
	for _, g := range lock.Families {
		if _, on := g.Hooks[abi.HookRank]; on {
			return true, err
		}
	}
	return false, err
}

// tidy closes unused copies, and removes those that failed to open.
func (f *followers) tidy() {
	f.mu.Lock()
	var unused []*follower
	for _, x := range f.open {
		if idle := time.Since(x.used); idle > followerIdle || idle > followerFailed && x.failed() {
			unused = append(unused, x)
		}
	}
	f.mu.Unlock()
	for _, x := range unused {
		f.drop(x)
	}
}

func (x *follower) failed() bool {
	select {
	case <-x.opened:
		return x.failure != nil
	default:
		return false
	}
}

// drop closes a copy, once its readers are done.
func (f *followers) drop(x *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[x.name] != x || f.ended {
		return
	}
	delete(f.open, x.name)
	f.all.Go(func() { f.shut(x) })
}

func (f *followers) shut(x *follower) {
	<-x.opened
	if err := x.closers.Close(); err != nil {
		f.spaces.each.Logger.Warn("close the copy of a space that another server leads", "space", x.name, "error", err)
	}
}

// close closes all copies, and opens no more.
func (f *followers) close() {
	f.mu.Lock()
	f.ended = true
	for _, x := range f.open {
		f.all.Go(func() { f.shut(x) })
	}
	f.mu.Unlock()
	f.all.Wait()
}
