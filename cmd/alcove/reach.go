package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// certificateWithin is how long a server may take to show its certificate.
const certificateWithin = 3 * time.Second

// usable is the URL under which clients reach a server. One that listens on every address is called by a name in its certificate,
// or by that of this machine.
func usable(ctx context.Context, r owner.Record) string {
	name, port, err := net.SplitHostPort(r.HTTP)
	if err != nil || !wildcard(name) {
		return r.URL()
	}
	self := onThisMachine(r)
	name = ""
	if r.TLS {
		name = certified(ctx, self.HTTP)
	}
	if name == "" {
		name, _ = os.Hostname() // without one, this machine's own address remains
	}
	if name == "" {
		return self.URL()
	}
	r.HTTP = net.JoinHostPort(name, port)
	return r.URL()
}

// onThisMachine is a server as programs on its own machine reach it.
func onThisMachine(r owner.Record) owner.Record {
	name, port, err := net.SplitHostPort(r.HTTP)
	if err == nil && wildcard(name) {
		r.HTTP = net.JoinHostPort("127.0.0.1", port)
	}
	return r
}

// wildcard reports whether a host stands for all addresses of a machine.
func wildcard(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "" || err == nil && address.Unmap().IsUnspecified()
}

// certified is the first name in a server's certificate that other machines can use; empty: it has none.
func certified(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, certificateWithin)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // it is asked for its name, and told nothing
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	defer conn.Close()
	chain := conn.(*tls.Conn).ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return ""
	}
	return nameIn(chain[0])
}

func nameIn(c *x509.Certificate) string {
	for _, name := range c.DNSNames {
		if !strings.HasPrefix(name, "*") && !strings.EqualFold(name, "localhost") {
			return name
		}
	}
	for _, ip := range c.IPAddresses {
		if !ip.IsLoopback() {
			return ip.String()
		}
	}
	return ""
}
