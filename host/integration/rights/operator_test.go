package rights_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestTheOperatorsSocketIsPrivateAndAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	path, err := owner.AdminPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("stat %s: %v (%v), want mode 0600", path, info, err)
	}
	v, err := operator.Query(t.Context(), server.Operator(t, dir), operator.Verify)
	if err != nil || v.Branches == 0 {
		t.Errorf("verify: %+v (%v)", v, err)
	}
}

func TestALongDirectoryHasAnOperatorsSocketToo(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	if _, err := operator.Query(t.Context(), server.Operator(t, dir), operator.Verify); err != nil {
		t.Error(err)
	}
}

func TestEachActHasOneBinding(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../operator/acts.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.ValueSpec); ok {
			name, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, name)
		}
		return true
	})
	slices.Sort(declared)
	if bound := server.Open(t, host.Options{}).Operator().Names(); len(bound) < 50 || !slices.Equal(bound, declared) { // two of one would panic
		t.Errorf("the bound acts are %q, want the declared %q", bound, declared)
	}
}

func TestNoRouteOfTheNetworkReachesAnOperatorsAct(t *testing.T) {
	t.Parallel()
	h := server.Open(t, host.Options{Dir: t.TempDir()})
	r, _ := server.Serve(t, h, host.Listen{HTTP: "127.0.0.1:0"})
	for _, act := range h.Operator().Names() {
		for _, route := range []string{"/" + act, "/admin/" + act, "/operation/" + act, "/operation/tools/" + act, "/mcp/" + act} {
			q, err := http.NewRequest(http.MethodPost, "http://"+r.HTTP+route, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Authorization", "Bearer "+h.Token())
			answer, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			var operation struct{ Error struct{ Code string } }
			unknown := json.NewDecoder(answer.Body).Decode(&operation) == nil && operation.Error.Code == "E_NOT_FOUND" // a method that is not there
			answer.Body.Close()
			if answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusMethodNotAllowed && !unknown {
				t.Errorf("%s answers %s", route, answer.Status)
			}
		}
	}
}

func TestNoToolIsAnOperatorsAct(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	server.Serve(t, h, host.Listen{})
	c, err := server.Session(t.Context(), func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		return owner.Dial(ctx, owner.Options{Dir: dir})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Call(t.Context(), "memory_status", struct{}{}); err != nil {
		t.Fatalf("this is no way to call a tool: %v", err)
	}
	for _, act := range h.Operator().Names() {
		for _, tool := range []string{act, "memory_" + act} {
			if said, err := c.Call(t.Context(), tool, struct{}{}); err == nil {
				t.Errorf("there is a tool %s: %.200s", tool, said.Text)
			}
		}
		if said, err := c.Call(t.Context(), "memory_operation", map[string]any{"method": act, "params": map[string]any{}}); err == nil {
			t.Errorf("there is an operation %s: %.200s", act, said.Text)
		}
	}
}

// TestTheSocketOfClientsDoesNotTakeAnOperatorsRequest speaks HTTP where clients say hello.
func TestTheSocketOfClientsDoesNotTakeAnOperatorsRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, _ := server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	conn, err := net.Dial("unix", r.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /verify HTTP/1.1\r\nHost: admin\r\nContent-Length: 0\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "must be a hello") {
		t.Errorf("it answers %q (%v)", line, err)
	}
}
