// Package rest serves tools over plain HTTP: operations as JSON objects, the list of tools, and the OpenAPI document of both.
package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

const (
	longestKey     = 128 // bytes of an idempotency key
	idempotencyKey = "Idempotency-Key"
)

// Options configures a Server. Dispatcher and Client are required.
type Options struct {
	Dispatcher *tool.Dispatcher
	Client     func(*http.Request) connection.Client // who sent a request
	Limits     connection.Limits
	Version    string       // of the program, for the OpenAPI document
	Logger     *slog.Logger // nil: discards
}

// Server serves a dispatcher's tools. It trusts each request: tokens, hosts and origins are checked before.
type Server struct{ options Options }

// New returns a server of a dispatcher's tools.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Limits = o.Limits.WithDefaults()
	return &Server{o}
}

// Routes returns the handlers by path.
func (s *Server) Routes() map[string]http.Handler {
	return map[string]http.Handler{
		"/operation":       s.Admitted(http.MethodPost, s.operate),
		"/operation/tools": s.Admitted(http.MethodGet, s.tools),
		"/operation/":      s.Admitted(http.MethodPost, s.call),
		"/openapi.json":    s.Admitted(http.MethodGet, s.document),
	}
}

// Admitted serves requests with a method that the limits of the client's key permit.
func (s *Server) Admitted(method string, serve http.HandlerFunc) http.Handler {
	return only(method, func(w http.ResponseWriter, r *http.Request) {
		end, err := s.options.Limits.Keys.Begin(s.options.Client(r).Caller.Key)
		if err != nil {
			w.Header().Set("Retry-After", tool.RetryAfter(err))
			connection.RefuseRequest(w, http.StatusTooManyRequests, tool.FailureOf(err))
			return
		}
		defer end()
		serve(w, r)
	})
}

// only refuses other methods. HEAD is GET.
func only(method string, serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && !(method == http.MethodGet && r.Method == http.MethodHead) {
			w.Header().Set("Allow", method)
			refuse(w, http.StatusMethodNotAllowed, memory.InvalidArgument, "send "+method+" to "+tool.Clip(r.URL.Path, 100))
			return
		}
		serve(w, r)
	})
}

// operate serves an operation: the body is the object that memory_operation takes.
func (s *Server) operate(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		refuse(w, http.StatusBadRequest, memory.InvalidArgument, "an operation has its options in the body, and none in the query of the address")
		return
	}
	if body, ok := s.body(w, r); ok {
		defer s.options.Limits.Input.Release(body)
		s.dispatch(w, r, body)
	}
}

// call serves an operation whose method is in the path: the body is its params, and the query its options.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	method := strings.TrimPrefix(r.URL.Path, "/operation/")
	if method == "" || strings.Contains(method, "/") {
		refuse(w, http.StatusNotFound, memory.NotFound, "a method follows /operation/, as in /operation/memory_store")
		return
	}
	options, err := optionsOf(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, memory.InvalidArgument, err.Error())
		return
	}
	params, ok := s.body(w, r)
	if !ok {
		return
	}
	defer s.options.Limits.Input.Release(params)
	if len(strings.TrimSpace(string(params))) == 0 {
		params = []byte("{}")
	}
	if !json.Valid(params) {
		refuse(w, http.StatusBadRequest, memory.InvalidArgument, "the body must be a JSON object: it is not valid JSON")
		return
	}
	body, err := tool.Encode(map[string]any{"method": method, "params": json.RawMessage(params), "options": options})
	if err != nil {
		refuse(w, http.StatusBadRequest, memory.InvalidArgument, "the method must be text in UTF-8")
		return
	}
	s.dispatch(w, r, body)
}

// queryOptions are the options that a query may have, and how their values are written in JSON.
func queryOptions() map[string]func(string) (any, error) {
	text := func(value string) (any, error) { return value, nil }
	return map[string]func(string) (any, error){
		"namespace": text, "branch": text,
		"dry_run":    func(value string) (any, error) { return strconv.ParseBool(value) },
		"timeout_ms": func(value string) (any, error) { return strconv.ParseInt(value, 10, 64) },
	}
}

