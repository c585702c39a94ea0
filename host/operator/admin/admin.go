// Package admin serves the operator's acts on a socket of their own.
//
// An act is a name, a JSON request and a JSON answer, or a stream. It speaks HTTP on a Unix socket that only its user
// can open; no address of the network and no tool of a model leads to it.
package admin

import (
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
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

const (
	requestLimit  = 64 << 20 // bytes of a request
	headerWithin  = 10 * time.Second
	keepIdle      = 2 * time.Minute
	connections   = 32 // at once
	stopWithin    = 5 * time.Second
	contentJSON   = "application/json"
	contentStream = "application/octet-stream"
)

// Trailers of a stream that failed.
const (
	ErrorTrailer = "Alcove-Error" // the message
	CodeTrailer  = "Alcove-Code"  // the code, if the error has one
)

// Act does something that only an operator may. request is JSON, perhaps empty; what it returns is encoded as JSON.
type Act func(ctx context.Context, request json.RawMessage) (any, error)

// Stream writes what may be long.
type Stream func(ctx context.Context, request json.RawMessage, w io.Writer) error

// Server serves acts by their names.
type Server struct {
	Acts    map[string]Act
	Streams map[string]Stream
	Reads   map[string]func(request json.RawMessage) bool // whether a request for an act changes nothing; nil: it changes something
	Code    func(error) string                            // of an error, for clients; empty: it has none. Nil: no error has one
	Logger  *slog.Logger
	Begin   func() (end func()) // called around each act: the server is in use; may be nil
	// As returns the context of a request's sender, or why the sender is not admitted; nil: the request's.
	As func(*http.Request) (context.Context, error)
	// Permit says why a request for an act is refused; changes: the act changes something. Nil: none is.
	Permit func(r *http.Request, act string, changes bool) error
	// Refuse answers a request that failed; nil: as Client reads it.
	Refuse func(w http.ResponseWriter, status int, e *Error)
}

// Codes of errors that the socket itself makes.
const (
	codeInvalid     = "invalid_argument"
	codeUnavailable = "unavailable"
)

// Error is a failure of an act that has a code. Clients get it as the server sent it.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

// fault is how an error is sent.
type fault struct {
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
}

// err is the error that was sent.
func (f fault) err() error {
	if f.Code == "" {
		return errors.New(f.Error)
	}
	return &Error{f.Code, f.Error}
}

// fault is an error as clients get it.
func (s *Server) fault(err error) fault {
	f := fault{Error: err.Error()}
	if own := (*Error)(nil); errors.As(err, &own) {
		f.Code = own.Code
	} else if s.Code != nil {
		f.Code = s.Code(err)
	}
	return f
}

// Serve serves until ctx ends. Acts that run then are cancelled, and have five seconds to end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return Serve(ctx, l, s, s.Logger) }

// Serve is Server.Serve with a handler that has the acts of several servers.
func Serve(ctx context.Context, l net.Listener, acts http.Handler, logger *slog.Logger) error {
	server := &http.Server{
		Handler: acts, ReadHeaderTimeout: headerWithin, IdleTimeout: keepIdle, ConnState: limited(), ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		stopped <- server.Shutdown(within)
	})
	err := server.Serve(l)
	if !stop() {
		return <-stopped
	}
	return fmt.Errorf("serve the operator's socket: %w", err)
}

// connKey is the context key of a request's connection.
type connKey struct{}

// ConnOf returns the connection on which a request came; nil: it is not known.
func ConnOf(r *http.Request) net.Conn {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	return conn
}

// reasonHeader has why an operator does something, as a URL has it in its query.
const reasonHeader = "Alcove-Reason"

// ReasonOf returns why the sender of a request does what it asks for.
func ReasonOf(r *http.Request) string {
	reason, err := url.QueryUnescape(r.Header.Get(reasonHeader))
	if err != nil {
		return ""
	}
	return reason
}

// limited counts connections, and closes those beyond the limit: they would use up the file descriptors of clients.
func limited() func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > connections {
				text := fmt.Sprintf(`{"error":"%d operators are connected, which is the limit: try again later","code":%q}`, connections, codeUnavailable)
				if _, over := conn.(*tls.Conn); over { // a handshake would hold up all others
					conn.Close()
					return
				}
				fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", contentJSON, len(text), text)
				conn.Close()
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
}

// ServeHTTP takes POST /NAME.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Begin != nil {
		defer s.Begin()()
	}
	if s.As != nil {
		ctx, err := s.As(r)
		if err != nil {
			s.refuse(w, http.StatusUnauthorized, err)
			return
		}
		r = r.WithContext(ctx)
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	act, stream := s.Acts[name], s.Streams[name]
	if act == nil && stream == nil || r.Method != http.MethodPost {
		s.refuse(w, http.StatusNotFound, unknown(name))
		return
	}
	request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestLimit))
	if err != nil {
		s.refuse(w, http.StatusBadRequest, &Error{codeInvalid, fmt.Sprintf("read the request for %s, of at most %d bytes: %v", name, requestLimit, err)})
		return
	}
	if err := s.permit(r, name, request); err != nil {
		s.refuse(w, http.StatusForbidden, err)
		return
	}
	s.Logger.Info("operator", "act", name, "bytes", len(request)) // not the request: what an import stores is not for a log
	if stream != nil {
		s.stream(w, r, stream, request)
		return
	}
	result, err := act(r.Context(), request)
	if err != nil {
		s.refuse(w, http.StatusUnprocessableEntity, why(r.Context(), err))
		return
	}
	w.Header().Set("Content-Type", contentJSON)
	if err := json.NewEncoder(w).Encode(result); err != nil {
		s.Logger.Warn("an operator's answer was not sent", "act", name, "error", err)
	}
}

