package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// lengths is a server whose vectors are the length of a text, a constant and the place of the text in its request.
type lengths struct {
	*httptest.Server
	mu       sync.Mutex
	requests []map[string]any
	keys     []string
	fail     atomic.Int64 // how many requests to answer with status first
	status   int
	header   http.Header
	body     string // of failures
}

func newLengths(t *testing.T) *lengths {
	t.Helper()
	l := &lengths{status: http.StatusServiceUnavailable}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	return l
}

func (l *lengths) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request map[string]any
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	l.requests = append(l.requests, request)
	l.keys = append(l.keys, r.Header.Get("Authorization"))
	l.mu.Unlock()
	if l.fail.Add(-1) >= 0 {
		for name, values := range l.header {
			w.Header()[name] = values
		}
		w.WriteHeader(l.status)
		fmt.Fprint(w, l.body)
		return
	}
	var vectors [][]float32
	for i, text := range request["input"].([]any) {
		vectors = append(vectors, []float32{float32(len(text.(string))), 1, float32(i)})
	}
	switch r.URL.Path {
	case "/v1/embeddings":
		data := []any{}
		for i, v := range vectors {
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
		}
		slices.Reverse(data) // the order of the answer is not that of the texts
		json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "usage": map[string]int{"total_tokens": 7}})
	case "/api/embed":
		json.NewEncoder(w).Encode(map[string]any{"model": request["model"], "embeddings": vectors, "total_duration": 1})
	default:
		http.NotFound(w, r)
	}
}

func (l *lengths) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.requests)
}

func openAI(l *lengths) Config {
	return Config{Name: "test", Kind: OpenAI, URL: l.URL + "/v1", Model: "small"}
}

// opened opens a server that waits no longer than it must before it asks again.
func opened(t *testing.T, c Config, env map[string]string) Embedder {
	t.Helper()
	e, err := Open(c, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := e.(*server); ok {
		s.wait = time.Millisecond
	}
	return e
}

func TestEachTextGetsItsOwnVectorWhateverTheOrderOfTheAnswer(t *testing.T) {
	l := newLengths(t)
	for _, c := range []Config{openAI(l), {Name: "test", Kind: Ollama, URL: l.URL, Model: "small"}} {
		e := opened(t, c, nil)
		vectors, err := e.Embed(t.Context(), []string{"a", "bbb", ""})
		if err != nil || len(vectors) != 3 || vectors[0][0] != 1 || vectors[1][0] != 3 || vectors[2][0] != 0 {
			t.Errorf("%s: Embed = %v, %v, want 3 vectors that begin with 1, 3, 0", c.Kind, vectors, err)
		}
		if e.Dimensions() != 3 || e.Name() != "test" {
			t.Errorf("%s: %d dimensions, called %s", c.Kind, e.Dimensions(), e.Name())
		}
	}
	if got := l.requests[0]["model"]; got != "small" {
		t.Errorf("the model asked for is %v", got)
	}
}

func TestManyTextsGoInBatches(t *testing.T) {
	l := newLengths(t)
	c := openAI(l)
	c.Batch = 4
	vectors, err := opened(t, c, nil).Embed(t.Context(), make([]string, 10))
	if err != nil || len(vectors) != 10 || l.asked() != 3 {
		t.Errorf("%d vectors in %d requests, %v", len(vectors), l.asked(), err)
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	l := newLengths(t)
	l.fail.Store(2)
	if _, err := opened(t, openAI(l), nil).Embed(t.Context(), []string{"x"}); err != nil || l.asked() != 3 {
		t.Errorf("%d requests, %v", l.asked(), err)
	}
	l.fail.Store(100)
	if _, err := opened(t, openAI(l), nil).Embed(t.Context(), []string{"x"}); err == nil || l.asked() != 3+attempts {
		t.Errorf("%d requests, %v", l.asked(), err)
	}
}

func TestAServerThatRefusesIsNotAskedAgain(t *testing.T) {
	l := newLengths(t)
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound, http.StatusFound} {
		before := l.asked()
		l.status = status
		l.fail.Store(1)
		_, err := opened(t, openAI(l), nil).Embed(t.Context(), []string{"x"})
		if err == nil || l.asked() != before+1 {
			t.Errorf("%d: %d requests, %v", status, l.asked()-before, err)
		}
		if errors.Is(err, ErrRefused) != (status == http.StatusBadRequest) {
			t.Errorf("status %d: %v, want ErrRefused: %t", status, err, status == http.StatusBadRequest)
		}
	}
}

func TestTheServerSaysHowLongToWait(t *testing.T) {
	l := newLengths(t)
	l.status, l.header = http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}
	l.fail.Store(1)
	start := time.Now()
	if _, err := opened(t, openAI(l), nil).Embed(t.Context(), []string{"x"}); err != nil || time.Since(start) < time.Second {
		t.Errorf("asked again after %v, %v", time.Since(start), err)
	}
}

