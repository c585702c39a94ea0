package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/daemon/presence"
	"github.com/alcove-memory/alcove/host/family/outside/outbound"
	"github.com/alcove-memory/alcove/host/front/admission"
	"github.com/alcove-memory/alcove/host/front/certificate"
	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/console"
	"github.com/alcove-memory/alcove/host/front/issuer"
	"github.com/alcove-memory/alcove/host/front/join"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/mcp"
	"github.com/alcove-memory/alcove/host/front/oauth"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/tool"
)

// Serve serves clients until ctx ends or, if so asked, nobody uses the server. Calls that run then may
// finish.
func (h *Host) Serve(ctx context.Context, l Listen) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &service{host: h, use: &listen.Use{}, mount: l.mount, stop: stop}
	record, err := s.listen(l)
	if err != nil {
		return errors.Join(err, s.closeListeners())
	}
	if err := errors.Join(s.openConsole(l, record), s.openOAuth(l), s.openIssuer(l), s.openJoin(l, record)); err != nil {
		return errors.Join(err, s.closeListeners())
	}
	var w *presence.Watcher
	if s.socket != nil {
		w = s.watcher(l, record, stop)
		w.Look()
		defer w.Leave()
	}
	if err := s.openSpaces(ctx, l, record); err != nil {
		return errors.Join(err, s.closeListeners())
	}
	h.options.Logger.Info("serving", "dir", h.options.Dir, "socket", record.Socket, "http", record.HTTP, "pid", record.PID)
	if l.Started != nil {
		l.Started(record)
	}
	if l.Idle > 0 {
		go func() {
			s.use.Idle(ctx, l.Idle)
			stop()
		}()
	}
	err = s.run(ctx, stop, w)
	h.options.Logger.Info("stopped serving", "dir", h.options.Dir, "error", err)
	return err
}

// service is the listeners of one Serve.
type service struct {
	host   *Host
	use    *listen.Use
	socket *listen.SocketListener // nil: the server that shares the space has the sockets
	admin  *listen.SocketListener
	remote net.Listener        // for operators of other machines; nil: none
	http   net.Listener        // nil: none
	cert   *listen.Certificate // for HTTP; nil: without TLS
	issuer string              // for HTTP; empty: none
	public string              // of HTTP; empty: none
	oauth  *oauth.Server       // nil: none
	join   *join.Server        // nil: none
	renew  func() error        // of the server's own certificate; nil: it is another's
	issued *issuer.Checker     // of tokens of the issuer; nil: they are API keys

	console    *console.Server // nil: none
	noConsole  string          // why, and what to do
	consoleURL string

	stop   func()
	mount  *mount  // nil: the service has listeners of its own
	spaces *Spaces // nil: none
}

func (s *service) listen(l Listen) (owner.Record, error) {
	o := s.host.options
	record := owner.Record{PID: os.Getpid(), Version: o.Version, Started: o.Clock().UTC()}
	if err := s.listenHTTP(l, &record); err != nil {
		return record, err
	}
	var err error
	if s.shared() == nil {
		s.socket, s.admin, err = listenSockets(l, o.Dir)
		if err != nil {
			return record, err
		}
		record.Socket, record.Admin = s.socket.Path(), s.admin.Path()
	}
	if err == nil {
		err = s.listenOperators(l.Operators, &record)
	}
	if err != nil {
		return record, err
	}
	if l.RequireKeys != nil { // kept only now: a start that is refused changes nothing
		err = s.host.RequireKeys(*l.RequireKeys)
	}
	if err != nil || s.host.readOnly {
		return record, err
	}
	return record, s.host.acts().Narrow()
}

// shared is where the space is served if several servers share it; nil: it is this one's.
func (s *service) shared() *sharedMount {
	if s.mount == nil {
		return nil
	}
	return s.mount.shared
}

// listenSockets listens for clients and operators of a data directory.
func listenSockets(l Listen, dir string) (clients, operators *listen.SocketListener, err error) {
	paths, err := socketPaths(l, dir)
	if err != nil {
		return nil, nil, err
	}
	if clients, err = listen.ListenSocket(paths...); err != nil {
		return nil, nil, err
	}
	if paths, err = owner.AdminPaths(dir); err == nil {
		operators, err = listen.ListenSocket(paths...)
	}
	if err != nil {
		return nil, nil, errors.Join(err, clients.Close())
	}
	return clients, operators, nil
}

