// Package outbound sends requests to the endpoints that an operator configured: language models and HTTP servers.
//
// Requests go to the endpoint's URL and the paths below it alone, through the proxy of the server's environment if one is
// set. Redirects are not followed. A name is resolved once a connection, and its addresses are checked and dialled as checked.
// Errors for guests contain no addresses, files or variables.
package outbound

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/registry"
)

const (
	bodyLimit   = 2 << 20  // bytes of a response
	headerLimit = 64 << 10 // bytes of a response's header
	keyLimit    = 16 << 10
	errorText   = 300 // bytes of what a server says about a failure that are passed on
)

// Client sends requests to endpoints. The zero value is ready for use.
type Client struct {
	// Kept are the clients that keep connections, for what has no effect; nil: a connection a request.
	Kept    *Kept
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)         // nil: the system's resolver
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // an address that was checked; nil: the network's
	Env     func(name string) string                                             // nil: os.Getenv
	Timeout time.Duration                                                        // per request; 0: 60 seconds
	Sleep   func(context.Context, time.Duration)                                 // waits between attempts; nil: by a timer
	Retries int                                                                  // after temporary failures; 0: 2
	Clock   func() time.Time                                                     // of signatures; nil: time.Now
}

// New returns a Client that reuses connections.
func New() Client {
	return Client{Kept: &Kept{}}
}

// Kept has a client for each reach: no endpoint uses a connection that another one was allowed.
type Kept [privateToo + 1]struct {
	once   sync.Once
	client *http.Client
}

func (c Client) kept(r reach) *http.Client {
	k := &c.Kept[r]
	k.once.Do(func() {
		t := c.transport(r)
		t.ForceAttemptHTTP2, t.MaxIdleConns, t.IdleConnTimeout = true, 20, time.Minute
		k.client = over(t)
	})
	return k.client
}

func (c Client) transport(r reach) *http.Transport {
	d := &dialer{reach: r, resolve: c.Resolve, dial: c.Dial}
	if d.resolve == nil {
		d.resolve = lookUp
	}
	if d.dial == nil {
		d.dial = connect
	}
	return &http.Transport{Proxy: d.proxy, DialContext: d.DialContext, MaxResponseHeaderBytes: headerLimit, TLSHandshakeTimeout: 10 * time.Second}
}

func reachOf(e registry.Endpoint) reach {
	if e.Private {
		return privateToo
	}
	return publicOnly
}

func over(t *http.Transport) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// once returns a client for one request, sent once: net/http resends requests on reused connections and over HTTP/2.
func (c Client) once(r reach) *http.Client {
	t := c.transport(r)
	t.DisableKeepAlives, t.Protocols = true, new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	return over(t)
}

// Public returns a client for addresses from outside, such as those in the metadata of OAuth's clients: it connects to the public
// internet alone, follows no redirects, keeps no connections, and uses no proxy, which would look up names past these checks.
func (c Client) Public() *http.Client {
	client := c.once(strangers)
	client.Transport.(*http.Transport).Proxy = nil
	return client
}

// Failure is an endpoint's failure. Its text contains no more than a guest may know.
type Failure struct {
	reason   string
	cause    error // may contain addresses, files and variables: for the operator's log alone
	noEffect bool
}

// NoEffect reports whether the request certainly had no effect: it never reached the endpoint, or the endpoint refused it.
func (f *Failure) NoEffect() bool { return f.noEffect }

func (f *Failure) Error() string { return f.reason }

// Cause returns the underlying error, for the operator's log.
func (f *Failure) Cause() error { return f.cause }

var _ ops.Outside = Client{}

