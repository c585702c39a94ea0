package listen

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const testToken = "0123456789012345678901234567890123456789"

// admitToken admits clients with the test's token.
func admitToken(ctx context.Context, _, token string) (context.Context, func(), error) {
	if token != testToken {
		return nil, nil, errors.New("send the token from the file /data/token")
	}
	return ctx, func() {}, nil
}

// newHTTP serves a handler that echoes the body, over a real connection, and gives its URL.
func newHTTP(t *testing.T, edit func(*HTTP)) string {
	t.Helper()
	h := &HTTP{
		Routes: map[string]http.Handler{"/mcp": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, err.Error())
				return
			}
			w.Write(body)
		})},
		Admit: admitToken, Use: &Use{},
		Ready: func(context.Context) error { return nil }, Logger: slog.New(slog.DiscardHandler),
	}
	if edit != nil {
		edit(h)
	}
	l, err := ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

func request(t *testing.T, method, url, body string, edit func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func withToken(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", token) }
}

func TestOnlyTheTokenOpensMCP(t *testing.T) {
	url := newHTTP(t, nil) + "/mcp"
	for header, want := range map[string]int{
		"Bearer " + testToken:           200,
		"bearer " + testToken:           200,
		"":                              401,
		"Bearer":                        401,
		"Bearer " + testToken[1:]:       401,
		"Bearer " + testToken + "0":     401,
		"Basic " + testToken:            401,
		testToken:                       401,
		"Bearer " + testToken + " more": 401,
	} {
		if got, text := request(t, "POST", url, "hi", withToken(header)); got != want {
			t.Errorf("%q: got %d (%s), want %d", header, got, text, want)
		}
	}
}

func TestAClientWithoutATokenIsToldWhereItIs(t *testing.T) {
	if _, text := request(t, "POST", newHTTP(t, nil)+"/mcp", "", nil); !strings.Contains(text, "/data/token") {
		t.Errorf("got %s", text)
	}
}

func TestHostsAndOriginsOfOthersAreRefused(t *testing.T) {
	url := newHTTP(t, nil) + "/mcp"
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"", "", 200}, {"localhost", "", 200}, {"LOCALHOST:1", "", 200}, {"[::1]:9742", "", 200}, {"127.0.0.1", "", 200},
		{"evil.example", "", 403}, {"evil.example:9742", "", 403}, {"127.0.0.1.evil.example", "", 403},
		{"localhost.evil.example", "", 403}, {"192.0.2.7:9742", "", 403}, {strings.Repeat("a", longestHeader+1), "", 403},
		{"", "http://localhost:6274", 200}, {"", "https://127.0.0.1", 200}, {"", "http://[::1]:1", 200},
		{"", "http://evil.example", 403}, {"", "null", 403}, {"", "file://localhost", 403}, {"", "http://localhost@evil.example", 403},
	} {
		got, text := request(t, "POST", url, "", func(r *http.Request) {
			withToken("Bearer " + testToken)(r)
			if c.host != "" {
				r.Host = c.host
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
		})
		if got != c.want {
			t.Errorf("host %.50q, origin %q: got %d (%s), want %d", c.host, c.origin, got, text, c.want)
		}
	}
}

func TestHealthNeedsNoTokenButAProperHost(t *testing.T) {
	url := newHTTP(t, nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		if got, _ := request(t, "GET", url+path, "", nil); got != 200 {
			t.Errorf("GET %s: status %d, want 200", path, got)
		}
		if got, _ := request(t, "GET", url+path, "", func(r *http.Request) { r.Host = "evil.example" }); got != 403 {
			t.Errorf("%s for another host: %d", path, got)
		}
	}
}

func TestReadyzSaysWhyItIsNot(t *testing.T) {
	url := newHTTP(t, func(h *HTTP) {
		h.Ready = func(context.Context) error { return errors.New("the index is being rebuilt") }
	})
	if got, text := request(t, "GET", url+"/readyz", "", nil); got != 503 || !strings.Contains(text, "being rebuilt") {
		t.Errorf("got %d, %s", got, text)
	}
}

func TestBodiesAreLimited(t *testing.T) {
	url := newHTTP(t, nil) + "/mcp"
	big := bytes.Repeat([]byte("x"), bodyLimit+1)
	if got, text := request(t, "POST", url, string(big[:bodyLimit]), withToken("Bearer "+testToken)); got != 200 || len(text) != bodyLimit {
		t.Errorf("a body of the limit: %d", got)
	}
	if got, text := request(t, "POST", url, string(big), withToken("Bearer "+testToken)); got != 413 || !strings.Contains(text, "16 MiB") {
		t.Errorf("a body beyond it: %d, %.200s", got, text)
	}
	got, text := request(t, "POST", url, "", func(r *http.Request) {
		withToken("Bearer " + testToken)(r)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(big)), -1
	})
	if got != 400 || !strings.Contains(text, "too large") {
		t.Errorf("a body of unknown length beyond it: %d, %.200s", got, text)
	}
}

func TestHeadersAreLimited(t *testing.T) {
	url := newHTTP(t, nil) + "/healthz"
	if got, _ := request(t, "GET", url, "", func(r *http.Request) { r.Header.Set("X", strings.Repeat("x", 2*headerLimit)) }); got != 431 {
		t.Errorf("got %d", got)
	}
}

