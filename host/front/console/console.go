// Package console serves the web application that shows what agents know, to the operator and to holders of keys.
package console

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/front/attempts"
	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
)

const (
	// Path is where the application is; all else of the console is below it.
	Path = "/console/"
	api  = Path + "api/"

	longestLogin  = 4 << 10  // bytes of a ticket or key
	longestReport = 16 << 10 // bytes of a report of the browser
)

// LongestAct is the size limit of a request for an act in bytes, as on the operator's socket.
const LongestAct = 64 << 20

//go:embed all:dist
var dist embed.FS

const viewFiles = "views" // the folder of the views in the built application

// Views returns the pages that MCP clients show beside answers, each as NAME.html.
func Views() (fs.FS, error) {
	built, err := fs.Sub(dist, "dist/"+viewFiles)
	if err != nil {
		return nil, fmt.Errorf("open the views: %w", err)
	}
	return built, nil
}

// Options configures a Server. All but Files, TLS, CheckPeer, Kept and Keep are needed.
type Options struct {
	Version string // of the program
	Files   fs.FS  // the built application; nil: the one in this program
	TLS     bool   // browsers reach the server over HTTPS
	// Enter returns the id of the API key with a secret, or why it admits nobody.
	Enter func(secret string) (key string, err error)
	// As returns the context of a request by the holder of a key, which ends with the key, or by the owner of the data directory for an
	// empty key.
	As     func(ctx context.Context, key string) (admitted context.Context, stop func(), err error)
	Client func(*http.Request) connection.Client // who sent a request that As admitted
	// Operations are the handlers of operations by path, and Stream is that of streams.
	Operations map[string]http.Handler
	Stream     http.Handler
	Acts       *admin.Server // serves POST /NAME for operators' acts; the console sets what it permits
	State      func() State
	CheckPeer  func(*http.Request) error  // refuses requests of other users of this machine, as far as they are known; nil: listen.CheckPeer
	Refused    func(*http.Request, error) // records a login that was refused
	Reported   func(report string)        // is told of what the browser kept the application from doing
	Kept       []byte                     // sessions that an earlier server kept; nil: none
	Keep       func(sessions []byte)      // keeps them for the next server; nil: they end with this one
}

// State is what a server permits at the moment.
type State struct {
	ReadOnly bool // nobody writes
	Locked   bool // operators grant nothing
}

// Server serves the console. It may be used concurrently.
type Server struct {
	options  Options
	sessions *sessions
	tickets  *tickets
	failures *attempts.Failures
	files    *files
	reports  atomic.Int64 // of browsers
}

// New returns a server without sessions.
func New(o Options) (*Server, error) {
	if o.Files == nil {
		built, err := fs.Sub(dist, "dist")
		if err != nil {
			return nil, fmt.Errorf("open the console: %w", err)
		}
		o.Files = built
	}
	if o.CheckPeer == nil {
		o.CheckPeer = listen.CheckPeer
	}
	open, err := newSessions(o.Kept, o.Keep)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, sessions: open, tickets: newTickets(), failures: attempts.New(), files: newFiles(o.Files)}
	o.Acts.Permit, o.Acts.Refuse = s.permit, refuseAct
	return s, nil
}

// Doors are the console's routes.
func (s *Server) Doors() map[string]listen.Door {
	operations := http.StripPrefix(strings.TrimSuffix(api, "/"), s.operations())
	doors := map[string]listen.Door{
		Path:            {Handler: s.files, Body: 1},
		api:             {Handler: http.HandlerFunc(unknown), Body: 1},
		api + "session": {Handler: http.HandlerFunc(s.session), Body: longestLogin},
		api + "csp":     {Handler: http.HandlerFunc(s.report), Body: longestReport},
		api + "stream":  {Handler: s.options.Stream, Admit: s.admitStream, Lasting: true},
		api + "acts/":   {Handler: http.StripPrefix(api+"acts", http.HandlerFunc(s.act)), Admit: s.admitOperator, Body: LongestAct},
	}
	for _, path := range []string{"operation", "operation/"} {
		doors[api+path] = listen.Door{Handler: operations, Admit: s.admit}
	}
	for path, door := range doors {
		door.Handler = protected(door.Handler)
		doors[path] = door
	}
	return doors
}

// operations serves operations by the paths that they have for other clients.
func (s *Server) operations() http.Handler {
	mux := http.NewServeMux()
	for path, handler := range s.options.Operations {
		if strings.HasPrefix(path, "/operation") {
			mux.Handle(path, handler)
		}
	}
	return mux
}

// Ticket returns a ticket that begins one session of the operator.
func (s *Server) Ticket() string { return s.tickets.issue() }

// Close ends all sessions.
func (s *Server) Close() { s.sessions.close() }

func unknown(w http.ResponseWriter, r *http.Request) {
	listen.Refuse(w, refusal(http.StatusNotFound, memory.NotFound, "", "the console's server has nothing at "+clipped(r.URL.Path)))
}

func clipped(text string) string { return fmt.Sprintf("%.100q", text) }

// refusal is an error with the rule by which a request is refused.
func refusal(status int, code memory.Code, rule, message string) *listen.StatusError {
	return &listen.StatusError{Status: status, Code: string(code), Err: &memory.Error{Code: code, Rule: rule, Message: message}}
}
