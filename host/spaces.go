package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/admission"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/oauth"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	defaultSpacesOpen  = 200
	defaultSpaceIdle   = 5 * time.Minute
	spaceCheckInterval = 5 * time.Second // how often to check the files of an open space: there may be hundreds
)

// SpacesOptions configure the spaces of a server. Only Dir is required.
type SpacesOptions struct {
	Dir  string        // the folder: each data directory in it is a space, named as its directory
	Open int           // how many may be open at once; 0: 200
	Idle time.Duration // after which an unused space is closed; 0: 5 minutes
}

// Spaces serves the data directories in a folder, each with keys, families and logs of its own. A space is opened when it is first used,
// and closed when it is idle. Spaces share the process, its listeners and a space.Common, but no data.
type Spaces struct {
	options SpacesOptions
	each    Options // of each space, but for its directory
	at      *site   // of the server
	record  owner.Record
	refused func(r *http.Request, err error)
	lock    *owner.Lock
	running context.Context
	stop    context.CancelFunc
	sharing *sharing // with other servers; nil: they are not shared

	mu   sync.Mutex
	open map[string]*openSpace // by name; including those being opened or closed
	all  sync.WaitGroup        // of open

	naming  sync.Mutex        // held while directories are renamed
	claimed map[string]string // guarded by naming: the identity of each directory; nil: not read yet

	making sync.Once
	common space.Common // of the spaces, once one was opened
}

// openSpace is a space from its opening to its end.
type openSpace struct {
	name    string
	ctx     context.Context // ends when the space is idle or must close
	stop    context.CancelFunc
	opened  chan struct{} // closed when the space is usable or has failed
	closed  chan struct{} // closed when another process can open it
	host    *Host         // this and the next three are set before opened is closed
	handler http.Handler
	use     *listen.Use
	failure error
	shared  *sharedMount // nil: the space is not shared
	lead    *cluster.Lead

	ending  bool           // guarded by Spaces.mu; the space cannot be acquired any more
	onClose *closeAction   // guarded by Spaces.mu, and set with ending; nil: none
	holders sync.WaitGroup // callers that acquired it
}

// openSpaces takes possession of a folder of spaces.
func openSpaces(ctx context.Context, o SpacesOptions, each Options, at *site, server owner.Record) (*Spaces, error) {
	if o.Open == 0 {
		o.Open = defaultSpacesOpen
	}
	if o.Idle == 0 {
		o.Idle = defaultSpaceIdle
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder of spaces %s: %w", o.Dir, err)
	}
	o.Dir = dir
	if _, err := each.Sharing.CheckDir(dir); err != nil {
		return nil, err
	}
	s := &Spaces{options: o, each: each, at: at, record: server, open: map[string]*openSpace{}}
	if s.lock, err = owner.AcquireLock(dir); err != nil {
		return nil, fmt.Errorf("serve the spaces in %s: %w", dir, err)
	}
	if err := owner.WriteRecord(dir, server); err != nil { // clients find the server by it
		return nil, errors.Join(err, s.lock.Close())
	}
	s.running, s.stop = context.WithCancel(ctx)
	return s, nil
}

// close closes all spaces, and gives up their folder.
func (s *Spaces) close() error {
	s.stop()
	s.all.Wait()
	_ = owner.RemoveRecord(s.options.Dir, s.record)
	return errors.Join(s.common.Close(), s.lock.Close())
}

// shared returns what the spaces have in common. If that fails, each space reports why it has no families.
func (s *Spaces) shared() space.Common {
	s.making.Do(func() {
		var err error
		if s.common, err = space.NewCommon(s.each); err != nil {
			s.each.Logger.Warn("each space has a sandbox of its own", "error", err)
		}
	})
	return s.common
}

