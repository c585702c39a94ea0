package outbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry"
)

// escapes are requests of guests that try to leave their endpoint, or to learn its key. elsewhere is another server.
func escapes(elsewhere string) []abi.HTTPFetchRequest {
	host := strings.TrimPrefix(elsewhere, "http://")
	var all []abi.HTTPFetchRequest
	for _, to := range []string{
		elsewhere, elsewhere + "/x", "//" + host + "/x", "///" + host, `\\` + host, `/\` + host, "http:" + host, "@" + host, ":80@" + host + "/", "user:pass@" + host, "http://user@" + host,
		"..", "../..", "../../../" + host, "a/../../../..", "%2e%2e/%2e%2e", "..%2f..%2fetc", `..\..`, "a//../..", "./.././..", "...", ".", "/", "//", "a/./b",
		"x?key=y", "x#" + host, "x;" + host, "x\r\nHost: " + host, "x\r\n\r\nGET http://" + host + "/ HTTP/1.1\r\n\r\n", "x\nX: y", "x\x00", "x y", "\t", "é", "%zz", "%0d%0aHost:%20" + host, strings.Repeat("a/", 100_000),
		"/redirect", "/redirect-307", "/redirect-relative", "/slow", "/large", "/echo",
	} {
		all = append(all, abi.HTTPFetchRequest{Path: to})
	}
	for _, method := range []string{"CONNECT", "TRACE", "OPTIONS", "get", "GET /x HTTP/1.1\r\nHost: " + host + "\r\n\r\nGET", "PROPFIND", "GET\r\n", " GET", "PURGE"} {
		all = append(all, abi.HTTPFetchRequest{Method: method, Path: "echo"})
	}
	for name, value := range map[string]string{"Host": host, "host": host, "Authorization": "mine", "Proxy-Authorization": "mine", "X-Forwarded-Host": host, "Connection": "Upgrade", "Upgrade": "websocket",
		"Transfer-Encoding": "chunked", "Content-Length": "0", "Cookie": "a=b", "X\r\nHost": host, "X": "y\r\nHost: " + host, ":authority": host, "": "x", "Te": "trailers", "Trailer": "Host", "Expect": "100-continue",
		"Large": strings.Repeat("x", 1<<20)} {
		all = append(all, abi.HTTPFetchRequest{Path: "echo", Headers: map[string]string{name: value}}, abi.HTTPFetchRequest{Method: "POST", Path: "echo", Headers: map[string]string{name: value}, Body: "b"})
	}
	for name, value := range map[string]string{"a": "b&c=d", "a&host": host, "a\r\n": "x\r\ny", "": "", "u": elsewhere} {
		all = append(all, abi.HTTPFetchRequest{Path: "echo", Query: map[string]string{name: value}})
	}
	return append(all, abi.HTTPFetchRequest{Method: "POST", Path: "echo", Body: "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"}, abi.HTTPFetchRequest{Method: "POST", Path: "echo", Body: strings.Repeat("b", 8<<20)})
}

// TestNoRequestOfAGuestLeavesItsEndpointOrLearnsItsKey sends all that tries to, and looks at what arrives where.
func TestNoRequestOfAGuestLeavesItsEndpointOrLearnsItsKey(t *testing.T) {
	const secret = "s3cret-endpoint-key"
	var outside, inside, beside atomic.Int64
	other, _, _ := serve(t, func(int, http.ResponseWriter, *http.Request) { outside.Add(1) })
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/", func(w http.ResponseWriter, r *http.Request) {
		inside.Add(1)
		if r.Header.Get("Authorization") != "Bearer "+secret || strings.Contains(fmt.Sprint(r.Header), strings.TrimPrefix(other, "http://")) && r.Header.Get("X-Forwarded-Host") == "" {
			t.Errorf("%s %s arrived with %.300v", r.Method, r.URL, r.Header)
		}
		switch strings.TrimPrefix(r.URL.Path, "/api/v1/") {
		case "redirect":
			http.Redirect(w, r, other+"/taken", http.StatusFound)
		case "redirect-307":
			http.Redirect(w, r, other+"/taken", http.StatusTemporaryRedirect)
		case "redirect-relative":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "slow":
			<-r.Context().Done()
		case "large":
			io.CopyN(w, zeros{}, 2*bodyLimit)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		beside.Add(1)
		t.Errorf("%s %s is not below the endpoint", r.Method, r.URL)
	})
	server, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { mux.ServeHTTP(w, r) })
	c := quick()
	c.Env, c.Timeout = func(string) string { return secret }, 2*time.Second
	for _, f := range escapes(other) {
		got, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: server + "/api/v1", KeyEnv: "KEY"}, f, func(context.Context) error { return nil })
		if said := fmt.Sprint(got, err); strings.Contains(said, secret) || err != nil && strings.Contains(said, strings.TrimPrefix(server, "http://")) {
			t.Errorf("%.200q %.200v was answered with %.300s", f.Path, f.Headers, said)
		}
	}
	if outside.Load() > 0 || beside.Load() > 0 || inside.Load() == 0 {
		t.Errorf("%d requests reached another server, %d another path of the endpoint's, %d the endpoint", outside.Load(), beside.Load(), inside.Load())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