func TestTheKeyComesFromTheEnvironmentOrAFileAndIsNeverShown(t *testing.T) {
	l := newLengths(t)
	l.status, l.body = http.StatusUnauthorized, `{"error":"wrong key sk-secret-1"}`
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("sk-secret-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fromEnv, fromFile := openAI(l), openAI(l)
	fromEnv.KeyEnv, fromFile.KeyFile = "THE_KEY", file
	for _, c := range []Config{fromEnv, fromFile} {
		l.fail.Store(1)
		_, err := opened(t, c, map[string]string{"THE_KEY": "sk-secret-1"}).Embed(t.Context(), []string{"x"})
		if err == nil || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("the error is %v", err)
		}
		if got := l.keys[len(l.keys)-1]; got != "Bearer sk-secret-1" {
			t.Errorf("the key presented is %q", got)
		}
	}
	if _, err := opened(t, fromEnv, nil).Embed(t.Context(), []string{"x"}); err == nil || !strings.Contains(err.Error(), "THE_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

func TestAServerThatCannotBeReachedIsAnErrorInTime(t *testing.T) {
	l := newLengths(t)
	c := openAI(l)
	l.Close()
	ctx, cancel := context.WithDeadline(t.Context(), await.Deadline())
	defer cancel()
	if _, err := opened(t, c, nil).Embed(ctx, []string{"x"}); err == nil || ctx.Err() != nil {
		t.Errorf("Embed: %v, want an error before the deadline", err)
	}
}

func TestASlowServerIsGivenUp(t *testing.T) {
	done := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(done) })
	e := opened(t, Config{Name: "slow", Kind: Ollama, URL: slow.URL, Model: "m", TimeoutMS: 20}, nil)
	if _, err := e.Embed(t.Context(), []string{"x"}); err == nil {
		t.Error("there is an answer")
	}
}

func TestAnswersThatDoNotFitAreErrors(t *testing.T) {
	answer := ""
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
	t.Cleanup(odd.Close)
	for _, a := range []string{
		"", "[]", `{"data":[]}`, `{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[]}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":["x"]}]}`,
	} {
		answer = a
		e := opened(t, Config{Name: "odd", Kind: OpenAI, URL: odd.URL, Model: "m"}, nil)
		if v, err := e.Embed(t.Context(), []string{"x", "y"}); err == nil {
			t.Errorf("%s is taken for %v", a, v)
		}
	}
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	good := Config{Name: "a", Kind: OpenAI, URL: "https://example.org/v1", Model: "m"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"name":       func(c *Config) { c.Name = "../x" },
		"no name":    func(c *Config) { c.Name = "" },
		"kind":       func(c *Config) { c.Kind = "magic" },
		"scheme":     func(c *Config) { c.URL = "file:///etc/passwd" },
		"password":   func(c *Config) { c.URL = "https://user:secret@example.org" },
		"model":      func(c *Config) { c.Model = "" },
		"two keys":   func(c *Config) { c.KeyEnv, c.KeyFile = "A", "b" },
		"dimensions": func(c *Config) { c.Dimensions = MaxDimensions + 1 },
		"metric":     func(c *Config) { c.Metric = "euclid" },
		"batch":      func(c *Config) { c.Batch = 5000 },
		"timeout":    func(c *Config) { c.TimeoutMS = -1 },
		"chars":      func(c *Config) { c.MaxChars = -1 },
		"prefix":     func(c *Config) { c.QueryPrefix = strings.Repeat("x", 1001) },
		"path":       func(c *Config) { c.Kind = Static },
		"family":     func(c *Config) { c.Kind = Family },
		"given":      func(c *Config) { c.Kind = Given },
	} {
		c := good
		change(&c)
		if err := c.Check(); err == nil {
			t.Errorf("%s: %+v passes", name, c)
		}
	}
}

func TestAFunctionIsAnEmbedderWhoseVectorsAreChecked(t *testing.T) {
	f := Func{Called: "mine", Vectors: 2, F: func(_ context.Context, texts []string) ([][]float32, error) {
		if texts[0] == "odd" {
			return [][]float32{{1, 2, 3}}, nil
		}
		return [][]float32{{1, 2}}, nil
	}}
	if v, err := f.Embed(t.Context(), []string{"x"}); err != nil || v[0][1] != 2 || f.Dimensions() != 2 || f.Name() != "mine" {
		t.Errorf("Embed = %v, %v, want one vector of mine with 2 dimensions", v, err)
	}
	for _, texts := range [][]string{{"odd"}, {"x", "y"}} {
		if v, err := f.Embed(t.Context(), texts); err == nil {
			t.Errorf("%v gets %v", texts, v)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3,4]}]}`), false)
	f.Add([]byte(`{"embeddings":[[1,2],[3,4]]}`), true)
	f.Fuzz(func(t *testing.T, body []byte, ollama bool) {
		s := &server{config: Config{Kind: OpenAI}}
		if ollama {
			s.config.Kind = Ollama
		}
		if vectors, err := s.decode(body, 2); err == nil {
			if err := check(vectors, 2, 0); err != nil {
				t.Error(err)
			}
		}
	})
}
