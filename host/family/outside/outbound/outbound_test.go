package outbound

import (
	"bufio"
	"context"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// serve is a server that notes what it was asked.
func serve(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) (address string, asked *[]*http.Request, bodies *[]string) {
	t.Helper()
	asked, bodies = new([]*http.Request), new([]string)
	var noting sync.Mutex // a request may arrive while an abandoned one is still answered
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		noting.Lock()
		*asked, *bodies = append(*asked, r), append(*bodies, string(body))
		n := len(*asked)
		noting.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked, bodies
}

// out lets every request go.
func out(context.Context) error { return nil }

func quick() Client {
	return Client{Sleep: func(context.Context, time.Duration) {}, Env: func(string) string { return "k3y" }, Timeout: await.Limit}
}

func TestAModelIsAskedInTheProtocolOfItsKind(t *testing.T) {
	cases := map[string]struct{ path, answer string }{
		"openai": {"/v1/chat/completions", `{"model":"m2","choices":[{"message":{"role":"assistant","content":"tags"}}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`},
		"ollama": {"/v1/api/chat", `{"model":"m2","message":{"role":"assistant","content":"tags"},"prompt_eval_count":7,"eval_count":2}`},
	}
	for kind, c := range cases {
		address, asked, bodies := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.answer) })
		e := registry.Endpoint{Kind: kind, URL: address + "/v1", Model: "m", KeyEnv: "KEY"}
		got, err := quick().Complete(t.Context(), e, abi.LLMCompleteRequest{System: "be brief", Prompt: "tag this", MaxTokens: 9, JSON: true}, out)
		if err != nil || got != (abi.LLMCompleteResponse{Text: "tags", Model: "m2", TokensIn: 7, TokensOut: 2}) {
			t.Fatalf("%s: Complete = %+v, %v, want tags of m2 with 7 and 2 tokens", kind, got, err)
		}
		r := (*asked)[0]
		var sent struct {
			Model    string
			Messages []chatMessage
		}
		if err := json.Unmarshal([]byte((*bodies)[0]), &sent); err != nil {
			t.Fatal(err)
		}
		if r.URL.Path != c.path || r.Header.Get("Authorization") != "Bearer k3y" || sent.Model != "m" || len(sent.Messages) != 2 || sent.Messages[1].Content != "tag this" {
			t.Errorf("%s was asked %s with %s", kind, r.URL.Path, (*bodies)[0])
		}
	}
}

func TestAModelThatSaysNotNowIsAskedAgainAndOneThatMayHaveWorkedIsNot(t *testing.T) {
	for status, want := range map[int]int{http.StatusServiceUnavailable: 3, http.StatusTooManyRequests: 3, http.StatusUnauthorized: 1, http.StatusInternalServerError: 1, http.StatusGatewayTimeout: 1} {
		address, asked, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := quick().Complete(t.Context(), registry.Endpoint{Kind: "openai", URL: address, Model: "m"}, abi.LLMCompleteRequest{Prompt: "x"}, out)
		if err == nil || len(*asked) != want {
			t.Errorf("after %d it was asked %d times: %v", status, len(*asked), err)
		}
	}
	address, asked, _ := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, `{"choices":[{"message":{"content":"yes"}}]}`)
	})
	got, err := quick().Complete(t.Context(), registry.Endpoint{Kind: "openai", URL: address, Model: "m"}, abi.LLMCompleteRequest{Prompt: "x"}, out)
	if err != nil || got.Text != "yes" || len(*asked) != 2 {
		t.Errorf("%+v after %d, %v", got, len(*asked), err)
	}
}

