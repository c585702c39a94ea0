package listen

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
)

const (
	headerLimit   = 64 << 10
	bodyLimit     = 16 << 20
	headerWithin  = 10 * time.Second
	bodyWithin    = 60 * time.Second
	refusedWithin = 250 * time.Millisecond // reads the rest of a refused body, so that its sender receives the reason
	writeWithin   = 2 * time.Minute        // for a client to read part of an answer
	keepIdle      = 2 * time.Minute
	httpClients   = 512 // concurrent requests
	longestHeader = 1 << 10
	answerWithin  = 5 * time.Second // for requests that were cancelled to answer
)

// HTTP serves clients over HTTP: Routes to those who are admitted, /healthz and /readyz to all.
type HTTP struct {
	Routes map[string]http.Handler // by path; one that ends in a slash has all below it
	// Lasting are likewise for requests that become connections of their own, such as WebSockets. They do not count as requests, nor as
	// connections: their handler bounds them.
	Lasting map[string]http.Handler
	// Doors are likewise for requests that show in a way of their own who sends them, such as by a cookie.
	Doors map[string]Door
	// Admit returns the context of a request to a path whose client presented a bearer token, with the client's identity and for as long as
	// it is admitted, or why it is refused. The caller calls stop when the request is over. An empty token is none.
	Admit func(ctx context.Context, path, token string) (admitted context.Context, stop func(), err error)
	// Spaces serves what is below SpacesPath, and admits requests itself; nil: there is nothing.
	Spaces http.Handler
	// All serves everything but /healthz and /readyz, and admits requests itself, in place of the above; nil: it does not.
	All http.Handler
	// Refused is called with each request that Admit refused; nil: it is not.
	Refused     func(r *http.Request, err error)
	Ready       func(context.Context) error
	Healthy     func() error  // returns why the server should be restarted; nil: never
	Without     func() error  // returns why there are no tool families, which a server that is ready then says; nil: there are
	Following   func() string // tells how far a copy of another memory is, which a server that is ready then says; nil, or empty: it is none
	Details     func() string // more about a server that is ready, in lines; nil: there is nothing
	Logger      *slog.Logger
	Use         *Use
	Certificate *Certificate    // nil: without TLS
	Issuer      string          // of the authorization server that clients are referred to; empty: none
	Scopes      []string        // of the tokens that clients ask for; nil: unknown
	Public      string          // the URL by which clients reach the server, without a path; empty: that of their requests
	Path        string          // below which the server is there; empty: it has all
	Below       bool            // there are further spaces below SpacesPath, which clients find as they find the server
	Limit       ConnectionLimit // zero: derived from the process's file descriptors
	Drain       time.Duration   // for requests to finish when the server stops; 0: 5 s
	Stopped     error           // the cause by which requests that run longer are cancelled; nil: context.Canceled
}

// Door is a handler with what admits requests to it. The checks of host and origin and all limits come before, as for other routes.
type Door struct {
	Handler http.Handler
	// Admit is likewise HTTP.Admit, for a request whose body was not read yet. An error that is no StatusError is answered with 401. Nil
	// serves everybody, on connections that stay unidentified.
	Admit   func(*http.Request) (admitted context.Context, stop func(), err error)
	Body    int64 // longest body of a request, in bytes; 0: 16 MiB
	Lasting bool  // requests become connections of their own
}

// SpacesPath is where a server has its spaces, each below its name.
const SpacesPath = "/s/"

// StatusError refuses a request with a status and code of its own.
type StatusError struct {
	Status int
	Code   string
	Err    error
}

func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns why the request was refused.
func (e *StatusError) Unwrap() error { return e.Err }

// Refuse writes an error as the server writes its own.
func Refuse(w http.ResponseWriter, e *StatusError) { refuse(w, e.Status, e.Code, e.Error()) }

// ListenHTTP listens on an address such as 127.0.0.1:9742.
func ListenHTTP(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for HTTP on %s: %w", address, err)
	}
	return l, nil
}