// permit says why a request for an act is refused; nil: it is not.
func (s *Server) permit(r *http.Request, name string, request json.RawMessage) error {
	if s.Permit == nil {
		return nil
	}
	reads := s.Reads[name]
	return s.Permit(r, name, reads == nil || !reads(request))
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, stream Stream, request json.RawMessage) {
	w.Header().Set("Content-Type", contentStream)
	w.Header().Set("Trailer", ErrorTrailer+", "+CodeTrailer)
	if err := stream(r.Context(), request, w); err != nil {
		f := s.fault(why(r.Context(), err))
		w.Header().Set(ErrorTrailer, strings.ReplaceAll(f.Error, "\n", "; "))
		w.Header().Set(CodeTrailer, f.Code)
	}
}

// why is the error of an act that was cancelled: what it was cancelled for, if that is known and the act does not say it.
func why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// RefuseAct answers that an act was not carried out.
func (s *Server) RefuseAct(w http.ResponseWriter, e *Error) {
	s.refuse(w, http.StatusUnprocessableEntity, e)
}

func (s *Server) refuse(w http.ResponseWriter, status int, err error) {
	if f := s.fault(err); s.Refuse != nil {
		s.Refuse(w, status, &Error{f.Code, f.Error})
		return
	}
	w.Header().Set("Content-Type", contentJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(s.fault(err)) // fails only when the client is gone
}

func unknown(act string) error {
	return &Error{codeUnavailable, fmt.Sprintf("there is no act %q: use the same version of alcove as the server's", act)}
}

// Names lists the names of all acts.
func (s *Server) Names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.Acts)), maps.Keys(s.Streams))
	slices.Sort(names)
	return names
}

// Call carries out an act for this process. Its errors keep their type.
func (s *Server) Call(ctx context.Context, name string, request, answer any) error {
	act := s.Acts[name]
	if act == nil {
		return unknown(name)
	}
	text, err := json.Marshal(request)
	var result any
	if err == nil {
		result, err = act(ctx, text)
	}
	if err == nil {
		text, err = json.Marshal(result)
	}
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	return err
}

// Stream is Call for an act whose answer is a stream.
func (s *Server) Stream(ctx context.Context, name string, request any, w io.Writer) error {
	stream := s.Streams[name]
	if stream == nil {
		return unknown(name)
	}
	text, err := json.Marshal(request)
	if err == nil {
		err = stream(ctx, text, w)
	}
	return err
}

// Client asks for acts.
type Client struct {
	Reason string // why, for the audit log

	http   http.Client
	server string // its address
	key    string // of the operator; empty: the socket needs none
}

// NewClient speaks over the connections that dial makes to the socket.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client {
	return &Client{server: "http://admin", http: http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx)
	}}}}
}

// NewClientOf speaks to a server elsewhere, over TLS, with the key of an operator.
func NewClientOf(server, key string, t *tls.Config) *Client {
	return &Client{server: server, key: key, http: http.Client{
		Transport:     &http.Transport{TLSClientConfig: t, TLSHandshakeTimeout: headerWithin},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close lets go of connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) post(ctx context.Context, name string, request any) (*http.Response, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", name, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server+"/"+name, strings.NewReader(string(body)))
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", name, err)
	}
	if c.Reason != "" {
		r.Header.Set(reasonHeader, url.QueryEscape(c.Reason))
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(r)
	if err != nil && c.key != "" {
		return nil, fmt.Errorf("reach the server %s: %w", c.server, errors.Unwrap(err))
	}
	if err != nil {
		return nil, fmt.Errorf("reach the server's socket for operators: %w", errors.Unwrap(err))
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	var f fault
	if err := json.NewDecoder(io.LimitReader(response.Body, requestLimit)).Decode(&f); err != nil || f.Error == "" {
		return nil, fmt.Errorf("ask for %s: the server answered %s", name, response.Status)
	}
	return nil, f.err()
}

// Call asks for an act, and decodes its answer.
func (c *Client) Call(ctx context.Context, name string, request, answer any) error {
	response, err := c.post(ctx, name, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return nil
}

// Stream asks for an act whose answer is a stream, and copies it. An error of the act comes at the end.
func (c *Client) Stream(ctx context.Context, name string, request any, w io.Writer) error {
	response, err := c.post(ctx, name, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(w, response.Body); err != nil {
		return fmt.Errorf("receive %s: %w", name, err)
	}
	if message := response.Trailer.Get(ErrorTrailer); message != "" {
		return fault{message, response.Trailer.Get(CodeTrailer)}.err()
	}
	return nil
}
