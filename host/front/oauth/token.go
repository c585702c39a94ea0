package oauth

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// form reads the form of a client's request. A parameter that is there twice is none: who reads the other one would decide otherwise.
func form(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, invalidRequest, "send a form with POST")
		return nil, false
	}
	if err := r.ParseForm(); err != nil {
		fail(w, http.StatusBadRequest, invalidRequest, "send a form: Content-Type must be application/x-www-form-urlencoded")
		return nil, false
	}
	if name := repeated(r.PostForm); name != "" {
		fail(w, http.StatusBadRequest, invalidRequest, fmt.Sprintf("%.40q is there more than once", name))
		return nil, false
	}
	return r.PostForm, true
}

// repeated returns the name of a parameter that is there more than once.
func repeated(v url.Values) string {
	for name, list := range v {
		if len(list) > 1 {
			return name
		}
	}
	return ""
}

// token serves the exchange of codes and refresh tokens for tokens.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	f, ok := form(w, r)
	if !ok {
		return
	}
	var key keys.Key
	var t keys.Tokens
	err := error(&failure{unsupportedType, "grant_type can be authorization_code or refresh_token"})
	switch f.Get("grant_type") {
	case "authorization_code":
		key, t, err = s.exchange(f)
	case "refresh_token":
		key, t, err = s.refresh(f)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	reply(w, http.StatusOK, struct {
		Access  string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int64  `json:"expires_in"`
		Refresh string `json:"refresh_token"`
		Scope   string `json:"scope"`
	}{t.Access, "Bearer", int64(t.Expires.Sub(s.options.Clock()).Seconds()), t.Refresh, textOf(key.Rights)})
}

// failure is an error in the form of OAuth.
type failure struct{ code, description string }

func (f *failure) Error() string { return f.description }

// refuse answers a client that gets no tokens, and accounts for it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var known *memory.Error
	var own *failure
	if !errors.As(err, &own) {
		own = &failure{serverError, "the server could not do this: its log says why"}
		if errors.Is(err, keys.ErrReused) || errors.As(err, &known) {
			own = &failure{invalidGrant, err.Error()}
		}
		if known != nil && known.Code == memory.Unavailable {
			own.code = unavailable
		}
	}
	s.options.Refused(r, &memory.Error{Code: memory.Denied, Rule: "a token of OAuth: " + own.code, Message: own.description})
	status := http.StatusBadRequest
	switch own.code {
	case serverError:
		status = http.StatusInternalServerError
	case unavailable:
		status = http.StatusServiceUnavailable
	}
	fail(w, status, own.code, own.description)
}

// exchange gives a client tokens for a code.
func (s *Server) exchange(f url.Values) (key keys.Key, t keys.Tokens, err error) {
	unknown := &failure{invalidGrant, "the code is not known here, was used, or is more than a minute old"}
	if !s.isCode(f.Get("code")) {
		return key, t, unknown
	}
	digest := digestOf(f.Get("code"))
	one, revoke, err := s.options.Codes.take(digest)
	switch {
	case err != nil:
		return key, t, err
	case revoke != "":
		return key, t, errors.Join(unknown, s.options.Keys.RevokeAuthorization(revoke))
	case one == nil:
		return key, t, unknown
	}
	if err := one.answers(f); err != nil {
		return key, t, err
	}
	who, err := s.options.Holder(one.Holder)
	if err != nil {
		return key, t, err
	}
	if key, t, err = s.options.Keys.Authorize(who, one.Client, one.Grant); err != nil {
		return key, t, err
	}
	replayed, err := s.options.Codes.redeemed(digest, key.ID)
	if replayed || err != nil {
		return key, t, errors.Join(cmp.Or(err, error(unknown)), s.options.Keys.RevokeAuthorization(key.ID))
	}
	return key, t, nil
}

// answers returns why a request is not by the client that the code was for.
func (c *code) answers(f url.Values) error {
	redirect, resource := f.Get("redirect_uri"), f.Get("resource")
	switch {
	case f.Get("client_id") != c.Client.ID:
		return &failure{invalidGrant, "the code is another client's"}
	case redirect != "" && redirect != c.Redirect:
		return &failure{invalidGrant, "redirect_uri is not that of the request for authorization"}
	case !answersChallenge(f.Get("code_verifier"), c.Challenge):
		return &failure{invalidGrant, "code_verifier does not match the challenge"}
	case resource != "" && resource != c.Client.Resource:
		return &failure{invalidTarget, "the code is for the resource " + c.Client.Resource}
	}
	return nil
}

// answersChallenge reports whether a verifier is that of a challenge (RFC 7636, S256).
func answersChallenge(verifier, challenge string) bool {
	if len(verifier) < verifierLeft || len(verifier) > verifierMost {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// refresh gives a client new tokens for a refresh token.
func (s *Server) refresh(f url.Values) (keys.Key, keys.Tokens, error) {
	return s.options.Keys.Refresh(f.Get("refresh_token"), f.Get("client_id"), f.Get("resource"))
}

// revoke serves the revocation of tokens (RFC 7009): either token revokes the whole authorization, and ends what its client has open.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	f, ok := form(w, r)
	if !ok {
		return
	}
	if f.Get("token") == "" || f.Get("client_id") == "" {
		fail(w, http.StatusBadRequest, invalidRequest, "send token and client_id")
		return
	}
	if err := s.options.Keys.RevokeToken(f.Get("token"), f.Get("client_id")); err != nil {
		s.refuse(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK) // for unknown tokens, too
}
