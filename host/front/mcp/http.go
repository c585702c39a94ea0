package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	maxSessions = 10_000         // over HTTP at once
	sessionIdle = 24 * time.Hour // after which a session ends
)

// Handler returns a handler of streamable HTTP, for any path. WithSession on a request's context sets the client and its
// rights; without it, the client has none.
func (s *Server) Handler() http.Handler {
	s.httpOnce.Do(func() {
		s.http = server.NewStreamableHTTPServer(s.protocol,
			server.WithSessionIdManagerResolver(s.sessions),
			server.WithSessionIdleTTL(sessionIdle),
			server.WithStreamableHTTPLogger(s.options.Logger),
			server.WithHTTPContextFunc(served),
			server.WithDisableLocalhostProtection(true), // package listen checks the host, and knows the names in the certificate
		)
	})
	return http.HandlerFunc(s.serveHTTP)
}

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if s.http == nil { // closed before Handler was called
		http.Error(w, "the server has stopped", http.StatusServiceUnavailable)
		return
	}
	session, err := SessionOf(r.Context()).choose(r.URL)
	if err != nil {
		respond(w, http.StatusBadRequest, errorMessage(nil, protocol.INVALID_REQUEST, err.Error()))
		return
	}
	r = r.WithContext(WithSession(r.Context(), session))
	if r.Method == http.MethodPost {
		s.post(w, r)
		return
	}
	if no := s.lacksSession(r); no != nil {
		respond(w, no.status, errorMessage(nil, no.code, no.text))
		return
	}
	ctx, release := s.untilClosed(r.Context())
	defer release()
	s.http.ServeHTTP(w, r.WithContext(ctx))
}

// lacksSession returns why a request without a message cannot use its session; nil: it can.
func (s *Server) lacksSession(r *http.Request) *refusal {
	id := r.Header.Get(server.HeaderKeySessionID)
	switch {
	case modern(r):
		return nil
	case id != "":
		return s.sessions.find(r.Context(), id)
	case r.Method == http.MethodGet: // the library would begin a session that no client knows
		return needsSession()
	}
	return nil
}

// untilClosed returns a context that also ends when the server closes.
func (s *Server) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.open, cancel)
	return ctx, func() { stop(); cancel() }
}

// post checks a message before the protocol library, which reads bodies of any size and explains client errors poorly.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	key := SessionOf(r.Context()).Key
	end, err := s.options.Limits.Keys.Begin(key)
	if err != nil {
		w.Header().Set("Retry-After", tool.RetryAfter(err))
		respond(w, http.StatusTooManyRequests, limitMessage(nil, err))
		return
	}
	defer end()
	raw, err := s.options.Limits.Body(r, key)
	if err != nil {
		respond(w, connection.StatusOf(err), unreadMessage(err))
		return
	}
	defer s.options.Limits.Input.Release(raw)
	m, fault := parseMessage(raw)
	if fault != nil {
		respond(w, http.StatusBadRequest, errorMessage(fault.ID, fault.Code, fault.Text))
		return
	}
	if no := s.refuse(r, m); no != nil {
		respond(w, no.status, errorMessage(m.id, no.code, no.text))
		return
	}
	if m.method == methodCancelled && m.id == nil && modern(r) {
		// Modern clients cancel by closing the stream. The library would cancel any client's request with that id.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if isTaskMethod(m.method) && m.id != nil && modern(r) {
		s.postTask(w, r, m)
		return
	}
	ctx, body := r.Context(), m.forLibrary()
	switch m.method {
	case methodCall:
		tell := func(protocol.JSONRPCNotification) {} // the client accepts no stream
		if over := streaming(w, r); over != nil {
			w, tell = over, over.notify
		}
		call := &toolCall{server: s, message: m, tell: tell, listChanged: func() { tell(notification(protocol.MethodNotificationToolsListChanged, nil)) }}
		ctx, w = context.WithValue(ctx, servedKey{}, call), &answered{ResponseWriter: w, instead: call.replacement, modern: modern(r)}
	case methodResources, methodTemplates, methodRead, methodSubscribe, methodUnsubscribe, methodPrompt, methodPrompts:
		call := s.readCall(m)
		ctx, w = context.WithValue(ctx, servedKey{}, call), &answered{ResponseWriter: w, instead: call.replacement, modern: modern(r)}
	case methodInit:
		ctx = context.WithValue(ctx, beginKey{}, sessionStart{client: introductionOf(m)})
	case methodListen:
		end()
		over := &stream{ResponseWriter: w}
		until, release := s.untilClosed(ctx)
		defer release()
		l := s.newListener(m.id, over.notify)
		defer l.end()
		ctx, w = context.WithValue(until, servedKey{}, l), over
	}
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	s.http.ServeHTTP(w, r)
}