func TestAnAnswerMayStreamForLongerThanABodyMayTake(t *testing.T) {
	recorder := httptest.NewRecorder()
	body := &timedBody{ReadCloser: io.NopCloser(strings.NewReader("x")), control: http.NewResponseController(recorder)}
	if _, err := io.ReadAll(body); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	url := newHTTP(t, func(h *HTTP) {
		h.Routes["/mcp"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			io.WriteString(w, "one\n")
			w.(http.Flusher).Flush()
			<-release
			io.WriteString(w, "two\n")
		})
	})
	r, _ := http.NewRequest("POST", url+"/mcp", strings.NewReader("{}"))
	withToken("Bearer " + testToken)(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 4)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "one\n" {
		t.Fatalf("got %q, %v", first, err)
	}
	close(release)
	if rest, err := io.ReadAll(answer.Body); err != nil || string(rest) != "two\n" {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestThereIsNothingElse(t *testing.T) {
	url := newHTTP(t, nil)
	for _, path := range []string{"/", "/admin", "/mcp/x", "/operation", "/token"} {
		if got, _ := request(t, "GET", url+path, "", withToken("Bearer "+testToken)); got != 404 {
			t.Errorf("GET %s: status %d, want 404", path, got)
		}
	}
}

func TestAPortInUseIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := ListenHTTP(l.Addr().String()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v", err)
	}
}

func TestATokenIsMadeOnceAndKeptPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	first, err := Token(path)
	if err != nil || len(first) < 43 {
		t.Fatalf("got %q, %v", first, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: mode %v, %v, want 0600", info.Mode(), err)
	}
	if second, err := Token(path); err != nil || second != first {
		t.Errorf("got %q, then %q, %v", first, second, err)
	}
	other, err := Token(filepath.Join(t.TempDir(), "token"))
	if err != nil || other == first {
		t.Errorf("two directories have the token %q, %v", other, err)
	}
}

func TestATokenThatOthersCouldReadIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	os.WriteFile(path, []byte(testToken), 0o644)
	os.Chmod(path, 0o644)
	if _, err := Token(path); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
}

func TestABrokenTokenFileIsAnError(t *testing.T) {
	for _, content := range []string{"", "short", strings.Repeat("x", tokenLongest+1)} {
		path := filepath.Join(t.TempDir(), "token")
		os.WriteFile(path, []byte(content), 0o600)
		if _, err := Token(path); err == nil || !strings.Contains(err.Error(), "delete the file") {
			t.Errorf("a token of %d bytes: %v", len(content), err)
		}
	}
}

func TestIdleReturnsOnlyWhenNobodyIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u Use
		end := u.Begin()
		idle := make(chan struct{})
		go func() { u.Idle(t.Context(), time.Minute); close(idle) }()
		time.Sleep(time.Hour)
		select {
		case <-idle:
			t.Fatal("idle while a client is served")
		default:
		}
		end()
		ended := time.Now()
		<-idle
		if waited := time.Since(ended); waited < time.Minute || waited > 2*time.Minute {
			t.Errorf("idle after %v", waited)
		}
	})
}

// served runs an HTTP server until stop, which returns once it has ended.
func served(t *testing.T, h *HTTP) (url string, stop func(), ended <-chan error) {
	t.Helper()
	h.Admit, h.Use, h.Logger, h.Ready = admitToken, &Use{}, slog.New(slog.DiscardHandler), func(context.Context) error { return nil }
	l, err := ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l) }()
	return "http://" + l.Addr().String(), cancel, served
}

func TestARequestThatRunsWhenTheServerStopsIsAnswered(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	url, stop, ended := served(t, &HTTP{Routes: map[string]http.Handler{"/slow": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-release
		io.WriteString(w, "done")
	})}})
	answers := make(chan string, 1)
	go func() {
		_, text := request(t, "POST", url+"/slow", "", withToken("Bearer "+testToken))
		answers <- text
	}()
	<-begun
	stop()
	close(release)
	if got := <-answers; got != "done" {
		t.Errorf("answered %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARequestThatOutlastsTheStopIsCancelledAndAnswered(t *testing.T) {
	begun := make(chan struct{})
	stopped := errors.New("the server is stopping")
	url, stop, ended := served(t, &HTTP{Stopped: stopped, Drain: time.Millisecond, Routes: map[string]http.Handler{"/endless": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		io.WriteString(w, context.Cause(r.Context()).Error())
	})}})
	answers := make(chan string, 1)
	go func() {
		_, text := request(t, "POST", url+"/endless", "", withToken("Bearer "+testToken))
		answers <- text
	}()
	<-begun
	stop()
	if got := <-answers; got != stopped.Error() {
		t.Errorf("answered %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARequestAfterTheStopIsRefused(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	handler := untilStopped(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") }))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("POST", "/operation", nil))
	if answer.Body.String() != "served" {
		t.Errorf("answered %s", answer.Body)
	}
	stop()
	answer = httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("POST", "/operation", nil))
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), `"retryable":true`) || answer.Header().Get("Connection") != "close" {
		t.Errorf("answered %d %s", answer.Code, answer.Body)
	}
}