// acquire returns the space with a name, which stays open until it is released. It opens the space if need be.
func (s *Spaces) acquire(ctx context.Context, name string) (o *openSpace, release func(), err error) {
	if _, err := s.dirOf(name); err != nil {
		return nil, nil, err
	}
	for {
		o, wait, err := s.hold(name)
		if err != nil {
			return nil, nil, err
		}
		if wait == nil {
			return s.use(ctx, o)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// hold counts a holder of the space with a name. If it must wait for a space to close, it returns a channel instead.
func (s *Spaces) hold(name string) (o *openSpace, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o = s.open[name]
	switch {
	case s.running.Err() != nil:
		return nil, nil, stopped()
	case o != nil && o.ending && s.sharing != nil:
		return nil, nil, cluster.ErrMoving
	case o != nil && o.ending:
		return nil, o.closed, nil
	case o == nil && len(s.open) >= s.options.Open:
		wait, err = s.makeRoom()
		return nil, wait, err
	case o == nil:
		o = s.begin(name)
	}
	o.holders.Add(1)
	return o, nil, nil
}

// use waits until a held space is open.
func (s *Spaces) use(ctx context.Context, o *openSpace) (*openSpace, func(), error) {
	select {
	case <-o.opened:
	case <-ctx.Done():
		o.holders.Done()
		return nil, nil, ctx.Err()
	}
	if o.failure != nil {
		o.holders.Done()
		return nil, nil, o.failure
	}
	end := o.use.Begin()
	return o, sync.OnceFunc(func() {
		end()
		o.holders.Done()
	}), nil
}

// makeRoom starts to close the least recently used space, and returns a channel that is closed with it. The caller holds mu.
func (s *Spaces) makeRoom() (<-chan struct{}, error) {
	var oldest *openSpace
	for _, o := range s.open {
		switch {
		case o.ending:
			return o.closed, nil
		case o.unused() && (oldest == nil || o.use.Last().Before(oldest.use.Last())):
			oldest = o
		}
	}
	if oldest == nil {
		return nil, &memory.Error{Code: memory.Exhausted, Retryable: true,
			Message: fmt.Sprintf("%d spaces are in use, which is the limit (--spaces-open): try again later", s.options.Open)}
	}
	oldest.ending = true
	oldest.stop()
	return oldest.closed, nil
}

// unused reports whether a space is open and nobody is being served.
func (o *openSpace) unused() bool {
	select {
	case <-o.opened:
		return o.failure == nil && o.use.None()
	default:
		return false
	}
}

// begin starts to open a space. The caller holds mu.
func (s *Spaces) begin(name string) *openSpace {
	ctx, stop := context.WithCancel(s.running)
	o := &openSpace{name: name, ctx: ctx, stop: stop, opened: make(chan struct{}), closed: make(chan struct{})}
	s.open[name] = o
	s.all.Add(1)
	go func() {
		defer s.all.Done()
		defer stop()
		s.serve(o)
	}()
	return o
}

// serve opens a space, serves it until it is idle or stopped, and closes it when its last holder has released it.
func (s *Spaces) serve(o *openSpace) {
	options, err := s.optionsOf(o.name)
	var h *Host
	var a among
	if err == nil {
		a, err = s.among(o)
	}
	if err == nil && s.closeActionOf(o) == nil {
		h, err = openAmong(o.ctx, options, a)
		if err == nil {
			err = s.serveOpen(o, h)
		}
	}
	o.stop() // sessions of the server's socket end
	s.mu.Lock()
	o.ending = true
	s.mu.Unlock()
	select {
	case <-o.opened:
	default:
		o.failure = s.explain(o, err)
		close(o.opened)
	}
	o.holders.Wait()
	if h != nil {
		if err := h.Close(); err != nil {
			options.Logger.Error("close a space", "error", err)
		}
	}
	if h != nil && h.mover.reopens() && s.sharing != nil {
		s.leaveMoved(o.name, options.Dir)
	}
	s.runCloseAction(o)
	s.release(o)
	s.mu.Lock()
	delete(s.open, o.name)
	s.mu.Unlock()
	close(o.closed)
}

// among returns what a space is opened with.
func (s *Spaces) among(o *openSpace) (among, error) {
	if s.sharing == nil {
		return among{common: s.shared()}, nil
	}
	return s.sharing.among(s, o)
}

// release gives up the lease of a closed space.
func (s *Spaces) release(o *openSpace) {
	if o.lead == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseWithin)
	defer cancel()
	if err := o.lead.Release(ctx); err != nil {
		s.each.Logger.Warn("a lease could not be released: it ends by itself, or is released later", "space", o.name, "error", err)
	}
}

func (s *Spaces) serveOpen(o *openSpace, h *Host) error {
	l := Listen{Idle: s.options.Idle, Look: spaceCheckInterval, RequireKeys: s.at.RequireKeys, mount: &mount{site: s.at, path: listen.SpacesPath + o.name}}
	l.mount.serve = func(handler http.Handler, use *listen.Use) {
		o.host, o.handler, o.use = h, handler, use
		close(o.opened)
	}
	if s.sharing != nil {
		s.sharing.mount(o, &l)
	}
	return h.Serve(o.ctx, l)
}

// optionsOf returns the options of a space.
func (s *Spaces) optionsOf(name string) (o Options, err error) {
	o = s.each
	o.Dir = filepath.Join(s.options.Dir, name)
	o.Logger = o.Logger.With("space", name)
	o.Anchor = nil // of one audit log
	o.Name = name
	if s.sharing != nil && name == s.sharing.own {
		o.Dir, o.Anchor = s.sharing.dir, s.each.Anchor
		return o, nil
	}
	if d, ok := o.Driver.(store.Spaced); ok {
		o.Driver, err = d.In(name)
	}
	return o, err
}

// explain returns the error for clients of a space that could not be opened.
func (s *Spaces) explain(o *openSpace, err error) error {
	var owned *owner.OwnedError
	name := o.name
	switch {
	case cluster.Again(err):
		return err
	case errors.As(err, new(*store.DepartedError)), errors.As(err, new(*store.FormerError)):
		return nameError(err)
	case s.sharing != nil && (o.ctx.Err() != nil || errors.As(err, new(*store.LedError))): // another server leads the space, or will
		return cluster.ErrMoving
	case s.running.Err() != nil:
		return stopped()
	case errors.As(err, &owned):
		return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf(
			"process %d serves the space %s by itself: stop it with: alcove --data %q stop", owned.PID, name, owned.Dir)}
	}
	s.each.Logger.Error("open a space", "space", name, "error", err)
	return &memory.Error{Code: memory.Unavailable, Retryable: errors.Is(err, store.ErrUnavailable), Message: fmt.Sprintf("the space %s cannot be opened: the log of the server says why", name)}
}

// dirOf returns the data directory of an existing space.
func (s *Spaces) dirOf(name string) (string, error) {
	dir, err := folder.Folder{Path: s.options.Dir}.Dir(name)
	if s.sharing != nil {
		dir, err = s.sharedDirOf(name, dir, err)
	}
	switch {
	case errors.Is(err, folder.ErrNone), errors.As(err, new(*store.FormerError)):
		return "", &memory.Error{Code: memory.NotFound, Message: err.Error()}
	case err != nil:
		return "", &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	return dir, nil
}

// ServeHTTP serves requests with the token or a key of their space. The answer to others is the same whether or not the space exists, and
// opens none.
func (s *Spaces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, listen.SpacesPath), "/")
	if !s.admits(w, r, name, "/"+path, s.openHost(name) != nil) {
		return
	}
	o, release, err := s.acquire(r.Context(), name)
	if err != nil {
		refuseHTTP(w, err)
		return
	}
	defer release()
	http.StripPrefix(listen.SpacesPath+name, o.handler).ServeHTTP(w, r)
}

