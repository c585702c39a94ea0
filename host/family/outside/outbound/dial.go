package outbound

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
	"time"
)

// reach is which addresses a name of an endpoint may have.
type reach int

const (
	publicOnly reach = iota // addresses of the public internet
	privateToo              // and those of private networks and of this machine, which the operator allowed
	strangers               // those of the public internet; names and figures were written by strangers, and not by the operator
)

// errForbidden means that a name has an address that requests must not go to.
var errForbidden = errors.New("its name has an address that its operator did not allow")

// dialer connects to endpoints: it resolves a name once, checks all of its addresses, and dials the checked ones, so that a name
// whose addresses change in between leads nowhere else.
type dialer struct {
	reach   reach
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	proxies sync.Map // addresses of proxies, which the server's environment names
}

// lookUp and connect are what a dialer does on a real network.
func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func connect(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

// proxy is http.ProxyFromEnvironment, and remembers the proxies: their addresses are not those of endpoints.
func (d *dialer) proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err == nil && u != nil {
		d.proxies.Store(u.Hostname(), true)
	}
	return u, err
}

// DialContext connects to a host and port. An address in figures is the operator's own word for where requests go; so is
// localhost for this machine.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if d.reach == strangers && kindOf(a) != public {
			return nil, fmt.Errorf("%w: %s is %s", errForbidden, a, kindOf(a))
		}
		return d.dial(ctx, network, address)
	}
	found, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if _, proxy := d.proxies.Load(host); !proxy {
		if err := d.check(host, found); err != nil {
			return nil, err
		}
	}
	err = fmt.Errorf("%s has no address", host)
	for _, a := range found {
		var c net.Conn
		if c, err = d.dial(ctx, network, net.JoinHostPort(a.String(), port)); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// check refuses a name as soon as one of its addresses is forbidden: one that answers differently each time would get through.
func (d *dialer) check(host string, found []netip.Addr) error {
	this := strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
	for _, a := range found {
		kind := kindOf(a)
		switch {
		case kind == public, this && kind == loopback && d.reach != strangers:
		case d.reach == privateToo && (kind == private || kind == loopback):
		case kind == private || kind == loopback:
			return fmt.Errorf("%w: %s has the address %s, which is %s: if it is meant, add the endpoint again with --private", errForbidden, host, a, kind)
		default:
			return fmt.Errorf("%w: %s has the address %s, which is %s: if it is meant, give the address in place of the name in the endpoint's URL", errForbidden, host, a, kind)
		}
	}
	return nil
}

// kinds of addresses.
const (
	public   = "public"
	loopback = "this machine's"
	private  = "private"
	local    = "link-local, as those of cloud metadata are"
	special  = "none of a single public machine"
)

// specials are networks that are no part of the public internet and not private either.
var specials = sync.OnceValue(func() (list []netip.Prefix) {
	for _, p := range []string{"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10"} {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
})

// carrier is shared by customers of a provider; clouds have metadata in it.
var carrier = netip.MustParsePrefix("100.64.0.0/10")

// kindOf classifies an address. One that carries an IPv4 address is of that one's kind.
func kindOf(a netip.Addr) string {
	a = embedded(a.Unmap().WithZone(""))
	switch {
	case a.IsLoopback():
		return loopback
	case a.IsLinkLocalUnicast(), a == netip.AddrFrom16([16]byte{0xfd, 0x00, 0x0e, 0xc2, 14: 0x02, 15: 0x54}), carrier.Contains(a):
		return local
	case a.IsPrivate():
		return private
	case !a.IsGlobalUnicast():
		return special
	}
	for _, p := range specials() {
		if p.Contains(a) {
			return special
		}
	}
	return public
}

// IsPublic reports whether an address is of the public internet.
func IsPublic(a netip.Addr) bool { return kindOf(a) == public }

// IsNear reports whether an address is of a private network or of this machine.
func IsNear(a netip.Addr) bool { return kindOf(a) == private || kindOf(a) == loopback }

// embedded returns the IPv4 address in an IPv6 address that leads to one, through NAT64 or 6to4.
func embedded(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	b := a.As16()
	switch {
	case b[0] == 0x00 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b:
		return netip.AddrFrom4([4]byte(b[12:]))
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}