// Complete requests a completion from a language model.
func (c Client) Complete(ctx context.Context, e registry.Endpoint, q abi.LLMCompleteRequest, leaving ops.Leaving) (abi.LLMCompleteResponse, error) {
	if e.Kind == "ollama" {
		return c.ollama(ctx, e, q, leaving)
	}
	return c.openAI(ctx, e, q, leaving)
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func messages(q abi.LLMCompleteRequest) []chatMessage {
	var list []chatMessage
	if q.System != "" {
		list = append(list, chatMessage{"system", q.System})
	}
	return append(list, chatMessage{"user", q.Prompt})
}

func (c Client) openAI(ctx context.Context, e registry.Endpoint, q abi.LLMCompleteRequest, leaving ops.Leaving) (abi.LLMCompleteResponse, error) {
	request := map[string]any{"model": e.Model, "messages": messages(q), "temperature": q.Temperature}
	if q.MaxTokens > 0 {
		request["max_tokens"] = q.MaxTokens
	}
	if q.JSON {
		request["response_format"] = map[string]string{"type": "json_object"}
	}
	var answer struct {
		Model   string `json:"model"`
		Choices []struct{ Message chatMessage }
		Usage   struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if err := c.post(ctx, e, "chat/completions", request, &answer, leaving); err != nil {
		return abi.LLMCompleteResponse{}, err
	}
	if len(answer.Choices) == 0 {
		return abi.LLMCompleteResponse{}, errors.New("the language model answered without a choice")
	}
	return abi.LLMCompleteResponse{Text: answer.Choices[0].Message.Content, Model: answer.Model, TokensIn: answer.Usage.Prompt, TokensOut: answer.Usage.Completion}, nil
}

func (c Client) ollama(ctx context.Context, e registry.Endpoint, q abi.LLMCompleteRequest, leaving ops.Leaving) (abi.LLMCompleteResponse, error) {
	options := map[string]any{"temperature": q.Temperature}
	if q.MaxTokens > 0 {
		options["num_predict"] = q.MaxTokens
	}
	request := map[string]any{"model": e.Model, "messages": messages(q), "stream": false, "options": options}
	if q.JSON {
		request["format"] = "json"
	}
	var answer struct {
		Model   string
		Message chatMessage
		In      int `json:"prompt_eval_count"`
		Out     int `json:"eval_count"`
	}
	if err := c.post(ctx, e, "api/chat", request, &answer, leaving); err != nil {
		return abi.LLMCompleteResponse{}, err
	}
	return abi.LLMCompleteResponse{Text: answer.Message.Content, Model: answer.Model, TokensIn: answer.In, TokensOut: answer.Out}, nil
}

// post sends and receives JSON. It retries temporary failures without an effect.
func (c Client) post(ctx context.Context, e registry.Endpoint, to string, request, answer any, leaving ops.Leaving) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask the language model: %w", err)
	}
	retries := c.Retries
	if retries == 0 {
		retries = 2
	}
	for attempt := 0; ; attempt++ {
		response, err := c.do(ctx, e, preparedRequest{http.MethodPost, to, nil, http.Header{"Content-Type": {"application/json"}}, body, leaving, 0})
		if err == nil && response.status/100 == 2 {
			if err := json.Unmarshal(response.body, answer); err != nil {
				return fmt.Errorf("read what the language model answered: %w", err)
			}
			return nil
		}
		if err == nil {
			err = refused(response)
		}
		var failed *Failure
		if attempt == retries || ctx.Err() != nil || !errors.As(err, &failed) || !failed.noEffect {
			return err
		}
		c.sleep(ctx, time.Duration(attempt+1)*500*time.Millisecond)
	}
}

// refused is the Failure of an answer with an error status. Two statuses mean no effect; a request with another one may
// have been charged.
func refused(r response) error {
	reason := fmt.Sprintf("the language model answered %d: %.*s", r.status, errorText, bytes.TrimSpace(r.body))
	notNow := r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable
	return &Failure{reason: reason, cause: fmt.Errorf("it answered %d", r.status), noEffect: notNow}
}

func (c Client) sleep(ctx context.Context, d time.Duration) {
	if c.Sleep != nil {
		c.Sleep(ctx, d)
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Fetch sends an HTTP request to an endpoint. Its body is as it is sent; that of the answer is in base64 if the request says so.
func (c Client) Fetch(ctx context.Context, e registry.Endpoint, f abi.HTTPFetchRequest, leaving ops.Leaving) (abi.HTTPFetchResponse, error) {
	header := http.Header{}
	for name, value := range f.Headers {
		if !mayHeader(name) {
			return abi.HTTPFetchResponse{}, fmt.Errorf("the header %.64q cannot be set: the server sets it itself", name)
		}
		header.Set(name, value)
	}
	query := url.Values{}
	for name, value := range f.Query {
		query.Set(name, value)
	}
	method := f.Method
	switch method {
	case "":
		method = http.MethodGet
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return abi.HTTPFetchResponse{}, fmt.Errorf("the method %.16q is not one of GET, HEAD, POST, PUT, PATCH, DELETE", method)
	}
	response, err := c.do(ctx, e, preparedRequest{method, f.Path, query, header, []byte(f.Body), leaving, time.Duration(f.TimeoutMS) * time.Millisecond})
	if err != nil {
		return abi.HTTPFetchResponse{}, err
	}
	out := abi.HTTPFetchResponse{Status: response.status, Headers: map[string]string{}}
	if out.Body = strings.ToValidUTF8(string(response.body), "�"); f.Base64 {
		out.Body = base64.StdEncoding.EncodeToString(response.body)
	}
	for _, name := range []string{"Content-Type", "Etag", "Last-Modified", "Location", "Retry-After", "Link"} {
		if value := response.header.Get(name); value != "" {
			out.Headers[name] = value
		}
	}
	return out, nil
}

// mayHeader reports whether a guest may set a header. Credentials and addresses are the operator's.
func mayHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Authorization", "Cookie", "Proxy-Authorization", "Connection", "Transfer-Encoding", "Content-Length", "Upgrade", "Te", "Trailer",
		signedTime, signedSignature:
		return false
	}
	return true
}

