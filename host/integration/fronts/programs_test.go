package fronts_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

// pythonDir is the folder of the client for Python.
var pythonDir = filepath.Join("..", "..", "..", "sdk", "client", "python")

// ownedDir is a data directory that another process serves, on a socket and over HTTP, and that can be killed.
type ownedDir struct {
	t         *testing.T
	dir, http string
}

func newOwnedDir(t *testing.T) *ownedDir {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &ownedDir{t, t.TempDir(), l.Addr().String()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv(server.HTTP, o.http)
	o.begin()
	t.Cleanup(func() { o.kill() })
	return o
}

// begin starts an owner and waits until it serves.
func (o *ownedDir) begin() {
	o.t.Helper()
	program, err := os.Executable()
	if err != nil {
		o.t.Fatal(err)
	}
	conn, err := owner.Dial(context.Background(), owner.Options{Dir: o.dir, Start: owner.Starter(program, o.dir)})
	if err != nil {
		o.t.Fatal(err)
	}
	conn.Close()
}

// kill ends the owner without a warning.
func (o *ownedDir) kill() {
	o.t.Helper()
	r, err := owner.ReadRecord(o.dir)
	if err != nil {
		o.t.Fatal(err)
	}
	if p, err := os.FindProcess(r.PID); err == nil && r.PID != os.Getpid() {
		p.Kill()
	}
}

// token is that of the data directory.
func (o *ownedDir) token() string {
	o.t.Helper()
	token, err := os.ReadFile(owner.TokenPath(o.dir))
	if err != nil {
		o.t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

func TestThePythonClient(t *testing.T) {
	program := server.Python(t)
	o := newOwnedDir(t)
	act := server.Operator(t, o.dir)
	key, err := operator.Call(t.Context(), act, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"team/*"}, Rights: server.ReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "-W", "error", "alcove_test.py")
	command.Dir = pythonDir
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "ALCOVE_TEST_DIR="+o.dir, "ALCOVE_TEST_URL=http://"+o.http,
		"ALCOVE_TEST_TOKEN="+o.token(), "ALCOVE_TEST_KEY="+key.Secret)
	var said bytes.Buffer
	command.Stderr = &said
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for asked := bufio.NewScanner(out); asked.Scan(); {
		switch asked.Text() {
		case "kill":
			o.kill()
			o.begin()
		case "revoke":
			if _, err := operator.Call(t.Context(), act, operator.RevokeKey, operator.KeyID{ID: key.ID}); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("it says %s", asked.Text())
		}
		fmt.Fprintln(in, "done")
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the tests end with %v:\n%s", err, said.Bytes())
	}
}

func TestTheGoClientReceivesEventsThoughTheServerIsKilled(t *testing.T) {
	o := newOwnedDir(t)
	c := server.Program(t, o.dir, client.Options{Agent: "writer", Namespace: "go", Wait: await.Limit})
	ctx := t.Context()
	stream, err := c.Subscribe(ctx, client.Subscription{Namespaces: []string{"go"}, Kinds: []string{"memory_stored"}})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	begin := stream.Watermark()
	write := func(key string) {
		t.Helper()
		if _, err := c.Store(ctx, client.Memory{Key: key, Value: key}); err != nil {
			t.Fatal(err)
		}
	}
	next := func(s *client.Stream) client.Event {
		t.Helper()
		e, err := s.Next(ctx)
		if err != nil || e.Kind != "memory_stored" || e.Agent != "writer" || e.Namespace != "go" || e.Watermark <= begin {
			t.Fatalf("got %+v, %v", e, err)
		}
		return e
	}
	write("a")
	first := next(stream)
	o.kill()
	o.begin()
	write("b")
	if e := next(stream); e.Watermark <= first.Watermark {
		t.Errorf("after %+v comes %+v", first, e)
	}
	soon, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := stream.Next(soon); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait ends with %v", err)
	}
	write("c")
	next(stream)
	again, err := c.Subscribe(ctx, client.Subscription{Namespaces: []string{"go"}, Watermark: &begin})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if e := next(again); e.Watermark != first.Watermark {
		t.Errorf("from %d on, the first event is %+v, not %+v", begin, e, first)
	}
	future := uint64(1) << 50
	if _, err := c.Subscribe(ctx, client.Subscription{Watermark: &future}); client.CodeOf(err) != client.InvalidArgument {
		t.Errorf("a watermark of the future: %v", err)
	}
	if _, err := server.Program(t, "http://"+o.http, client.Options{Key: o.token()}).Subscribe(ctx, client.Subscription{}); err != nil {
		t.Error(err)
	}
	socket, err := owner.SocketPath(o.dir) // elsewhere, if the directory has a long path
	must.Do(t, err)
	if _, err := server.Program(t, socket, client.Options{}).Subscribe(ctx, client.Subscription{}); client.CodeOf(err) != client.InvalidArgument {
		t.Errorf("over a socket: %v", err)
	}
}

func TestThePythonExamplesWork(t *testing.T) {
	interpreter := server.Python(t)
	dir := t.TempDir()
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	command := exec.CommandContext(t.Context(), interpreter, "-W", "error", "example.py")
	command.Dir = pythonDir
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "ALCOVE_DATA="+dir)
	said, err := command.CombinedOutput()
	const want = "vim\n['editor']\nvim\nvim\nE_NOT_FOUND\nvim\nTrue\nE_NOT_FOUND\n45\n"
	if err != nil || strings.ReplaceAll(string(said), "\r", "") != want {
		t.Errorf("the examples end with %v and say\n%s", err, said)
	}
}
