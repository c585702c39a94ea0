// Package join gives people the keys that they were invited to.
package join

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/alcove-memory/alcove/host/front/attempts"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

const (
	path    = "/join"
	longest = 4 << 10 // bytes of a request
)

// Options configures a Server. All are needed.
type Options struct {
	Join    func(code, device string) (keys.Key, string, error)
	Refused func(*http.Request, error) // records a code that was refused
}

// Server accepts codes of invitations. It may be used concurrently.
type Server struct {
	Options
	failures *attempts.Failures
}

// New returns a server.
func New(o Options) *Server { return &Server{o, attempts.New()} }

// Doors are the server's routes. They serve everybody.
func (s *Server) Doors() map[string]listen.Door {
	return map[string]listen.Door{path: {Handler: s, Body: longest}}
}

// joined is the key of a person, as the program on their device gets it.
type joined struct {
	Key        string         `json:"key"`
	ID         string         `json:"id"`
	Agent      string         `json:"agent"`
	Device     string         `json:"device,omitempty"`
	Namespaces []string       `json:"namespaces"`
	Rights     []memory.Right `json:"rights"`
	Expires    time.Time      `json:"expires,omitzero"`
}

// ServeHTTP accepts a code.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Code   string `json:"code"`
		Device string `json:"device"`
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Method != http.MethodPost || kind != "application/json" || json.NewDecoder(r.Body).Decode(&asked) != nil {
		listen.Refuse(w, &listen.StatusError{Status: http.StatusBadRequest, Code: string(memory.InvalidArgument), Err: errors.New(`send {"code":"…","device":"…"} with POST, as application/json`)})
		return
	}
	key, secret, err := s.Join(asked.Code, asked.Device)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(joined{secret, key.ID, key.Agent, key.Device, key.Namespaces, key.Rights, key.Expires}) // the client may be gone
}

// refuse answers a code that was refused, and accounts for it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.Refused(r, err)
	e := &listen.StatusError{Status: http.StatusUnprocessableEntity, Code: string(memory.Internal), Err: errors.New("the server could not do this: its log says why")}
	var known *memory.Error
	if errors.As(err, &known) {
		e.Code, e.Err = string(known.Code), err
	}
	if known != nil && known.Code == memory.Denied {
		e.Status = http.StatusUnauthorized
		if s.failures.Add(r) {
			w.Header().Set("Retry-After", "60")
			e.Status, e.Code, e.Err = http.StatusTooManyRequests, string(memory.Exhausted), errors.New("too many codes were wrong: try again in a minute")
		}
	}
	listen.Refuse(w, e)
}