// postTask serves a message about a task.
func (s *Server) postTask(w http.ResponseWriter, r *http.Request, m *message) {
	id := jsonrpc.Text(m.read.Field(m.read.Params, "taskId").Of(m.read.Line))
	if r.Header.Get(protocol.HeaderMethod) != m.method || r.Header.Get(protocol.HeaderName) != id {
		respond(w, http.StatusBadRequest, errorMessage(m.id, protocol.HEADER_MISMATCH, fmt.Sprintf(
			"the headers %s and %s must repeat the method and taskId", protocol.HeaderMethod, protocol.HeaderName)))
		return
	}
	answer := s.serveTask(r.Context(), m)
	if refused, failed := answer.(protocol.JSONRPCError); failed {
		respond(w, http.StatusBadRequest, refused)
		return
	}
	write(w, http.StatusOK, answer)
}

// answered is the HTTP response to a message: the library's, unless serving it failed.
type answered struct {
	http.ResponseWriter
	instead func() protocol.JSONRPCMessage // nil: the library's answer
	modern  bool
}

func (a *answered) WriteHeader(status int) {
	if f, failed := a.instead().(protocol.JSONRPCError); failed && status == http.StatusOK && a.modern && (f.Error.Code == jsonrpc.CodeInvalidParams || f.Error.Code == protocol.MISSING_REQUIRED_CLIENT_CAPABILITY) {
		status = http.StatusBadRequest // as the library answers what is invalid
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write writes the library's output, one message per call.
func (a *answered) Write(p []byte) (int, error) {
	instead := a.instead()
	if instead == nil || isNotification(p) {
		return a.ResponseWriter.Write(p)
	}
	body, err := tool.Encode(instead)
	if err != nil {
		return 0, err
	}
	if bytes.HasPrefix(p, []byte("event:")) {
		body = event(body)
	}
	if _, err := a.ResponseWriter.Write(append(body, '\n')); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush supports streaming of answers.
func (a *answered) Flush() { http.NewResponseController(a.ResponseWriter).Flush() }

// isNotification reports whether the library writes a message other than the answer.
func isNotification(event []byte) bool {
	_, data, is := bytes.Cut(event, []byte("data: "))
	if !is {
		return false
	}
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(data, &m) == nil && m.Method != ""
}

// servedKey is the context key of a request's call of a tool, or of the session of a listen request.
type servedKey struct{}

// served returns a context in which the protocol library finds the called tool, or the session that it tells a listening client through.
func served(ctx context.Context, _ *http.Request) context.Context {
	switch by := ctx.Value(servedKey{}).(type) {
	case *toolCall:
		return by.within(ctx)
	case *readCall:
		return by.within(ctx)
	case *listener:
		return by.within(ctx)
	}
	return ctx
}

// unreadMessage returns the error response to a body that could not be read.
func unreadMessage(err error) protocol.JSONRPCError {
	switch connection.StatusOf(err) {
	case http.StatusRequestEntityTooLarge:
		return errorMessage(nil, jsonrpc.CodeInvalid, err.Error())
	case http.StatusBadRequest:
		return errorMessage(nil, jsonrpc.CodeParse, "the body could not be read")
	}
	return errorMessage(nil, jsonrpc.CodeServer, err.Error())
}

// refusal is the error response for a message that is not served.
type refusal struct {
	status, code int
	text         string
}

// exactID is the largest integer that every JSON reader preserves exactly.
const exactID = 1<<53 - 1

// repeatable reports whether the protocol library, which reads numbers as float64, answers with the same id.
func repeatable(id json.RawMessage) bool {
	if len(id) == 0 || id[0] == '"' {
		return true
	}
	f, err := strconv.ParseFloat(string(id), 64)
	return err == nil && math.Abs(f) <= exactID
}

// refuse returns why a message is not served, or nil if it is.
func (s *Server) refuse(r *http.Request, m *message) *refusal {
	switch {
	case !repeatable(m.id):
		return &refusal{http.StatusBadRequest, jsonrpc.CodeInvalid, fmt.Sprintf(
			"the id %s cannot be repeated exactly: use text, or a number of at most %d", tool.Clip(string(m.id), gotLength), exactID)}
	case m.method == methodCall && !s.has(m, SessionOf(r.Context())):
		return s.refuseUnknown(r, m)
	case m.method == methodCall && modern(r) && m.found != nil && m.found.Headers && SessionOf(r.Context()).Profile == profile.Code: // others were not told of them
		return contradicted(r, m)
	case modern(r):
		return nil
	case m.method == methodInit && s.sessions.full():
		return &refusal{http.StatusServiceUnavailable, protocol.INTERNAL_ERROR, fmt.Sprintf(
			"%d sessions are open, which is the limit: end one with DELETE, or use protocol %s, which needs none",
			s.sessions.limit, protocol.ProtocolVersion20260728)}
	case m.method == methodInit:
		return nil
	case r.Header.Get(server.HeaderKeySessionID) != "":
		return s.sessions.find(r.Context(), r.Header.Get(server.HeaderKeySessionID))
	case m.method != "":
		return needsSession()
	}
	return nil
}

// refuseUnknown refuses the call of a tool that does not exist, or, as the library does of other calls, headers that contradict it.
func (s *Server) refuseUnknown(r *http.Request, m *message) *refusal {
	why := s.unknown(m.tool, SessionOf(r.Context()))
	if !modern(r) {
		return &refusal{http.StatusOK, protocol.INVALID_PARAMS, why}
	}
	params, _ := json.Marshal(map[string]string{"name": m.tool}) // texts always encode
	version := r.Header.Get(protocol.HeaderProtocolVersion)
	if err := protocol.ValidateStandardHeaders(r.Header.Get, version, protocol.MethodToolsCall, params); err != nil {
		return &refusal{http.StatusBadRequest, protocol.HEADER_MISMATCH, err.Error()}
	}
	return &refusal{http.StatusBadRequest, protocol.INVALID_PARAMS, why}
}

// contradicted returns why a call is refused whose headers differ from the arguments that they repeat; nil: they do not.
func contradicted(r *http.Request, m *message) *refusal {
	params := fmt.Appendf(nil, `{"name":%s,"arguments":%s}`, quoted(m.tool), m.arguments)
	declared := protocol.NewToolWithRawSchema(m.tool, "", m.found.Input)
	lookup := func(name string) (string, bool) {
		values := r.Header.Values(name)
		if len(values) == 0 {
			return "", false
		}
		return values[0], true
	}
	if err := protocol.ValidateParamHeadersLookup(lookup, &declared, params); err != nil {
		return &refusal{http.StatusBadRequest, protocol.HEADER_MISMATCH, err.Error()}
	}
	return nil
}

func modern(r *http.Request) bool {
	return protocol.IsModernProtocol(r.Header.Get(protocol.HeaderProtocolVersion))
}

func respond(w http.ResponseWriter, status int, answer protocol.JSONRPCError) {
	write(w, status, answer)
}

func write(w http.ResponseWriter, status int, answer protocol.JSONRPCMessage) {
	body, err := tool.Encode(answer)
	if err != nil {
		http.Error(w, "the answer could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) // a client that left needs no answer
}
