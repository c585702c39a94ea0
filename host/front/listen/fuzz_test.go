package listen

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzToken reads any file as the token.
func FuzzToken(f *testing.F) {
	for _, seed := range []string{"", "\n", strings.Repeat("a", 43) + "\n", strings.Repeat(" ", 100), strings.Repeat("x", 5000), "short"} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "token")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := Token(path)
		if err == nil && (len(token) < tokenBytes || token != strings.TrimSpace(string(data))) {
			t.Errorf("%q was read as the token %q", data, token)
		}
	})
}

// FuzzRequest sends any headers: only who presents the token, and does not come from a page elsewhere, is let through.
func FuzzRequest(f *testing.F) {
	const token = testToken
	for _, seed := range [][3]string{
		{"Bearer " + token, "127.0.0.1:9742", ""}, {"bearer  " + token, "localhost", "http://localhost:3000"}, {"Basic " + token, "[::1]:1", "null"},
		{"Bearer", "evil.example", "https://evil.example"}, {token, "127.0.0.1.evil.example", "http://127.0.0.1@evil.example"},
		{"Bearer " + token, "0x7f.1", "http://[::ffff:127.0.0.1]"}, {"Bearer " + token + "\x00", "localhost:99999999", "file://localhost"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, authorization, host, origin string) {
		reached := false
		h := HTTP{Admit: admitToken, Use: &Use{}, Routes: map[string]http.Handler{"/mcp": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })}}
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Host = host
		r.Header["Authorization"], r.Header["Origin"] = []string{authorization}, []string{origin}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9742}))
		w := httptest.NewRecorder()
		h.handler().ServeHTTP(w, r)
		scheme, presented, _ := strings.Cut(authorization, " ")
		if reached && (!strings.EqualFold(scheme, "bearer") || strings.TrimSpace(presented) != token) {
			t.Errorf("%q was let through", authorization)
		}
		if reached && !ownName(host) {
			t.Errorf("the host %q was let through", host)
		}
		if !reached && w.Code < 400 {
			t.Errorf("refused with %d", w.Code)
		}
	})
}

// ownName says, in another way than the server does, whether a host is this machine.
func ownName(host string) bool {
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.Count(host, ":") == 1 || strings.HasPrefix(host, "[") && i > strings.IndexByte(host, ']') {
		name = host[:i]
	}
	name = strings.Trim(name, "[]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}
