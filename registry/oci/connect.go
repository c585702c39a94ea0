package oci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/alcove-memory/alcove/host/family/outside/outbound"
)

const (
	mostRedirects = 5
	silence       = 30 * time.Second // until a connection stands, and until an answer begins
	headerLimit   = 64 << 10         // bytes
)

// Credentials looks up the credentials of a registry.
type Credentials = auth.CredentialFunc

// Docker returns the credentials that docker login keeps, in its configuration or by its credential helpers.
func Docker() (Credentials, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the configuration of docker: %w", err)
	}
	return credentials.Credential(store), nil
}

// Advise adds to an error what to do about it.
func Advise(err error) error {
	if errors.Is(err, auth.ErrBasicCredentialNotFound) {
		return fmt.Errorf("%w: log in with docker login", err)
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return fmt.Errorf("%w: a registry on this machine is used without TLS with --plain-http", err)
	}
	return err
}

// Missing reports whether an error says that the registry does not have what a reference names.
func Missing(err error) bool { return errors.Is(err, errdef.ErrNotFound) }

// open returns a repository, and a function that closes its connections.
func (c Client) open(r Reference) (*remote.Repository, func(), error) {
	name := registry.Reference{Registry: r.Registry, Repository: r.Repository}
	g := &gate{client: c, host: hostOf(name.Host())}
	if c.PlainHTTP && !isThisMachine(g.host) {
		return nil, nil, fmt.Errorf("%s is not this machine: without TLS only a registry at localhost or a loopback address is used", r.Registry)
	}
	transport := &http.Transport{
		Proxy: g.proxy, DialContext: g.dial, ForceAttemptHTTP2: true, DisableCompression: true,
		TLSHandshakeTimeout: silence, ResponseHeaderTimeout: silence, MaxResponseHeaderBytes: headerLimit,
	}
	g.next = transport
	plain := &http.Client{Transport: g, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > mostRedirects {
			return fmt.Errorf("it redirects more than %d times", mostRedirects)
		}
		return nil
	}}
	repository := &remote.Repository{
		Reference: name, PlainHTTP: c.PlainHTTP, MaxMetadataBytes: answerLimit, SkipReferrersGC: true, // many registries delete nothing
		Client: &auth.Client{Client: plain, Credential: auth.CredentialFunc(c.Credentials), Cache: auth.NewCache(), ClientID: "alcove"},
	}
	return repository, transport.CloseIdleConnections, nil
}

// gate decides where requests go. The operator named the registry; wherever that leads, by redirects and by the address of its token
// server, must be as public as it is.
type gate struct {
	client  Client
	host    string // of the registry
	next    http.RoundTripper
	near    atomic.Bool // the registry has an address of a private network or of this machine
	proxies sync.Map    // hosts of proxies, which the environment names
}

var errPlain = errors.New("it leads to an address that is not of https")

// RoundTrip sends a request, if it is encrypted or stays on this machine.
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !(g.client.PlainHTTP && r.URL.Scheme == "http" && isThisMachine(r.URL.Hostname())) {
		return nil, errPlain
	}
	return g.next.RoundTrip(r)
}

func (g *gate) proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err == nil && u != nil {
		g.proxies.Store(u.Hostname(), true)
	}
	return u, err
}

func (g *gate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host := hostOf(address)
	d := &net.Dialer{Timeout: silence, Control: func(_, dialled string, _ syscall.RawConn) error { return g.admit(host, dialled) }}
	return d.DialContext(ctx, network, address)
}

// admit checks the address that a host's name led to, right before it is dialled.
func (g *gate) admit(host, dialled string) error {
	at, err := netip.ParseAddrPort(dialled)
	if err != nil {
		return err
	}
	a := at.Addr().Unmap()
	_, proxy := g.proxies.Load(host)
	switch {
	case g.client.PlainHTTP && !a.IsLoopback():
		return fmt.Errorf("%s has the address %s, which is not this machine's: without TLS nothing is sent there", host, a)
	case proxy || outbound.IsPublic(a):
		return nil
	case host == g.host && (outbound.IsNear(a) || inFigures(host)):
		g.near.Store(true)
		return nil
	case g.near.Load() && outbound.IsNear(a):
		return nil
	}
	return fmt.Errorf("the registry leads to %s at %s, which is not a public address: it is not followed there", host, a)
}

// inFigures reports whether a host is an address: the operator's own word for where requests go.
func inFigures(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

// isThisMachine reports whether a host is localhost or a loopback address. What localhost resolves to is checked when it is dialled.
func isThisMachine(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback() || host == "localhost"
}