func TestNoPathLeavesTheEndpoint(t *testing.T) {
	address, asked, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) })
	e := registry.Endpoint{Kind: "http", URL: address + "/api/v1"}
	for to, want := range map[string]string{"": "/api/v1", "things/1": "/api/v1/things/1", "/../../etc": "/api/v1/etc", "..": "/api/v1/", "a/": "/api/v1/a/"} {
		got, err := quick().Fetch(t.Context(), e, abi.HTTPFetchRequest{Path: to}, out)
		if err != nil || got.Body != want {
			t.Errorf("%q led to %q, %v", to, got.Body, err)
		}
	}
	before := len(*asked)
	for _, f := range []abi.HTTPFetchRequest{{Path: "a?b=c"}, {Path: "http://elsewhere"}, {Path: "a#b"}, {Path: `a\b`}, {Method: "CONNECT"}, {Headers: map[string]string{"Host": "elsewhere"}},
		{Headers: map[string]string{"authorization": "mine"}}} {
		if _, err := quick().Fetch(t.Context(), e, f, out); err == nil {
			t.Errorf("%+v was done", f)
		}
	}
	if len(*asked) != before {
		t.Error("something refused was sent all the same")
	}
}

// The body that is sent is as it is here: what base64 a guest gave is decoded where its size is counted.
func TestBytesThatAreNoTextComeInBase64(t *testing.T) {
	image := []byte{0x89, 'P', 'N', 'G', 0xff, 0xfe, 0}
	address, _, bodies := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.Write(image) })
	e := registry.Endpoint{Kind: "http", URL: address}
	got, err := quick().Fetch(t.Context(), e, abi.HTTPFetchRequest{Method: "POST", Body: string(image), Base64: true}, out)
	if want := base64.StdEncoding.EncodeToString(image); err != nil || got.Body != want || (*bodies)[0] != string(image) {
		t.Errorf("sent %x and got %q, %v, want %x and %q", *bodies, got.Body, err, image, want)
	}
	if got, err := quick().Fetch(t.Context(), e, abi.HTTPFetchRequest{}, out); err != nil || !utf8.ValidString(got.Body) {
		t.Errorf("without base64: %q, %v, want text", got.Body, err)
	}
	large, _, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, bodyLimit+1)) })
	if _, err := quick().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: large}, abi.HTTPFetchRequest{Base64: true}, out); err == nil || !strings.Contains(err.Error(), "2097152 bytes") {
		t.Errorf("too large an answer in base64: %v, want the limit of its bytes", err)
	}
}

func TestRedirectsAreAnswersAndNotFollowed(t *testing.T) {
	other, otherAsked, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {})
	address, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusFound) })
	got, err := quick().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{}, out)
	if err != nil || got.Status != http.StatusFound || got.Headers["Location"] != other || len(*otherAsked) != 0 {
		t.Errorf("%+v, %v; the other server was asked %d times", got, err, len(*otherAsked))
	}
}

func TestWhatAnEndpointAnswersHasALimit(t *testing.T) {
	address, _, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, bodyLimit+1)) })
	if _, err := quick().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{}, out); err == nil || !strings.Contains(err.Error(), "2097152 bytes") {
		t.Errorf("Fetch: %v, want an error that names 2097152 bytes", err)
	}
}

func TestAKeyComesFromAFileAndIsInNoError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address, asked, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	_, err := quick().Complete(t.Context(), registry.Endpoint{Kind: "openai", URL: address, Model: "m", KeyFile: path}, abi.LLMCompleteRequest{Prompt: "x"}, out)
	if err == nil || strings.Contains(err.Error(), "s3cret") || (*asked)[0].Header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("Complete: %v, want an error without the key, which was sent", err)
	}
	missing := Client{Env: func(string) string { return "" }}
	for _, e := range []registry.Endpoint{{Kind: "http", URL: address, KeyEnv: "NONE"}, {Kind: "http", URL: address, KeyFile: path + ".none"}} {
		_, err := missing.Fetch(t.Context(), e, abi.HTTPFetchRequest{}, out)
		var f *Failure
		if !errors.As(err, &f) || strings.Contains(err.Error(), "NONE") || strings.Contains(err.Error(), path) || !strings.Contains(f.Cause().Error(), e.KeyEnv+e.KeyFile) {
			t.Errorf("a key that is not there: %v", err)
		}
	}
}

