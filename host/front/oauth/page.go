package oauth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/front/listen"
)

//go:embed page.html style.css
var files embed.FS

const (
	stepLogIn  = "login"
	stepDecide = "decide"
	wayConsole = "console"

	pageHolds  = 10 * time.Minute
	cookieName = "alcove_consent"
)

// page is what the template shows.
type page struct {
	Wrong  string // nothing else is shown
	Client struct{ Name, Host, Redirect string }
	Local  bool // the code goes to a program on the machine of the browser
	Who    string
	Name   string // of the memory
	Path   string // below which it has its pages
	Rights []pageRight

	Namespaces string
	Mine       string // namespaces that the person can give
	Problem    string
	Console    bool

	Step, Request, Holder, Until, Proof string
}

type pageRight struct {
	Name, Words string
	Chosen      bool
}

// cookie returns the name of the cookie that tells browsers apart. Over HTTPS no other host can set it.
func (s *Server) cookie() string {
	if s.secure {
		return "__Host-" + cookieName
	}
	return cookieName
}

// browserOf returns what a browser has in its cookie; empty: nothing.
func browserOf(s *Server, r *http.Request) string {
	c, err := r.Cookie(s.cookie())
	if err != nil {
		return ""
	}
	return c.Value
}

// browser gives a browser its cookie, unless it has one.
func (s *Server) browser(w http.ResponseWriter, r *http.Request) string {
	if there := browserOf(s, r); len(there) == 43 {
		return there
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	value := base64.RawURLEncoding.EncodeToString(secret)
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: value, Path: "/", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode})
	return value
}

// prove returns what shows that this server wrote a form, for one browser.
func (s *Server) prove(parts ...string) string {
	return base64.RawURLEncoding.EncodeToString(s.mac(append([]string{"form"}, parts...)...))
}

// mac authenticates texts by the secret of the server.
func (s *Server) mac(parts ...string) []byte {
	mac := hmac.New(sha256.New, s.options.Secret)
	for _, part := range parts {
		mac.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return mac.Sum(nil)
}

// provesForm reports whether a form is one that this server wrote for the browser that sends it, not too long ago.
func (s *Server) provesForm(r *http.Request) bool {
	f, browser := r.PostForm, browserOf(s, r)
	end, err := strconv.ParseInt(f.Get("until"), 10, 64)
	return browser != "" && err == nil && s.options.Clock().Unix() < end &&
		subtle.ConstantTimeCompare([]byte(f.Get("proof")), []byte(s.prove(browser, f.Get("step"), f.Get("request"), f.Get("holder"), f.Get("until")))) == 1
}

// form is the page of a step.
func (s *Server) form(browser, step string, q request, holder string) (p page) {
	p.Name, p.Path, p.Step, p.Request, p.Holder = s.name(), s.path, step, q.raw, holder
	p.Until = strconv.FormatInt(s.options.Clock().Add(pageHolds).Unix(), 10)
	p.Proof = s.prove(browser, step, q.raw, holder, p.Until)
	p.Client.Name, p.Client.Host = q.client.name, q.client.host()
	if u, err := url.Parse(q.redirect); err == nil {
		p.Client.Redirect, p.Local = u.Scheme+"://"+u.Host, u.Scheme != "https"
	}
	return p
}

// name is what persons know the memory by.
func (s *Server) name() string {
	if space, ok := strings.CutPrefix(s.path, listen.SpacesPath); ok {
		return "the space " + space + " of " + strings.TrimSuffix(s.options.Issuer, s.path)
	}
	return s.options.Issuer
}

// askWho shows the page on which a person says who they are.
func (s *Server) askWho(w http.ResponseWriter, browser string, q request, status int, problem string) {
	p := s.form(browser, stepLogIn, q, "")
	p.Problem, p.Console = problem, s.options.Session != nil
	s.show(w, status, p, q.redirect)
}

// askWhat shows the page on which a person decides what the client may do.
func (s *Server) askWhat(w http.ResponseWriter, browser string, q request, a asked, status int, problem string) {
	p := s.form(browser, stepDecide, q, a.holder)
	p.Problem, p.Who, p.Mine, p.Namespaces = problem, a.who.Agent, ofPerson(a.who), a.namespaces
	if !a.decided {
		p.Namespaces = p.Mine
	}
	for _, right := range offered(q.rights, a.who) {
		p.Rights = append(p.Rights, pageRight{string(right), inWords(right), !a.decided || slices.Contains(a.chosen, string(right))})
	}
	s.show(w, status, p, q.redirect)
}

// wrong shows why there is nothing to decide.
func (s *Server) wrong(w http.ResponseWriter, status int, why string) {
	s.show(w, status, page{Wrong: why, Name: s.name(), Path: s.path}, "")
}

// show writes a page, whose forms lead here and on to the redirect address.
func (s *Server) show(w http.ResponseWriter, status int, p page, redirect string) {
	var out bytes.Buffer
	if err := s.options.Common.pages.Execute(&out, p); err != nil {
		http.Error(w, "the page could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy(redirect))
	w.WriteHeader(status)
	w.Write(out.Bytes()) // the browser may be gone
}

// policy is what a browser lets the page do. Browsers check the address to which a form leads in the end, too.
func policy(redirect string) string {
	to := "'self'"
	if u, err := parseRedirect(redirect); err == nil {
		source := u.Scheme + ":"
		if u.Scheme == "http" || u.Scheme == "https" {
			source += "//" + u.Host
		}
		if !strings.ContainsAny(source, "; ,'\"*") {
			to += " " + source
		}
	}
	return "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action " + to + "; frame-ancestors 'none'"
}

// protected sets the headers that protect the pages in a browser.
func protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy(""))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with none, browsers would not say whose the form is
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func style(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	http.ServeFileFS(w, r, files, "style.css")
}
