package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

const (
	longestState = 2 << 10 // bytes
	pkceForm     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

// request is a request for authorization.
type request struct {
	raw       string // as the client wrote it
	client    client
	redirect  string
	state     string
	challenge string
	resource  string
	rights    []memory.Right
}

// read reads a request for authorization. Nobody is redirected for what is wrong with it: whoever writes such a request could send people
// anywhere with it.
func (s *Server) read(ctx context.Context, raw string) (q request, err error) {
	if len(raw) > longestQuery {
		return q, fmt.Errorf("the request has %d bytes: %d is the limit", len(raw), longestQuery)
	}
	v, err := url.ParseQuery(raw)
	if err != nil {
		return q, errors.New("the request is not a URL query")
	}
	if name := repeated(v); name != "" {
		return q, fmt.Errorf("the request has %.40q more than once", name)
	}
	if q.client, err = s.client(ctx, v.Get("client_id")); err != nil {
		return q, err
	}
	q.raw, q.state, q.challenge = raw, v.Get("state"), v.Get("code_challenge")
	if q.redirect, err = q.client.redirectIn(v); err != nil {
		return q, err
	}
	if q.resource, err = s.resourceIn(v); err != nil {
		return q, err
	}
	q.rights = wanted(v.Get("scope"))
	switch {
	case v.Get("response_type") != "code":
		return q, errors.New("response_type must be code")
	case v.Get("code_challenge_method") != "S256":
		return q, errors.New("code_challenge_method must be S256: clients must use PKCE")
	case len(q.challenge) != verifierLeft || strings.Trim(q.challenge, pkceForm) != "":
		return q, errors.New("code_challenge is not a PKCE challenge with S256")
	case len(q.state) > longestState:
		return q, fmt.Errorf("state has %d bytes: %d is the limit", len(q.state), longestState)
	case v.Has("request") || v.Has("request_uri"):
		return q, errors.New("signed request objects are not supported")
	case len(q.rights) == 0:
		return q, errors.New("scope has no known value: " + strings.Join(Scopes(), " "))
	}
	return q, nil
}

// redirectIn returns the redirect address of a request. One that names none has the only one of its client.
func (c client) redirectIn(v url.Values) (string, error) {
	if !v.Has("redirect_uri") && len(c.redirects) == 1 {
		return c.redirects[0], nil
	}
	address := v.Get("redirect_uri")
	if !c.redirectsTo(address) {
		return "", fmt.Errorf("the redirect address %.200q is not among those that the client names", address)
	}
	return address, nil
}

// resourceIn returns the resource of a request (RFC 8707): the server, or one of its paths.
func (s *Server) resourceIn(v url.Values) (string, error) {
	resource := v.Get("resource")
	switch at := s.options.Issuer; {
	case resource == "":
		return at + "/mcp", nil
	case len(resource) > longestURL || strings.ContainsAny(resource, "?#%\\ ") || hasDots(resource):
	case resource == at, resource == at+"/":
		return at, nil
	case strings.HasPrefix(resource, at+"/") && !strings.HasPrefix(resource, at+listen.SpacesPath):
		return strings.TrimSuffix(resource, "/"), nil
	}
	return "", fmt.Errorf("the resource %.200q is not of this server: it is %s/mcp", resource, s.options.Issuer)
}

// answer is the address to which the browser goes with the answer. It names the issuer, so that a client with several servers is not
// mixed up (RFC 9207).
func (s *Server) answer(q request, parameters url.Values) string {
	u, err := url.Parse(q.redirect)
	if err != nil {
		return ""
	}
	v := u.Query()
	for name, list := range parameters {
		v[name] = list
	}
	if q.state != "" {
		v.Set("state", q.state)
	}
	v.Set("iss", s.options.Issuer)
	u.RawQuery = v.Encode()
	return u.String()
}

// ask serves the authorization endpoint: the page on which a person says who they are.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		s.wrong(w, http.StatusMethodNotAllowed, "Requests for authorization are sent with GET.")
		return
	}
	q, err := s.read(r.Context(), r.URL.RawQuery)
	if err != nil {
		s.wrong(w, http.StatusBadRequest, err.Error())
		return
	}
	s.askWho(w, s.browser(w, r), q, http.StatusOK, "")
}

