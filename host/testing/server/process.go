package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// Environment variables of the servers that tests start in processes of their own.
const (
	NoSync  = "ALCOVE_TEST_NOSYNC"   // they acknowledge writes before these are on the disk
	HTTP    = "ALCOVE_TEST_HTTP"     // the address on which they serve HTTP
	Carried = "ALCOVE_TEST_FAMILIES" // they have the families that the program carries
	Stored  = "ALCOVE_TEST_STORE"    // the URL of the database that has their store
	Cluster = "ALCOVE_TEST_CLUSTER"  // the key of the servers with which they share its spaces
	Among   = "ALCOVE_TEST_AMONG"    // the address on which those reach them
	Term    = "ALCOVE_TEST_TERM"     // of their leases; 0s: as in production
	Fronts  = "ALCOVE_TEST_FRONTS"   // what else those serve: Front, as JSON
)

// Child is what else the servers are that the tests of a package start in processes of their own. The zero value adds nothing.
type Child struct {
	Clock  func() time.Time
	Beside func(ctx context.Context, h *host.Host, dir string) // runs while they serve
}

// Main runs the tests of a package, which call it from TestMain, or is the process that one of them started: a server, or the compiler
// of modules. It returns the code to exit with.
func Main(m *testing.M, c Child) int {
	if len(os.Args) > 1 && os.Args[1] == "compile-module" { // as the sandbox starts its compiler
		return sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr)
	}
	if len(os.Args) == 5 && os.Args[1] == "serve" && os.Args[4] == "--auto" { // as owner.Starter starts a server
		return c.serve(os.Args[3])
	}
	return m.Run()
}

// serve is a server of a data directory until it is interrupted.
func (c Child) serve(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	stored, err := driver(nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	o := host.Options{Dir: dir, Version: "test", Clock: c.Clock, Driver: stored, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if os.Getenv(Carried) != "" {
		o.Families, o.Cache = Families(), Cache()
	}
	if key := os.Getenv(Cluster); key != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		l, err := listenOf(os.Getenv(Fronts))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		term, err := time.ParseDuration(os.Getenv(Term))
		if err == nil {
			err = host.ServeShared(ctx, o, l, host.SharedOptions{Key: []byte(key), Listen: os.Getenv(Among), Term: term})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	h, err := host.Open(ctx, o)
	if owned := (*owner.OwnedError)(nil); errors.As(err, &owned) {
		return 0
	}
	if err == nil {
		if c.Beside != nil {
			go c.Beside(ctx, h, dir)
		}
		err = errors.Join(h.Serve(ctx, host.Listen{HTTP: os.Getenv(HTTP)}), h.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// driver is that of the environment. An embedded store sets opened to the engine that it opens, unless opened is nil.
func driver(opened *store.Engine) (store.Driver, error) {
	if url := os.Getenv(Stored); url != "" {
		return space.DriverFor(url)
	}
	return Driver{Driver: bolt.Driver{NoSync: os.Getenv(NoSync) != ""}, Opened: opened}, nil
}

// Driver is the default driver, for tests.
type Driver struct {
	bolt.Driver
	Opened *store.Engine // set to the engine that was opened; nil: not needed
}

// Open opens the space of a directory.
func (d Driver) Open(ctx context.Context, dir string, o store.Options) (store.Engine, error) {
	e, err := d.Driver.Open(ctx, dir, o)
	if err == nil && d.Opened != nil {
		*d.Opened = e
	}
	return e, err
}

// Process is a data directory whose servers are processes of their own, which clients start and the test kills.
type Process struct {
	T    testing.TB
	Dir  string
	Gate sync.Mutex // held while no server may be started

	servers sync.WaitGroup
}

// NewProcess returns a data directory, a new one if dir is empty, that has no server yet.
func NewProcess(t testing.TB, dir string) *Process {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	p := &Process{T: t, Dir: dir}
	t.Cleanup(func() {
		h, _ := p.Kill()
		p.servers.Wait() // those that are only just starting leave because of the lock
		if err := h.Close(); err != nil {
			t.Errorf("close what the killed server left: %v", err)
		}
	})
	return p
}

// Dial connects a client to the server, which is started when the gate is open.
func (p *Process) Dial(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	start := owner.Starter(program, p.Dir)
	return owner.Dial(ctx, owner.Options{Dir: p.Dir, Hello: owner.Hello{Agent: "test", Branch: at.Branch}, Start: func() (<-chan error, error) {
		p.Gate.Lock()
		defer p.Gate.Unlock()
		ended, err := start()
		if err != nil {
			return nil, err
		}
		told := make(chan error, 1)
		p.servers.Go(func() { told <- <-ended })
		return told, nil
	}})
}

// Kill ends the server without a warning, and returns the open data directory and, if that has it, its store: no server can start meanwhile.
func (p *Process) Kill() (*host.Host, store.Engine) {
	p.T.Helper()
	var engine store.Engine
	stored, err := driver(&engine)
	if err != nil {
		p.T.Fatalf("open what the killed server left: %v", err)
	}
	for deadline := await.Deadline(); ; {
		if pid := p.PID(); pid != 0 && pid != os.Getpid() {
			if server, err := os.FindProcess(pid); err == nil {
				server.Kill()
			}
		}
		h, err := host.Open(context.Background(), host.Options{Dir: p.Dir, Driver: stored})
		if err == nil {
			return h, engine
		}
		// Until the killed process is gone; or another was just starting, and is killed next.
		if owned := (*owner.OwnedError)(nil); !errors.As(err, &owned) || time.Now().After(deadline) {
			p.T.Fatalf("open what the killed server left: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
}

// PID is the server's process, as it says: on a full disk it leaves no record. 0 for none.
func (p *Process) PID() int {
	if r, err := owner.ReadRecord(p.Dir); err == nil {
		return r.PID
	}
	socket, err := owner.SocketPath(p.Dir)
	if err != nil {
		return 0
	}
	conn, err := owner.Connect(context.Background(), socket, owner.Hello{})
	if err != nil {
		return 0
	}
	defer conn.Close()
	return conn.Welcome.PID
}

// Python is an interpreter for the tests of clients in Python, which are skipped without one.
func Python(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the client for Python is not tested")
	}
	if err := exec.CommandContext(t.Context(), path, "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run(); err != nil {
		t.Skip("python3 is older than 3.9: the client for Python is not tested")
	}
	return path
}
