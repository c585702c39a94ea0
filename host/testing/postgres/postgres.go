// Package postgres starts PostgreSQL servers for tests.
package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Server is a server on a Unix socket in a temporary folder.
type Server struct {
	dir      string // of the socket
	data     string
	bin      string
	settings []string
	account  account
	address  string   // on which it listens beside its socket; empty: none
	prefix   []string // of its commands; nil: they run here
	running  *exec.Cmd
	made     atomic.Int64 // databases
}

// Settings are further settings of a server, as in "max_connections=10". Without any, and unless one of them says otherwise, nothing is
// synced.
type Settings []string

// Find returns the folder of PostgreSQL's programs; empty: it is not installed.
func Find() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	slices.Sort(found)
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// Start starts a server, which ends with the test. Where PostgreSQL is not installed, the test is skipped.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, stop, err := New(settings...)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return s
}

// ErrMissing means that PostgreSQL cannot be started here.
var ErrMissing = errors.New("PostgreSQL is not installed here, or there is no user to run it as")

// New starts a server, which stop ends.
func New(settings ...string) (s *Server, stop func(), err error) {
	bin := Find()
	as, ok := unprivileged()
	if bin == "" || !ok {
		return nil, nil, ErrMissing
	}
	s, stop, err = prepare(bin, as, settings)
	if err == nil {
		err = s.run("initdb", "-D", s.data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
	}
	if err == nil {
		err = s.Run()
	}
	if err != nil && stop != nil {
		stop()
	}
	return s, stop, err
}

// prepare returns a server without data.
func prepare(bin string, as account, settings []string) (s *Server, stop func(), err error) {
	dir, err := os.MkdirTemp("/tmp", "pg") // the path of a socket has at most 107 bytes
	if err != nil {
		return nil, nil, err
	}
	s = &Server{dir: dir, data: filepath.Join(dir, "data"), bin: bin, settings: append([]string{"fsync=off"}, settings...), account: as}
	return s, func() {
		_ = s.Kill()
		_ = os.RemoveAll(dir)
	}, as.own(dir)
}

func (s *Server) run(program string, args ...string) error {
	var out bytes.Buffer
	c := s.command(program, args...)
	c.Dir, c.Stdout, c.Stderr = s.dir, &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, out.Bytes())
	}
	return nil
}

// command is a program of PostgreSQL, as the server's account, where the server is.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	path := filepath.Join(s.bin, program)
	if s.prefix == nil {
		c := exec.Command(path, args...)
		s.account.use(c)
		return c
	}
	return s.account.there(s.prefix, append([]string{path}, args...))
}

// Run starts the server after Kill or Stop, and waits until it answers.
func (s *Server) Run() error {
	for {
		switch said, err := s.start(); {
		case err != nil:
			return err
		case said == "":
			return nil
		case !strings.Contains(said, "pre-existing shared memory block"): // of processes of a killed server, which have not ended
			return fmt.Errorf("postgres ended: %s", said)
		}
	}
}

// start starts the server, and returns once it admits clients, or with what it logged before it ended.
func (s *Server) start() (said string, err error) {
	args := []string{"-D", s.data, "-k", s.dir, "-h", s.address, "-c", "log_min_messages=fatal"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer log.Close()
	before, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	c := s.command("postgres", args...)
	c.Dir, c.Stdout, c.Stderr = s.dir, log, log
	if err := c.Start(); err != nil {
		return "", err
	}
	s.running = c
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	for {
		if s.run("pg_isready", "-q", "-h", s.dir, "-U", "postgres") == nil {
			return "", nil
		}
		select {
		case <-ended:
			said, err := io.ReadAll(io.NewSectionReader(log, before, 1<<20))
			return cmp.Or(string(said), "it said nothing"), err
		default:
		}
	}
}

// Kill kills the server and all its processes, as a power failure would but for what the kernel has not written.
func (s *Server) Kill() error {
	if s.running == nil {
		return nil
	}
	killGroup(s.running)
	s.running = nil
	return s.gone()
}

// Stop stops the server like an operator who does not wait for clients.
func (s *Server) Stop() error {
	s.running = nil
	return s.run("pg_ctl", "stop", "-D", s.data, "-m", "fast", "-w")
}

// gone waits until no process has the data, and removes the lock that a kill leaves.
func (s *Server) gone() error {
	for s.run("pg_ctl", "status", "-D", s.data) == nil {
	}
	return nil
}

// URL returns the URL of a database of the server.
func (s *Server) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database, RawQuery: url.Values{"host": {s.dir}}.Encode()}
	return u.String()
}

// Database makes a database, and returns its URL.
func (s *Server) Database() (string, error) {
	name := fmt.Sprint("test", s.made.Add(1))
	return s.URL(name), s.Exec(context.Background(), "postgres", "CREATE DATABASE "+name)
}

// Folder makes a folder that the server may use for a tablespace, and returns its path.
func (s *Server) Folder(in, name string) (path string, err error) {
	path = filepath.Join(in, name)
	return path, errors.Join(os.Mkdir(path, 0o700), s.account.own(path))
}

// Exec runs statements in a database.
func (s *Server) Exec(ctx context.Context, database string, statements ...string) error {
	c, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, text := range statements {
		if _, err := c.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", strings.SplitN(text, "\n", 2)[0], err)
		}
	}
	return nil
}
