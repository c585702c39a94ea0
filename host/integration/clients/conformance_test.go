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
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// check is one check of the conformance suite, under a revision of the protocol.
type check struct{ revision, scenario, id string }

func (c check) String() string { return c.revision + " " + c.scenario + " " + c.id }

// TestTheOfficialConformanceSuiteFindsNothingNew runs the suite against the real server, as each revision of the protocol
// requires. What fails must be listed in conformance.txt, with its reason, and what is listed must fail.
func TestTheOfficialConformanceSuiteFindsNothingNew(t *testing.T) {
	node := install(t)
	dir := serve(t, build(t))
	address := withToken(t, dir)
	expected := readExpected(t)
	passed, failed := 0, map[check]string{}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		results := filepath.Join(t.TempDir(), revision)
		suite := filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
		// It ends with an error when anything fails, so what it wrote tells.
		out, _ := command(t, runWithin, node, suite, "server", "--url", address+"/mcp", "--requirements", revision, "-o", results).CombinedOutput()
		n := readResults(t, revision, results, failed)
		if n < 20 {
			t.Errorf("%s: only %d checks passed:\n%s", revision, n, out)
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

// withToken is the address of a proxy that presents the token: the suite cannot.
func withToken(t *testing.T, dir string) string {
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
		r.Out.Host = r.In.Host
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
			case "FAILURE", "WARNING":
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
			if len(words) != 3 || says == "" {
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
