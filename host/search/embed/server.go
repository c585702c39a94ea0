package embed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Retries of failed requests.
const (
	attempts     = 4
	firstWait    = 300 * time.Millisecond
	longestWait  = 20 * time.Second
	longestReply = 256 << 20 // bytes
	defaultBatch = 32
)

// server is an Embedder over HTTP.
type server struct {
	config     Config
	getenv     func(string) string
	client     *http.Client
	wait       time.Duration // before the first retry
	dimensions atomic.Int64
}

func newServer(c Config, getenv func(string) string) *server {
	s := &server{config: c, getenv: getenv, wait: firstWait, client: &http.Client{
		Timeout: c.timeout(),
		// A redirected POST would lose its body or carry the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s.dimensions.Store(int64(c.Dimensions))
	return s
}

// Name implements Embedder.
func (s *server) Name() string { return s.config.Name }

// Dimensions implements Embedder.
func (s *server) Dimensions() int { return int(s.dimensions.Load()) }

// Embed implements Embedder. It sends batches, and retries when the server is busy or unreachable.
func (s *server) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for size := cmp.Or(s.config.Batch, defaultBatch); len(texts) > 0; {
		n := min(size, len(texts))
		vectors, err := s.embedWithRetry(ctx, texts[:n])
		if err != nil {
			return nil, fmt.Errorf("embed with %s: %w", s.config.Name, err)
		}
		all, texts = append(all, vectors...), texts[n:]
	}
	return all, nil
}

func (s *server) embedWithRetry(ctx context.Context, texts []string) ([][]float32, error) {
	wait := s.wait
	for attempt := 1; ; attempt++ {
		vectors, again, err := s.ask(ctx, texts)
		if err == nil {
			return vectors, nil
		}
		if attempt == attempts || again < 0 || ctx.Err() != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(max(again, wait/2+rand.N(wait/2+1))):
		}
		wait = min(2*wait, longestWait)
	}
}

// never is the wait after an error for which a retry is useless.
const never = -1

// ask sends one request. After a failure, again is the least wait before a retry.
func (s *server) ask(ctx context.Context, texts []string) (vectors [][]float32, again time.Duration, err error) {
	key, err := s.config.key(s.getenv)
	if err != nil {
		return nil, never, err
	}
	request, err := s.request(ctx, texts, key)
	if err != nil {
		return nil, never, err
	}
	reply, err := s.client.Do(request)
	if err != nil {
		return nil, 0, errors.New(without(err.Error(), key)) // it contains the URL and perhaps a proxy's text
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, longestReply+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("read the answer: %w", err)
	case len(body) > longestReply:
		return nil, never, fmt.Errorf("the answer is longer than %d bytes", longestReply)
	case reply.StatusCode != http.StatusOK:
		return s.failed(reply, body, key)
	}
	vectors, err = s.decode(body, len(texts))
	if err != nil {
		return nil, never, err
	}
	s.dimensions.CompareAndSwap(0, int64(len(vectors[0])))
	return vectors, 0, check(vectors, len(texts), s.Dimensions())
}

func (s *server) request(ctx context.Context, texts []string, key string) (*http.Request, error) {
	path, body := "/embeddings", map[string]any{"model": s.config.Model, "input": texts}
	if s.config.Kind == Ollama {
		path = "/api/embed"
	} else {
		body["encoding_format"] = "float"
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.config.URL, "/")+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return request, nil
}

// failed returns the error of an answer without status 200, and the wait before a retry.
func (s *server) failed(reply *http.Response, body []byte, key string) ([][]float32, time.Duration, error) {
	err := fmt.Errorf("%s answers %s: %.200s", s.config.URL, reply.Status, without(string(bytes.TrimSpace(body)), key))
	switch code := reply.StatusCode; {
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		seconds, bad := strconv.Atoi(reply.Header.Get("Retry-After"))
		if bad != nil || seconds < 0 {
			seconds = 0
		}
		return nil, min(time.Duration(min(seconds, 3600))*time.Second, longestWait), err
	case code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge || code == http.StatusUnprocessableEntity:
		return nil, never, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil, never, err
}

// without redacts a secret in a text.
func without(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "[key]")
}

// decode parses the vectors of an answer.
func (s *server) decode(body []byte, texts int) ([][]float32, error) {
	if s.config.Kind == Ollama {
		var answer struct {
			Embeddings [][]float32 `json:"embeddings"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		return answer.Embeddings, check(answer.Embeddings, texts, 0)
	}
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	vectors := make([][]float32, texts)
	if len(answer.Data) != texts {
		return nil, fmt.Errorf("%d vectors came for %d texts", len(answer.Data), texts)
	}
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= texts || vectors[d.Index] != nil {
			return nil, fmt.Errorf("the answer has a vector for text %d, twice or of %d texts", d.Index, texts)
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, check(vectors, texts, 0)
}
