package listen

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestClientsAreReferredToAnIssuerOnlyIfOneIsNamed(t *testing.T) {
	const issuer = "https://login.example.org/alcove"
	ask := func(method, url string) (*http.Response, map[string]any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var read map[string]any
		if err := json.NewDecoder(answer.Body).Decode(&read); err != nil && answer.StatusCode == http.StatusOK {
			t.Fatal(err)
		}
		return answer, read
	}
	plain := newHTTP(t, nil)
	if answer, _ := ask("POST", plain+"/mcp"); answer.StatusCode != 401 || answer.Header.Get("WWW-Authenticate") != `Bearer realm="alcove"` {
		t.Errorf("without an issuer: %d, %q", answer.StatusCode, answer.Header.Get("WWW-Authenticate"))
	}
	for _, path := range []string{metadataPath, metadataPath + "/mcp"} {
		if answer, _ := ask("GET", plain+path); answer.StatusCode != 404 {
			t.Errorf("without an issuer, %s is %d", path, answer.StatusCode)
		}
	}
	url := newHTTP(t, func(h *HTTP) { h.Issuer = issuer })
	answer, _ := ask("POST", url+"/mcp")
	_, at, named := strings.Cut(strings.TrimSuffix(answer.Header.Get("WWW-Authenticate"), `"`), `resource_metadata="`)
	if answer.StatusCode != 401 || !named || at != url+metadataPath+"/mcp" {
		t.Fatalf("status %d, WWW-Authenticate %q, want 401 and the address of the metadata", answer.StatusCode, answer.Header.Get("WWW-Authenticate"))
	}
	answer, read := ask("GET", at)
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "application/json" || read["resource"] != url+"/mcp" ||
		!slices.Equal(read["authorization_servers"].([]any), []any{issuer}) || !slices.Equal(read["bearer_methods_supported"].([]any), []any{"header"}) {
		t.Errorf("the metadata is %d %v", answer.StatusCode, read)
	}
	if answer, read := ask("GET", url+metadataPath); answer.StatusCode != 200 || read["resource"] != url {
		t.Errorf("of the server it is %d %v", answer.StatusCode, read)
	}
	if answer, _ := ask("GET", url+metadataPath+"/none"); answer.StatusCode != 404 {
		t.Errorf("of what does not exist it is %d", answer.StatusCode)
	}
	if answer, _ := ask("POST", at); answer.StatusCode != 404 && answer.StatusCode != 405 {
		t.Errorf("a POST is answered with %d", answer.StatusCode)
	}
}

func TestAClientThatLooksForOAuthIsToldHowToComeIn(t *testing.T) {
	plain, referred := newHTTP(t, nil), newHTTP(t, func(h *HTTP) { h.Issuer = "https://login.example.org" })
	for _, ask := range []struct{ method, path string }{
		{"POST", "/register"}, {"POST", "/token"}, {"GET", "/authorize"}, {"GET", "/.well-known/oauth-authorization-server"},
		{"GET", "/.well-known/openid-configuration"}, {"GET", "/.well-known/oauth-authorization-server/mcp"},
	} {
		for url, want := range map[string]string{
			plain + ask.path:    "this server has no OAuth: send the token from the file /data/token",
			referred + ask.path: "this server is not an authorization server: use https://login.example.org",
		} {
			status, text := request(t, ask.method, url, "", nil)
			var read struct {
				Error       string
				Description string `json:"error_description"`
			}
			if err := json.Unmarshal([]byte(text), &read); err != nil || status != 404 || read.Error != "access_denied" || read.Description != want {
				t.Errorf("%s %s: got %d %s (%v), want 404 with the description %q", ask.method, ask.path, status, text, err, want)
			}
		}
	}
	if status, text := request(t, "GET", plain+metadataPath+"/mcp", "", nil); status != 404 || !strings.Contains(text, `"error":"access_denied"`) {
		t.Errorf("metadata without an issuer: got %d %s, want 404 and an error of OAuth", status, text)
	}
}
