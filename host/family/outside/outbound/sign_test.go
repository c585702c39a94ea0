package outbound

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry"
)

// receiver admits requests as receivers of Standard Webhooks do.
type receiver struct {
	secret []byte
	now    time.Time
	seen   map[string]bool
}

// admit returns why a request is refused; empty: it is not.
func (v *receiver) admit(h http.Header, body []byte) string {
	id, at := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || math.Abs(v.now.Sub(time.Unix(seconds, 0)).Minutes()) > 5 {
		return "too old"
	}
	mac := hmac.New(sha256.New, v.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(h.Get("webhook-signature"), "v1,"))
	switch {
	case err != nil || !hmac.Equal(got, mac.Sum(nil)):
		return "forged"
	case v.seen[id]:
		return "replayed"
	}
	v.seen[id] = true
	return ""
}

func TestRequestsAreSignedWithTheOperatorsSecret(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	secret := []byte("0123456789abcdef0123456789abcdef")
	v := &receiver{secret: secret, now: now, seen: map[string]bool{}}
	var sent http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Clone()
		body, _ = io.ReadAll(r.Body)
		if why := v.admit(r.Header, body); why != "" {
			http.Error(w, why, http.StatusUnauthorized)
			return
		}
		io.WriteString(w, "welcome")
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("whsec_"+base64.StdEncoding.EncodeToString(secret)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(string) string { return string(secret) }
	signed := registry.Endpoint{Kind: "http", URL: server.URL + "/hook", KeyFile: file, Auth: registry.HMAC}
	plain := registry.Endpoint{Kind: "http", URL: server.URL + "/hook", KeyEnv: "SECRET", Auth: registry.HMAC}
	c := Client{Env: env, Clock: func() time.Time { return now }}
	fetch := func(c Client, e registry.Endpoint, id string) string {
		t.Helper()
		headers := map[string]string{"Content-Type": "application/json"}
		if id != "" {
			headers["webhook-id"] = id
		}
		answer, err := c.Fetch(t.Context(), e, abi.HTTPFetchRequest{Method: "POST", Path: "/in", Headers: headers, Body: `{"a":1}`}, out)
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range sent {
			if strings.Contains(strings.Join(values, " "), string(secret)) || name == "Authorization" {
				t.Errorf("the header %s is %s", name, values)
			}
		}
		return strings.TrimSpace(answer.Body)
	}
	late := c
	late.Clock = func() time.Time { return now.Add(-6 * time.Minute) }
	other := c
	other.Env = func(string) string { return "another secret, as long" }
	for _, step := range []struct {
		what string
		got  string
		want string
	}{
		{"a secret in base64", fetch(c, signed, ""), "welcome"}, {"a plain secret", fetch(c, plain, ""), "welcome"},
		{"a message", fetch(c, signed, "delivery-1"), "welcome"}, {"the same message", fetch(c, signed, "delivery-1"), "replayed"},
		{"a late one", fetch(late, signed, ""), "too old"}, {"another secret", fetch(other, plain, ""), "forged"},
	} {
		if step.got != step.want {
			t.Errorf("%s is answered %q, want %q", step.what, step.got, step.want)
		}
	}
	if why := v.admit(sent, append(body, ' ')); why != "forged" {
		t.Errorf("a changed body: %s", why)
	}
	short := c
	short.Env = func(string) string { return "short" }
	if _, err := short.Fetch(t.Context(), plain, abi.HTTPFetchRequest{}, out); err == nil || strings.Contains(err.Error(), "short") {
		t.Errorf("a short secret: %v", err)
	}
	for _, name := range []string{"Webhook-Signature", "webhook-timestamp"} {
		if _, err := c.Fetch(t.Context(), signed, abi.HTTPFetchRequest{Headers: map[string]string{name: "x"}}, out); err == nil {
			t.Errorf("a family sets %s", name)
		}
	}
}