// Serve serves requests until ctx ends. Then it refuses new ones and gives those that run Drain to finish; what still runs is
// cancelled, and answered by its handler.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	if h.Limit == (ConnectionLimit{}) {
		_, h.Limit = share(Descriptors())
	}
	g := newGate(l, h.Limit, h.Logger, refuseConnection)
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	server := &http.Server{
		Handler:           untilStopped(ctx, h.handler()),
		ReadHeaderTimeout: headerWithin,
		IdleTimeout:       keepIdle,
		MaxHeaderBytes:    headerLimit,
		ErrorLog:          slog.NewLogLogger(h.Logger.Handler(), slog.LevelDebug),
		ConnState:         g.follow,
		BaseContext:       func(net.Listener) context.Context { return running },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			ctx = context.WithValue(ctx, peerKey{}, sync.OnceValue(func() error { return owner.CheckTCPPeer(conn.LocalAddr(), conn.RemoteAddr()) }))
			return context.WithValue(ctx, identifyKey{}, func() { g.peers.identify(plain(conn)) })
		},
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		drain(server, cmp.Or(h.Drain, drainLongest), func() { cancel(h.Stopped) })
	})
	var listener net.Listener = g
	if h.Certificate != nil {
		listener = tls.NewListener(g, h.Certificate.config())
	}
	err := server.Serve(listener)
	if !stop() {
		<-done
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve HTTP: %w", err)
}

// drain ends a server: requests may finish, then answer that they were cancelled, then lose their connections.
func drain(server *http.Server, within time.Duration, cancel func()) {
	if shutdown(server, within) == nil {
		return
	}
	cancel()
	if shutdown(server, answerWithin) != nil {
		server.Close()
	}
}

func shutdown(server *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return server.Shutdown(ctx)
}

// peerKey is the context key of a func() error that says whether another user of this machine sends the request.
type peerKey struct{}

// CheckPeer refuses a request of another user of this machine, as far as that is known.
func CheckPeer(r *http.Request) error {
	if check, ok := r.Context().Value(peerKey{}).(func() error); ok {
		return check()
	}
	return nil
}

// From returns a request that another server forwarded as that one has it: from an address, and, unless peer is nil, of another user of its
// machine.
func From(r *http.Request, address string, peer error) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), peerKey{}, func() error { return peer }))
	if address != "" {
		r.RemoteAddr = net.JoinHostPort(address, "0")
	}
	return r
}

// identifyKey is the context key of a func() that records that the request's connection presented the token.
type identifyKey struct{}

// follow records a connection's state changes.
func (g *gate) follow(conn net.Conn, state http.ConnState) {
	conn = plain(conn)
	switch state {
	case http.StateClosed, http.StateHijacked:
		g.peers.remove(conn)
	case http.StateActive, http.StateIdle:
		g.peers.serving(conn, state)
	}
}

// refuseConnection answers a connection that had no answer yet.
func refuseConnection(conn net.Conn, why string) {
	body := errorBody(http.StatusServiceUnavailable, "exhausted", why)
	fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	discard(conn)
}

// handler returns the handler that Serve uses.
func (h *HTTP) handler() http.Handler {
	return withPartDeadlines(withoutBody(h.onlyLocal(h.bounded(h.Mounted()))))
}

// Mounted returns the handler without what bounds requests of all paths, for the Spaces of another server.
func (h *HTTP) Mounted() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.healthy)
	mux.HandleFunc("GET /readyz", h.ready)
	if h.All != nil {
		mux.Handle("/", h.All)
		return mux
	}
	for path, handler := range h.Routes {
		mux.Handle(path, h.guard(Door{Handler: handler, Admit: h.bearer}))
		h.find(mux, path)
	}
	h.find(mux, "")
	for path, handler := range h.Lasting {
		mux.Handle(path, h.guard(Door{Handler: handler, Admit: h.bearer, Lasting: true}))
	}
	if h.Spaces != nil {
		mux.Handle(SpacesPath, h.Spaces)
	}
	for path, door := range h.Doors {
		mux.Handle(path, h.guard(door))
	}
	for _, path := range oauthPaths() {
		if _, own := h.Doors[path]; !own {
			mux.HandleFunc(path, h.refuseOAuth)
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "there is nothing here: clients use "+strings.Join(h.paths(), ", ")+"; /healthz and /readyz tell how the server is")
	})
	return mux
}

