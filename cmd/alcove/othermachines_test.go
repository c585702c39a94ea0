//go:build unix

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// Each server would leave at once if it were started, and end without an error.
func TestAServerThatOtherMachinesCouldConnectToIsNotStartedWithoutTLSAndKeys(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	files, _ := testcert.Write(t, t.TempDir())
	encrypted := []string{"--tls-cert", files.Cert, "--tls-key", files.Key}
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{nil, "give --tls-cert and --tls-key, or listen on 127.0.0.1"},
		{[]string{"--auto"}, "give --tls-cert and --tls-key, or listen on 127.0.0.1"},
		{[]string{"--require-keys"}, "give --tls-cert and --tls-key, or listen on 127.0.0.1"},
		{encrypted, "give --require-keys, or listen on 127.0.0.1"}, // the start before was refused, so its --require-keys is not kept
		{append(encrypted, "--require-keys=false"), "give --require-keys, or listen on 127.0.0.1"},
	} {
		out, err := run(t, dir, append([]string{"serve", "--listen", "0.0.0.0:0", "--idle", "1ms"}, c.flags...)...)
		if err == nil || !strings.Contains(out, "other machines could connect") || !strings.Contains(out, c.says) {
			t.Errorf("serve %q: %v\n%s", c.flags, err, out)
		}
		if _, err := os.Stat(owner.RecordPath(dir)); err == nil {
			t.Errorf("serve %q told clients of a server", c.flags)
		}
	}
}

func TestAClientOnAnotherMachineNeedsTLSAndAKey(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	files, pool := testcert.Write(t, t.TempDir(), "memory.example")
	port := serveBeyondThisMachine(t, dir, files)
	far := elsewhere{t, port, pool}
	key := strings.TrimSpace(strings.Split(mustRun(t, dir, "key", "create", "--agent", "ann", "--namespaces", "notes"), "\n")[0])
	token, err := os.ReadFile(owner.TokenPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, secret string
		status       int
		says         string
	}{
		{"memory.example", key, http.StatusOK, `"memory_store"`},
		{"memory.example", "", http.StatusUnauthorized, "requires an API key"},
		{"memory.example", key + "x", http.StatusUnauthorized, "not known here"},
		{"memory.example", strings.TrimSpace(string(token)), http.StatusUnauthorized, "requires an API key"},
		{"other.example", key, http.StatusForbidden, "is not this server"},
	} {
		status, answer := far.listsTools(c.host, c.secret)
		if status != c.status || !strings.Contains(answer, c.says) || status != http.StatusOK && strings.Contains(answer, "memory_store") {
			t.Errorf("%s with %.15q: %d, %s", c.host, c.secret, status, answer)
		}
	}
}

// serveBeyondThisMachine serves a data directory on all addresses of this machine, and returns the port.
func serveBeyondThisMachine(t *testing.T, dir string, files testcert.Files) (port string) {
	t.Helper()
	cmd := program(t, dir, "serve", "--listen", "0.0.0.0:0", "--tls-cert", files.Cert, "--tls-key", files.Key, "--require-keys")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	_, port, err := net.SplitHostPort(servedBy(t, dir, cmd.Process).HTTP)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// elsewhere is a client that trusts a server's certificate, which is for memory.example.
type elsewhere struct {
	t    *testing.T
	port string
	pool *x509.CertPool
}

// listsTools asks a host for tools/list, with a secret if there is one.
func (e elsewhere) listsTools(host, secret string) (status int, answer string) {
	e.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"far","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	q, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, "https://memory.example:"+e.port+"/mcp", strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	q.Host = host
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"} {
		q.Header.Set(name, value)
	}
	if secret != "" {
		q.Header.Set("Authorization", "Bearer "+secret)
	}
	response, err := e.client().Do(q)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// client resolves every name to this machine.
func (e elsewhere) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: e.pool}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", e.port))
		},
	}}
}
