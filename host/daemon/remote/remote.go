// Package remote connects clients to a server over streamable HTTP as if to its socket: one MCP message a line.
//
// A Conn ends when the server goes away or no longer knows the session; package bridge then dials again, repeats the
// initialization and sends again what was not answered.
package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/weburl"
)

const (
	defaultWait   = 30 * time.Second // for a server that was reached before to come back
	connectWithin = 10 * time.Second
	firstPause    = 50 * time.Millisecond // between two attempts to reach it, growing
	longestPause  = time.Second
	longestURL    = 2048 // bytes
	longestKey    = 4096 // bytes
	endpoint      = "/mcp"
)

// Options say which server, and how to be let in.
type Options struct {
	URL     string         // such as https://memory.example:9742, with or without /mcp
	Key     string         // an API key, or the token of the data directory; empty: none
	Roots   *x509.CertPool // that the server's certificate must descend from; nil: the system's
	Program string         // the name and version that the server's operator sees in logs
	Notices bool           // receive what the server tells between calls, such as changes of the list of tools
	Wait    time.Duration  // how long a server that was reached before may take to come back; 0: 30 seconds
}

// Server is a server on another machine.
type Server struct {
	options  Options
	endpoint *url.URL
	client   *http.Client
	reached  atomic.Bool
}

// New checks the options. It does not connect.
func New(o Options) (*Server, error) {
	address, err := endpointOf(o.URL)
	if err != nil {
		return nil, err
	}
	if len(o.Key) > longestKey || strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, refusal("invalid_argument", "the key must be one word of at most %d bytes, as alcove key create printed it", longestKey)
	}
	if address.Scheme == "http" && o.Key != "" && !weburl.IsHere(address.Hostname()) {
		return nil, refusal("invalid_argument", "%s would show the key to everybody on the way: use https://", o.URL)
	}
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectWithin}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: o.Roots},
		TLSHandshakeTimeout: connectWithin,
		MaxIdleConnsPerHost: mostRequests,
		IdleConnTimeout:     time.Minute,
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Server{options: o, endpoint: address, client: client}, nil
}

// endpointOf is where a server answers MCP.
func endpointOf(text string) (*url.URL, error) {
	if len(text) > longestURL {
		return nil, refusal("invalid_argument", "the URL has %d bytes: at most %d are allowed", len(text), longestURL)
	}
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, refusal("invalid_argument", "%.200q is not the URL of a server: give one such as https://memory.example:9742", text)
	}
	if address.User != nil || address.Fragment != "" {
		return nil, refusal("invalid_argument", "the URL of a server has no user and no #: give the key in ALCOVE_KEY or --key-file")
	}
	if path := strings.TrimRight(address.Path, "/"); !strings.HasSuffix(path, endpoint) {
		address.Path = path + endpoint
	} else {
		address.Path = path
	}
	return address, nil
}

// URL is where the server answers MCP.
func (s *Server) URL() string { return s.endpoint.String() }

// Ready asks the server whether it is ready to serve; it needs no key. The text is what the server says.
func (s *Server) Ready(ctx context.Context) (ready bool, says string, err error) {
	answer, err := s.probe(ctx)
	if err != nil {
		return false, "", s.unreachable(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, longestReason)) // what came is told
	if answer.StatusCode == http.StatusOK {
		return true, strings.TrimSpace(string(text)), nil
	}
	return false, s.reason(answer, text).Message, nil
}

// Dial begins a session. A server that was never reached is tried once; one that went away is waited for. The error is an owner.Refusal.
func (s *Server) Dial(ctx context.Context, hello owner.Hello) (*Conn, error) {
	if err := s.await(ctx); err != nil {
		return nil, err
	}
	s.reached.Store(true)
	return newConn(ctx, s, s.session(hello)), nil
}

// await returns once the server answers anything but that it is away.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Wait)
	defer cancel()
	for pause := firstPause; ; pause = min(pause*2, longestPause) {
		answer, err := s.probe(ctx)
		if err == nil {
			answer.Body.Close()
			if !isUnavailable(answer.StatusCode) || !s.reached.Load() {
				return nil
			}
			err = fmt.Errorf("it answers %s", answer.Status)
		}
		if !s.reached.Load() || isPermanent(err) {
			return s.unreachable(err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return s.unreachable(err)
		case <-timer.C:
		}
	}
}

// probe asks whether the server is there.
func (s *Server) probe(ctx context.Context) (*http.Response, error) {
	address := *s.endpoint
	address.Path, address.RawQuery = strings.TrimSuffix(address.Path, endpoint)+"/readyz", ""
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("User-Agent", s.options.Program)
	return s.client.Do(q)
}

// isUnavailable reports whether a status means that the server is starting or stopping, perhaps behind a proxy.
func isUnavailable(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// session is the endpoint for a session that begins as a hello says.
func (s *Server) session(hello owner.Hello) *url.URL {
	query := s.endpoint.Query()
	for name, value := range map[string]string{
		"namespace": hello.Namespace, "project": hello.Project, "branch": hello.Branch, "agent": hello.Agent, "profile": hello.Profile, "families": strings.Join(hello.Families, ","),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if hello.ReadOnly {
		query.Set("read_only", "true")
	}
	address := *s.endpoint
	address.RawQuery = query.Encode()
	return &address
}

func refusal(code, layout string, args ...any) *owner.Refusal {
	return &owner.Refusal{Code: code, Message: fmt.Sprintf(layout, args...)}
}

// unreachable says why there is no connection, and what to do about it.
func (s *Server) unreachable(err error) *owner.Refusal {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var plain tls.RecordHeaderError
	host := s.endpoint.Scheme + "://" + s.endpoint.Host
	switch cause := causeOf(err); {
	case errors.As(err, &unknown):
		return refusal("unavailable", "connect to %s: no authority that this machine knows signed its certificate: give the file of a certificate to trust with --ca-file (or ALCOVE_CA_FILE)", host)
	case errors.As(err, &name):
		return refusal("unavailable", "connect to %s: %v: use a name that is in the certificate", host, name)
	case errors.As(err, &plain):
		return refusal("unavailable", "connect to %s: the server there speaks no TLS: use http:// on its own machine, or alcove serve --tls-cert", host)
	default:
		return refusal("unavailable", "connect to %s: %v: is alcove serve running there, and reachable from here?", host, cause)
	}
}

// causeOf is an error of a request without the method and the URL before it.
func causeOf(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

// isPermanent reports whether waiting does not help.
func isPermanent(err error) bool {
	return errors.As(err, new(x509.UnknownAuthorityError)) || errors.As(err, new(x509.HostnameError)) || errors.As(err, new(x509.CertificateInvalidError)) ||
		errors.As(err, new(tls.RecordHeaderError))
}
