package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/sdk/client"
)

// stopWithin ends a process that hangs; nothing is measured by it.
const stopWithin = await.Limit

// testServer is the program as a server of its own, whose log is kept.
type testServer struct {
	owner.Record
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	log  *logBuffer
	stop func()
}

// logBuffer is a log that is written and read at the same time.
type logBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// startServer starts a server that lasts as long as the test, unless stop ends it. change may change its command.
func startServer(t *testing.T, dir string, change func(*exec.Cmd)) *testServer {
	t.Helper()
	s := &testServer{t: t, dir: dir, log: &logBuffer{}, cmd: program(t, dir, "serve", "--listen", "127.0.0.1:0")}
	s.cmd.Stderr = s.log
	if change != nil {
		change(s.cmd)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		s.cmd.Process.Signal(os.Interrupt)
		hangs := time.AfterFunc(stopWithin, func() { s.cmd.Process.Kill() })
		s.cmd.Wait()
		if !hangs.Stop() {
			t.Errorf("the server did not stop within %s", stopWithin)
		}
	})
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("the server's log ended with\n%s", s.logTail())
		}
	})
	s.Record = servedBy(t, dir, s.cmd.Process)
	return s
}

// logTail is the end of the log.
func (s *testServer) logTail() string {
	text := s.log.String()
	return text[max(0, len(text)-8000):]
}

var crashed = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+ \[)|panic serving|recovered|WARNING: DATA RACE`)

// mustNotHavePanicked looks for panics, also recovered ones, in the log.
func (s *testServer) mustNotHavePanicked() {
	s.t.Helper()
	text := s.log.String()
	if at := crashed.FindStringIndex(text); at != nil {
		s.t.Errorf("the server panicked:\n%.4000s", text[at[0]:])
	}
}

// files is how many descriptors the server has open; 0 where that cannot be told.
func (s *testServer) files() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.PID))
	if err != nil {
		s.t.Error(err)
	}
	return len(list)
}

// run runs a command of the program on the server's data directory.
func (s *testServer) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*stopWithin)
	defer cancel()
	all := program(s.t, s.dir, args...)
	cmd := exec.CommandContext(ctx, all.Path, args...)
	cmd.Env = all.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("alcove %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// mustRun is run, for commands that must succeed.
func (s *testServer) mustRun(args ...string) string {
	s.t.Helper()
	out, err := s.run(args...)
	if err != nil {
		s.t.Error(err)
	}
	return out
}

func (s *testServer) token() string {
	s.t.Helper()
	token, err := os.ReadFile(owner.TokenPath(s.dir))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

// session calls tools. Errors of the tools are *client.Error.
type session interface {
	Call(ctx context.Context, tool string, arguments any) (client.ToolResult, error)
	Close() error
}

// connect opens a session over the socket, stdio, HTTP 2025-11-25 or HTTP 2026-07-28.
func (s *testServer) connect(kind string) (session, error) {
	switch kind {
	case "socket":
		return s.session(func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
			return owner.Dial(ctx, owner.Options{Dir: s.dir, Hello: owner.Hello{Branch: at.Branch, Agent: "stress"}})
		})
	case "stdio":
		return s.session(s.bridge)
	}
	return s.web(strings.TrimPrefix(kind, "HTTP "))
}

// session begins a session through a bridge.
func (s *testServer) session(dial dialFunc) (*client.Session, error) {
	return newSession(context.Background(), bridge.Connect(context.Background(), dial))
}

// process is a program as a connection.
type process struct {
	io.Reader
	io.Writer
	close func() error
}

func (p *process) Close() error { return p.close() }

// bridge is a process of alcove mcp.
func (s *testServer) bridge(context.Context, bridge.SessionState) (io.ReadWriteCloser, error) {
	cmd := program(s.t, s.dir, "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	end := sync.OnceValue(func() error { return errors.Join(in.Close(), cmd.Wait()) })
	return &process{out, in, end}, cmd.Start()
}

// web is a client over HTTP.
type web struct{ *mcpclient.Client }

func (s *testServer) web(version string) (session, error) {
	c, err := mcpclient.NewStreamableHttpClient("http://"+s.HTTP+"/mcp", transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + s.token()}))
	if err != nil {
		return nil, err
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = version
	hello.Params.ClientInfo = mcp.Implementation{Name: "stress", Version: "1"}
	if err := c.Start(context.Background()); err != nil {
		return nil, err
	}
	if _, err := c.Initialize(context.Background(), hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if c.GetSessionId() == "" == (version == "2025-11-25") {
		return nil, errors.Join(fmt.Errorf("the session of protocol %s has the id %q", version, c.GetSessionId()), c.Close())
	}
	return web{c}, nil
}

func (w web) Call(ctx context.Context, tool string, arguments any) (client.ToolResult, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = tool, arguments
	answer, err := w.CallTool(ctx, request)
	if err != nil {
		return client.ToolResult{}, err
	}
	if answer.IsError {
		var failure client.Error
		if err := json.Unmarshal([]byte(answerText(answer)), &failure); err != nil || failure.Code == "" {
			return client.ToolResult{}, fmt.Errorf("%s answered an error that has no code: %s", tool, answerText(answer))
		}
		return client.ToolResult{}, &failure
	}
	structured, err := json.Marshal(answer.StructuredContent)
	return client.ToolResult{Text: answerText(answer), Structured: structured}, err
}

func answerText(answer *mcp.CallToolResult) string {
	for _, c := range answer.Content {
		if t, ok := c.(mcp.TextContent); ok {
			return t.Text
		}
	}
	return "(no text)"
}
