package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/postgres"
)

var updateRecorded = flag.Bool("update", false, "record the answers of the front ends anew")

const recorded = "testdata/recorded"

// TestAnswersAreAsRecorded sends the recorded calls through every front end and compares each answer byte for byte. A change that
// is intended shows as a diff of the recording, and has its reason in testdata/recorded/CHANGES.md.
func TestAnswersAreAsRecorded(t *testing.T) {
	t.Parallel()
	if underRace && testing.Short() {
		t.Skip("the race detector makes a compilation of the built-in families take minutes: the pass without it replays the answers")
	}
	replayRecorded(t, func(*testing.T) store.Driver { return nil })
}

// The answers of a server whose store is in a database are the same bytes.
func TestAnswersFromPostgreSQLAreAsRecorded(t *testing.T) {
	t.Parallel()
	if *updateRecorded {
		t.Skip("the answers are recorded with the embedded store")
	}
	if underRace {
		t.Skip("the race detector makes a compilation of the built-in families take minutes: the pass without it replays the answers")
	}
	database := postgres.Start(t)
	replayRecorded(t, func(t *testing.T) store.Driver {
		url, err := database.Database()
		if err != nil {
			t.Fatal(err)
		}
		d, err := space.DriverFor(url)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// replayRecorded replays the recorded calls on servers with stores of a driver; nil: the default one.
func replayRecorded(t *testing.T, driver func(*testing.T) store.Driver) {
	calls := recordedLines(t, "calls.txt")
	compiled := filepath.Join(t.TempDir(), "modules") // by the first server, for all
	for _, front := range []struct {
		name string
		open func(*testing.T, *recordedServer) caller
	}{
		{"stdio", openStdio}, {"socket", openSocket}, {"http-2025-11-25", openSession}, {"http-2026-07-28", openStateless}, {"operation", openOperations},
	} {
		t.Run(front.name, func(t *testing.T) {
			s := serveRecorded(t, compiled, driver(t))
			send := front.open(t, s)
			var out strings.Builder
			for _, line := range calls {
				s.advance()
				tool, arguments, _ := strings.Cut(line, " ")
				fmt.Fprintf(&out, "> %s\n%s\n", line, s.plain(send(tool, arguments)))
			}
			compareRecorded(t, front.name+".txt", out.String())
			if front.name == "operation" {
				checkDocument(t, s)
			}
		})
	}
	t.Run("commands", func(t *testing.T) {
		s := serveRecorded(t, compiled, driver(t))
		var out strings.Builder
		for _, line := range recordedLines(t, "commands.txt") {
			s.advance()
			fmt.Fprintf(&out, "$ alcove %s\n%s", line, s.plain(runRecorded(t, s.dir, line)))
		}
		compareRecorded(t, "cli.txt", out.String())
	})
}

// caller calls a tool through a front end and gives what comes back.
type caller func(tool, arguments string) string

// recordedServer is a server in this process whose clock moves by a second a call.
type recordedServer struct {
	dir, http, token string
	now              atomic.Int64 // Unix seconds
}

func (s *recordedServer) advance() { s.now.Add(1) }

// serveRecorded serves a new data directory. compiled is the cache of compiled modules.
func serveRecorded(t *testing.T, compiled string, driver store.Driver) *recordedServer {
	t.Helper()
	s := &recordedServer{dir: filepath.Join(t.TempDir(), "data")}
	s.now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	ctx, stop := context.WithCancel(context.Background())
	h, err := host.Open(ctx, host.Options{Dir: s.dir, Driver: driver, Version: "recorded", Cache: sandbox.Cache{Dir: compiled}, Families: distFamilies(t), Compiler: sandbox.Compiler{Timeout: await.Limit}, Clock: func() time.Time { return time.Unix(s.now.Load(), 0) }})
	if err != nil {
		t.Fatal(err)
	}
	s.token = h.Token()
	started, ended := make(chan owner.Record, 1), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, host.Listen{HTTP: "127.0.0.1:0", Started: func(r owner.Record) { started <- r }})
	}()
	select {
	case r := <-started:
		s.http = "http://" + r.HTTP
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// distFamilies are three of the first-party families.
func distFamilies(t *testing.T) []modules.Module {
	t.Helper()
	if !guests.Embedded() {
		t.Skip("the first-party families are not in this binary: make test")
	}
	var list []modules.Module
	for _, g := range guests.All() {
		if !slices.Contains([]string{"auto-tag", "consolidation", "ranking"}, g.Name) {
			continue
		}
		data, err := g.Read()
		if err != nil {
			t.Fatal(err)
		}
		m, err := modules.Of(data)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// unsteady is what differs from run to run: random parts of names, process ids, and paths of temporary directories.
var unsteady = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\b(\d{14}\.\d{3}|\d{8}-\d{6})-[a-z2-7]{10}\b`), "$1-RANDOM"},
	{regexp.MustCompile(`\b[A-Z2-7]{26}\b`), "REQUEST"},
	{regexp.MustCompile(`(after=\\*"|next\\*": ?\\*")[\w-]+`), "${1}CURSOR"}, // it has a version
	{regexp.MustCompile(`duration_ms(\\?)":\d+`), `duration_ms$1":0`},
	// Version numbers: the server also commits by itself, when it gets to it.
	{regexp.MustCompile(`((?:version|forked_at|versions_from)\\?": ?)\d+`), "${1}0"},
	{regexp.MustCompile(`(latest version |at version |not |if_version=)\d+`), "${1}0"},
	{regexp.MustCompile(`\bv\d+\b`), "v0"},
	{regexp.MustCompile(`(from \S+ \S+ to )\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`), "${1}LATEST"}, // likewise
	{regexp.MustCompile(`(latest\\?": ?\\?")[^"\\]+`), "${1}LATEST"},
	{regexp.MustCompile(`\.00000\d`), ".000000"},
	{regexp.MustCompile(`"pid":\d+`), `"pid":PID`},
	{regexp.MustCompile(`\bprocess +\d+`), "process PID"},
	{regexp.MustCompile(`(process PID, since )\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`), "${1}START"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"}, // of modules, which change with the compiler
}

// plain is an answer without what differs from run to run.
func (s *recordedServer) plain(answer string) string {
	answer = strings.ReplaceAll(answer, s.dir, "DATA")
	for _, u := range unsteady {
		answer = u.from.ReplaceAllString(answer, u.to)
	}
	return answer
}

func recordedLines(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recorded, file))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// compareRecorded compares what was answered with the recording, or records it.
func compareRecorded(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join(recorded, file)
	if *updateRecorded {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	is, should := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(is), len(should)) {
		if is[i] != should[i] {
			t.Fatalf("line %d of %s is\n%s\nand was recorded as\n%s\n(an intended change: run with -update and give its reason in %s/CHANGES.md)", i+1, path, is[i], should[i], recorded)
		}
	}
	t.Fatalf("%s has %d lines, and %d were recorded", path, len(is), len(should))
}

// recordedCall is a call as a message of MCP.
func recordedCall(id int, tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, arguments, meta)
}

const recordedHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"recorder","version":"1"}}}`

// overLines calls tools over a connection that has a message a line.
func overLines(t *testing.T, in io.Writer, out *bufio.Reader) caller {
	t.Helper()
	id := 0
	exchange := func(message string) string {
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			t.Fatal(err)
		}
		for want := fmt.Sprintf(`"id":%d,`, id); ; {
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("read the answer to %s: %v", message, err)
			}
			if strings.Contains(line, want) || strings.Contains(line, strings.TrimSuffix(want, ",")+"}") {
				return strings.TrimSuffix(line, "\n")
			}
		}
	}
	exchange(fmt.Sprintf(recordedHello, "2025-11-25"))
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return func(tool, arguments string) string {
		id++
		return exchange(recordedCall(id, tool, arguments, ""))
	}
}

func openStdio(t *testing.T, s *recordedServer) caller {
	cmd := program(t, s.dir, "mcp", "--agent", "recorder")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return overLines(t, in, bufio.NewReader(out))
}

func openSocket(t *testing.T, s *recordedServer) caller {
	conn, err := owner.Dial(t.Context(), owner.Options{Dir: s.dir, Hello: owner.Hello{Agent: "recorder"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return overLines(t, conn, bufio.NewReader(conn))
}

// post sends an MCP message over HTTP and gives its status, its headers and its body, of an event stream the last event.
func (s *recordedServer) post(t *testing.T, body string, headers map[string]string) (string, http.Header) {
	t.Helper()
	return s.postTo(t, "/mcp", body, headers)
}

func (s *recordedServer) postTo(t *testing.T, path, body string, headers map[string]string) (string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := string(bytes.TrimSpace(data))
	if i := strings.LastIndex(text, "data: "); i >= 0 && strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		text = text[i+len("data: "):]
	}
	return fmt.Sprintf("%d %s", response.StatusCode, text), response.Header
}

// openOperations calls tools by operations over HTTP.
func openOperations(t *testing.T, s *recordedServer) caller {
	return func(tool, arguments string) string {
		body := arguments
		if tool != "memory_operation" {
			body = fmt.Sprintf(`{"method":%q,"params":%s}`, tool, arguments)
		}
		answer, _ := s.postTo(t, "/operation", body, map[string]string{"Alcove-Agent": "recorder"})
		return answer
	}
}

// checkDocument checks the OpenAPI document of a server with the first-party families.
func checkDocument(t *testing.T, s *recordedServer) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.http+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err == nil {
		err = doc.Validate(t.Context())
	}
	if err != nil || doc.Paths.Find("/operation/memory_auto_tag") == nil {
		t.Errorf("the document is %.200s: %v", data, err)
	}
}

func openSession(t *testing.T, s *recordedServer) caller {
	const version = "2025-11-25"
	_, headers := s.post(t, fmt.Sprintf(recordedHello, version), nil)
	session := map[string]string{"Mcp-Session-Id": headers.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": version}
	s.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	id := 0
	return func(tool, arguments string) string {
		id++
		answer, _ := s.post(t, recordedCall(id, tool, arguments, ""), session)
		return answer
	}
}

func openStateless(t *testing.T, s *recordedServer) caller {
	const version = "2026-07-28"
	meta := fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"recorder","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`, version)
	id := 0
	return func(tool, arguments string) string {
		id++
		answer, _ := s.post(t, recordedCall(id, tool, arguments, meta), map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": tool})
		return answer
	}
}

// runRecorded runs a command and gives what it printed and how it ended.
func runRecorded(t *testing.T, dir, line string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := program(t, dir, splitWords(t, line)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(cmd.Env, "TZ=UTC", "HOME="+dir, "ALCOVE_AGENT=recorder")
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, part := range []struct {
		mark, text string
	}{{"| ", stdout.String()}, {"! ", stderr.String()}} {
		for l := range strings.Lines(part.text) {
			out.WriteString(part.mark + strings.TrimSuffix(l, "\n") + "\n")
		}
	}
	fmt.Fprintf(&out, "= %d\n", cmd.ProcessState.ExitCode())
	return out.String()
}

// splitWords splits a command at blanks outside of quotation marks; a word that begins with { is one word.
func splitWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			words, line = append(words, word), rest
			continue
		}
		var word string
		decoder := json.NewDecoder(strings.NewReader(line))
		if err := decoder.Decode(&word); err != nil {
			t.Fatalf("decode %s: %v", line, err)
		}
		words, line = append(words, word), line[decoder.InputOffset():]
	}
	return words
}
