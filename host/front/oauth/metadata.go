package oauth

import (
	"encoding/json"
	"net/http"
	"strings"
)

// metadata describes the server (RFC 8414).
type metadata struct {
	Issuer                string   `json:"issuer"`
	Authorization         string   `json:"authorization_endpoint"`
	Token                 string   `json:"token_endpoint"`
	Revocation            string   `json:"revocation_endpoint"`
	Registration          string   `json:"registration_endpoint,omitempty"`
	Scopes                []string `json:"scopes_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	Challenges            []string `json:"code_challenge_methods_supported"`
	TokenAuthentication   []string `json:"token_endpoint_auth_methods_supported"`
	RevokeAuthentication  []string `json:"revocation_endpoint_auth_methods_supported"`
	ClientDocuments       bool     `json:"client_id_metadata_document_supported"`
	IssuerInAuthorization bool     `json:"authorization_response_iss_parameter_supported"`
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", http.MethodGet)
		fail(w, http.StatusMethodNotAllowed, invalidRequest, "the metadata is read with GET")
		return
	}
	at, public := s.options.Issuer+strings.TrimPrefix(r.URL.EscapedPath(), metadataPath), []string{"none"} // clients of users' machines cannot keep a secret
	m := metadata{Issuer: at, Authorization: at + authorizePath, Token: at + tokenPath, Revocation: at + revokePath, Scopes: Scopes(),
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"}, GrantTypes: grantTypes(), Challenges: []string{"S256"},
		TokenAuthentication: public, RevokeAuthentication: public, ClientDocuments: true, IssuerInAuthorization: true}
	if s.options.Register {
		m.Registration = at + registerPath
	}
	reply(w, http.StatusOK, m)
}

func grantTypes() []string { return []string{"authorization_code", "refresh_token"} }

// The errors of OAuth (RFC 6749, 7591, 8707).
const (
	invalidRequest  = "invalid_request"
	invalidClient   = "invalid_client"
	invalidGrant    = "invalid_grant"
	invalidScope    = "invalid_scope"
	invalidTarget   = "invalid_target"
	unsupportedType = "unsupported_grant_type"
	accessDenied    = "access_denied"
	serverError     = "server_error"
	unavailable     = "temporarily_unavailable"
)

// fail answers a request of a client with an error in the form of OAuth.
func fail(w http.ResponseWriter, status int, code, description string) {
	reply(w, status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}{code, description})
}

func reply(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) // the client may be gone
}
