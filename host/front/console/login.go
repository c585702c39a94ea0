package console

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	cookieName  = "alcove_console"
	tokenHeader = "Alcove-Console"
	tokenQuery  = "csrf" // of the address of a stream, whose header a browser does not let an application set
)

// login is what a browser logs in with: a ticket of the operator, or an API key.
type login struct {
	Ticket string `json:"ticket"`
	Key    string `json:"key"`
}

// who tells the application whose session it is in.
type who struct {
	Operator  bool   `json:"operator"`
	Agent     string `json:"agent"`
	Namespace string `json:"namespace"`
	ReadOnly  bool   `json:"read_only"`
	Locked    bool   `json:"locked"`
	Version   string `json:"version"`
	CSRF      string `json:"csrf"`
	Rights    rights `json:"rights"`
}

// rights are what a session permits. "*" stands for all namespaces.
type rights struct {
	Read    []string       `json:"read"`
	Write   []string       `json:"write"`
	Further []memory.Right `json:"further"` // beside reading and writing; null: all
}

func rightsOf(r memory.Rights) rights {
	out := rights{Read: []string{memory.AllNamespaces}, Write: []string{memory.AllNamespaces}}
	if names, all := r.Readable(); !all {
		out.Read = append([]string{}, names...)
	}
	if names, all := r.Writable(); !all {
		out.Write = append([]string{}, names...)
	}
	if list, all := r.Further(); !all {
		out.Further = append([]memory.Right{}, list...)
	}
	return out
}

// session begins, describes and ends the session of a browser.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	if err := sameOrigin(r); err != nil {
		s.refuse(w, r, err)
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.logIn(w, r)
	case http.MethodGet:
		s.describe(w, r)
	case http.MethodDelete:
		s.logOut(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		listen.Refuse(w, refusal(http.StatusMethodNotAllowed, memory.InvalidArgument, "", "send GET, POST or DELETE to the session"))
	}
}

func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	key, err := s.enter(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if _, before := s.sessionOf(r); before != nil {
		s.sessions.drop(before, over("its browser logged in anew"))
	}
	secret := s.sessions.begin(key)
	http.SetCookie(w, s.cookie(secret, 0))
	s.writeSession(w, r, secret, key)
}

// enter returns the id of the key that a browser logs in with; empty: it has a ticket of the operator.
func (s *Server) enter(r *http.Request) (key string, err error) {
	var l login
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return "", refusal(http.StatusUnsupportedMediaType, memory.InvalidArgument, "", "log in with a JSON object: Content-Type must be application/json")
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &l)
	}
	switch {
	case err != nil, (l.Ticket == "") == (l.Key == ""):
		return "", refusal(http.StatusBadRequest, memory.InvalidArgument, "", `log in with {"ticket":"…"} or {"key":"…"}`)
	case l.Ticket != "" && s.options.CheckPeer(r) != nil:
		err = anotherUser()
	case l.Ticket != "" && !s.tickets.use(l.Ticket):
		err = refusal(http.StatusUnauthorized, memory.Denied, "unknown ticket of the console",
			"the ticket is not known here: each opens the console once, within 60 seconds: run alcove console again")
	case l.Key != "":
		if key, err = s.options.Enter(l.Key); err == nil && key == "" {
			err = errors.New("the key has no id") // or its holder would be the operator
		}
	}
	if err != nil && s.failures.Add(r) {
		return "", refusal(http.StatusTooManyRequests, memory.Exhausted, "failed logins to the console", "too many logins failed: try again in a minute")
	}
	return key, err
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	secret, found := s.sessionOf(r)
	if found == nil {
		listen.Refuse(w, noSession())
		return
	}
	if found.operator() && s.options.CheckPeer(r) != nil {
		s.refuse(w, r, anotherUser())
		return
	}
	s.writeSession(w, r, secret, found.key)
}

// writeSession answers whose session it is.
func (s *Server) writeSession(w http.ResponseWriter, r *http.Request, secret, key string) {
	ctx, stop, err := s.options.As(r.Context(), key)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer stop()
	client, state := s.options.Client(r.WithContext(ctx)), s.options.State()
	client.Namespace = cmp.Or(client.Namespace, memory.Default)
	body, err := tool.Encode(who{
		Operator: key == "", Agent: client.Caller.Agent, Namespace: client.Namespace, ReadOnly: state.ReadOnly, Locked: state.Locked,
		Version: s.options.Version, CSRF: tokenOf(secret), Rights: rightsOf(client.Caller.Rights),
	})
	if err != nil {
		s.refuse(w, r, fmt.Errorf("describe the session: %w", err))
		return
	}
	connection.Header(w, len(body))
	w.Write(body) // a browser that left needs no answer
}

