package host_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/owner"
)

// pythonDir is the folder of the client for Python.
var pythonDir = filepath.Join("..", "sdk", "client", "python")

// python returns an interpreter of Python 3.9 or later, or skips the test.
func python(t *testing.T) string {
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
	t.Setenv(ownerHTTP, o.http)
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

func TestThePythonClient(t *testing.T) {
	program := python(t)
	o := newOwnedDir(t)
	token, err := os.ReadFile(owner.TokenPath(o.dir))
	if err != nil {
		t.Fatal(err)
	}
	act := asOperator(t, o.dir)
	key, err := act.CreateKey(t.Context(), operator.KeyRequest{Agent: "ann", Namespaces: []string{"team/*"}, Rights: readWrite})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "-X", "dev", "-W", "error::ResourceWarning", "alcove_test.py")
	command.Dir = pythonDir
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "ALCOVE_TEST_DIR="+o.dir, "ALCOVE_TEST_URL=http://"+o.http,
		"ALCOVE_TEST_TOKEN="+strings.TrimSpace(string(token)), "ALCOVE_TEST_KEY="+key.Secret)
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
			if _, err := act.RevokeKey(t.Context(), operator.KeyID{ID: key.ID}); err != nil {
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
