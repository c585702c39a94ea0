package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	avoidFor = 10 * time.Second // a host that did not answer is tried after the others

	// refuseFor is how long it is not dialled at all: pgx asks the host of a connection that failed to cancel the query, and until that
	// returns the connection keeps its place in the pool.
	refuseFor = 500 * time.Millisecond
)

// hosts are those of a URL. A new connection first tries the ones that answer: each attempt at one that is cut off takes the whole timeout.
type hosts struct {
	dialer net.Dialer
	lookup pgconn.LookupFunc
	mu     sync.Mutex
	silent map[string]time.Time // by address: when a connection to it last got no answer
	open   map[*hostConn]bool
}

var errJustSilent = errors.New("it did not answer a moment ago")

// order puts the addresses of all hosts in the order in which a new connection tries them.
func (h *hosts) order(ctx context.Context, c *pgx.ConnConfig) error {
	var answer, avoid []*pgconn.FallbackConfig
	for _, host := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		for _, ip := range h.resolve(ctx, host.Host) {
			one := &pgconn.FallbackConfig{Host: ip, Port: host.Port, TLSConfig: host.TLSConfig}
			if h.wasSilent(net.JoinHostPort(ip, strconv.Itoa(int(one.Port))), avoidFor) {
				avoid = append(avoid, one)
			} else {
				answer = append(answer, one)
			}
		}
	}
	list := slices.Concat(answer, avoid)
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = list[0].Host, list[0].Port, list[0].TLSConfig, list[1:]
	return nil
}

// resolve returns the addresses of a host; the host itself if it has none, so that connecting to it says why.
func (h *hosts) resolve(ctx context.Context, host string) []string {
	if strings.HasPrefix(host, "/") {
		return []string{host}
	}
	if list, err := h.lookup(ctx, host); err == nil && len(list) > 0 {
		return list
	}
	return []string{host}
}

// wasSilent reports whether a host did not answer within a time until now.
func (h *hosts) wasSilent(address string, within time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, silent := h.silent[address]
	return silent && time.Since(at) < within
}

// note takes down how a connection to an address went.
func (h *hosts) note(address string, err error) {
	var timeout net.Error
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		delete(h.silent, address)
	case errors.As(err, &timeout) && timeout.Timeout():
		h.silent[address] = time.Now()
	}
}

// dial implements pgconn.DialFunc.
func (h *hosts) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if h.wasSilent(address, refuseFor) {
		return nil, fmt.Errorf("connect to %s: %w", address, errJustSilent)
	}
	conn, err := h.dialer.DialContext(ctx, network, address)
	if network == "unix" {
		return conn, err
	}
	h.note(address, err)
	if err != nil {
		return nil, err
	}
	c := &hostConn{Conn: conn, hosts: h, address: address}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[c] = true
	return c, nil
}

// endSilent closes all connections to an address: what waits on one is told now, and what finds one in a pool tries another host.
func (h *hosts) endSilent(address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent[address] = time.Now()
	for c := range h.open {
		if c.address == address {
			c.Conn.Close()
		}
	}
}

// hostConn is a connection to a host. Once the system gives one up, the others to that host end as well.
type hostConn struct {
	net.Conn
	hosts   *hosts
	address string
}

// Read implements net.Conn.
func (c *hostConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, syscall.ETIMEDOUT) { // of the system, not of a deadline
		c.hosts.endSilent(c.address)
	}
	return n, err
}

// Close implements net.Conn.
func (c *hostConn) Close() error {
	c.hosts.mu.Lock()
	delete(c.hosts.open, c)
	c.hosts.mu.Unlock()
	return c.Conn.Close()
}
