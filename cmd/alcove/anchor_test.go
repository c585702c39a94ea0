package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/operator/audit"
)

var aHead = audit.Head{Seq: 7, Hash: strings.Repeat("ab", 32)}

func anchorAt(t *testing.T, at, token string) audit.Anchor {
	t.Helper()
	a, err := anchorOf(at, token, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// kept posts a head to a server, and returns the error.
func kept(t *testing.T, answer http.HandlerFunc) error {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return anchorAt(t, s.URL, "").Keep(t.Context(), aHead)
}

func TestAnAnchorAtAnAddressIsGivenTheHeadAndTheToken(t *testing.T) {
	var got audit.Head
	var token, kind, method string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, kind, method = r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Method
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusCreated)
	}))
	defer s.Close()
	if err := anchorAt(t, s.URL, "t0ken").Keep(t.Context(), aHead); err != nil {
		t.Fatal(err)
	}
	if got != aHead || token != "Bearer t0ken" || kind != "application/json" || method != http.MethodPost {
		t.Errorf("it was given %+v with %q, as %s by %s", got, token, kind, method)
	}
}

func TestAnAddressThatCannotBeAnAnchorIsRefused(t *testing.T) {
	for _, at := range []string{"http://example.com/heads", "http://169.254.169.254/heads", "https://u:p@example.com", "https://", "ftp://127.0.0.1/heads", "http://127.0.0.1.example.com"} {
		if _, err := anchorOf(at, "", time.Minute); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("anchorOf(%s): %v, want an error without the password", at, err)
		}
	}
	if _, err := anchorOf("heads", "", time.Millisecond); err == nil {
		t.Error("an interval of a millisecond is accepted")
	}
}

// The head and the token would go to an address that the operator never named, and a page that answers 200 there keeps nothing.
func TestARedirectOfAnAnchorIsAnErrorAndNotFollowed(t *testing.T) {
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer elsewhere.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		err := kept(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		if err == nil || followed.Load() {
			t.Errorf("%d: %v, followed: %v", status, err, followed.Load())
		}
	}
}

func TestAnAnchorThatIsDownIsAnErrorUntilItIsBack(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	at := s.Listener.Addr().String()
	a := anchorAt(t, s.URL, "t0ken")
	if err := a.Keep(t.Context(), aHead); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := a.Keep(t.Context(), aHead); err == nil || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("down: %v", err)
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	var keeps atomic.Int32
	again := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { keeps.Add(1) }))
	if err := again.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	again.Listener = l
	again.Start()
	defer again.Close()
	if err := a.Keep(t.Context(), aHead); err != nil || keeps.Load() != 1 {
		t.Errorf("back: %v, %d heads", err, keeps.Load())
	}
}

// hostileAnchor answers each request with bytes, and then is silent until the client closes the connection.
func hostileAnchor(t *testing.T, answer []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := c.Write(answer); err == nil {
					_, _ = io.Copy(io.Discard, c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// TestAHostileAnswerOfAnAnchorIsAShortError has answers that would fill the memory or the log, or hold up the end of the server. The
// test ends only if each request does.
func TestAHostileAnswerOfAnAnchorIsAShortError(t *testing.T) {
	long := strings.Repeat("\x1b[2Jx", 100_000)
	for name, answer := range map[string]string{
		"another protocol":       "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: heads\r\n\r\n",
		"a long status":          "HTTP/1.1 500 " + long + "\r\nContent-Length: 0\r\n\r\n",
		"no HTTP":                long + "\r\n\r\n",
		"an error without end":   "HTTP/1.1 500 no\r\nContent-Length: 999999999\r\n\r\n",
		"a redirect without end": "HTTP/1.1 302 no\r\nLocation: /\r\nContent-Length: 999999999\r\n\r\n",
		"a header of 20 MB":      "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 20<<20) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			err := anchorAt(t, hostileAnchor(t, []byte(answer)), "t0ken").Keep(t.Context(), aHead)
			if err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b") || strings.Contains(err.Error(), "t0ken") {
				t.Errorf("Keep: %.2000v, want a short error without escapes and the token", err)
			}
		})
	}
}

func TestOfALongAnswerOfAnAnchorLittleIsRead(t *testing.T) {
	ended := make(chan struct{})
	err := kept(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	<-ended // the client hung up
}

func TestAnAnchorThatIsSilentIsGivenUpWithItsContext(t *testing.T) {
	for name, answer := range map[string]string{"nothing": "", "half a header": "HTTP/1.1 200 OK\r\nContent-Le", "interim answers": strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 3)} {
		ctx, cancel := context.WithCancel(t.Context())
		a := anchorAt(t, hostileAnchor(t, []byte(answer)), "")
		done := make(chan error, 1)
		go func() { done <- a.Keep(ctx, aHead) }()
		cancel()
		if err := <-done; err == nil {
			t.Errorf("%s: the head is said to be kept", name)
		}
	}
}

func TestTheSecretOfAnAddressIsNotInTheErrorOfAnAnchor(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	a := anchorAt(t, s.URL+"/s3cret?key=s3cret", "t0ken")
	found := a.Keep(t.Context(), aHead)
	s.Close()
	for _, err := range []error{found, a.Keep(t.Context(), aHead)} {
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), s.Listener.Addr().String()) {
			t.Errorf("Keep: %v, want an error with the address and without the secret", err)
		}
	}
}
