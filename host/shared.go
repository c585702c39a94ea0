package host

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/operator/operators"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	releaseWithin = 2 * time.Second
	handoverAfter = time.Second // in which requests may end before their space is handed over
	peerHeader    = 10 * time.Second
	peerHeaders   = 64 << 10
)

// SharedOptions configure ServeShared. Key and Listen are required.
type SharedOptions struct {
	Key       []byte        // the key of the cluster
	Listen    string        // the address to listen on for other servers
	Advertise string        // the address that other servers connect to; empty: Listen
	Term      time.Duration // in which a server renews its leases; 0: 2 s
}

// ServeShared serves the spaces of a database together with other servers until ctx ends, and then hands its spaces over. One server leads
// each space; the others forward requests to it.
func ServeShared(ctx context.Context, o Options, l Listen, c SharedOptions) error {
	s := &shared{options: o.WithDefaults(), listenAt: l}
	err := s.open(ctx, c)
	if err == nil {
		err = s.run(ctx)
	}
	return errors.Join(err, s.closers.Close())
}

// shared is a server that shares spaces.
type shared struct {
	options  Options
	listenAt Listen
	record   owner.Record

	sharing *sharing
	spaces  *Spaces
	peers   net.Listener // for the other servers
	remote  net.Listener // for operators of other machines; nil: none
	address string       // for other servers
	site    *site        // for clients over HTTP
	closers space.Closers
}

func (s *shared) open(ctx context.Context, c SharedOptions) (err error) {
	driver, ok := s.options.Driver.(store.Shared)
	if !ok {
		return errors.New("servers share the spaces of a database: name it with --store-file, --store or ALCOVE_STORE")
	}
	if s.options.Dir, err = filepath.Abs(s.options.Dir); err != nil {
		return fmt.Errorf("find the data directory %s: %w", s.options.Dir, err)
	}
	g := &sharing{listen: s.listenAt, own: driver.Space(), dir: s.options.Dir, driver: s.options.Driver, locks: map[string]*owner.Lock{}, posts: map[string]*post{}, names: map[string]bool{}, logger: s.options.Logger}
	s.sharing = g
	s.closers.Later("the locks of data directories", g.unlock)
	if _, err := s.options.Sharing.CheckDir(s.options.Dir); err != nil {
		return err
	}
	if _, err := g.lock(g.own, g.dir); err != nil {
		return err
	}
	if g.credentials, err = cluster.NewCredentials(c.Key); err != nil {
		return err
	}
	if g.table, err = driver.Servers(ctx); err != nil {
		return err
	}
	s.closers.Later("the table of servers", g.table.Close)
	if s.peers, err = net.Listen("tcp", c.Listen); err != nil {
		return fmt.Errorf("listen for the other servers on %s: %w: choose another address with --cluster-listen", c.Listen, err)
	}
	s.closers.Later("the listener for servers", closing(s.peers))
	s.address = cmp.Or(c.Advertise, s.peers.Addr().String())
	g.member = cluster.New(cluster.Options{Table: g.table, Address: s.address, Version: s.options.Version, Term: c.Term, Logger: s.options.Logger})
	g.forward = cluster.NewForwarder(g.member, g.credentials, s.options.Logger)
	s.closers.Later("connections to servers", func() error { g.forward.Close(); return nil })
	if err := s.listen(); err != nil {
		return err
	}
	if err := s.listenOperators(); err != nil {
		return err
	}
	if err := s.openSpaces(ctx); err != nil {
		return err
	}
	if err := g.member.Join(ctx); err != nil {
		return err
	}
	s.closers.Later("the entry of this server", func() error {
		if err := bounded(g.member.Leave); err != nil {
			s.options.Logger.Warn("the entry of this server ends by itself", "error", err)
		}
		return nil
	})
	return nil
}

// bounded calls do with a time limit, in case the database does not answer.
func bounded(do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWithin)
	defer cancel()
	return do(ctx)
}

// listen listens for clients over HTTP.
func (s *shared) listen() (err error) {
	s.record = owner.Record{PID: os.Getpid(), Version: s.options.Version, Started: s.options.Clock().UTC()}
	if s.site, err = openSite(s.options, s.listenAt); err != nil {
		return err
	}
	if err := s.site.openLogins(s.options, s.sharing.credentials.Logins, &s.closers); err != nil || s.site.listener == nil {
		return err
	}
	s.closers.Later("the listener for HTTP", closing(s.site.listener))
	s.site.note(&s.record)
	if required := s.listenAt.RequireKeys; !listen.IsLoopback(s.site.listener) && (required == nil || !*required) {
		return fmt.Errorf("other machines can connect to %s, and a server that shares spaces serves them with --require-keys alone", s.record.HTTP)
	}
	return listen.CheckExposure(s.site.listener, s.site.cert, true)
}