// refuseHTTP answers a client with the reason why its request was not served.
func refuseHTTP(w http.ResponseWriter, err error) {
	code, _ := classOf(err)
	status := http.StatusServiceUnavailable
	if code == string(memory.NotFound) {
		status = http.StatusNotFound
	}
	listen.Refuse(w, &listen.StatusError{Status: status, Code: code, Err: err})
}

// admits reports whether the sender of a request may use a space, or have it opened. It answers those who may not.
func (s *Spaces) admits(w http.ResponseWriter, r *http.Request, name, path string, open bool) bool {
	if s.at.logins.common != nil && oauth.IsPath(path) {
		return open || !s.asks(w, r, name, path)
	}
	err := s.admit(r, name)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		s.refused(r, unread.error)
		refuseHTTP(w, unread.Unwrap())
		return false
	}
	if err != nil {
		s.refused(r, err)
		h := listen.HTTP{Issuer: s.at.issuerAt(listen.SpacesPath + name), Public: s.at.Public, Certificate: s.at.cert, Scopes: s.at.scopes()}
		w.Header().Set("WWW-Authenticate", h.Challenge(r))
		listen.Refuse(w, &listen.StatusError{Status: http.StatusUnauthorized, Code: string(memory.Denied), Err: err})
	}
	return err == nil
}

