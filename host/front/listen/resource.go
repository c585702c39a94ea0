package listen

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// metadataPath is where clients find the metadata of a protected resource (RFC 9728), followed by the resource's own path.
const metadataPath = "/.well-known/oauth-protected-resource"

// metadata describes a protected resource.
type metadata struct {
	Resource string   `json:"resource"`
	Name     string   `json:"resource_name"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
}

// base returns the URL by which a client reached the server.
func (h *HTTP) base(r *http.Request) string {
	if h.Public != "" {
		return h.Public
	}
	scheme := "http"
	if h.Certificate != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host // which onlyLocal checked
}

// find has clients find the metadata of the resource at a path, and of those of further spaces.
func (h *HTTP) find(mux *http.ServeMux, path string) {
	if h.Issuer == "" || h.Path != "" {
		return
	}
	mux.HandleFunc("GET "+metadataPath+path, h.describe)
	if h.Below {
		mux.HandleFunc("GET "+metadataPath+SpacesPath+"{space}"+path, h.describe)
	}
}

// describe serves the metadata of the resource whose path follows metadataPath. A server that is its own authorization server is one for
// each of its spaces. Whether there is a space is not looked at: nobody learns it here.
func (h *HTTP) describe(w http.ResponseWriter, r *http.Request) {
	issuer := h.Issuer
	if space := r.PathValue("space"); space != "" && issuer == h.Public {
		issuer += SpacesPath + url.PathEscape(space)
	}
	body, err := json.Marshal(metadata{h.base(r) + strings.TrimPrefix(r.URL.EscapedPath(), metadataPath), "Alcove", []string{issuer}, h.Scopes, []string{"header"}})
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal", "the metadata could not be written")
		return
	}
	answer(w, http.StatusOK, append(body, '\n'))
}

// Challenge returns the header WWW-Authenticate of a refused request.
func (h *HTTP) Challenge(r *http.Request) string {
	const plain = `Bearer realm="alcove"`
	if h.Issuer == "" {
		return plain
	}
	challenge := plain + `, resource_metadata="` + h.base(r) + metadataPath + h.Path + r.URL.EscapedPath() + `"`
	if len(h.Scopes) > 0 {
		challenge += `, scope="` + strings.Join(h.Scopes, " ") + `"`
	}
	if BearerOf(r) != "" {
		challenge += `, error="invalid_token"`
	}
	return challenge
}

// oauthPaths are where clients that were refused look for an authorization server of this one.
func oauthPaths() []string {
	return []string{"/.well-known/", "/register", "/authorize", "/token"}
}

// refuseOAuth tells a client that looks for an authorization server how this one is used, in the form that it shows to its user (RFC 6749).
func (h *HTTP) refuseOAuth(w http.ResponseWriter, r *http.Request) {
	why := "this server is not an authorization server: use " + h.Issuer
	if h.Issuer == h.Public+h.Path {
		why = "there is nothing here: the metadata of the authorization server are at " + h.Public + "/.well-known/oauth-authorization-server" + h.Path
	}
	if h.Issuer == "" {
		why = "this server has no OAuth: " + h.entry(r.Context())
	}
	body, _ := json.Marshal(struct { // texts always encode
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}{"access_denied", why})
	answer(w, http.StatusNotFound, append(body, '\n'))
}

// entry returns how a client is admitted: why one without a token is not.
func (h *HTTP) entry(ctx context.Context) string {
	_, stop, err := h.Admit(ctx, "/mcp", "")
	if err != nil {
		return err.Error()
	}
	stop()
	return "it admits clients without a token"
}