// listenOperators listens for operators on other machines, if configured.
func (s *shared) listenOperators() (err error) {
	if s.listenAt.Operators.Address == "" {
		return nil
	}
	if s.remote, err = listenOperators(s.listenAt.Operators); err == nil {
		s.closers.Later("the listener for operators", closing(s.remote))
		s.record.Operators = s.remote.Addr().String()
	}
	return err
}

// overTLS is the context of an act that a program with a certificate and the key of an operator asks for. Whose key it is, the database
// says at each act.
func (s *shared) overTLS(r *http.Request) (ctx context.Context, err error) {
	g := s.sharing
	failed := g.withDocuments(g.own, g.dir, owner.OperatorsPath(""), func(dir string, _ bool) error {
		ctx, err = overTLS(r, &operators.Operators{Path: owner.OperatorsPath(dir), Clock: s.options.Clock})
		return err
	})
	if failed != nil {
		s.options.Logger.Warn("an operator was refused", "from", addressOf(r), "error", failed)
	}
	return ctx, failed
}

func (s *shared) openSpaces(ctx context.Context) (err error) {
	o := SpacesOptions{Dir: filepath.Join(s.options.Dir, "spaces")}
	if s.listenAt.Spaces != nil {
		o = *s.listenAt.Spaces
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of spaces: %w", err)
	}
	if err := s.sharing.keepToken(s.sharing.own, s.sharing.dir); err != nil {
		return err
	}
	own, err := s.openPost(s.sharing.own, s.sharing.dir)
	if err != nil {
		return err
	}
	if s.spaces, err = openSpaces(context.WithoutCancel(ctx), o, s.options, s.site, own.record); err != nil {
		return errors.Join(err, own.close())
	}
	s.spaces.sharing = s.sharing
	s.sharing.followers = &followers{spaces: s.spaces, opening: make(chan struct{}, mostOpening), open: map[string]*follower{}}
	s.spaces.refused = func(r *http.Request, err error) {
		s.options.Logger.Warn("a request was refused", "path", r.URL.Path, "from", r.RemoteAddr, "error", err)
	}
	s.sharing.posts[s.sharing.own] = own
	return nil
}

// run serves until ctx ends. Requests are forwarded until all spaces are handed over.
func (s *shared) run(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var all errgroup.Group
	begin := func(do func() error) {
		all.Go(func() error {
			defer stop()
			return do()
		})
	}
	g := s.sharing
	own := g.posts[g.own]
	g.serving = serving
	g.start(s, own)
	all.Go(func() error {
		g.member.Run(serving, func() {
			s.spaces.balance()
			g.followers.tidy()
		})
		return nil
	})
	all.Go(func() error {
		s.spaces.maintainNames(serving)
		return nil
	})
	begin(func() error { return s.servePeers(serving) })
	if s.remote != nil {
		begin(func() error { return admin.Serve(serving, s.remote, s.acts(g.own, s.overTLS), s.options.Logger) })
	}
	if s.site.listener != nil {
		begin(func() error { return s.serveHTTP(serving) })
	}
	if s.site.renew != nil {
		begin(func() error { return s.site.keepCertificate(serving) })
	}
	begin(func() error {
		select {
		case <-ctx.Done():
		case <-serving.Done():
		}
		s.handOver()
		stop()
		g.wait()
		g.followers.close()
		return s.spaces.close()
	})
	s.options.Logger.Info("serving, with other servers", "dir", s.options.Dir, "http", s.record.HTTP, "servers", s.peers.Addr(), "store", fmt.Sprint(s.options.Driver))
	if s.listenAt.Started != nil {
		s.listenAt.Started(own.record)
	}
	err := all.Wait()
	s.options.Logger.Info("stopped serving", "dir", s.options.Dir, "error", err)
	return err
}

// handOver closes all spaces, so that other servers can lead them.
func (s *shared) handOver() {
	if err := bounded(s.sharing.member.Drain); err != nil {
		s.options.Logger.Warn("the other servers do not know yet that this one ends", "error", err)
	}
	s.spaces.handOver()
}

// servePeers serves requests that other servers forward.
func (s *shared) servePeers(ctx context.Context) error {
	server := &http.Server{Handler: s.spaces.peers(), ReadHeaderTimeout: peerHeader, MaxHeaderBytes: peerHeaders, ErrorLog: slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug)}
	done := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(done)
		within, cancel := context.WithTimeout(context.Background(), handoverAfter)
		defer cancel()
		if server.Shutdown(within) != nil {
			server.Close()
		}
	})()
	err := server.Serve(tls.NewListener(s.peers, s.sharing.credentials.Server()))
	if ctx.Err() != nil {
		<-done
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the other servers: %w", err)
}

