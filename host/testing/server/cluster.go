package server

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// clusterKey is the key of the servers of NewSharing.
const clusterKey = "0123456789abcdef0123456789abcdef0123456789abcdef"

// Sharing is a server in a process of its own that shares the spaces of a database with others.
type Sharing struct {
	T   testing.TB
	Dir string
	At  owner.Record // while it runs

	store   string
	term    time.Duration // of its leases; 0: as in production
	machine Machine
	front   Front
	process *exec.Cmd
	ended   chan struct{}
}

// Machine is where a server runs. The zero value is this one.
type Machine struct {
	Prefix  []string // of its command
	Address string   // on which other servers reach it
	HTTP    string   // on which clients do; it need not be another one than on other machines
}

// patientTerm is the term of leases in tests, where several packages share a few processors: a server that does not get one in time loses its
// spaces.
const patientTerm = 8 * time.Second

// NewSharingOn is NewSharing on another machine, with leases as in production.
func NewSharingOn(t testing.TB, store string, m Machine) *Sharing {
	t.Helper()
	return newSharing(t, &Sharing{store: store, machine: m})
}

func newSharing(t testing.TB, s *Sharing) *Sharing {
	t.Helper()
	s.T, s.Dir = t, t.TempDir()
	t.Cleanup(func() { s.Kill() })
	s.Start()
	return s
}

// Front is what else servers that share spaces serve.
type Front struct {
	Public    string // the URL by which clients reach them, where they are authorization servers that clients register with; empty: they are none
	Operators host.OperatorsListen
}

// listenOf is where a server listens with a Front as JSON.
func listenOf(front string) (l host.Listen, err error) {
	l.HTTP = os.Getenv(HTTP)
	if front == "" {
		return l, nil
	}
	var f Front
	err = json.Unmarshal([]byte(front), &f)
	console := true
	l.Public, l.Operators, l.Console = f.Public, f.Operators, &console
	l.OAuth = host.OAuth{Serve: f.Public != "", Register: true}
	return l, err
}

// NewSharing starts a server of the database at a URL, with a data directory of its own.
func NewSharing(t testing.TB, store string) *Sharing { return NewSharingWith(t, store, Front{}) }

// NewSharingWith is NewSharing of a server with what else it serves.
func NewSharingWith(t testing.TB, store string, f Front) *Sharing {
	t.Helper()
	return newSharing(t, &Sharing{store: store, term: patientTerm, front: f, machine: Machine{Address: "127.0.0.1", HTTP: "127.0.0.1"}})
}

// Start starts the server again after Kill or Stop.
func (s *Sharing) Start() {
	s.T.Helper()
	s.Launch()
	s.await()
}

// Launch is Start without waiting.
func (s *Sharing) Launch() {
	s.T.Helper()
	program, err := os.Executable()
	if err != nil {
		s.T.Fatalf("find the program: %v", err)
	}
	front, err := json.Marshal(s.front)
	if err != nil {
		s.T.Fatalf("tell a server what to serve: %v", err)
	}
	command := append(slices.Clone(s.machine.Prefix), program, "serve", "--data", s.Dir, "--auto")
	s.process = exec.Command(command[0], command[1:]...)
	s.process.Env = append(os.Environ(), Fronts+"="+string(front), Stored+"="+s.store, Cluster+"="+clusterKey, HTTP+"="+s.machine.HTTP+":0", Among+"="+s.machine.Address+":0", Term+"="+s.term.String())
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		s.T.Fatalf("start a server: %v", err)
	}
	s.ended = make(chan struct{})
	go func(process *exec.Cmd, ended chan struct{}) {
		_ = process.Wait()
		close(ended)
	}(s.process, s.ended)
}

func (s *Sharing) await() {
	s.T.Helper()
	await.That(s.T, "the server says where it is", func() bool {
		r, err := owner.ReadRecord(s.Dir)
		s.At = r
		return err == nil && r.PID == s.process.Process.Pid
	})
}

// URL is the address of the server over HTTP.
func (s *Sharing) URL() string { return "http://" + s.At.HTTP }

// Kill ends the server without a warning.
func (s *Sharing) Kill() {
	_ = s.process.Process.Kill() // it may have ended
	<-s.ended
}

// Stop has the server hand its spaces over and end.
func (s *Sharing) Stop() {
	_ = s.process.Process.Signal(os.Interrupt) // it may have ended
	<-s.ended
}

// Cluster is what the server knows of all.
func (s *Sharing) Cluster() operator.Cluster {
	s.T.Helper()
	asking := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, s.Dir) })
	defer asking.Close()
	c, err := operator.Call(s.T.Context(), asking, operator.GetCluster, operator.None{})
	if err != nil {
		s.T.Errorf("ask a server for the others: %v", err)
	}
	return c
}
