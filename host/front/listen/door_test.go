package listen

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestADoorAdmitsInItsOwnWay(t *testing.T) {
	var refused atomic.Int64
	served := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		w.Write(body)
	})
	at := newHTTP(t, func(h *HTTP) {
		h.Refused = func(*http.Request, error) { refused.Add(1) }
		h.Doors = map[string]Door{
			"/open": {Handler: served, Body: 10},
			"/shut": {Handler: served, Admit: func(r *http.Request) (context.Context, func(), error) {
				if r.Header.Get("Cookie") == "" {
					return nil, nil, &StatusError{Status: http.StatusForbidden, Code: "denied", Err: errors.New("no cookie")}
				}
				return r.Context(), func() {}, nil
			}},
			"/plain": {Handler: served, Admit: func(*http.Request) (context.Context, func(), error) { return nil, nil, errors.New("nobody") }},
		}
	})
	for _, c := range []struct {
		path, body, cookie, origin string
		chunked                    bool
		status                     int
		says                       string
	}{
		{path: "/open", body: "0123456789", status: 200, says: "0123456789"},
		{path: "/open", body: "0123456789a", status: 413, says: "10 bytes"},
		{path: "/open", body: "0123456789a", chunked: true, status: 413},
		{path: "/open", body: "x", origin: "https://evil.example", status: 403, says: "evil.example"},
		{path: "/shut", body: "x", status: 403, says: "no cookie"},
		{path: "/shut", body: "x", cookie: "a=b", status: 200, says: "x"},
		{path: "/shut", body: "x", cookie: "a=b", origin: "https://evil.example", status: 403, says: "evil.example"},
		{path: "/plain", status: 401, says: "nobody"},
	} {
		var body io.Reader = strings.NewReader(c.body)
		if c.chunked {
			body = io.MultiReader(body) // of a length that the client does not know
		}
		r, err := http.NewRequest("POST", at+c.path, body)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Cookie": c.cookie, "Origin": c.origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("send to %s: %v", c.path, err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%+v is answered with %d %s", c, answer.StatusCode, text)
		}
	}
	if n := refused.Load(); n != 2 {
		t.Errorf("%d requests count as refused, want the 2 that doors did not admit", n)
	}
}

func TestAForwardedRequestIsOfItsBrowser(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	other := errors.New("another user")
	got := From(r, "10.0.0.7", other)
	if err := CheckPeer(got); !errors.Is(err, other) || got.RemoteAddr != "10.0.0.7:0" {
		t.Errorf("a request of another user's browser at 10.0.0.7: got %v from %s, want that it is another's, from 10.0.0.7", err, got.RemoteAddr)
	}
	if err := CheckPeer(From(got, "", nil)); err != nil {
		t.Errorf("a request that is not another user's: got %v, want none", err)
	}
}
