// Package server starts a whole Alcove server for tests.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// Server is a server of this process. It stops with its test.
type Server struct {
	*host.Host
	T    testing.TB
	Dir  string
	At   owner.Record    // where it listens
	Acts operator.Server // of its operator

	options host.Options
	listen  host.Listen
	stop    func() error
}

// Open opens a data directory, a new one unless options name one. What it stores is not synced to the disk unless options have a driver.
func Open(t testing.TB, o host.Options) *host.Host {
	t.Helper()
	h, err := host.Open(t.Context(), withDefaults(t, o))
	if err != nil {
		t.Fatalf("open the data directory: %v", err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func withDefaults(t testing.TB, o host.Options) host.Options {
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Version == "" {
		o.Version = "test"
	}
	if o.Driver == nil {
		o.Driver = bolt.Driver{NoSync: true}
	}
	return o
}

// Serve runs the server of an open data directory until the test ends or stop is called.
func Serve(t testing.TB, h *host.Host, l host.Listen) (r owner.Record, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan owner.Record, 1), make(chan error, 1)
	l.Started = func(r owner.Record) { started <- r }
	go func() { ended <- h.Serve(ctx, l); close(ended) }()
	stop = func() error { cancel(); return <-ended }
	t.Cleanup(func() { stop() })
	select {
	case r = <-started:
	case err := <-ended:
		t.Fatalf("Serve ended with %v", err)
	}
	return r, stop
}

// Start opens a data directory as Open does, and serves it on sockets and over HTTP.
func Start(t testing.TB, o host.Options) *Server {
	t.Helper()
	return StartOn(t, o, host.Listen{HTTP: "127.0.0.1:0"})
}

// StartOn is Start that says where and how the server listens.
func StartOn(t testing.TB, o host.Options, l host.Listen) *Server {
	t.Helper()
	s := &Server{T: t, options: withDefaults(t, o), listen: l}
	s.Dir = s.options.Dir
	s.start()
	return s
}

// Carrying is a server as Start makes it, with the families that the program carries.
func Carrying(t testing.TB, o host.Options) *Server {
	t.Helper()
	if o.Families == nil {
		o.Families = Families()
	}
	o.Cache = Cache()
	return Start(t, o)
}

// Teas is a server whose namespaces team/a, team/b and home each have a text about tea.
func Teas(t testing.TB) *Server {
	t.Helper()
	s := Start(t, host.Options{})
	for namespace, text := range map[string]string{"team/a": "tea of the team", "team/b": "tea of others", "home": "tea at home"} {
		s.Put(namespace, "k", text)
	}
	return s
}

func (s *Server) start() {
	s.T.Helper()
	s.Host = Open(s.T, s.options)
	s.At, s.stop = Serve(s.T, s.Host, s.listen)
	s.Acts = Operator(s.T, s.Dir)
}

// Restart stops the server, and starts another on what it left, with options that change may change.
func (s *Server) Restart(change ...func(*host.Options)) {
	s.T.Helper()
	s.Stop()
	for _, c := range change {
		c(&s.options)
	}
	s.start()
}

// Stop stops the server, and closes its data directory. Only the first call does so.
func (s *Server) Stop() {
	s.T.Helper()
	if err := errors.Join(s.stop(), s.Close()); err != nil {
		s.T.Errorf("stop the server: %v", err)
	}
}

// URL is the address of the server over HTTP.
func (s *Server) URL() string { return "http://" + s.At.HTTP }

// Run opens a data directory and serves it on its sockets alone. It returns the acts of its operator, and what stops and closes it.
func Run(t testing.TB, o host.Options) (h *host.Host, acts operator.Server, stop func()) {
	t.Helper()
	o = withDefaults(t, o)
	h = Open(t, o)
	_, end := Serve(t, h, host.Listen{})
	stop = sync.OnceFunc(func() {
		if err := errors.Join(end(), h.Close()); err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	t.Cleanup(stop)
	return h, Operator(t, o.Dir), stop
}

// Operator is the operator of the server of a data directory.
func Operator(t testing.TB, dir string) operator.Server {
	t.Helper()
	c := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, dir) })
	t.Cleanup(c.Close)
	return c
}

// Cache keeps compiled modules from one run of the tests to the next: they are found by what they contain.
func Cache() sandbox.Cache {
	return sandbox.Cache{Dir: filepath.Join(os.TempDir(), fmt.Sprintf("alcove-tests-%d", os.Getuid()))}
}

// Owner is what the owner of an open data directory may do, which is everything, as an agent.
func Owner(h *host.Host, agent string) *memory.Access { return As(h.Memory(), agent) }

// As is what an owner of a space may do, as an agent.
func As(s *memory.Space, agent string) *memory.Access {
	return s.As(memory.Caller{Agent: agent, Rights: memory.FullRights()})
}

// Put stores a text as the owner does.
func (s *Server) Put(namespace, key, text string) {
	s.T.Helper()
	put(s.T, s.Host, memory.Location{Namespace: namespace}, key, text)
}

// Remember stores texts, each under itself as its key, as the owner does.
func Remember(t testing.TB, h *host.Host, texts ...string) {
	t.Helper()
	for _, text := range texts {
		put(t, h, memory.Location{}, text, text)
	}
}

func put(t testing.TB, h *host.Host, at memory.Location, key, text string) {
	t.Helper()
	value, err := json.Marshal(text)
	if err == nil {
		_, err = Owner(h, "").Store(t.Context(), at, []memory.Item{{Key: key, Value: value}}, memory.Write{})
	}
	if err != nil {
		t.Fatalf("store %s: %v", key, err)
	}
}

// Found searches as the owner does, and joins the keys of the hits with commas.
func Found(t testing.TB, h *host.Host, q memory.Search) string {
	t.Helper()
	f, err := Owner(h, "").Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %+v: %v", q, err)
	}
	var keys []string
	for _, hit := range f.Hits {
		keys = append(keys, hit.Key)
	}
	return strings.Join(keys, ", ")
}
