package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/sdk/client"
)

// endWithin is how long a client's process may take to end after its input has.
const endWithin = 10 * time.Second

// Program is how the measured program is run.
type Program struct {
	Path string
	Env  []string // beside that of this process
}

// Server is what serves a data directory, and a client of it in a process of its own, as those that agents have.
type Server struct {
	program Program
	dir     string
	bridge  *exec.Cmd
	session *client.Session // nil: none
}

// NewServer is a server that is not started yet.
func NewServer(p Program, dir string) *Server { return &Server{program: p, dir: dir} }

// command is a command of the program for the data directory.
func (s *Server) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program.Path, args...)
	cmd.Env = append(os.Environ(), "ALCOVE_DATA="+s.dir, "ALCOVE_LISTEN=off", "ALCOVE_PROJECT=off")
	cmd.Env = append(cmd.Env, s.program.Env...)
	apart(cmd)
	return cmd
}

// Start starts a client, which starts the server if there is none, and tells how long that took, to the answer of initialize.
func (s *Server) Start(ctx context.Context) (time.Duration, error) {
	cmd, said := s.command(ctx, "mcp"), &tail{}
	cmd.Stderr, cmd.WaitDelay = said, endWithin
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", s.program.Path, err)
	}
	s.session, err = client.NewSession(ctx, &process{out, in, cmd}, client.Program{Name: "alcove-bench", Version: "1"})
	took := time.Since(began)
	s.bridge = cmd
	if err != nil {
		return 0, fmt.Errorf("begin a session with %s: %w: %s", s.program.Path, err, said)
	}
	return took, nil
}

// process is the input and output of a client's process, whose end ends it.
type process struct {
	io.Reader
	io.WriteCloser
	cmd *exec.Cmd
}

func (p *process) Close() error {
	err := p.WriteCloser.Close()
	slow := time.AfterFunc(endWithin, func() { p.cmd.Process.Kill() })
	defer slow.Stop()
	return errors.Join(err, p.cmd.Wait())
}

// Call calls a tool and tells how long the answer took.
func (s *Server) Call(ctx context.Context, tool string, arguments any) (json.RawMessage, time.Duration, error) {
	began := time.Now()
	r, err := s.session.Call(ctx, tool, arguments)
	return r.Structured, time.Since(began), err
}

// leave ends the client. The server goes on.
func (s *Server) leave() {
	if s.session != nil {
		s.session.Close() // how it ends is not measured
		s.session = nil
	}
}

// Stop ends client and server, and tells how long the server took. It works after the end of a context, too.
func (s *Server) Stop(ctx context.Context) (time.Duration, error) {
	s.leave()
	began := time.Now()
	if _, err := s.run(context.WithoutCancel(ctx), "stop"); err != nil {
		return 0, fmt.Errorf("stop the server: %w", err)
	}
	return time.Since(began), nil
}

// Kill ends the server at once, without its knowledge.
func (s *Server) Kill() error {
	pid, err := s.pid()
	if err != nil {
		return err
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	s.leave()
	for err == nil && owner.CheckFree(s.dir) != nil {
		time.Sleep(time.Millisecond)
	}
	return err
}

// pid is the process that serves the data directory.
func (s *Server) pid() (int, error) {
	var owned *owner.OwnedError
	if !errors.As(owner.CheckFree(s.dir), &owned) || owned.PID <= 1 {
		return 0, fmt.Errorf("find the server of %s: none serves it", s.dir)
	}
	return owned.PID, nil
}

// CPU is the processor time that the server and the client's process have used.
type CPU struct{ Server, Client time.Duration }

// CPU tells the processor time so far.
func (s *Server) CPU() (used CPU, err error) {
	pid, err := s.pid()
	if err != nil {
		return used, err
	}
	if used.Server, err = cpuOf(pid); err != nil {
		return used, err
	}
	used.Client, err = cpuOf(s.bridge.Process.Pid)
	return used, err
}

// Memory is the server's resident memory.
func (s *Server) Memory() (*Memory, error) {
	pid, err := s.pid()
	if err != nil {
		return nil, err
	}
	return memoryOf(pid)
}

// run runs a command of the program, and tells how long it took.
func (s *Server) run(ctx context.Context, args ...string) (time.Duration, error) {
	cmd, said := s.command(ctx, args...), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = io.Discard, said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return time.Since(began), nil
}

// tail keeps the end of what a process says.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 2000
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-most):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
