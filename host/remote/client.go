package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/weburl"
)

const (
	connectWithin = 10 * time.Second
	answerWithin  = 2 * time.Minute
	longestURL    = 2048     // bytes
	longestKey    = 4096     // bytes
	longestAnswer = 16 << 20 // bytes of an answer other than a page
)

// Client is a Peer over HTTP.
type Client struct {
	url    string
	key    string
	client *http.Client

	packing packing
}

// newClient returns a client of a server, with an API key and the certificates to trust; nil: the system's. It does not connect.
func newClient(address, key string, roots *x509.CertPool) (*Client, error) {
	parsed, err := checkURL(address)
	if err != nil {
		return nil, err
	}
	if len(key) > longestKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, invalid("the key must be one word of at most %d bytes, as alcove key create printed it", longestKey)
	}
	if parsed.Scheme == "http" && key != "" && !weburl.IsHere(parsed.Hostname()) {
		return nil, invalid("%s would show the key to everybody on the way: use https://", address)
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectWithin}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   connectWithin,
		ResponseHeaderTimeout: answerWithin,
		IdleConnTimeout:       time.Minute,
		DisableCompression:    true,
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{url: strings.TrimRight(parsed.String(), "/"), key: key, client: client}, nil
}

// checkURL reads the URL of a server.
func checkURL(address string) (*url.URL, error) {
	if len(address) > longestURL {
		return nil, invalid("the URL has %d bytes: at most %d are allowed", len(address), longestURL)
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, invalid("%.200q is not the URL of a server: give one such as https://memory.example:9742", address)
	}
	if parsed.User != nil || parsed.Fragment != "" || parsed.RawQuery != "" {
		return nil, invalid("the URL of a server has no user, ? and #: give the key with --key-file")
	}
	return parsed, nil
}

// Introduce implements Peer.
func (c *Client) Introduce(ctx context.Context, r introduction) (a introduced, err error) {
	return a, c.ask(ctx, introducePath, r, &a)
}

// Versions implements Peer.
func (c *Client) Versions(ctx context.Context, r request) (page, error) {
	body, err := c.post(ctx, versionsPath, r)
	if err != nil {
		return page{}, err
	}
	defer body.Close()
	return c.packing.read(body)
}

// Receive implements Peer.
func (c *Client) Receive(ctx context.Context, p page) (done Result, err error) {
	return done, c.ask(ctx, receivePath, p, &done)
}

// ask sends a request and reads its answer.
func (c *Client) ask(ctx context.Context, path string, in, out any) error {
	body, err := c.post(ctx, path, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, longestAnswer)).Decode(out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.url, err)
	}
	return nil
}

// post sends a request. The caller closes the body of the answer.
func (c *Client) post(ctx context.Context, path string, in any) (io.ReadCloser, error) {
	body, kind, err := c.encode(in)
	if err != nil {
		return nil, err
	}
	for waited := time.Duration(0); ; {
		answer, err := c.send(ctx, path, kind, body)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode == http.StatusOK {
			return answer.Body, nil
		}
		refused := c.refused(answer)
		answer.Body.Close()
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		pause := time.Duration(max(seconds, 1)) * time.Second
		if err != nil || answer.StatusCode != http.StatusTooManyRequests || waited+pause > patience {
			return nil, refused
		}
		waited += pause
		if sleep(ctx, pause); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// patience is the total time that a request waits for the rate limits of its key.
const patience = 2 * time.Minute

// encode returns the body of a request, and its type.
func (c *Client) encode(in any) (body []byte, kind string, err error) {
	var b bytes.Buffer
	if p, ok := in.(page); ok {
		err = c.packing.write(&b, p)
		return b.Bytes(), "application/zstd", err
	}
	err = json.NewEncoder(&b).Encode(in)
	return b.Bytes(), "application/json", err
}

func (c *Client) send(ctx context.Context, path, kind string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", kind)
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, &memory.Error{Code: memory.Unavailable, Retryable: true, Cause: err, Message: fmt.Sprintf("reach %s: %v", c.url, err)}
	}
	return answer, nil
}

// errNoRoute means that the server does not have the path.
var errNoRoute = errors.New("no such route")

// refused returns the error in an answer.
func (c *Client) refused(answer *http.Response) error {
	var said struct{ Error failure }
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // a part is enough
	code, message := memory.Unavailable, answer.Status
	if json.Unmarshal(text, &said) == nil && said.Error.Message != "" {
		code, message = said.Error.Code, clipTo(said.Error.Message, 2000)
	}
	cause := error(nil)
	if answer.StatusCode == http.StatusNotFound && said.Error.Code == "" {
		message, cause = "there is no Alcove that can be synchronised with", errNoRoute
	}
	if answer.StatusCode == http.StatusNotFound && strings.HasPrefix(message, "there is nothing here") { // the text of Alcove's 404
		cause = errNoRoute
	}
	return &memory.Error{Code: code, Cause: cause, Retryable: said.Error.Retryable, Message: fmt.Sprintf("%s says: %s", c.url, message)}
}

func clipTo(text string, most int) string { return text[:min(len(text), most)] }