// unreadError means that the keys of a space could not be read from the database. Its text has more than clients are told.
type unreadError struct{ error }

// Unwrap returns the error for clients.
func (e *unreadError) Unwrap() error {
	return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "the database does not answer, so it is not known who may use the space: try again"}
}

// admit returns an error if the sender of a request may not use a space, or have it opened.
func (s *Spaces) admit(r *http.Request, name string) error {
	a, err := s.admission(name)
	if err != nil && s.sharing != nil {
		return &unreadError{err}
	}
	if err != nil {
		return err
	}
	_, stop, err := a.Bearer(r.Context(), r.URL.Path, listen.BearerOf(r))
	if err == nil {
		stop()
	}
	return err
}

// admission returns the admission of a space, from the open space or its files. If there is no such space, it admits nobody.
func (s *Spaces) admission(name string) (a admission.Admission, err error) {
	a = admission.Admission{TokenPath: "token of the space's data directory", Home: func(keys.Key) string { return "" }}
	s.at.admitLogins(&a, listen.SpacesPath+name)
	if h := s.openHost(name); h != nil {
		a.Keys, a.Token = h.keys, h.admission.Token
		return a, nil
	}
	dir, missing := s.dirOf(name)
	if missing != nil {
		dir = filepath.Join(s.options.Dir, ".none") // where no space is
	}
	if s.sharing != nil && folder.CheckName(name) == nil {
		return s.sharing.admission(a, name, dir, s.each.Clock)
	}
	if a.Keys, err = keys.Open(keys.Options{Path: owner.KeysPath(dir), Clock: s.each.Clock}); err != nil || missing != nil {
		return a, err
	}
	if a.Token, err = listen.ReadToken(owner.TokenPath(dir)); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return a, err
}

// openHost returns the host of a space, if it is open.
func (s *Spaces) openHost(name string) *Host {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[name]
	if o == nil || o.ending {
		return nil
	}
	select {
	case <-o.opened:
		return o.host // nil: it failed
	default:
		return nil
	}
}

// hello admits a client of the socket to the space that its hello names. stop releases the space.
func (s *Spaces) hello(ctx context.Context, hello owner.Hello) (context.Context, func(), *owner.Refusal) {
	o, release, err := s.acquire(ctx, hello.Space)
	if err != nil {
		code, retryable := classOf(err)
		return nil, nil, &owner.Refusal{Code: code, Message: err.Error(), Retryable: retryable}
	}
	admitted, stop, refusal := o.host.admission.Hello(ctx, hello)
	if refusal != nil {
		release()
		return nil, nil, refusal
	}
	admitted, end := context.WithCancel(context.WithValue(admitted, spaceKey{}, o.host))
	closing := context.AfterFunc(o.ctx, end) // else a session would keep the space open
	return admitted, func() {
		closing()
		end()
		stop()
		release()
	}, nil
}

// classOf returns the code of an error, and whether the request can be retried.
func classOf(err error) (code string, retryable bool) {
	var e *memory.Error
	if errors.As(err, &e) {
		return string(e.Code), e.Retryable
	}
	return string(memory.Unavailable), false
}

// spaceKey is the context key of the *Host whose space a session of the socket is in.
type spaceKey struct{}