func (h *HTTP) paths() []string {
	list := slices.AppendSeq(slices.Collect(maps.Keys(h.Routes)), maps.Keys(h.Lasting))
	slices.Sort(list)
	return list
}

// untilStopped refuses requests once the server stops: one that arrives on a connection just before it is closed would be
// served without its client being told.
func untilStopped(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
			refuse(w, http.StatusServiceUnavailable, "unavailable", "the alcove server is stopping: this request was not served, and can be sent again")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *HTTP) healthy(w http.ResponseWriter, _ *http.Request) {
	if h.Healthy != nil {
		if err := h.Healthy(); err != nil {
			refuse(w, http.StatusServiceUnavailable, "unavailable", err.Error())
			return
		}
	}
	io.WriteString(w, "ok\n")
}

func (h *HTTP) ready(w http.ResponseWriter, r *http.Request) {
	if err := h.Ready(r.Context()); err != nil {
		refuse(w, http.StatusServiceUnavailable, "unavailable", err.Error())
		return
	}
	if h.Following != nil {
		if says := h.Following(); says != "" {
			fmt.Fprintf(w, "ready, %s\n", says)
			return
		}
	}
	if h.Without != nil {
		if why := h.Without(); why != nil {
			fmt.Fprintf(w, "ready, without tool families: %v\n", why)
			return
		}
	}
	io.WriteString(w, "ready\n")
	if h.Details != nil {
		io.WriteString(w, h.Details())
	}
}

// guard passes on the requests that a door admits.
func (h *HTTP) guard(d Door) http.Handler {
	limit, next := cmp.Or(d.Body, bodyLimit), d.Handler
	if d.Lasting {
		next = uncounted(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.Admit != nil {
			ctx, stop, err := d.Admit(r)
			if err != nil {
				h.refuseClient(w, r, err)
				return
			}
			defer stop()
			r = r.WithContext(ctx)
			if identify, ok := ctx.Value(identifyKey{}).(func()); ok {
				identify()
			}
		}
		if r.ContentLength > limit {
			refuseBody(w, limit)
			return
		}
		withBody(w, r, limit)
		defer h.Use.Begin()()
		next.ServeHTTP(w, r)
	})
}

// bearer admits the requests of clients with a bearer token.
func (h *HTTP) bearer(r *http.Request) (context.Context, func(), error) {
	return h.Admit(r.Context(), r.URL.Path, BearerOf(r))
}

// BearerOf returns the bearer token of a request; empty: it has none.
func BearerOf(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// refuseClient answers a request that was not admitted.
func (h *HTTP) refuseClient(w http.ResponseWriter, r *http.Request, err error) {
	if h.Refused != nil {
		h.Refused(r, err)
	}
	var own *StatusError
	if errors.As(err, &own) {
		Refuse(w, own)
		return
	}
	w.Header().Set("WWW-Authenticate", h.Challenge(r))
	refuse(w, http.StatusUnauthorized, "denied", err.Error())
}

// withoutBody withholds the body of a request until withBody: the server reads only the header of a peer without the
// token. A connection with an unread body is closed.
func withoutBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hasBody(r) {
			w.Header().Set("Connection", "close")
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedWithin))
		}
		next.ServeHTTP(w, r)
	})
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// withBody makes the body of a request readable again, up to a limit.
func withBody(w http.ResponseWriter, r *http.Request, limit int64) {
	if !hasBody(r) {
		return
	}
	w.Header().Del("Connection")
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{})
	r.Body = &timedBody{ReadCloser: http.MaxBytesReader(w, r.Body, limit), control: control}
}

// bounded limits concurrent requests.
func (h *HTTP) bounded(next http.Handler) http.Handler {
	slots := make(chan struct{}, httpClients)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
		default:
			refuse(w, http.StatusServiceUnavailable, "exhausted",
				fmt.Sprintf("%d requests are being served, which is the limit: try again later", httpClients))
			return
		}
		leave := sync.OnceFunc(func() { <-slots })
		defer leave()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), leaveKey{}, leave)))
	})
}

// leaveKey is the context key of a func() that stops counting a request as one that is being served.
type leaveKey struct{}

