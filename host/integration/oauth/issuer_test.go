package oauth

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// provider is a server of OpenID Connect.
type provider struct {
	*mockoidc.MockOIDC
	t testing.TB
}

func newProvider(t testing.TB) provider {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatalf("start a server of OpenID Connect: %v", err)
	}
	t.Cleanup(func() { m.Shutdown() })
	return provider{m, t}
}

// logIn lets a user log in as an application does, and returns the user's token.
func (p provider) logIn(user *mockoidc.MockUser) string {
	p.t.Helper()
	p.QueueUser(user)
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := c.Get(p.AuthorizationEndpoint() + "?" + url.Values{"scope": {"openid profile groups"}, "state": {"s"}, "client_id": {p.ClientID}, "response_type": {"code"}, "redirect_uri": {"https://app.example/cb"}}.Encode())
	if err != nil {
		p.t.Fatal(err)
	}
	answer.Body.Close()
	to, err := answer.Location()
	if err != nil {
		p.t.Fatalf("the login: status %d, %v", answer.StatusCode, err)
	}
	answer, err = c.PostForm(p.TokenEndpoint(), url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "client_id": {p.ClientID}, "client_secret": {p.ClientSecret}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	var read struct {
		Token string `json:"id_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&read); err != nil || read.Token == "" {
		p.t.Fatalf("the tokens: status %d, %v", answer.StatusCode, err)
	}
	return read.Token
}

// signed is a token with claims.
func (p provider) signed(claims jwt.MapClaims) string {
	p.t.Helper()
	token, err := p.Keypair.SignJWT(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

// claims are those of a token for the server, changed; nil takes one out.
func (p provider) claims(change jwt.MapClaims) jwt.MapClaims {
	c := jwt.MapClaims{"iss": p.Issuer(), "aud": resource, "sub": "ann", "exp": time.Now().Add(time.Hour).Unix(), "scope": "openid memory"}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func trusting(t *testing.T, p provider, rules operator.IssuerRules) *server.Server {
	t.Helper()
	return server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", Public: issuer, Issuer: p.Issuer(), IssuerRules: &rules})
}

func TestAUserOfAnOpenIDServerComesInWithTheRightsOfTheirGroups(t *testing.T) {
	p := newProvider(t)
	s := trusting(t, p, operator.IssuerRules{Audience: p.ClientID, Agent: "preferred_username", Rules: []operator.IssuerRule{
		{Claims: map[string]string{"groups": "editors"}, Namespaces: []string{"team/*", "home/{agent}"}, Rights: server.ReadWrite},
		{Claims: map[string]string{"groups": "readers"}, Namespaces: []string{"team/*"}, Rights: []operator.Right{"read"}},
	}})
	store := func(token, namespace string) (int, string) {
		return s.Post(token, "", "memory_store", `{"key":"k","value":"v","namespace":"`+namespace+`"}`)
	}
	editor := p.logIn(&mockoidc.MockUser{Subject: "1", PreferredUsername: "ann", Groups: []string{"staff", "editors"}})
	for namespace, want := range map[string]bool{"team/a": true, "home/ann": true, "home/bob": false} {
		if status, body := store(editor, namespace); status != 200 || strings.Contains(body, `"isError":true`) == want {
			t.Errorf("an editor in %s: got %d %s, want it stored: %t", namespace, status, body, want)
		}
	}
	reader := p.logIn(&mockoidc.MockUser{Subject: "2", PreferredUsername: "bob@example.org", Groups: []string{"readers"}})
	if _, body := store(reader, "team/a"); !strings.Contains(body, `"isError":true`) {
		t.Errorf("a reader: got %s, want the store refused", body)
	}
	if status, body := store(p.logIn(&mockoidc.MockUser{Subject: "3", PreferredUsername: "eve", Groups: []string{"guests"}}), "team/a"); status != 401 || !strings.Contains(body, "no rule") {
		t.Errorf("a user without a rule: got %d %s, want 401 that says so", status, body)
	}
	list, err := operator.Query(t.Context(), s.Acts, operator.ListKeys)
	if err != nil || len(list.Keys) != 2 {
		t.Fatalf("the keys: got %+v, %v, want those of two users", list.Keys, err)
	}
	if k := list.Keys[0]; k.Agent != "ann" || k.Subject == nil || k.Subject.ID != "1" || k.Subject.Issuer != p.Issuer() {
		t.Errorf("the key of the editor: got %+v %+v, want the agent ann for the subject 1", k, k.Subject)
	}
	if k := list.Keys[1]; !strings.HasPrefix(k.Agent, "bob-example.org-") {
		t.Errorf("the agent of the reader is %q, want one with a digest, because the name has an @", k.Agent)
	}
	demoted := p.logIn(&mockoidc.MockUser{Subject: "1", PreferredUsername: "ann", Groups: []string{"readers"}})
	if _, body := store(demoted, "team/a"); !strings.Contains(body, `"isError":true`) {
		t.Errorf("an editor who became a reader: got %s, want the store refused", body)
	}
	impostor := p.logIn(&mockoidc.MockUser{Subject: "4", PreferredUsername: "ann", Groups: []string{"editors"}})
	if status, body := store(impostor, "home/ann"); status != 401 || !strings.Contains(body, "another key") {
		t.Errorf("another subject with the name of an agent: got %d %s, want 401", status, body)
	}
	if _, err := operator.Call(t.Context(), s.Acts, operator.RevokeKey, operator.KeyID{ID: list.Keys[0].ID}); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{editor, demoted, p.logIn(&mockoidc.MockUser{Subject: "1", PreferredUsername: "ann", Groups: []string{"editors"}})} {
		if status, body := store(token, "team/a"); status != 401 || !strings.Contains(body, "revoked") {
			t.Errorf("a token after the key was revoked: got %d %s, want 401", status, body)
		}
	}
}

func TestATokenOfTheIssuerIsOneThatItSignedForThisServerNow(t *testing.T) {
	p := newProvider(t)
	foreign, err := mockoidc.RandomKeypair(2048)
	if err != nil {
		t.Fatal(err)
	}
	other := newProvider(t)
	other.Keypair = foreign
	s := trusting(t, p, operator.IssuerRules{Algorithms: []string{"RS256"}, Rules: []operator.IssuerRule{{Claims: map[string]string{"scope": "memory"}, Namespaces: []string{"*"}, Rights: server.ReadWrite}}})
	kid, err := p.Keypair.KeyID()
	if err != nil {
		t.Fatal(err)
	}
	sign := func(method jwt.SigningMethod, key any, id string) string {
		token := jwt.NewWithClaims(method, p.claims(nil))
		token.Header["kid"] = id
		text, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	public, err := x509.MarshalPKIXPublicKey(p.Keypair.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	good := p.signed(p.claims(nil))
	parts := strings.Split(good, ".")
	for what, token := range map[string]string{
		"for another server":                   p.signed(p.claims(jwt.MapClaims{"aud": "https://other.example/mcp"})),
		"for nobody":                           p.signed(p.claims(jwt.MapClaims{"aud": nil})),
		"of another issuer":                    p.signed(p.claims(jwt.MapClaims{"iss": "https://other.example"})),
		"that expired":                         p.signed(p.claims(jwt.MapClaims{"exp": time.Now().Add(-time.Hour).Unix()})),
		"that never expires":                   p.signed(p.claims(jwt.MapClaims{"exp": nil})),
		"that does not hold yet":               p.signed(p.claims(jwt.MapClaims{"nbf": time.Now().Add(time.Hour).Unix()})),
		"of the future":                        p.signed(p.claims(jwt.MapClaims{"iat": time.Now().Add(time.Hour).Unix()})),
		"without a subject":                    p.signed(p.claims(jwt.MapClaims{"sub": nil})),
		"without a claim of a rule":            p.signed(p.claims(jwt.MapClaims{"scope": "openid memoryx"})),
		"signed by another server":             other.signed(p.claims(nil)),
		"signed by another server as this one": sign(jwt.SigningMethodRS256, other.Keypair.PrivateKey, kid),
		"by an algorithm that is not allowed":  sign(jwt.SigningMethodPS256, p.Keypair.PrivateKey, kid),
		"without a signature":                  sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid),
		"signed with the public key":           sign(jwt.SigningMethodHS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), kid),
		"signed with the raw public key":       sign(jwt.SigningMethodHS256, public, kid),
		"with other claims":                    parts[0] + "." + strings.Split(p.signed(p.claims(jwt.MapClaims{"sub": "bob"})), ".")[1] + "." + parts[2],
		"cut short":                            good[:len(good)-4],
		"that is too long":                     p.signed(p.claims(jwt.MapClaims{"x": strings.Repeat("x", 16<<10)})),
		"that is nothing":                      "eyJ..",
	} {
		if status, body := s.Post(token, "", "memory_status", `{}`); status != http.StatusUnauthorized {
			t.Errorf("a token %s: got %d %s, want 401", what, status, body)
		}
	}
	if status, body := s.Post(good, "", "memory_status", `{}`); status != http.StatusOK {
		t.Errorf("the token itself: got %d %s, want 200", status, body)
	}
	plain := server.Start(t, host.Options{})
	if status, _ := plain.Post(good, "", "memory_status", `{}`); status != http.StatusUnauthorized {
		t.Errorf("the token at a server without an issuer: got %d, want 401", status)
	}
}

func TestAnIssuerThatIsAwayLetsNobodyIn(t *testing.T) {
	p := newProvider(t)
	token := p.signed(p.claims(nil))
	s := trusting(t, p, operator.IssuerRules{Rules: []operator.IssuerRule{{Namespaces: []string{"*"}, Rights: server.ReadWrite}}})
	if err := p.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if status, body := s.Post(token, "", "memory_status", `{}`); status != http.StatusUnauthorized || !strings.Contains(body, "cannot be read now") {
		t.Errorf("a token while its issuer is away: got %d %s, want 401 that says so", status, body)
	}
}