func TestAGuestIsNotToldWhereAnEndpointIs(t *testing.T) {
	gone, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := "http://" + listener.Addr().String()
	listener.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	slow, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	cases := map[string]string{refusing: "accept", secure.URL: "certificate", slow: "in time", strings.Replace(gone, "http", "https", 1): "not HTTP"}
	for address, why := range cases {
		c := quick()
		if address == slow {
			c.Timeout = 50 * time.Millisecond
		}
		_, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{}, out)
		var f *Failure
		if !errors.As(err, &f) || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("Fetch: %v, want a Failure that says %q, without the address", err, why)
		}
	}
}

func TestAnAnswersHeaderHasALimit(t *testing.T) {
	address, _, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", strings.Repeat("x", 2*headerLimit))
	})
	for _, c := range []Client{quick(), New()} {
		if got, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{}, out); err == nil {
			t.Errorf("it was answered with %d bytes", len(got.Headers["Link"]))
		}
	}
}

func TestABodyThatNeverEndsIsGivenUp(t *testing.T) {
	address, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("a"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := quick()
	c.Timeout = 200 * time.Millisecond
	if _, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{}, out); err == nil {
		t.Error("a body that never ends was taken")
	}
}

// breaking accepts connections, reads a request from each, and closes it; the first answers of each connection are given.
func breaking(t *testing.T, answers int) (address string, asked *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = new(atomic.Int32)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for n := 0; ; n++ {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					asked.Add(1)
					io.Copy(io.Discard, r.Body)
					if n == answers {
						return // without an answer
					}
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				}
			})
		}
	})
	t.Cleanup(func() { listener.Close(); serving.Wait() })
	return "http://" + listener.Addr().String(), asked
}

func TestARequestThatMayHaveAnEffectGoesOutOnce(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		address, asked := breaking(t, 1) // answers once on a connection, then drops it with the next request
		c := New()
		c.Timeout = await.Limit
		e := registry.Endpoint{Kind: "http", URL: address}
		if _, err := c.Fetch(t.Context(), e, abi.HTTPFetchRequest{}, out); err != nil { // leaves a connection behind
			t.Fatal(err)
		}
		header := map[string]string{"Idempotency-Key": "1"} // for which net/http repeats requests
		if _, err := c.Fetch(t.Context(), e, abi.HTTPFetchRequest{Method: method, Headers: header}, out); err != nil {
			t.Errorf("%s over a connection that the server drops: %v", method, err)
		}
		if got := asked.Load(); got != 2 {
			t.Errorf("GET and %s were %d requests", method, got)
		}
		c.kept(publicOnly).CloseIdleConnections()
	}
	address, asked := breaking(t, 0)
	for _, f := range []abi.HTTPFetchRequest{{Method: "POST", Body: "a"}, {Method: "DELETE"}} {
		before := asked.Load()
		_, err := New().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, f, out)
		var failed *Failure
		if got := asked.Load() - before; !errors.As(err, &failed) || failed.NoEffect() || got != 1 {
			t.Errorf("%s without an answer went out %d times: %v", f.Method, got, err)
		}
	}
	before := asked.Load()
	_, err := quick().Complete(t.Context(), registry.Endpoint{Kind: "openai", URL: address, Model: "m"}, abi.LLMCompleteRequest{Prompt: "x"}, out)
	var failed *Failure
	if got := asked.Load() - before; !errors.As(err, &failed) || failed.NoEffect() || got != 1 {
		t.Errorf("a completion without an answer was asked for %d times: %v", got, err)
	}
}

