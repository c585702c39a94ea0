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
	"crypto/rand"
	"fmt"
	"html/template"
	"net/http"
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
	longestForm    = 32 << 10 // bytes of a form, which has the request
	longestRequest = 16 << 10 // bytes of a request for tokens or registration
)

// Options configures a Server. All but Register, Session and Clock are needed.
type Options struct {
	Issuer   string // the URL by which clients reach the server, without a path, such as https://memory.example.org
	Register bool   // whether clients may register
	Secret   []byte // by which registrations are known; it stays the same
	Keys     Keys
	// Enter returns the id of the API key with a secret, or that an invitation with a code became, or why it admits nobody.
	Enter func(secret string) (key string, err error)
	// Holder returns who the holder of a key is, or the owner of the data directory for an empty key.
	Holder func(key string) (memory.Caller, error)
	// Session returns whose session of the console a request has: the id of the key, or empty for the operator. Nil: there is no console.
	Session func(*http.Request) (key string, err error)
	Fetch   *http.Client               // reads the documents of clients, which anybody may name
	Refused func(*http.Request, error) // records a login or token that was refused
	Clock   func() time.Time           // nil: time.Now
}

// Keys keeps what persons allow clients.
type Keys interface {
	MayAuthorize(memory.Caller, keys.Client, keys.Grant) error
	Authorize(memory.Caller, keys.Client, keys.Grant) (keys.Key, keys.Tokens, error)
	Refresh(token, client, resource string) (keys.Key, keys.Tokens, error)
	RevokeToken(token, client string) error
	RevokeAuthorization(id string) error
}

// Server is an authorization server. It may be used concurrently.
type Server struct {
	options  Options
	secure   bool   // browsers reach it over HTTPS
	proofs   []byte // signs what pages have until they are sent back
	pages    *template.Template
	clients  *documents
	codes    *codes
	failures *attempts.Failures
}

// New returns a server without codes.
func New(o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	pages, err := template.ParseFS(files, "page.html")
	if err != nil {
		return nil, fmt.Errorf("read the page of consent: %w", err)
	}
	s := &Server{options: o, secure: strings.HasPrefix(o.Issuer, "https:"), proofs: make([]byte, 32), pages: pages,
		clients: newDocuments(o.Fetch, o.Clock), codes: newCodes(o.Clock), failures: attempts.New()}
	rand.Read(s.proofs)
	return s, nil
}

// Doors are the server's routes. They serve everybody.
func (s *Server) Doors() map[string]listen.Door {
	doors := map[string]listen.Door{
		metadataPath:  {Handler: http.HandlerFunc(s.describe), Body: 1},
		authorizePath: {Handler: protected(http.HandlerFunc(s.ask)), Body: 1},
		consentPath:   {Handler: protected(http.HandlerFunc(s.step)), Body: longestForm},
		stylePath:     {Handler: protected(http.HandlerFunc(style)), Body: 1},
		tokenPath:     {Handler: http.HandlerFunc(s.token), Body: longestRequest},
		revokePath:    {Handler: http.HandlerFunc(s.revoke), Body: longestRequest},
	}
	if s.options.Register {
		doors[registerPath] = listen.Door{Handler: http.HandlerFunc(s.register), Body: longestRequest}
	}
	return doors
}