// step serves what the page sends: who a person is, and then what they decided.
func (s *Server) step(w http.ResponseWriter, r *http.Request) {
	if err := fromHere(r); err != nil {
		s.options.Refused(r, err)
		s.wrong(w, http.StatusForbidden, err.Error())
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.wrong(w, http.StatusMethodNotAllowed, "Begin in the application that asks for access.")
		return
	}
	if err := r.ParseForm(); err != nil {
		s.wrong(w, http.StatusBadRequest, "The form could not be read.")
		return
	}
	f := r.PostForm
	browser := browserOf(s, r)
	holder, decided := f.Get("holder"), f.Get("step") == stepDecide
	if !s.provesForm(r) {
		err := &memory.Error{Code: memory.Denied, Rule: "a form of consent that the page did not write", Message: "This page is too old, or another page sent the form: begin again in the application."}
		s.options.Refused(r, err)
		s.wrong(w, http.StatusForbidden, err.Message)
		return
	}
	q, err := s.read(r.Context(), f.Get("request"))
	switch {
	case err != nil:
		s.wrong(w, http.StatusBadRequest, err.Error())
	case decided:
		s.decide(w, r, q, holder, browser)
	default:
		s.logIn(w, r, q, browser)
	}
}

// fromHere refuses what other pages send.
func fromHere(r *http.Request) error {
	site := r.Header.Get("Sec-Fetch-Site")
	own := site == "" || site == "same-origin"
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		own = own && err == nil && from.Host == r.Host
	}
	if own {
		return nil
	}
	return &memory.Error{Code: memory.Denied, Rule: "another page's form of consent", Message: "Only the server's own page may send this."}
}

// logIn shows a person what the client wants, if they are who they say.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request, q request, browser string) {
	holder, err := s.enter(r)
	var who memory.Caller
	if err == nil {
		who, err = s.options.Holder(holder)
	}
	if err != nil {
		s.options.Refused(r, err)
		status := http.StatusUnauthorized
		if s.options.Common.failures.Add(r) {
			status = http.StatusTooManyRequests
			w.Header().Set("Retry-After", "60")
			err = errors.New("too many logins failed: try again in a minute")
		}
		s.askWho(w, browser, q, status, err.Error())
		return
	}
	s.askWhat(w, browser, q, asked{holder: holder, who: who}, http.StatusOK, "")
}

// enter returns the id of the key that a person logs in with; empty: they are the operator.
func (s *Server) enter(r *http.Request) (string, error) {
	if r.PostForm.Get("way") == wayConsole {
		if s.options.Session == nil {
			return "", errors.New("the console is not served here: log in with an API key")
		}
		return s.options.Session(r)
	}
	id, err := s.options.Enter(strings.TrimSpace(r.PostForm.Get("key")))
	if err == nil && id == "" {
		err = errors.New("the key has no id") // or its holder would be the operator
	}
	return id, err
}

// decide carries out what a person decided, and sends the browser back to the client.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, q request, holder, browser string) {
	if r.PostForm.Get("decision") != "allow" {
		http.Redirect(w, r, s.answer(q, url.Values{"error": {accessDenied}, "error_description": {"the person did not allow it"}}), http.StatusSeeOther)
		return
	}
	who, err := s.options.Holder(holder)
	if err != nil {
		s.wrong(w, http.StatusForbidden, err.Error())
		return
	}
	a := asked{holder: holder, who: who, namespaces: r.PostForm.Get("namespaces"), chosen: r.PostForm["right"], decided: true}
	d := decision{Holder: holder, Client: keys.Client{ID: q.client.id, Name: q.client.name, Resource: q.resource}, Redirect: q.redirect, Challenge: q.challenge,
		Grant: keys.Grant{Agent: q.client.name, Namespaces: a.namespaceList(), Rights: a.granted(q)}}
	if err := s.options.Keys.MayAuthorize(who, d.Client, d.Grant); err != nil {
		s.askWhat(w, browser, q, a, http.StatusUnprocessableEntity, err.Error())
		return
	}
	code := s.newCode()
	switch err := s.options.Codes.issue(digestOf(code), d); {
	case errors.Is(err, errTooMany):
		s.wrong(w, http.StatusServiceUnavailable, fmt.Sprintf("%d decisions of the last minutes wait for their applications, which is the limit: try again in ten minutes.", mostCodes))
		return
	case err != nil:
		s.wrong(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	http.Redirect(w, r, s.answer(q, url.Values{"code": {code}}), http.StatusSeeOther)
}

// asked is a person who was asked what a client may do.
type asked struct {
	holder     string // id of the key; empty: the operator
	who        memory.Caller
	namespaces string   // as the person wrote them
	chosen     []string // rights
	decided    bool     // the last two are the person's
}

// granted returns the rights that a person chose, among those that the client asked for and the person has.
func (a asked) granted(q request) []memory.Right {
	return slices.DeleteFunc(offered(q.rights, a.who), func(right memory.Right) bool { return !slices.Contains(a.chosen, string(right)) })
}

func (a asked) namespaceList() []string {
	return strings.FieldsFunc(a.namespaces, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

// ofPerson returns the namespaces that a person can give: those of their key.
func ofPerson(who memory.Caller) string {
	names, all := who.Rights.Ceiling().Readable()
	if all {
		return memory.AllNamespaces
	}
	return strings.Join(names, ", ")
}
