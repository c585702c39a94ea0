// Package oauth is the authorization server of a memory: a person allows a client to act for them, and the client gets tokens of a key.
//
// A journey, as the MCP authorization specification has it: the client finds the metadata (metadata.go), sends the browser to the
// authorization endpoint, whose page asks the person who they are and what the client may do (authorize.go, page.go), and exchanges the code
// that comes back for tokens (token.go). Clients are known by the document at their id, or by what they registered with (client.go).
//
// The server keeps nothing about a request for authorization until a person has decided about it: the page has the request, and each step
// reads and checks it again.
package oauth

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/front/attempts"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// Paths of the endpoints, below the issuer.
const (
	authorizePath  = "/authorize"
	consentPath    = "/console/authorize" // below the console, whose cookie comes with it
	stylePath      = "/authorize/style.css"
	tokenPath      = "/token"
	revokePath     = "/revoke"
	registerPath   = "/register"
	metadataPath   = "/.well-known/oauth-authorization-server"
	longestQuery   = 8 << 10  // bytes of a request for authorization
	longestRequest = 16 << 10 // bytes of a request for tokens or registration
)

// Common is what the authorization servers of a process have in common. It may be used concurrently.
type Common struct {
	pages     *template.Template
	documents *documents
	failures  *attempts.Failures
}

// NewCommon returns what has read no documents yet. fetch reads those of clients, which anybody may name.
func NewCommon(fetch *http.Client, clock func() time.Time) (*Common, error) {
	pages, err := template.ParseFS(files, "page.html")
	if err != nil {
		return nil, fmt.Errorf("read the page of consent: %w", err)
	}
	return &Common{pages, newDocuments(fetch, clock), attempts.New()}, nil
}

// LongestBody is the size limit of what is sent to a server in bytes: of a form, which has the request for authorization.
const LongestBody = 32 << 10

// Options configures a Server. All but Register and Session are needed.
type Options struct {
	Common   *Common
	Issuer   string // the URL of the memory for its clients, such as https://memory.example.org, or https://memory.example.org/s/work for a space
	Register bool   // whether clients may register
	Secret   []byte // of the memory, by which the server knows what it gave out; it stays the same
	Codes    *Codes
	Keys     Keys
	// Enter returns the id of the API key with a secret, or that an invitation with a code became, or why it admits nobody.
	Enter func(secret string) (key string, err error)
	// Holder returns who the holder of a key is, or the owner of the data directory for an empty key.
	Holder func(key string) (memory.Caller, error)
	// Session returns whose session of the console a request has: the id of the key, or empty for the operator. Nil: there is no console.
	Session func(*http.Request) (key string, err error)
	Refused func(*http.Request, error) // records a login or token that was refused
	Clock   func() time.Time
}

// Keys keeps what persons allow clients.
type Keys interface {
	MayAuthorize(memory.Caller, keys.Client, keys.Grant) error
	Authorize(memory.Caller, keys.Client, keys.Grant) (keys.Key, keys.Tokens, error)
	Refresh(token, client, resource string) (keys.Key, keys.Tokens, error)
	RevokeToken(token, client string) error
	RevokeAuthorization(id string) error
}

// Server is the authorization server of a memory. It may be used concurrently.
type Server struct {
	options Options
	secure  bool   // browsers reach it over HTTPS
	path    string // of the issuer; empty: it has none
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{options: o, secure: strings.HasPrefix(o.Issuer, "https:")}
	if u, err := url.Parse(o.Issuer); err == nil {
		s.path = u.Path
	}
	return s
}

// Doors are the server's routes below the path of the issuer. They serve everybody.
func (s *Server) Doors() map[string]listen.Door {
	doors := map[string]listen.Door{
		metadataPath:  {Handler: http.HandlerFunc(s.describe), Body: 1},
		authorizePath: {Handler: protected(http.HandlerFunc(s.ask)), Body: 1},
		consentPath:   {Handler: protected(http.HandlerFunc(s.step)), Body: LongestBody},
		stylePath:     {Handler: protected(http.HandlerFunc(style)), Body: 1},
		tokenPath:     {Handler: http.HandlerFunc(s.token), Body: longestRequest},
		revokePath:    {Handler: http.HandlerFunc(s.revoke), Body: longestRequest},
	}
	// Those of a space have the metadata where the whole server has its own (RFC 8414).
	if s.path == "" {
		doors[metadataPath+listen.SpacesPath+"{space}"] = doors[metadataPath]
	}
	if s.options.Register {
		doors[registerPath] = listen.Door{Handler: http.HandlerFunc(s.register), Body: longestRequest}
	}
	return doors
}

// IsPath reports whether a path below the issuer is one of an authorization server.
func IsPath(path string) bool {
	return slices.Contains([]string{authorizePath, consentPath, stylePath, tokenPath, revokePath, registerPath}, path)
}

// Shows reports whether a request to one of the paths has something that the memory gave out: a form that was signed after a login, a
// key, a code or a token. has tells it of tokens of a client. Whether it still holds is not said.
func (s *Server) Shows(r *http.Request, has func(token, client string) bool) bool {
	if r.Method != http.MethodPost || r.ParseForm() != nil {
		return false
	}
	switch f := r.PostForm; r.URL.Path {
	case consentPath:
		if !s.provesForm(r) {
			return false
		}
		_, err := s.enter(r)
		return f.Get("step") == stepDecide || err == nil
	case tokenPath:
		return s.isCode(f.Get("code")) || has(f.Get("refresh_token"), f.Get("client_id"))
	case revokePath:
		return has(f.Get("token"), f.Get("client_id"))
	}
	return false
}

// ServeHTTP serves a request that reached the server by another way than its doors.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	door, ok := s.Doors()[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	door.Handler.ServeHTTP(w, r)
}