func TestARequestThatNeverLeftHasNoEffect(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := registry.Endpoint{Kind: "http", URL: "http://" + listener.Addr().String()}
	listener.Close()
	var failed *Failure
	if _, err := quick().Fetch(t.Context(), refusing, abi.HTTPFetchRequest{Method: "POST"}, out); !errors.As(err, &failed) || !failed.NoEffect() {
		t.Errorf("nobody listens: %v", err)
	}
	address, asked, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	if _, err := quick().Complete(t.Context(), registry.Endpoint{Kind: "openai", URL: address, Model: "m"}, abi.LLMCompleteRequest{Prompt: "x"}, out); !errors.As(err, &failed) || !failed.NoEffect() {
		t.Errorf("a model that says not now: %v", err)
	}
	before := len(*asked)
	stay := errors.New("stay")
	_, err = quick().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{Method: "POST"}, func(context.Context) error { return stay })
	if !errors.Is(err, stay) || len(*asked) != before {
		t.Errorf("a request that is kept in left: %v", err)
	}
	told := false
	_, err = quick().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{Method: "POST", Path: "a?b"}, func(context.Context) error { told = true; return nil })
	if err == nil || told {
		t.Errorf("a request that is wrong was about to leave: %v", err)
	}
}

func TestAnAnswerThatRepeatsTheKeyIsWithheld(t *testing.T) {
	const secret = "a-secret-of-the-operator"
	client := quick()
	client.Env = func(string) string { return secret }
	for name, encode := range map[string]func(string) string{
		"as it is": func(s string) string { return s }, "base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("Bearer " + s)) },
		"hex": func(s string) string { return hex.EncodeToString([]byte(s)) }, "escaped": func(s string) string { return url.QueryEscape("a&" + s) },
		"upper case":       strings.ToUpper,
		"backwards":        backwards,
		"base32":           func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
		"base32 of more":   func(s string) string { return base32.StdEncoding.EncodeToString([]byte("xy" + s + "z")) },
		"a hex dump":       func(s string) string { return strings.Trim(fmt.Sprintf("% x", s), "[]") },
		"byte values":      func(s string) string { return fmt.Sprint([]byte(s)) },
		"in two strings":   func(s string) string { return s[:9] + `","` + s[9:] },
		"with hyphens":     func(s string) string { return strings.Join(strings.Split(s, ""), "-") },
		"with zero widths": func(s string) string { return strings.Join(strings.Split(s, ""), "\u200b") },
	} {
		for _, inHeader := range []bool{false, true} {
			address, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
				said := encode(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
				if inHeader {
					w.Header().Set("Location", "/"+said)
				} else {
					io.WriteString(w, `{"you sent":"`+said+`"}`)
				}
			})
			got, err := client.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address, KeyEnv: "KEY"}, abi.HTTPFetchRequest{Method: "POST"}, out)
			if err == nil || !strings.Contains(err.Error(), "withheld") || strings.Contains(err.Error(), secret) {
				t.Errorf("%s, in a header %t: %+v, %v", name, inHeader, got, err)
			}
		}
	}
}

func backwards(s string) string {
	out := []byte(s)
	slices.Reverse(out)
	return string(out)
}

func TestAnAnswerWithoutTheKeyIsPassedOn(t *testing.T) {
	for key, body := range map[string]string{
		"a-secret-of-the-operator": `{"note":"a secret of some operator"}`, "a-b-c": "abc", "": "anything", "0123456789abcdef": `{"id":"0123456789abcde"}`,
	} {
		if repeats(http.Header{"Etag": {body}}, []byte(body), key) {
			t.Errorf("%s is withheld for the key %q, which it does not have", body, key)
		}
	}
}

func TestARequestMayHaveAShorterTime(t *testing.T) {
	done := make(chan struct{})
	address, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "the beginning")
		http.NewResponseController(w).Flush()
		<-done
	})
	defer close(done)
	_, err := quick().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{Method: "POST", TimeoutMS: 20}, out)
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("the answer that never ends: %v", err)
	}
}