// openConsole opens the console, unless it is not to be served.
func (s *service) openConsole(l Listen, r owner.Record) (err error) {
	switch {
	case s.mount != nil:
		s.noConsole = "the console shows the memory of a server's own data directory, and not of its further spaces"
	case s.http == nil:
		s.noConsole = "the server does not listen for HTTP, over which browsers reach the console: start it with --listen 127.0.0.1:9742"
	case l.Console != nil && !*l.Console:
		s.noConsole = "the server was started with --no-console: start it without"
	case l.Console == nil && (!listen.IsLoopback(s.http) || l.Public != ""):
		s.noConsole = "other machines can connect to the server, to which the console is served only if it was started with --console"
	default:
		s.consoleURL = s.urlHere(r) + console.Path
		s.console, err = s.newConsole()
	}
	return err
}

// openOAuth opens the authorization server, if there is to be one.
func (s *service) openOAuth(l Listen) (err error) {
	switch {
	case l.Public != "":
		if err := oauth.CheckIssuer(l.Public); err != nil {
			return err
		}
	case l.OAuth.Serve:
		return errors.New("an authorization server needs the URL by which clients reach it: give --public-url")
	}
	s.public = l.Public
	switch {
	case !l.OAuth.Serve:
		return nil
	case s.http == nil:
		return errors.New("an authorization server needs HTTP: give --listen an address")
	case l.Issuer != "":
		return errors.New("clients are let in by one authorization server: give --oauth or --issuer")
	case s.host.readOnly || s.host.options.ReadOnly:
		return errors.New("a read-only server makes no keys, which tokens are: serve it without --oauth")
	}
	secret, err := listen.Token(owner.OAuthPath(s.host.options.Dir))
	if err != nil {
		return err
	}
	acts, a := s.host.acts(), s.host.admission
	o := oauth.Options{Issuer: l.Public, Register: l.OAuth.Register, Secret: []byte(secret), Keys: acts, Enter: s.enter, Holder: a.Holder,
		Fetch: l.OAuth.Fetch, Refused: s.host.account.RefusedRequest, Clock: s.host.options.Clock}
	if o.Fetch == nil {
		o.Fetch = outbound.Client{}.Strangers()
	}
	if s.console != nil {
		o.Session = s.console.Session
	}
	if s.oauth, err = oauth.New(o); err == nil {
		a.Public, s.issuer = l.Public, l.Public
	}
	return err
}

// enter returns the id of the key that a person logs in with on the page of consent: theirs, or that of an invitation, which is accepted with
// that.
func (s *service) enter(secret string) (string, error) {
	if keys.Is(secret) {
		return s.host.admission.Enter(secret)
	}
	key, _, err := s.host.acts().Join(secret, consentDevice)
	return key.ID, err
}

// consentDevice is what the key of an invitation is called that was accepted on the page of consent.
const consentDevice = "browser"

// openIssuer has the tokens of the issuer let in, if they are to become keys.
func (s *service) openIssuer(l Listen) error {
	if l.IssuerRules == nil {
		return nil
	}
	rules := *l.IssuerRules
	if rules.Audience == "" && l.Public != "" {
		rules.Audience = l.Public + "/mcp"
	}
	switch {
	case l.Issuer == "":
		return errors.New("there are rules for an issuer that is not named: give --issuer its URL")
	case rules.Audience == "":
		return errors.New("nobody said for whom the tokens of the issuer are: give audience in the rules of the issuer, or --public-url")
	case s.host.readOnly || s.host.options.ReadOnly:
		return errors.New("a read-only server keeps no keys, which tokens of the issuer become: serve it without rules for the issuer")
	}
	checker, err := issuer.New(issuer.Options{URL: l.Issuer, Rules: rules, Clock: s.host.options.Clock, Logger: s.host.options.Logger})
	if err != nil {
		return err
	}
	s.issued = checker
	acts := s.host.acts()
	s.host.admission.Issued = func(ctx context.Context, token string) (keys.Key, error) {
		of, grant, expires, err := checker.Check(ctx, token)
		if err != nil {
			return keys.Key{}, err
		}
		key, err := acts.Subject(of, grant)
		key.Expires = expires
		return key, err
	}
	return nil
}

// urlHere is where a browser on this machine reaches the server, by a name that its certificate is for.
func (s *service) urlHere(r owner.Record) string {
	host, port, err := net.SplitHostPort(r.HTTP)
	if err != nil {
		return r.URL()
	}
	if address, _ := netip.ParseAddr(host); !address.IsValid() || address.Unmap().IsUnspecified() {
		host = "127.0.0.1"
	}
	switch {
	case s.cert == nil || s.cert.Names(host):
	case s.cert.Names("localhost"):
		host = "localhost"
	default:
		host = cmp.Or(s.cert.Name(), host)
	}
	r.HTTP = net.JoinHostPort(host, port)
	return r.URL()
}