func (s *Server) logOut(w http.ResponseWriter, r *http.Request) {
	if _, found := s.sessionOf(r); found != nil {
		s.sessions.drop(found, over("it was ended"))
	}
	http.SetCookie(w, s.cookie("", -1))
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) cookie(secret string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: secret, Path: Path, MaxAge: age, HttpOnly: true, Secure: s.options.TLS, SameSite: http.SameSiteStrictMode}
}

// sessionOf returns the session of a request, with its secret; nil: it has none.
func (s *Server) sessionOf(r *http.Request) (secret string, found *session) {
	cookie, err := r.Cookie(cookieName)
	if err != nil || cookie.Value == "" {
		return "", nil
	}
	return cookie.Value, s.sessions.find(cookie.Value)
}

// Session returns whose session a form of the server's own pages has: the id of the key, or empty for the operator.
func (s *Server) Session(r *http.Request) (key string, err error) {
	if err := sameOrigin(r); err != nil {
		return "", err
	}
	_, found := s.sessionOf(r)
	switch {
	case found == nil:
		return "", noSession()
	case found.operator() && s.options.CheckPeer(r) != nil:
		return "", anotherUser()
	}
	return found.key, nil
}

func noSession() *listen.StatusError {
	return refusal(http.StatusUnauthorized, memory.Denied, "no session of the console", "log in first: run alcove console, or use an API key")
}

// anotherUser refuses what another user of this machine sends: addresses in the list of processes, and cookies, which know no ports, may
// come into their hands.
func anotherUser() *listen.StatusError {
	return refusal(http.StatusForbidden, memory.Denied, "another user's use of the operator's console",
		"the console of the operator is for browsers of the user who runs the server: use an API key")
}

// refuse answers a request that was refused, and accounts for it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.options.Refused(r, err)
	var own *listen.StatusError
	if !errors.As(err, &own) {
		own = &listen.StatusError{Status: http.StatusUnauthorized, Code: string(memory.Denied), Err: err}
	}
	if own.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "60")
	}
	listen.Refuse(w, own)
}

// sameOrigin refuses requests that another page made the browser send. Pages at other ports of this machine are of the same site, so that
// their requests have the cookie.
func sameOrigin(r *http.Request) error {
	site := r.Header.Get("Sec-Fetch-Site")
	own := site == "" || site == "same-origin"
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		own = own && err == nil && from.Host == r.Host
	}
	if own {
		return nil
	}
	return refusal(http.StatusForbidden, memory.Denied, "another page's request to the console", "only the console's own page may send this")
}

// admit returns the context of a request of a session, whose application sends the session's token.
func (s *Server) admit(r *http.Request) (context.Context, func(), error) {
	return s.admitWith(r, r.Header.Get(tokenHeader))
}

// admitStream is admit for a WebSocket.
func (s *Server) admitStream(r *http.Request) (context.Context, func(), error) {
	return s.admitWith(r, r.URL.Query().Get(tokenQuery))
}

func (s *Server) admitWith(r *http.Request, token string) (context.Context, func(), error) {
	if err := sameOrigin(r); err != nil {
		return nil, nil, err
	}
	secret, found := s.sessionOf(r)
	if found == nil {
		return nil, nil, noSession()
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(tokenOf(secret))) != 1 {
		return nil, nil, refusal(http.StatusForbidden, memory.Denied, "no token of the console's session",
			"the request lacks the session's token: send the header "+tokenHeader+" with the csrf of the session")
	}
	if found.operator() && s.options.CheckPeer(r) != nil {
		return nil, nil, anotherUser()
	}
	ctx, release, err := s.options.As(r.Context(), found.key)
	if err != nil {
		s.sessions.drop(found, err)
		return nil, nil, &listen.StatusError{Status: http.StatusUnauthorized, Code: string(memory.Denied), Err: err}
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, sessionKey{}, found))
	unlink := context.AfterFunc(found.ended, func() { cancel(context.Cause(found.ended)) })
	return ctx, func() { unlink(); cancel(nil); release() }, nil
}

// sessionKey is the context key of the *session of an admitted request.
type sessionKey struct{}

// admitOperator is admit for the operator's sessions alone.
func (s *Server) admitOperator(r *http.Request) (context.Context, func(), error) {
	ctx, stop, err := s.admit(r)
	if err != nil {
		return nil, nil, err
	}
	if found := ctx.Value(sessionKey{}).(*session); !found.operator() {
		stop()
		return nil, nil, refusal(http.StatusForbidden, memory.Denied, "an operator's act in the session of a key",
			"only the operator may do this: open the console with alcove console")
	}
	return ctx, stop, nil
}
