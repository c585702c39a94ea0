package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// tries returns the hosts in the order in which a new connection tries them.
func tries(t *testing.T, h *hosts, names ...string) (all []string) {
	t.Helper()
	c := &pgx.ConnConfig{Config: pgconn.Config{Host: names[0], Port: 5432}}
	for _, name := range names[1:] {
		c.Fallbacks = append(c.Fallbacks, &pgconn.FallbackConfig{Host: name, Port: 5432})
	}
	if err := h.order(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	all = append(all, c.Host)
	for _, f := range c.Fallbacks {
		all = append(all, f.Host)
	}
	return all
}

func newHosts() *hosts {
	return &hosts{silent: map[string]time.Time{}, open: map[*hostConn]bool{}, lookup: func(_ context.Context, host string) ([]string, error) {
		list, known := map[string][]string{"a": {"192.0.2.1", "192.0.2.2"}, "b": {"192.0.2.3"}}[host]
		if !known {
			return nil, errors.New("no such host")
		}
		return list, nil
	}}
}

func TestHostsThatDidNotAnswerAreTriedAfterTheOthersForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts()
		expect := func(want ...string) {
			t.Helper()
			if got := tries(t, h, "a", "unknown", "b", "/run/postgresql"); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("order of hosts: got %v, want %v", got, want)
			}
		}
		expect("192.0.2.1", "192.0.2.2", "unknown", "192.0.2.3", "/run/postgresql")
		h.note("192.0.2.1:5432", syscall.ETIMEDOUT)
		h.note("192.0.2.2:5432", syscall.ECONNREFUSED) // at once
		expect("192.0.2.2", "unknown", "192.0.2.3", "/run/postgresql", "192.0.2.1")
		time.Sleep(avoidFor)
		expect("192.0.2.1", "192.0.2.2", "unknown", "192.0.2.3", "/run/postgresql")
		h.note("192.0.2.1:5432", context.DeadlineExceeded)
		h.note("192.0.2.1:5432", nil)
		expect("192.0.2.1", "192.0.2.2", "unknown", "192.0.2.3", "/run/postgresql")
	})
}

func TestAHostThatFellSilentIsNotDialledAtOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	h := newHosts()
	address := listener.Addr().String()
	h.silent[address] = time.Now().Add(time.Hour) // the test may be slow
	if _, err := h.dial(t.Context(), "tcp", address); !errors.Is(err, errJustSilent) {
		t.Errorf("dial a host that fell silent just now: got %v, want %v", err, errJustSilent)
	}
	h.silent[address] = time.Now().Add(-refuseFor)
	conn, err := h.dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatalf("dial it a while later: got %v, want a connection", err)
	}
	conn.Close()
	if len(h.silent)+len(h.open) != 0 {
		t.Errorf("after a connection that was closed: got silent %v and open %v, want nothing", h.silent, h.open)
	}
}

// given is a connection that ends as the system's do.
type given struct {
	net.Conn
	err    error
	closed bool
}

func (g *given) Read([]byte) (int, error) { return 0, g.err }

func (g *given) Close() error {
	g.closed = true
	return nil
}

func TestAHostThatFallsSilentEndsAllItsConnections(t *testing.T) {
	for _, c := range []struct {
		err  error
		ends bool
	}{{&net.OpError{Op: "read", Err: syscall.ETIMEDOUT}, true}, {context.DeadlineExceeded, false}, {syscall.ECONNRESET, false}} {
		h := newHosts()
		one, other, elsewhere := &given{err: c.err}, &given{}, &given{}
		list := []*hostConn{{one, h, "a:1"}, {other, h, "a:1"}, {elsewhere, h, "b:1"}}
		for _, l := range list {
			h.open[l] = true
		}
		if _, err := list[0].Read(nil); !errors.Is(err, c.err) {
			t.Errorf("read: got %v, want %v", err, c.err)
		}
		if other.closed != c.ends || h.wasSilent("a:1", avoidFor) != c.ends {
			t.Errorf("after %v: got closed %t, silent %t; want %t", c.err, other.closed, h.wasSilent("a:1", avoidFor), c.ends)
		}
		if elsewhere.closed || h.wasSilent("b:1", avoidFor) {
			t.Errorf("after %v: got a connection to another host closed, want it left alone", c.err)
		}
	}
}