func (s *service) newConsole() (*console.Server, error) {
	h := s.host
	return console.New(console.Options{
		Version: h.options.Version, TLS: s.cert != nil, Enter: h.admission.Enter, As: h.admission.As, Client: h.admission.Client,
		Operations: h.rest.Routes(), Stream: h.streams, Refused: h.account.RefusedRequest,
		State: func() console.State {
			return console.State{ReadOnly: h.options.ReadOnly || h.readOnly, Locked: h.Locked()}
		},
		Reported: func(report string) {
			h.options.Logger.Warn("a browser kept the console from something", "report", report)
		},
		Acts: s.operators(onConsole),
	})
}

// ticket issues a ticket of the console.
func (s *service) ticket() (operator.ConsoleTicket, error) {
	if s.console == nil {
		return operator.ConsoleTicket{}, &memory.Error{Code: memory.Unavailable, Message: "there is no console: " + s.noConsole}
	}
	return operator.ConsoleTicket{Address: s.consoleURL + "#ticket=" + s.console.Ticket()}, nil
}

// operators serves acts of those whose requests as knows.
func (s *service) operators(as func(*http.Request) (context.Context, error)) *admin.Server {
	acts := s.host.acts()
	acts.Console = s.ticket
	if s.mount != nil {
		acts.Close = s.stop
	}
	server := operator.NewServer(acts.Bindings(), operator.ServerOptions{Logger: s.host.options.Logger, Begin: s.use.Begin, Changeable: s.host.changeable, Record: acts})
	server.As = as
	return server
}

// doors are the routes of the console and of the authorization server.
func (s *service) doors() map[string]listen.Door {
	doors := map[string]listen.Door{}
	if s.console != nil {
		maps.Copy(doors, s.console.Doors())
	}
	if s.oauth != nil {
		maps.Copy(doors, s.oauth.Doors())
	}
	if s.join != nil {
		maps.Copy(doors, s.join.Doors())
	}
	return doors
}

func (s *service) watcher(l Listen, r owner.Record, stop func()) *presence.Watcher {
	h := s.host
	return presence.New(presence.Options{
		Dir: h.options.Dir, Opened: h.dir, Lock: h.lock, Record: r, Clients: s.socket, Operators: s.admin, Writable: h.Writable,
		Unused: s.use.None, Stop: stop, Every: l.Look, ReadOnly: h.readOnly, OnDemand: l.Idle > 0, Logger: h.options.Logger,
	})
}

// socketPaths are where clients are listened to.
func socketPaths(l Listen, dir string) ([]string, error) {
	if l.Socket == "" {
		return owner.SocketPaths(dir)
	}
	path, err := filepath.Abs(l.Socket) // clients find it from anywhere
	if err == nil {
		err = owner.CheckSocketLength(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: choose another path with --socket", err)
	}
	return []string{path}, nil
}

func (s *service) listenHTTP(l Listen, record *owner.Record) (err error) {
	logger := s.host.options.Logger
	if l.Issuer != "" {
		if err := listen.CheckIssuer(l.Issuer); err != nil {
			return err
		}
	}
	s.issuer = l.Issuer
	if s.mount != nil {
		record.HTTP, record.TLS, record.Path = s.mount.record.HTTP, s.mount.record.TLS, s.mount.path
		if s.mount.listener == nil {
			return nil
		}
		return s.checkExposure(l, s.mount.listener, s.mount.cert)
	}
	if l.HTTP == "" {
		return nil
	}
	if s.host.admission.Token == "" {
		logger.Warn("going on without HTTP: there is no token, and none can be made in the data directory")
		return nil
	}
	if s.cert, err = s.certificate(l); err != nil {
		return err
	}
	s.http, err = listen.ListenHTTP(l.HTTP)
	switch {
	case err == nil:
		record.HTTP, record.TLS = s.http.Addr().String(), s.cert != nil
		return s.checkExposure(l, s.http, s.cert)
	case l.HTTPOptional:
		logger.Warn("going on without HTTP", "error", err)
	default:
		return fmt.Errorf("%w: stop what uses the address, or choose another with --listen (for example --listen 127.0.0.1:9743; --listen off for none)", err)
	}
	return nil
}

// certificate returns the certificate for HTTP; nil: there is to be none.
func (s *service) certificate(l Listen) (*listen.Certificate, error) {
	dir := owner.TLSPath(s.host.options.Dir)
	switch {
	case l.ACME != nil:
		a := *l.ACME
		a.Dir = filepath.Join(dir, "acme")
		manager, err := a.New()
		if err != nil {
			return nil, err
		}
		return listen.CertificateOf(manager), nil
	case len(l.TLSOwn) > 0:
		cert, key, err := certificate.Own(dir, l.TLSOwn, s.host.options.Clock())
		if err != nil {
			return nil, err
		}
		s.renew = func() error {
			_, _, err := certificate.Own(dir, l.TLSOwn, s.host.options.Clock())
			return err
		}
		return listen.LoadCertificate(cert, key)
	case l.TLSCert != "" || l.TLSKey != "":
		return listen.LoadCertificate(l.TLSCert, l.TLSKey)
	}
	return nil, nil
}

// keepCertificate renews the server's own certificate in time, until ctx ends.
func (s *service) keepCertificate(ctx context.Context) error {
	each := time.NewTicker(12 * time.Hour)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-each.C:
			if err := s.renew(); err != nil {
				s.host.options.Logger.Error("the certificate is not renewed", "error", err)
			}
		}
	}
}

