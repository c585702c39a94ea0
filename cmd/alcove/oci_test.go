package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	mcptypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alcove-memory/alcove/host/testing/ociregistry"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// htpasswd is the bcrypt hash of the password opensesame, at the least cost.
const htpasswd = "ann:$2b$04$179oHm4cIN/02r1aU7d3DOBsZTnkOYxyl6KAt4EgGBwu2lezkKMfm\n"

// TestAnOCITagThatMovesAfterApprovalChangesNothingThatRuns lives a family's life with two real registries: one with TLS and a password,
// one without either.
func TestAnOCITagThatMovesAfterApprovalChangesNothingThatRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, _ := testcert.Write(t, dir)
	users := filepath.Join(dir, "htpasswd")
	if err := os.WriteFile(users, []byte(htpasswd), 0o600); err != nil {
		t.Fatal(err)
	}
	private := ociregistry.Start(t, fmt.Sprintf("  tls: {certificate: %q, key: %q}\nauth:\n  htpasswd: {realm: test, path: %q}\n", files.Cert, files.Key, users))
	plain := ociregistry.Start(t, "")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/oci",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": func(ts *testscript.TestScript, neg bool, args []string) { waitFor(t, ts, neg, args) },
			"guest":   writeGuest, "digest": rememberDigest,
			"mcpcall":   func(ts *testscript.TestScript, _ bool, args []string) { callOverMCP(t, ts, args) },
			"stopowner": func(ts *testscript.TestScript, _ bool, _ []string) { stopOwner(t, ts.Getenv("ALCOVE_DATA")) },
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ALCOVE_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("ALCOVE_LISTEN", "off")
			if err := shareCache(e); err != nil {
				return err
			}
			e.Setenv("SSL_CERT_FILE", files.Cert)
			e.Setenv("PRIVATE", private)
			e.Setenv("PLAIN", plain)
			e.Setenv("DOCKER_CONFIG", filepath.Join(e.WorkDir, "none"))
			e.Setenv("PATH", e.Getenv("PATH")+string(os.PathListSeparator)+filepath.Join(e.WorkDir, "helpers"))
			e.Defer(func() { stopOwners(t, e.WorkDir) })
			return writeCredentials(e.WorkDir, private)
		},
	})
}

// writeCredentials writes two configurations of docker: one has a password, one names a credential helper that has it.
func writeCredentials(dir, registry string) error {
	secret := base64.StdEncoding.EncodeToString([]byte("ann:opensesame"))
	for name, text := range map[string]string{
		"docker/config.json":             fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, registry, secret),
		"helper/config.json":             fmt.Sprintf(`{"credHelpers":{%q:"test"}}`, registry),
		"wrong/config.json":              fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, registry, base64.StdEncoding.EncodeToString([]byte("ann:wrong"))),
		"helpers/docker-credential-test": "#!/bin/sh\necho '{\"ServerURL\":\"x\",\"Username\":\"ann\",\"Secret\":\"opensesame\"}'\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// rememberDigest sets a variable to the digest of the reference that the last command printed.
func rememberDigest(ts *testscript.TestScript, neg bool, args []string) {
	found := regexp.MustCompile(`@(sha256:[0-9a-f]{64})`).FindStringSubmatch(ts.ReadFile("stdout"))
	if neg || len(args) != 1 || found == nil {
		ts.Fatalf("use it as: digest VARIABLE, after a command that prints a digest")
	}
	ts.Setenv(args[0], found[1])
}

// callOverMCP calls a tool by another project's MCP client over alcove mcp, and compares its answer.
func callOverMCP(t *testing.T, ts *testscript.TestScript, args []string) {
	if len(args) != 2 {
		ts.Fatalf("use it as: mcpcall TOOL TEXT")
	}
	self, err := os.Executable()
	ts.Check(err)
	env := []string{asMain + "=1"}
	for _, name := range []string{"ALCOVE_DATA", "ALCOVE_LISTEN", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "PATH", "HOME"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	client, err := mcpclient.NewStdioMCPClient(self, env, "mcp")
	ts.Check(err)
	defer client.Close()
	start := mcptypes.InitializeRequest{}
	start.Params.ProtocolVersion = mcptypes.LATEST_PROTOCOL_VERSION
	start.Params.ClientInfo = mcptypes.Implementation{Name: "test", Version: "1"}
	_, err = client.Initialize(t.Context(), start)
	ts.Check(err)
	call := mcptypes.CallToolRequest{}
	call.Params.Name = args[0]
	call.Params.Arguments = map[string]any{}
	answer, err := client.CallTool(t.Context(), call)
	if err != nil {
		ts.Fatalf("call %s: %v", args[0], err)
	}
	if text := fmt.Sprint(answer.Content, answer.StructuredContent); !strings.Contains(text, args[1]) {
		ts.Fatalf("%s answers %s, without %s", args[0], text, args[1])
	}
}
