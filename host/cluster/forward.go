package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"time"
)

const (
	dialWithin   = time.Second
	repeatable   = 1 << 20 // the most bytes of a body to buffer, so that the request can be sent again
	idlePeers    = 128     // idle connections to keep for a server
	movedHeader  = "Alcove-Moved"
	hopHeader    = "Alcove-Hop" // the id of the forwarding server; such requests are not forwarded again
	answerLimit  = 64 << 10     // bytes of an answer to Ask
	peerIdle     = 90 * time.Second
	probeEvery   = time.Second // of a silent connection
	probesFailed = 3
)

// Forwarder forwards requests to the leaders of their spaces. A forwarded request is never forwarded again.
type Forwarder struct {
	member *Member
	proxy  *httputil.ReverseProxy
}

// NewForwarder returns a forwarder of a server.
func NewForwarder(m *Member, c *Credentials, logger *slog.Logger) *Forwarder {
	f := &Forwarder{member: m}
	f.proxy = &httputil.ReverseProxy{
		Transport: &http.Transport{
			TLSClientConfig: c.Client(), TLSHandshakeTimeout: dialWithin, MaxIdleConnsPerHost: idlePeers, IdleConnTimeout: peerIdle, DisableCompression: true,
			DialContext: (&net.Dialer{Timeout: dialWithin, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeEvery, Interval: probeEvery, Count: probesFailed}}).DialContext,
		},
		Rewrite: rewrite, ModifyResponse: checkMoved, ErrorHandler: failed, FlushInterval: -1,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return f
}

// Close closes idle connections.
func (f *Forwarder) Close() { f.proxy.Transport.(*http.Transport).CloseIdleConnections() }

// attempt is one attempt to forward a request.
type attempt struct {
	to      Route
	from    string // the id of this server
	path    string // of the request there
	reached bool   // a connection took the request
	err     error  // set if nothing was answered
}

// attemptKey is the context key of an *attempt.
type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt { return ctx.Value(attemptKey{}).(*attempt) }

// errMoved means that a server did not serve a request, because it does not lead the space.
var errMoved = errors.New("the server does not lead the space")

// unreachedError means that a request was not sent.
type unreachedError struct{ error }

func (e unreachedError) Unwrap() error { return e.error }

// Again reports whether an error means that a request was not served and can be sent to another server.
func Again(err error) bool {
	for _, each := range []error{errMoved, ErrMoving, errDraining, errSuspended} {
		if errors.Is(err, each) {
			return true
		}
	}
	return errors.As(err, new(unreachedError)) || errors.As(err, new(*MovedError))
}

// Hold buffers the body of a request, if it is short enough, so that it can be sent again.
func Hold(r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength < 0 || r.ContentLength > repeatable {
		return nil
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	r.Body, err = r.GetBody()
	return err
}

// Rewind resets the body of a request before an attempt to serve it.
func Rewind(r *http.Request) {
	if r.GetBody != nil {
		r.Body, _ = r.GetBody() // from memory
	}
}

// Forward forwards a request to the same path below /s/SPACE of another server. Every error satisfies Again: nothing was answered, and the
// request can be sent again.
func (f *Forwarder) Forward(w http.ResponseWriter, r *http.Request, to Route, path string) error {
	if by := r.Header.Get(hopHeader); by != "" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusLoopDetected)
		fmt.Fprintf(w, "this request was forwarded by the server %.64q, and is not forwarded again\n", by) // the sender may be gone
		return nil
	}
	repeat := r.Body == nil || r.Body == http.NoBody || r.GetBody != nil
	a := &attempt{to: to, from: f.member.self.ID, path: path}
	ctx, stop := f.member.while(r.Context(), to.Server)
	defer stop()
	ctx = httptrace.WithClientTrace(context.WithValue(ctx, attemptKey{}, a), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.reached = true }})
	f.proxy.ServeHTTP(w, r.WithContext(ctx))
	if a.err != nil && !repeat {
		refuse(w, a.err)
		return nil
	}
	return a.err
}

func rewrite(r *httputil.ProxyRequest) {
	a := attemptOf(r.In.Context())
	r.Out.URL = &url.URL{Scheme: "https", Host: a.to.Address, Path: a.path, RawQuery: r.In.URL.RawQuery}
	r.Out.Host = r.In.Host
	r.SetXForwarded()
	r.Out.Header.Set(hopHeader, a.from)
}

// checkMoved returns errMoved if the server does not lead the space.
func checkMoved(r *http.Response) error {
	if r.StatusCode == http.StatusMisdirectedRequest && r.Header.Get(movedHeader) != "" {
		return errMoved
	}
	return nil
}

// failed handles the error of an unanswered attempt.
func failed(w http.ResponseWriter, r *http.Request, err error) {
	a := attemptOf(r.Context())
	switch {
	case errors.Is(err, errMoved):
		a.err = errMoved
	case !a.reached:
		a.err = unreachedError{fmt.Errorf("reach the server at %s: %w", a.to.Address, err)}
	default:
		refuse(w, err)
	}
}

// lostText is the answer when a leader ended while it served a request.
const lostText = "the server that leads the space did not answer, and another one takes it over: whether this was done is not known. Send it again with the same request id, and it is done once"

func refuse(w http.ResponseWriter, err error) {
	why := lostText
	if Again(err) {
		why = "the server that leads the space was not reached, and this was not done: send it again"
	}
	Refuse(w, why)
}

// Refuse answers with a retryable error.
func Refuse(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"code": "unavailable", "message": why, "retryable": true}}) // strings always encode
	w.Write(append(body, '\n'))                                                                                                // the client may be gone
}

// Moved answers a forwarded request to a space that this server does not lead.
func Moved(w http.ResponseWriter) {
	w.Header().Set(movedHeader, "1")
	http.Error(w, "this server does not lead the space", http.StatusMisdirectedRequest)
}

// Dial opens a client connection to another server, as if to its own socket.
func (f *Forwarder) Dial(ctx context.Context, to Route, path string) (io.ReadWriteCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+to.Address+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "alcove")
	r.Header.Set(hopHeader, f.member.self.ID)
	answer, err := f.proxy.Transport.RoundTrip(r)
	if err != nil {
		return nil, unreachedError{err}
	}
	stream, upgraded := answer.Body.(io.ReadWriteCloser)
	if answer.StatusCode != http.StatusSwitchingProtocols || !upgraded {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10)) // for people
		answer.Body.Close()
		if checkMoved(answer) != nil {
			return nil, errMoved
		}
		return nil, fmt.Errorf("the server at %s answered %s: %s", to.Address, answer.Status, said)
	}
	return stream, nil
}

// Answer is the answer of another server.
type Answer struct {
	Status int
	Body   []byte
}

// Ask sends this server's own request to another server. If the error satisfies Again, nothing was done.
func (f *Forwarder) Ask(ctx context.Context, to Route, path string, body []byte) (a Answer, err error) {
	reached := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached = true }})
	ctx, stop := f.member.while(ctx, to.Server)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+to.Address+path, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header.Set(hopHeader, f.member.self.ID)
	answer, err := f.proxy.Transport.RoundTrip(r)
	if err != nil && !reached {
		return a, unreachedError{err}
	}
	if err != nil {
		return a, unavailable("the server at %s did not answer (%v): whether this was done is not known, so look before it is asked for again", to.Address, err)
	}
	defer answer.Body.Close()
	if err := checkMoved(answer); err != nil {
		return a, err
	}
	a.Status = answer.StatusCode
	a.Body, err = io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	return a, err
}