// openJoin has people join who were invited.
func (s *service) openJoin(l Listen, r owner.Record) error {
	if s.http == nil {
		return nil
	}
	at := operator.HubAddress{URL: cmp.Or(l.Public, s.urlHere(r))}
	if len(l.TLSOwn) > 0 {
		var err error
		if at.Pin, err = certificate.PinOf(owner.TLSPath(s.host.options.Dir)); err != nil {
			return err
		}
	}
	s.host.address.Store(&at)
	s.join = join.New(join.Options{Join: s.host.acts().Join, Refused: s.host.account.RefusedRequest})
	return nil
}

// checkExposure refuses a listener that other machines can connect to, unless it protects its clients.
func (s *service) checkExposure(l Listen, http net.Listener, cert *listen.Certificate) error {
	s.host.exposed.Store(!listen.IsLoopback(http) || l.Public != "")
	return listen.CheckExposure(http, cert, s.requiresKeys(l))
}

func (s *service) requiresKeys(l Listen) bool {
	if l.RequireKeys != nil {
		return *l.RequireKeys
	}
	return s.host.keys.Required()
}

func (s *service) closeListeners() error {
	var errs []error
	for _, l := range []*listen.SocketListener{s.socket, s.admin} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	for _, l := range []net.Listener{s.http, s.remote} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// run serves on all listeners. When one ends, all stop; the first failure is the error.
func (s *service) run(ctx context.Context, stop func(), w *presence.Watcher) error {
	o := s.host.options
	var all errgroup.Group
	var clients net.Listener = s.socket
	if shared := s.shared(); shared != nil {
		clients, shared.acts = shared.clients, s.operators(ofPost)
	} else {
		all.Go(func() error {
			w.Run(ctx)
			return nil
		})
		all.Go(func() error {
			defer stop()
			return s.operators(onSocket).Serve(ctx, s.admin)
		})
	}
	if s.remote != nil {
		all.Go(func() error {
			defer stop()
			return s.operators(s.host.overTLS).Serve(ctx, s.remote)
		})
	}
	all.Go(func() error {
		defer stop()
		socket := listen.Socket{Admit: s.hello, Session: s.session, Logger: o.Logger, Use: s.use,
			Welcome: owner.Welcome{Version: o.Version, PID: os.Getpid()}, Stopped: stopped()}
		defer context.AfterFunc(ctx, s.host.wire.Stop)()
		return socket.Serve(ctx, clients)
	})
	if s.http != nil || s.mount != nil {
		all.Go(func() error {
			defer stop()
			return s.serveHTTP(ctx)
		})
	}
	if s.renew != nil {
		all.Go(func() error { return s.keepCertificate(ctx) })
	}
	if s.spaces != nil {
		all.Go(func() error {
			defer stop()
			<-ctx.Done()
			return s.spaces.close()
		})
	}
	return all.Wait()
}

// serveHTTP serves on the listener or where the service is mounted.
func (s *service) serveHTTP(ctx context.Context) error {
	h := s.host
	server := listen.HTTP{Routes: h.routes(), Lasting: h.lasting(), Doors: s.doors(), Admit: h.admission.Bearer, Refused: h.account.RefusedRequest, Certificate: s.cert, Issuer: s.issuer, Public: s.public,
		Ready: h.ready, Healthy: h.Writable, Without: h.withoutFamilies, Logger: h.options.Logger, Use: s.use, Stopped: stopped()}
	if s.spaces != nil {
		server.Spaces = s.spaces
	}
	if s.oauth != nil {
		server.Scopes = oauth.Scopes()
	}
	defer h.streams.Close()
	if s.issued != nil {
		defer s.issued.Close()
	}
	if s.console != nil {
		defer s.console.Close()
	}
	ended := context.AfterFunc(ctx, func() {
		h.streams.Stop()
		h.mcp.Close(context.WithoutCancel(ctx)) // or its streams hold Serve up
	})
	defer ended()
	if s.mount != nil {
		s.mount.serve(server.Mounted(), s.use)
		<-ctx.Done()
		return nil
	}
	return server.Serve(ctx, s.http)
}

// openSpaces makes the server's further spaces ready to be opened.
func (s *service) openSpaces(ctx context.Context, l Listen, r owner.Record) (err error) {
	if l.Spaces == nil {
		return nil
	}
	s.spaces, err = openSpaces(ctx, *l.Spaces, s.host.options, mount{record: r, listener: s.http, cert: s.cert, requireKeys: l.RequireKeys})
	if err == nil {
		s.spaces.refused = s.host.account.RefusedRequest
	}
	return err
}

// hello admits a client of the socket.
func (s *service) hello(ctx context.Context, hello owner.Hello) (context.Context, func(), *owner.Refusal) {
	switch {
	case hello.Space == "", s.shared() != nil && hello.Space == s.shared().space:
		return s.host.admission.Hello(ctx, hello)
	case s.spaces == nil:
		return nil, nil, &owner.Refusal{Code: string(memory.InvalidArgument), Message: "this server serves no spaces: restart it with --spaces"}
	}
	return s.spaces.hello(ctx, hello)
}

// session serves a client of the socket that hello admitted.
func (s *service) session(ctx context.Context, hello owner.Hello, r io.Reader, w io.Writer) error {
	if of, ok := ctx.Value(spaceKey{}).(*Host); ok {
		return of.session(ctx, hello, r, w)
	}
	return s.host.session(ctx, hello, r, w)
}

// stopped returns the error of calls that run for too long after the server was stopped.
func stopped() error {
	return &memory.Error{Code: memory.Unavailable, Retryable: true,
		Message: "the alcove server was stopped before this was done: whether it wrote anything is not known, so look before you do it again"}
}

// withoutFamilies tells why there are no families though there should be; nil: nothing is missing.
func (h *Host) withoutFamilies() error { return h.space.Without }

// readyWithin is how long a question whether the server is ready may wait for the answer to become yes.
const readyWithin = time.Second

// ready tells why clients would have to wait; nil when they would not.
func (h *Host) ready(ctx context.Context) error {
	if err := h.Writable(); err != nil {
		return fmt.Errorf("nothing can be stored: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := h.space.Memory.Ready(ctx); err != nil {
		return fmt.Errorf("searches wait for the index, which is being rebuilt: %w", err)
	}
	return nil
}

// session serves an admitted client.
func (h *Host) session(ctx context.Context, hello owner.Hello, r io.Reader, w io.Writer) error {
	session := mcp.SessionOf(ctx)
	if hello.Protocol != owner.Operations {
		return h.mcp.ServeConn(ctx, r, w, session)
	}
	client := connection.Client{Caller: h.admission.Caller(session, session.Agent), Namespace: session.Namespace, Branch: session.Branch}
	return h.wire.ServeConn(ctx, r, w, client)
}

// routes are what HTTP clients reach who were admitted.
func (h *Host) routes() map[string]http.Handler {
	routes := h.rest.Routes()
	routes["/mcp"] = h.mcp.Handler()
	for path, serve := range h.syncing.Routes() {
		routes[path] = h.rest.Admitted(http.MethodPost, serve)
	}
	routes["/metrics"] = h.rest.Admitted(http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		rights := h.admission.Client(r).Caller.Rights
		h.account.Metrics().Serve(w, r, func(family string) bool { return family == tool.CoreFamily || rights.May(memory.ToUse(family)) })
	})
	return routes
}

// lasting are the routes whose requests become connections of their own.
func (h *Host) lasting() map[string]http.Handler {
	return map[string]http.Handler{"/stream": h.streams}
}

// Dial begins a session in this process, as a client of the socket would after its hello. It ends when the connection is
// closed, or ctx.
func (h *Host) Dial(ctx context.Context, hello owner.Hello) io.ReadWriteCloser {
	ours, theirs := net.Pipe()
	go func() {
		defer ours.Close()
		if err := h.session(mcp.WithSession(ctx, admission.SessionFor(hello)), hello, ours, ours); err != nil && ctx.Err() == nil {
			h.options.Logger.Warn("a session in the process ended", "error", err)
		}
	}()
	return theirs
}
