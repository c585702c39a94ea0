package listen

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
)

// Certificate is a certificate and its key in files, which are read again when they change, or that of a source. It may be used
// concurrently.
type Certificate struct {
	cert, key string
	source    Source // nil: it is in files

	mu       sync.Mutex
	current  *tls.Certificate
	modified [2]time.Time // of the files that current was read from
}

// Source has a certificate that is not in files.
type Source interface {
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	Names() []string     // of the machines that it is for
	Protocols() []string // beside HTTP
}

// CertificateOf returns the certificate of a source.
func CertificateOf(s Source) *Certificate { return &Certificate{source: s} }

// LoadCertificate reads a certificate and its key, in PEM.
func LoadCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	_, err := c.get()
	return c, err
}

// get returns the certificate in the files. While they cannot be read, as in the middle of a renewal, it is the last that could.
func (c *Certificate) get() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	modified, err := c.times()
	if err == nil && c.current != nil && modified == c.modified {
		return c.current, nil
	}
	var read tls.Certificate
	if err == nil {
		read, err = tls.LoadX509KeyPair(c.cert, c.key)
	}
	switch {
	case err == nil:
		c.current, c.modified = &read, modified
	case c.current == nil:
		return nil, fmt.Errorf("read the certificate %s and its key %s: %w", c.cert, c.key, err)
	}
	return c.current, nil
}

func (c *Certificate) times() (modified [2]time.Time, err error) {
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			return modified, err
		}
		modified[i] = info.ModTime()
	}
	return modified, nil
}

// Names reports whether the certificate is for a host.
func (c *Certificate) Names(host string) bool {
	if c.source != nil {
		return slices.ContainsFunc(c.source.Names(), func(name string) bool { return strings.EqualFold(name, host) })
	}
	current, err := c.get()
	return err == nil && current.Leaf != nil && current.Leaf.VerifyHostname(host) == nil
}

// Name returns the first name of a machine that the certificate is for; empty: it has none.
func (c *Certificate) Name() string {
	if c.source != nil {
		return c.source.Names()[0]
	}
	current, err := c.get()
	if err != nil || current.Leaf == nil {
		return ""
	}
	for _, name := range current.Leaf.DNSNames {
		if !strings.HasPrefix(name, "*") {
			return name
		}
	}
	return ""
}

func (c *Certificate) config() *tls.Config {
	if c.source != nil {
		return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: append([]string{"http/1.1"}, c.source.Protocols()...), GetCertificate: c.source.GetCertificate}
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get() },
	}
}

// mostClientCA bounds a file of certificates, in bytes.
const mostClientCA = 1 << 20

// Mutual listens on an address for clients with certificates of an authority, whose certificates are in a file.
func Mutual(address string, own *Certificate, authority string) (net.Listener, error) {
	data, err := regular.Read(authority, mostClientCA)
	if err != nil {
		return nil, fmt.Errorf("read the authorities of client certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s has no certificate in PEM", authority)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for operators on %s: %w", address, err)
	}
	c := own.config()
	c.MinVersion, c.ClientAuth, c.ClientCAs = tls.VersionTLS13, tls.RequireAndVerifyClientCert, pool
	return tls.NewListener(l, c), nil
}

// plain returns the connection below TLS.
func plain(conn net.Conn) net.Conn {
	if over, ok := conn.(*tls.Conn); ok {
		return over.NetConn()
	}
	return conn
}

// IsLoopback reports whether only processes of this machine can connect to a listener.
func IsLoopback(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

// ErrExposed means that other machines could connect to a server that does not protect its clients.
var ErrExposed = errors.New("other machines could connect")

// CheckExposure returns an ErrExposed unless a listener is for this machine alone, or has TLS and admits only clients with keys.
func CheckExposure(l net.Listener, certificate *Certificate, keysRequired bool) error {
	switch {
	case IsLoopback(l):
		return nil
	case certificate == nil:
		return fmt.Errorf("%w to %s: give --tls-cert and --tls-key, or listen on 127.0.0.1", ErrExposed, l.Addr())
	case !keysRequired:
		return fmt.Errorf("%w to %s without a key: give --require-keys, or listen on 127.0.0.1", ErrExposed, l.Addr())
	}
	return nil
}
