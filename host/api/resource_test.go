package api

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
		t.Fatalf("%d, %q", answer.StatusCode, answer.Header.Get("WWW-Authenticate"))
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

func TestIssuersAreChecked(t *testing.T) {
	for issuer, fine := range map[string]bool{
		"https://login.example.org": true, "https://login.example.org/a/b": true, "http://localhost:8080": true, "http://127.0.0.1": true, "http://[::1]:1": true,
		"": false, "login.example.org": false, "http://login.example.org": false, "https://a?b": false, "https://a?": false, "https://a#b": false, "https://a#": false, "https://u:p@a": false, "ftp://a": false, "https://a\n": false,
	} {
		if err := CheckIssuer(issuer); (err == nil) != fine {
			t.Errorf("%q: %v", issuer, err)
		}
	}
}