// optionsOf reads the options in a query. A misspelled one is refused, never ignored.
func optionsOf(query url.Values) (map[string]any, error) {
	known, options := queryOptions(), map[string]any{}
	for name, values := range query {
		read, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("there is no option %q: there are %s", tool.Clip(name, 60), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if len(values) != 1 {
			return nil, fmt.Errorf("the option %s is given %d times: give it once", name, len(values))
		}
		value, err := read(values[0])
		if err != nil {
			return nil, fmt.Errorf("the option %s cannot be %q", name, tool.Clip(values[0], 60))
		}
		options[name] = value
	}
	return options, nil
}

// body reads the body of a request once there is room for it. The caller releases it. False: it was refused.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	key := s.options.Client(r).Caller.Key
	body, err := s.options.Limits.Body(r, key)
	if err == nil {
		return body, true
	}
	code, message := memory.Exhausted, err.Error()
	switch connection.StatusOf(err) {
	case http.StatusRequestEntityTooLarge:
		longest := s.options.Limits.Longest(key)
		message = fmt.Sprintf("the body is longer than %d bytes (%.4g MiB), which is the limit: send less at once", longest, float64(longest)/(1<<20))
	case http.StatusBadRequest:
		code, message = memory.InvalidArgument, "the body could not be read"
	}
	refuse(w, connection.StatusOf(err), code, message)
	return nil, false
}

// dispatch runs an operation and writes its answer. An operation that fails is answered like one that does not.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, body []byte) {
	key := r.Header.Get(idempotencyKey)
	if len(key) > longestKey {
		refuse(w, http.StatusBadRequest, memory.InvalidArgument, fmt.Sprintf("the header %s has %d bytes: at most %d are allowed", idempotencyKey, len(key), longestKey))
		return
	}
	client := s.options.Client(r)
	a, err := s.options.Dispatcher.Dispatch(r.Context(), tool.Request{
		Tool: operation.Name, Arguments: body, Caller: client.Caller, RequestID: key, Admission: tool.Admitted, Detail: tool.Full,
		Session: tool.NewSession(tool.SessionOptions{Namespace: client.Namespace, Stateless: true, Listing: tool.ListAll}),
	})
	if err != nil {
		f := tool.FailureOf(err)
		refuse(w, statusOf(f.Code), f.Code, f.Message)
		return
	}
	s.write(r.Context(), w, a.Structured)
}

// statusOf returns the status of an error for which there is no answer.
func statusOf(code memory.Code) int {
	switch code {
	case memory.InvalidArgument:
		return http.StatusBadRequest
	case memory.Denied:
		return http.StatusForbidden
	case memory.Unavailable, memory.Exhausted:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// tools serves the list of all tools that the caller may use.
func (s *Server) tools(w http.ResponseWriter, r *http.Request) {
	list := []tool.Exported{}
	for _, t := range s.offered(r) {
		list = append(list, t.Export())
	}
	s.write(r.Context(), w, map[string]any{"tools": list})
}

// offered returns the tools that the caller may use, without the one that runs operations.
func (s *Server) offered(r *http.Request) []*tool.Tool {
	return slices.DeleteFunc(s.options.Dispatcher.Registry().Offered(s.options.Client(r).Caller.Rights), func(t *tool.Tool) bool { return t.Name == operation.Name })
}

// write writes an answer.
func (s *Server) write(ctx context.Context, w http.ResponseWriter, v any) {
	body, err := tool.Encode(v)
	if err != nil {
		s.options.Logger.ErrorContext(ctx, "an answer could not be encoded", "error", err)
		f := tool.FailureOf(err)
		refuse(w, http.StatusInternalServerError, f.Code, f.Message)
		return
	}
	connection.Header(w, len(body)+1)
	w.Write(append(body, '\n')) // a client that left needs no answer
}

// refuse writes an error for which there is no answer of an operation.
func refuse(w http.ResponseWriter, status int, code memory.Code, message string) {
	connection.RefuseRequest(w, status, tool.Failure{Code: code, Message: message, Retryable: status == http.StatusServiceUnavailable})
}
