// Package client is a client of Alcove servers for programs in Go: it calls tools, one at a time, in batches and in chains, receives
// events, and speaks for models in sessions. It needs the standard library only.
package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	defaultWait    = 10 * time.Second
	defaultAnswer  = 64 << 20
	firstPause     = 10 * time.Millisecond // between two attempts to reach the server, growing
	longestPause   = time.Second
	longestTimeout = 10 * time.Minute // that a server accepts
)

// Options configure a Client. The zero value works.
type Options struct {
	Key       string        // an API key, or the token of the data directory; over a socket, empty: none
	Agent     string        // the author of what is written; a key names its own
	Namespace string        // of operations that name none
	Branch    string        // of operations that name none
	Wait      time.Duration // how long to try to reach a server that is away; 0: 10 s; negative: one attempt
	MaxAnswer int           // bytes of an answer; 0: 64 MiB
	TLS       *tls.Config   // for https; nil: the usual
}

// Client calls the tools of a server. It survives the replacement of the server's process: an operation that is unanswered when the
// connection ends is sent again with its request id, so that it writes once. It is safe for concurrent use.
type Client struct {
	options   Options
	directory string // the data directory, if that is the address
	transport transport
}

// transport sends operations.
type transport interface {
	// do sends an operation and returns the answer, as JSON. A lost error means that there was none.
	do(ctx context.Context, operation []byte) ([]byte, error)
	close() error
}

// Dial returns a client of the server at an address: a data directory, the path of its socket, or a URL such as
// http://127.0.0.1:9742. It makes sure that the server answers.
func Dial(ctx context.Context, address string, o Options) (*Client, error) {
	o.Wait, o.MaxAnswer = cmp.Or(o.Wait, defaultWait), cmp.Or(o.MaxAnswer, defaultAnswer)
	t, err := newTransport(address, o)
	if err != nil {
		return nil, err
	}
	c := &Client{options: o, directory: address, transport: t}
	if _, err := c.send(ctx, []byte(`{"method":"status"}`)); err != nil { // whatever it answers
		t.close()
		return nil, fmt.Errorf("reach the alcove server at %s: %w", address, err)
	}
	return c, nil
}

func newTransport(address string, o Options) (transport, error) {
	u, err := url.Parse(address)
	switch {
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		return newWeb(u, o), nil
	case err == nil && u.Scheme == "unix":
		address = u.Path
	case strings.Contains(address, "://"):
		return nil, fmt.Errorf("%s is no address of an alcove server: give a data directory, a socket or a URL of http or https", address)
	}
	return newSocket(func() (string, error) { return socketPath(address) }, o), nil
}

// socketPath returns the socket of a data directory, which the server's record names.
func socketPath(address string) (string, error) {
	info, err := os.Stat(address)
	if err != nil || !info.IsDir() {
		return address, err
	}
	data, err := os.ReadFile(filepath.Join(address, "owner.json"))
	var record struct{ Socket string }
	if err == nil && json.Unmarshal(data, &record) == nil && record.Socket != "" {
		return record.Socket, nil
	}
	return filepath.Join(address, "alcove.sock"), nil
}

// Close ends the connections. Operations that are unanswered fail.
func (c *Client) Close() error { return c.transport.close() }

// Do runs an operation. The error is the answer's, of type *Error, or that of the context.
func (c *Client) Do(ctx context.Context, o Operation) (Answer, error) {
	o.Namespace, o.Branch = cmp.Or(o.Namespace, c.options.Namespace), cmp.Or(o.Branch, c.options.Branch)
	if o.RequestID == "" {
		o.RequestID = rand.Text()
	}
	if deadline, ok := ctx.Deadline(); ok && o.Timeout == 0 {
		o.Timeout = min(max(time.Until(deadline), time.Millisecond), longestTimeout)
	}
	body, err := o.encode()
	if err != nil {
		return Answer{}, err
	}
	raw, err := c.send(ctx, body)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Answer{}, fmt.Errorf("decode the server's answer: %w", err)
	}
	a.normal()
	return a, a.failed()
}

// send sends an operation until it is answered.
func (c *Client) send(ctx context.Context, body []byte) (raw []byte, err error) {
	err = c.retry(ctx, func() error {
		raw, err = c.transport.do(ctx, body)
		return err
	})
	return raw, err
}

// retry repeats what a server that is away keeps from success.
func (c *Client) retry(ctx context.Context, try func() error) error {
	until := time.Now().Add(c.options.Wait)
	for pause := firstPause; ; pause = min(pause*2, longestPause) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := try()
		if !errors.As(err, new(*lostError)) {
			return err
		}
		if time.Now().Add(pause).After(until) {
			return final(err)
		}
		timer := time.NewTimer(pause/2 + mathrand.N(pause)) // so that not all clients come back at once
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), final(err))
		case <-timer.C:
		}
	}
}

// Call calls a tool and decodes its result; a nil result is not decoded.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	a, err := c.Do(ctx, Operation{Method: method, Params: params})
	if err != nil || result == nil {
		return err
	}
	return a.Decode(result)
}

// Batch runs operations in parallel, at most 100, and returns an answer for each, in their order. A failed operation does not
// affect the others.
func (c *Client) Batch(ctx context.Context, operations ...Operation) ([]Answer, error) {
	a, err := c.Do(ctx, Operation{Batch: operations})
	if err != nil && a.Result == nil {
		return nil, err
	}
	return a.Items()
}