// preparedRequest is a request to be sent.
type preparedRequest struct {
	method, to string
	query      url.Values
	header     http.Header
	body       []byte
	leaving    ops.Leaving
	timeout    time.Duration // 0: the client's
}

// repeatable reports whether the request may be sent more than once.
func (o preparedRequest) repeatable() bool {
	return o.method == http.MethodGet || o.method == http.MethodHead
}

type response struct {
	status int
	header http.Header
	body   []byte
}

func (c Client) do(ctx context.Context, e registry.Endpoint, o preparedRequest) (response, error) {
	timeout := cmp.Or(o.timeout, c.Timeout, time.Minute)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	address, err := below(e.URL, o.to, o.query)
	if err != nil {
		return response{}, err
	}
	request, err := http.NewRequestWithContext(ctx, o.method, address, bytes.NewReader(o.body))
	if err != nil {
		return response{}, fmt.Errorf("reach the endpoint: %w", err)
	}
	request.Header = o.header
	if p := trace.Of(ctx); p.Trace() != "" && request.Header.Get(trace.Header) == "" {
		request.Header.Set(trace.Header, p.String())
	}
	key, err := c.key(e)
	if err != nil {
		return response{}, err
	}
	if err := c.authenticate(request, e, key, o.body); err != nil {
		return response{}, err
	}
	client := c.client(reachOf(e))
	if !o.repeatable() {
		client, request.GetBody = c.once(reachOf(e)), nil
	}
	if err := o.leaving(ctx); err != nil {
		return response{}, err
	}
	answered, err := client.Do(request)
	if err != nil {
		failure := unreachable(err)
		failure.noEffect = !connected.Load()
		return response{}, failure
	}
	defer answered.Body.Close()
	most := min(cmp.Or(e.AnswerBytes, bodyLimit), bodyLimit)
	data, err := io.ReadAll(io.LimitReader(answered.Body, most+1))
	if err != nil {
		return response{}, unreachable(err)
	}
	if int64(len(data)) > most {
		return response{}, tooLong(most)
	}
	if repeats(answered.Header, data, key) {
		return response{}, errors.New("the endpoint's answer contains the key that it was sent, and is withheld")
	}
	return response{answered.StatusCode, answered.Header, data}, nil
}

// tooLong is the error of an answer with more bytes than that.
type tooLong int64

func (t tooLong) Error() string {
	return fmt.Sprintf("the endpoint answered more than %d bytes, which is the limit", int64(t))
}

// TooLong returns the limit.
func (t tooLong) TooLong() int64 { return int64(t) }

func (c Client) client(r reach) *http.Client {
	if c.Kept != nil {
		return c.kept(r)
	}
	return c.once(r)
}

// unreachable returns the failure of a request without an answer. Its text contains nothing of the operator's
// configuration.
func unreachable(err error) *Failure {
	reason := "the connection failed, or its answer is not HTTP"
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var late interface{ Timeout() bool }
	switch {
	case errors.Is(err, errForbidden):
		reason = errForbidden.Error()
	case errors.Is(err, context.Canceled):
		reason = "the request was given up"
	case errors.As(err, &late) && late.Timeout():
		reason = "it did not answer in time"
	case errors.As(err, &name):
		reason = "its name is not known"
	case errors.As(err, &certificate):
		reason = "its certificate is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "it does not accept connections"
	}
	return &Failure{reason: "the endpoint cannot be reached: " + reason, cause: err}
}

// below returns a URL below the endpoint's.
func below(base, to string, query url.Values) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("the endpoint's URL: %w", err)
	}
	if strings.ContainsAny(to, "?#\\") || strings.Contains(to, "://") {
		return "", fmt.Errorf("the path %.100q may have no query, fragment, backslash or scheme: give the query apart", to)
	}
	if to != "" {
		root := strings.TrimSuffix(u.Path, "/")
		joined := path.Join("/", to) // removes .. before the root is prepended
		if strings.HasSuffix(to, "/") && joined != "/" {
			joined += "/"
		}
		u.Path = root + joined
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

const noKey = "the endpoint's key cannot be read: the reason is in the server's log"

// key returns the endpoint's key; empty if none is configured.
func (c Client) key(e registry.Endpoint) (string, error) {
	switch {
	case e.KeyEnv != "":
		env := c.Env
		if env == nil {
			env = os.Getenv
		}
		key := env(e.KeyEnv)
		if key == "" {
			return "", &Failure{reason: noKey, cause: fmt.Errorf("the environment variable %s is not set", e.KeyEnv)}
		}
		return key, nil
	case e.KeyFile != "":
		data, err := regular.Read(e.KeyFile, keyLimit)
		if err == nil && len(bytes.TrimSpace(data)) == 0 {
			err = fmt.Errorf("the file %s has no key", e.KeyFile)
		}
		if err != nil {
			return "", &Failure{reason: noKey, cause: err}
		}
		return strings.TrimSpace(string(data)), nil
	}
	return "", nil
}
