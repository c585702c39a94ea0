package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withOAuth is the address of a server that lets in clients of OAuth which register, and the key of a person.
func withOAuth(t *testing.T, program string) (address, key string) {
	t.Helper()
	address = "http://" + freeAddress(t)
	dir := serve(t, program, "--listen", strings.TrimPrefix(address, "http://"), "--public-url", address, "--oauth", "--oauth-registration")
	out, err := command(t, runWithin, program, "key", "create", "--agent", "ann", "--namespaces", "*", "--rights", "read,write,branch,family:*", "--data", dir).Output()
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	return address, strings.TrimSpace(string(out))
}

func TestRealClientsComeInWithOAuth(t *testing.T) {
	node := install(t)
	address, key := withOAuth(t, build(t))
	for _, kind := range []string{"sdk", "client", "client-2026"} {
		out, err := command(t, runWithin, node, "oauth.mjs", kind, address+"/mcp", key).CombinedOutput()
		if err != nil {
			t.Errorf("%s: got %v\n%s, want it let in", kind, err, out)
		}
	}
}

// TestTheOfficialConformanceSuiteFindsNothingInTheAuthorizationServer runs what the suite has for authorization servers: their metadata, and
// the grant of a code, in which a person consents.
func TestTheOfficialConformanceSuiteFindsNothingInTheAuthorizationServer(t *testing.T) {
	node := install(t)
	address, key := withOAuth(t, build(t))
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	suite := command(t, runWithin, node, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"), "authorization",
		"--url", address, "--client-id", registered(t, address, port), "--resource", address+"/mcp", "--port", port, "-o", results)
	out, err := suite.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := suite.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		fmt.Fprintln(&said, line)
		if strings.HasPrefix(line, address+"/authorize?") {
			if out, err := command(t, runWithin, node, "consent.mjs", line, key).CombinedOutput(); err != nil {
				t.Errorf("consent: %v\n%s", err, out)
			}
		}
	}
	if err := suite.Wait(); err != nil {
		t.Errorf("the suite ended with %v:\n%s", err, said.String())
	}
	if passed := passedChecks(t, results); passed < 3 {
		t.Errorf("%d checks passed, want those of the metadata and of the grant:\n%s", passed, said.String())
	}
}

// registered is the id of a client whose codes go to a port.
func registered(t *testing.T, address, port string) string {
	t.Helper()
	answer, err := http.Post(address+"/register", "application/json", strings.NewReader(`{"client_name":"conformance","redirect_uris":["http://127.0.0.1:`+port+`/callback"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var client struct {
		ID string `json:"client_id"`
	}
	body, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(body, &client)
	}
	if err != nil || client.ID == "" {
		t.Fatalf("register a client: got %s, %v", body, err)
	}
	return client.ID
}

// passedChecks counts what passed, and reports what did not.
func passedChecks(t *testing.T, results string) (passed int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(data, &checks); err != nil {
			t.Fatalf("read the checks in %s: %v", path, err)
		}
		for _, c := range checks {
			if c.Status == "SUCCESS" {
				passed++
			} else if c.Status != "INFO" {
				t.Errorf("%s: got %s, %s, want it to pass", c.ID, c.Status, c.ErrorMessage)
			}
		}
	}
	return passed
}
