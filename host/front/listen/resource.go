package listen

import (
	"context"
	"encoding/json"
	"net/http"
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

// describe serves the metadata of the resource whose path follows metadataPath.
func (h *HTTP) describe(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(metadata{h.base(r) + strings.TrimPrefix(r.URL.EscapedPath(), metadataPath), "Alcove", []string{h.Issuer}, h.Scopes, []string{"header"}})
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal", "the metadata could not be written")
		return
	}
	answer(w, http.StatusOK, append(body, '\n'))
}

// challenge returns the header WWW-Authenticate of a refused request.
func (h *HTTP) challenge(r *http.Request) string {
	const plain = `Bearer realm="alcove"`
	if h.Issuer == "" {
		return plain
	}
	challenge := plain + `, resource_metadata="` + h.base(r) + metadataPath + r.URL.EscapedPath() + `"`
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
	why := "this server is no authorization server: use " + h.Issuer
	if h.Issuer == h.Public {
		why = "there is nothing here: the metadata of the authorization server are at " + h.Public + "/.well-known/oauth-authorization-server"
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
