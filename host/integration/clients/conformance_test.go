package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// check is one check of the conformance suite, under a revision of the protocol.
type check struct{ revision, scenario, id string }

func (c check) String() string { return c.revision + " " + c.scenario + " " + c.id }

// suites are the scenarios of the suite for each revision of the protocol, as its arguments, with the least number of checks that pass.
func suites() map[string]struct {
	args []string
	most int
} {
	return map[string]struct {
		args []string
		most int
	}{
		"2025-03-26": {[]string{"--suite", "all", "--spec-version", "2025-03-26"}, 3},
		"2025-06-18": {[]string{"--suite", "all", "--spec-version", "2025-06-18"}, 50},
		"2025-11-25": {[]string{"--requirements", "2025-11-25"}, 75},
		"2026-07-28": {[]string{"--requirements", "2026-07-28"}, 160},
	}
}

// TestTheOfficialConformanceSuiteFindsNothing runs the suite against the real server with a family that offers what the suite uses, as each
// revision of the protocol requires. What fails or is skipped must be listed in conformance.txt, with its reason, and what is listed must be.
func TestTheOfficialConformanceSuiteFindsNothing(t *testing.T) {
	node := install(t)
	program := build(t)
	dir := serve(t, program)
	installFixture(t, program, dir)
	address := withToken(t, dir, "profile=code") // which lists whole schemas
	expected := readExpected(t)
	passed, failed := 0, map[check]string{}
	for revision, run := range suites() {
		results := filepath.Join(t.TempDir(), revision)
		suite := filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
		// It ends with an error when anything fails, so what it wrote tells.
		args := append([]string{suite, "server", "--url", address + "/mcp", "-o", results}, run.args...)
		out, _ := command(t, runWithin, node, args...).CombinedOutput()
		n := readResults(t, revision, results, failed)
		if n < run.most {
			t.Errorf("%s: %d checks passed, want %d:\n%s", revision, n, run.most, out)
		}
		passed += n
	}
	for c, message := range failed {
		if want, listed := expected[c]; !listed {
			t.Errorf("failed: %s: %s", c, message)
		} else if !strings.Contains(message, want) {
			t.Errorf("failed: %s: %s; it was expected to say %q", c, message, want)
		}
	}
	for c := range expected {
		if _, fails := failed[c]; !fails {
			t.Errorf("does not fail any more: %s: take it out of conformance.txt", c)
		}
	}
	t.Logf("%d checks passed, %d failed as expected", passed, len(failed))
}

// installFixture installs the family of testdata/fixture.
func installFixture(t *testing.T, program, dir string) {
	t.Helper()
	raw, module := filepath.Join(t.TempDir(), "raw.wasm"), filepath.Join(t.TempDir(), "fixture.wasm")
	compile := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", raw, "./testdata/fixture")
	compile.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compile the fixture: %v\n%s", err, out)
	}
	for _, args := range [][]string{
		{"pack", raw, "--manifest", filepath.Join("testdata", "fixture", "manifest.json"), "-o", module},
		{"install", module, "--data", dir},
		{"grant", "conformance", "ask.user", "ask.model", "ask.roots", "tools.publish", "--data", dir},
	} {
		if out, err := command(t, runWithin, program, append([]string{"family"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("family %s: %v\n%s", args[0], err, out)
		}
	}
}

// withToken is the address of a proxy that presents the token and adds a query: the suite cannot, or does not always.
func withToken(t *testing.T, dir, query string) string {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(dir, "owner.json"))
	if err != nil {
		t.Fatal(err)
	}
	var owner struct{ HTTP string }
	if err := json.Unmarshal(record, &owner); err != nil {
		t.Fatal(err)
	}
	target := &url.URL{Scheme: "http", Host: owner.HTTP}
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host, r.Out.URL.RawQuery = r.In.Host, query
		r.Out.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		wholeBody(r.Out)
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }})
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	return proxy.URL
}

// wholeBody reads a request's body before it is passed on. Otherwise the proxy closes it as soon as the answer begins, which
// may be before the transport has seen its end: that cuts the answer short.
func wholeBody(r *http.Request) {
	if r.Body == nil {
		return
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left: there is nobody to answer
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
}

// scenarioDir is how the suite calls a scenario's results.
var scenarioDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[\dZ-]+$`)

// readResults adds what failed, and counts what passed.
func readResults(t *testing.T, revision, dir string, failed map[check]string) (passed int) {
	t.Helper()
	scenarios, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("the suite wrote no results: %v", err)
	}
	for _, s := range scenarios {
		name := scenarioDir.FindStringSubmatch(s.Name())
		if name == nil {
			t.Fatalf("%s is no scenario", s.Name())
		}
		data, err := os.ReadFile(filepath.Join(dir, s.Name(), "checks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(data, &checks); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				passed++
			case "FAILURE", "WARNING", "SKIPPED":
				failed[check{revision, name[1], c.ID}] = c.ErrorMessage
			}
		}
	}
	return passed
}

// readExpected reads conformance.txt: lines of checks, under a line that says why they fail, and in quotes what the suite
// then says.
func readExpected(t *testing.T) map[check]string {
	t.Helper()
	f, err := os.Open("conformance.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	expected, says := map[check]string{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "because "):
			_, quoted, found := strings.Cut(line, "; it says ")
			if _, err := fmt.Sscanf(quoted, "%q", &says); !found || err != nil {
				t.Fatalf("conformance.txt: %s: %v", line, err)
			}
		default:
			words := strings.Fields(line)
			if len(words) != 3 {
				t.Fatalf("conformance.txt: %s", line)
			}
			c := check{words[0], words[1], words[2]}
			if _, twice := expected[c]; twice {
				t.Fatalf("conformance.txt has %s twice", c)
			}
			expected[c] = says
		}
	}
	return expected
}