func (s *shared) serveHTTP(ctx context.Context) error {
	server := listen.HTTP{All: http.HandlerFunc(s.spaces.serveClient), Certificate: s.site.cert, Issuer: s.site.Issuer, Public: s.site.Public, Logger: s.options.Logger, Use: &listen.Use{}, Drain: handoverAfter, Stopped: stopped(),
		Ready: s.ready, Details: s.describe}
	return server.Serve(ctx, s.site.listener)
}

// sharing is the state that a server needs to share its spaces with others.
type sharing struct {
	listen      Listen // of the server
	own         string // the space of the data directory
	dir         string // the data directory
	driver      store.Driver
	table       store.Catalog
	member      *cluster.Member
	forward     *cluster.Forwarder
	followers   *followers
	credentials *cluster.Credentials
	logger      *slog.Logger
	serving     context.Context

	mu      sync.Mutex
	locks   map[string]*owner.Lock // of data directories, by space
	posts   map[string]*post       // by space
	running sync.WaitGroup         // posts
	ended   bool                   // new posts are refused
	names   map[string]bool        // spaces that are known to be in the database
}

// lock locks a space's data directory on this machine, whichever server leads the space.
func (g *sharing) lock(name, dir string) (*owner.Lock, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.locks[name]; l != nil {
		return l, nil
	}
	l, err := owner.AcquireLock(dir)
	if err == nil {
		g.locks[name] = l
	}
	return l, err
}

func (g *sharing) unlock() (err error) {
	for _, l := range g.locks {
		err = errors.Join(err, l.Close())
	}
	return err
}

// among takes the lease of a space, and returns what it is opened with.
func (g *sharing) among(s *Spaces, o *openSpace) (a among, err error) {
	if o.lead, err = g.member.Lead(o.ctx, o.name); err != nil {
		return a, err
	}
	go func() {
		select {
		case <-o.lead.Lost():
			g.logger.Warn("another server leads the space: it is closed here", "space", o.name)
			o.stop()
		case <-o.ctx.Done():
		}
	}()
	dir, err := s.dirOf(o.name)
	if err == nil {
		err = s.claim(o.ctx, o.name, dir, o.lead.Identity)
	}
	if err != nil {
		return a, err
	}
	a = among{common: s.shared(), lead: o.lead}
	if a.lock, err = g.lock(o.name, dir); err != nil {
		return a, err
	}
	return a, g.keepToken(o.name, dir)
}

// keepToken writes the token of a space where commands on this machine look for it.
func (g *sharing) keepToken(name, dir string) error {
	token, err := g.credentials.Token(name)
	if err != nil {
		return err
	}
	return listen.KeepToken(owner.TokenPath(dir), token)
}

// mount has a space served where the server has the sockets. The own one is always open, at the server's addresses.
func (g *sharing) mount(o *openSpace, l *Listen) {
	o.shared = &sharedMount{space: o.name, clients: listen.NewInbox()}
	l.mount.shared = o.shared
	if o.name == g.own {
		o.shared.spaces = g.followers.spaces
		l.mount.path, l.Idle = "", 0
	}
}

// dirOf returns the data directory of a space, which is made here if the database has the space. found and err are what the folder of spaces
// has.
func (s *Spaces) sharedDirOf(name, found string, err error) (string, error) {
	g := s.sharing
	if name == g.own {
		return g.dir, nil
	}
	if !errors.Is(err, folder.ErrNone) {
		return found, err
	}
	known, failed := g.knows(name)
	if failed == nil && !known {
		failed = bounded(func(ctx context.Context) error { return g.table.Former(ctx, name) })
	}
	if failed != nil || !known {
		return "", cmp.Or(failed, err)
	}
	if err := bounded(s.followNames); err != nil { // its files may still be under its former name
		return "", err
	}
	dir := filepath.Join(s.options.Dir, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// knows reports whether the database has a space.
func (g *sharing) knows(name string) (bool, error) {
	g.mu.Lock()
	known := name == g.own || g.names[name]
	g.mu.Unlock()
	if known {
		return true, nil
	}
	driver, err := g.driverOf(name)
	if err == nil {
		known, err = driver.Exists("")
	}
	if err != nil {
		return false, &memory.Error{Code: memory.Unavailable, Retryable: true, Message: err.Error()}
	}
	if known {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.names[name] = true
	}
	return known, nil
}

// driverOf returns the driver of a space.
func (g *sharing) driverOf(name string) (store.Driver, error) {
	in, ok := g.driver.(store.Spaced)
	if !ok || name == g.own {
		return g.driver, nil
	}
	return in.In(name)
}

// create adds a space with a directory on this machine to the database.
func (g *sharing) create(ctx context.Context, name string) error {
	if known, err := g.knows(name); known || err != nil {
		return err
	}
	return nameError(g.table.Create(ctx, name))
}
