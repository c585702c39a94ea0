package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/weburl"
)

const (
	longestID     = 2048 // bytes of a client's id
	mostRedirects = 20   // addresses of a client
	longestURL    = 2048 // bytes of an address
	longestName   = 100  // bytes of a client's name; what is longer is cut

	registeredPrefix = "alcove-client."
)

// client is a client as its document or registration describes it.
type client struct {
	id        string
	name      string
	redirects []string
}

// host returns where the client's description comes from, which its name cannot pretend; empty: the client wrote it itself.
func (c client) host() string {
	if u, err := url.Parse(c.id); err == nil {
		return u.Host
	}
	return ""
}

// described are the members of a client's description that are looked at: those of RFC 7591.
type described struct {
	ID             string   `json:"client_id"`
	Name           string   `json:"client_name"`
	Redirects      []string `json:"redirect_uris"`
	Authentication string   `json:"token_endpoint_auth_method"`
	GrantTypes     []string `json:"grant_types"`
}

// client returns the client with an id.
func (s *Server) client(ctx context.Context, id string) (client, error) {
	switch {
	case id == "" || len(id) > longestID:
		return client{}, fmt.Errorf("client_id has %d bytes: it has 1 to %d", len(id), longestID)
	case strings.HasPrefix(id, registeredPrefix):
		return s.registered(id)
	}
	return s.options.Common.documents.client(ctx, id)
}

// of returns the client that a description is of.
func (d described) of(id string) (client, error) {
	if len(d.Redirects) == 0 || len(d.Redirects) > mostRedirects {
		return client{}, fmt.Errorf("redirect_uris has %d addresses: it has 1 to %d", len(d.Redirects), mostRedirects)
	}
	for _, each := range d.Redirects {
		if err := checkRedirect(each); err != nil {
			return client{}, err
		}
	}
	c := client{id: id, redirects: d.Redirects, name: nameOf(d.Name)}
	if c.name == "" {
		c.name = c.host()
	}
	return c, nil
}

// nameOf returns a name that shows nothing but what it is.
func nameOf(name string) string {
	name = strings.Map(func(r rune) rune {
		if !isPrintable(r) {
			return -1
		}
		return r
	}, name)
	for len(name) > longestName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return strings.TrimSpace(name)
}

// checkRedirect returns why a code cannot be sent to an address.
func checkRedirect(address string) error {
	u, err := parseRedirect(address)
	if err != nil {
		return err
	}
	switch u.Scheme {
	case "https":
		return nil
	case "http":
		if !weburl.IsHere(u.Hostname()) {
			return fmt.Errorf("the redirect address %.100q is http: that is for this machine only, as in http://127.0.0.1/callback", address)
		}
		return nil
	case "javascript", "data", "vbscript", "file", "blob", "about", "filesystem", "view-source", "ws", "wss", "ftp":
		return fmt.Errorf("the redirect address %.100q has the scheme %s, which opens no program", address, u.Scheme)
	}
	return nil // of a program
}

// parseRedirect reads a redirect address. All of it is as its client wrote it, and as a browser understands it.
func parseRedirect(address string) (*url.URL, error) {
	bad := func(why string) error { return fmt.Errorf("the redirect address %.100q %s", address, why) }
	if len(address) > longestURL {
		return nil, bad(fmt.Sprintf("is longer than %d bytes", longestURL))
	}
	for _, r := range address {
		if r <= ' ' || r > '~' || strings.ContainsRune(`\"<>^{|}`+"`", r) {
			return nil, bad("has characters that no address has")
		}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme == "", u.Opaque != "", u.Host == "" && u.Scheme != "" && (u.Scheme == "http" || u.Scheme == "https"):
		return nil, bad("is not absolute: write it in full, as in https://client.example.org/callback")
	case u.User != nil:
		return nil, bad("has a user's name")
	case strings.Contains(address, "#"):
		return nil, bad("has a fragment")
	}
	return u, nil
}

// redirectFor returns whether a client may have a code sent to an address: one that it registered, to the letter. On the machine of
// the browser the port may be any (RFC 8252), because programs get one from the system.
func (c client) redirectsTo(address string) bool {
	for _, registered := range c.redirects {
		if address == registered || samePortless(address, registered) {
			return true
		}
	}
	return false
}

func samePortless(address, registered string) bool {
	a, err := parseRedirect(address)
	b, other := parseRedirect(registered)
	if err != nil || other != nil || a.Scheme != "http" || b.Scheme != "http" || !weburl.IsHere(b.Hostname()) {
		return false
	}
	a.Host, b.Host = withoutPort(a), withoutPort(b)
	return a.String() == b.String()
}

func withoutPort(u *url.URL) string {
	return strings.TrimSuffix(u.Host, ":"+u.Port())
}

// registration is what the id of a registered client says. The server keeps no list of those: whoever registers gets an id that only this
// server can have made.
type registration struct {
	Name      string   `json:"n"`
	Redirects []string `json:"r"`
}

// register serves the registration of clients (RFC 7591).
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	const invalid = "invalid_client_metadata"
	var d described
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, invalidRequest, "send the client's metadata with POST")
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		fail(w, http.StatusBadRequest, invalid, "send the client's metadata as a JSON object")
		return
	}
	c, err := d.of("")
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_redirect_uri", err.Error())
		return
	}
	id, err := s.idOf(registration{c.name, c.redirects})
	if err != nil {
		fail(w, http.StatusBadRequest, invalid, err.Error())
		return
	}
	reply(w, http.StatusCreated, struct {
		ID             string   `json:"client_id"`
		Issued         int64    `json:"client_id_issued_at"`
		Name           string   `json:"client_name,omitempty"`
		Redirects      []string `json:"redirect_uris"`
		Authentication string   `json:"token_endpoint_auth_method"`
		GrantTypes     []string `json:"grant_types"`
		ResponseTypes  []string `json:"response_types"`
	}{id, s.options.Clock().Unix(), c.name, c.redirects, "none", grantTypes(), []string{"code"}})
}

// idOf returns the id of a client that registered.
func (s *Server) idOf(r registration) (string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	id := registeredPrefix + encode(text) + "." + encode(s.mark(text))
	if len(id) > longestID {
		return "", fmt.Errorf("the name and the redirect addresses are too long: the id that has them has %d bytes, and %d is the limit", len(id), longestID)
	}
	return id, nil
}

func (s *Server) mark(text []byte) []byte {
	mac := hmac.New(sha256.New, s.options.Secret)
	mac.Write([]byte("alcove oauth client\x00"))
	mac.Write(text)
	return mac.Sum(nil)
}

// registered returns the client with an id that idOf made.
func (s *Server) registered(id string) (client, error) {
	unknown := errors.New("the client is not registered here: have the client register again, or name one by the URL of its metadata")
	body, mark, ok := strings.Cut(strings.TrimPrefix(id, registeredPrefix), ".")
	text, err := base64.RawURLEncoding.DecodeString(body)
	sum, other := base64.RawURLEncoding.DecodeString(mark)
	if !ok || err != nil || other != nil || !s.options.Register || subtle.ConstantTimeCompare(sum, s.mark(text)) != 1 {
		return client{}, unknown
	}
	var r registration
	if err := json.Unmarshal(text, &r); err != nil {
		return client{}, unknown
	}
	return client{id: id, name: r.Name, redirects: r.Redirects}, nil
}