// uncounted serves requests that last.
func uncounted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Lasting(r)
		next.ServeHTTP(w, r)
	})
}

// HoldBody reads the body of a request to Spaces or HTTP.All, of at most limit bytes, so that it can be read again. It is false if it
// could not be read, which the client was told.
func HoldBody(w http.ResponseWriter, r *http.Request, limit int64) bool {
	if !TakeBody(w, r, limit) {
		return false
	}
	var data []byte
	if hasBody(r) {
		var err error
		if data, err = io.ReadAll(r.Body); err != nil {
			refuseBody(w, limit)
			return false
		}
	}
	r.ContentLength = int64(len(data))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	r.Body, _ = r.GetBody() // from memory
	return true
}

// TakeBody makes the body of a request to HTTP.All readable, up to a limit in bytes; 0: that of other requests. It is false if the body is
// longer, which the client was told.
func TakeBody(w http.ResponseWriter, r *http.Request, limit int64) bool {
	limit = cmp.Or(limit, bodyLimit)
	if r.ContentLength > limit {
		refuseBody(w, limit)
		return false
	}
	withBody(w, r, limit)
	return true
}

func refuseBody(w http.ResponseWriter, limit int64) {
	refuse(w, http.StatusRequestEntityTooLarge, "exhausted", fmt.Sprintf("the body is longer than %d bytes (%.4g MiB): send less at once", limit, float64(limit)/(1<<20)))
}

// Lasting stops counting a request to HTTP.All as one that is being served, because it becomes a connection of its own.
func Lasting(r *http.Request) {
	if leave, ok := r.Context().Value(leaveKey{}).(func()); ok {
		leave()
	}
}

// timedBody is a body with a deadline, which starts at its first read. It is removed at the body's end,
// because answers may stream for hours.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begun   bool
}

func (b *timedBody) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		b.control.SetReadDeadline(time.Now().Add(bodyWithin))
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// withPartDeadlines sets a write deadline for each part of an answer, not for the whole.
func withPartDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&timedWriter{w, http.NewResponseController(w)}, r)
	})
}

type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w *timedWriter) extend() { w.control.SetWriteDeadline(time.Now().Add(writeWithin)) }

func (w *timedWriter) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *timedWriter) Flush() {
	w.extend()
	w.control.Flush() // the client may be gone
}

// Unwrap supports http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// onlyLocal refuses requests that a web page made a browser send: those with a foreign Host (DNS rebinding)
// and those from another origin.
func (h *HTTP) onlyLocal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Host) > longestHeader || !h.isOwn(r, r.Host) {
			refuse(w, http.StatusForbidden, "denied", fmt.Sprintf(
				"the host %.100q is not this server: use 127.0.0.1, localhost or the address it listens on", r.Host))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !h.isOwnOrigin(r, origin) {
			refuse(w, http.StatusForbidden, "denied", fmt.Sprintf(
				"pages of the origin %.100q may not use this server", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *HTTP) isOwnOrigin(r *http.Request, origin string) bool {
	if len(origin) > longestHeader {
		return false
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && h.isOwn(r, u.Host)
}

// isOwn reports whether a host, with or without a port, is this server: locally, by the name in its certificate, or by the public URL.
func (h *HTTP) isOwn(r *http.Request, host string) bool {
	if localHost(r, host) {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return h.Certificate != nil && host != "" && h.Certificate.Names(host) || h.isPublic(host)
}

// isPublic reports whether a host without a port is that of the public URL.
func (h *HTTP) isPublic(host string) bool {
	public, err := url.Parse(h.Public)
	return err == nil && host != "" && strings.EqualFold(public.Hostname(), host)
}

// localHost reports whether a host, with or without a port, is localhost, a loopback address or the
// request's local address.
func localHost(r *http.Request, host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if address.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap() == address.Unmap()
}

// refuse writes an error.
func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, errorBody(status, code, message))
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body) // the client may be gone
}

func errorBody(status int, code, message string) []byte {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{ // strings always encode
		"code": code, "message": message, "retryable": status == http.StatusServiceUnavailable,
	}})
	return append(body, '\n')
}
