package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// victim is a client that does its work beside whatever else goes on, and checks each answer.
type victim struct {
	session session
	name    string
	took    []time.Duration
	wrong   []string
}

// victimOf starts a victim. end waits for its last call and says what went wrong.
func (s *testServer) victimOf(name string) (end func() *victim) {
	s.t.Helper()
	session, err := s.connect("socket")
	if err != nil {
		s.t.Fatal(err)
	}
	v, done := &victim{session: session, name: name}, make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		for n, left := 0, false; !left || n < 10; n++ {
			select {
			case <-done:
				left = true
			case <-time.After(2 * time.Millisecond):
			}
			v.work(n)
		}
	})
	return func() *victim {
		close(done)
		working.Wait()
		session.Close()
		slices.Sort(v.took)
		return v
	}
}

// work stores, recalls and finds one memory.
func (v *victim) work(n int) {
	key, text := fmt.Sprint("k", n%50), fmt.Sprintf("bystander %s wrote number %dx", v.name, n)
	ask := func(tool string, arguments map[string]any, want string) {
		arguments["namespace"] = v.name
		began := time.Now()
		r, err := v.session.Call(context.Background(), tool, arguments)
		v.took = append(v.took, time.Since(began))
		if (err != nil || !strings.Contains(string(r.Structured), want)) && len(v.wrong) < 10 {
			v.wrong = append(v.wrong, fmt.Sprintf("%s %v answered %.300q, %v; it must hold %q", tool, arguments, r.Structured, err, want))
		}
	}
	ask("memory_store", map[string]any{"key": key, "value": text}, `"version"`)
	ask("memory_recall", map[string]any{"key": key}, text)
	ask("memory_search", map[string]any{"query": text, "k": 5}, text)
}

// mustBeWell checks that a victim got all its answers. How long they took is only told.
func (v *victim) mustBeWell(t *testing.T, beside string) {
	t.Helper()
	for _, wrong := range v.wrong {
		t.Errorf("beside %s: %s", beside, wrong)
	}
	if len(v.took) == 0 {
		t.Errorf("beside %s nothing was asked", beside)
		return
	}
	n := len(v.took)
	t.Logf("beside %-28s %5d calls, p50 %8v, p99 %8v, at most %8v", beside, n, v.took[n/2].Round(time.Microsecond), v.took[n*99/100].Round(time.Microsecond), v.took[n-1].Round(time.Microsecond))
}

// vitalsPath names a socket on which a server that tests start says how it is.
const vitalsPath = "ALCOVE_TEST_VITALS"

// vitals are what a server says of itself.
type vitals struct {
	Goroutines int
	Heap       uint64
}

// tellVitals tells whoever connects how this process is.
func tellVitals(path string) {
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tell vitals:", err)
		return
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		runtime.GC() // what is garbage is not the question
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		json.NewEncoder(conn).Encode(vitals{runtime.NumGoroutine(), m.HeapAlloc})
		conn.Close()
	}
}

// withVitals makes a server tell its vitals.
func withVitals(t *testing.T, cmd *exec.Cmd) (ask func() vitals) {
	t.Helper()
	dir, err := os.MkdirTemp("", "v") // short, as the paths of sockets must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "v")
	cmd.Env = append(cmd.Env, vitalsPath+"="+path)
	return func() (v vitals) {
		t.Helper()
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := json.NewDecoder(conn).Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// levelWithin is when what a server had for clients that left must be given back: well beyond its own deadlines, but for a
// machine that is busy.
const levelWithin = await.Limit

// mustLevel waits until a figure is no higher than it was, but for some slack.
func mustLevel(t *testing.T, what string, before, slack int, now func() int) {
	t.Helper()
	last := now()
	for deadline := time.Now().Add(levelWithin); last > before+slack; last = now() {
		if time.Now().After(deadline) {
			t.Errorf("%s: %d before, and %d afterwards", what, before, last)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("%s: %d before, and %d afterwards", what, before, last)
}

// fuzzed is a server that is sent frames that no client sends.
type fuzzed struct {
	*testServer
	counts sync.Map // *atomic.Int64, by what was sent
}

func (f *fuzzed) count(what string) {
	n, _ := f.counts.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// TestFramesThatNoClientSendsHarmNobody sends odd frames over the stdio bridge, the socket and HTTP, in both protocols, cut and
// half closed, beside a client whose every answer is checked. ALCOVE_STRESS=45s makes it long.
func TestFramesThatNoClientSendsHarmNobody(t *testing.T) {
	load := stress.FromEnvironment(t)
	var ask func() vitals
	f := &fuzzed{testServer: startServer(t, dataDir(t), func(c *exec.Cmd) { ask = withVitals(t, c) })}
	end := f.victimOf("bystander")
	f.throughSocket(frames{load.Random(1)}) // what is opened once and stays
	f.overHTTP(frames{load.Random(1)}, 1)
	http.DefaultClient.CloseIdleConnections()
	files, before := f.files(), ask()
	var sending sync.WaitGroup
	sending.Go(func() {
		random := frames{load.Random(2)}
		for range load.Rounds(120) {
			f.throughSocket(random)
		}
	})
	sending.Go(func() {
		random := frames{load.Random(3)}
		for range load.Rounds(60) {
			f.overHTTP(random, 8)
		}
	})
	sending.Go(func() {
		random := frames{load.Random(4)}
		for range load.Rounds(4) {
			f.throughBridge(random)
		}
	})
	sending.Wait()
	http.DefaultClient.CloseIdleConnections()
	end().mustBeWell(t, "odd frames")
	mustLevel(t, "descriptors", files, 2, f.files)
	mustLevel(t, "goroutines", before.Goroutines, 10, func() int { return ask().Goroutines })
	f.mustRun("verify")
	f.stop()
	f.mustNotHavePanicked()
	f.counts.Range(func(what, n any) bool { t.Logf("%s: %d", what, n.(*atomic.Int64).Load()); return true })
}

// mustBeLines checks that all that was answered is lines of JSON objects. The last may be cut off with the connection.
func (f *fuzzed) mustBeLines(from string, answer []byte) {
	lines := bytes.Split(answer, []byte("\n"))
	for _, line := range lines[:len(lines)-1] {
		f.count("answers " + from)
		var m map[string]json.RawMessage
		if err := json.Unmarshal(line, &m); err != nil {
			f.t.Errorf("%s answered %.300q: %v", from, line, err)
		}
	}
}

// throughSocket opens a connection, sends odd frames and leaves in one of several ways.
func (f *fuzzed) throughSocket(random frames) {
	conn, err := net.Dial("unix", f.Socket)
	if err != nil {
		f.t.Errorf("dial: %v", err)
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(levelWithin))
	var sent bytes.Buffer
	sent.WriteString(oneOf(random.Rand, `{"alcove":1}`, `{"alcove":1}`, `{"alcove":1}`, `{"alcove":1,"protocol":"operations"}`, `{"alcove":1,"protocol":"operations"}`, `{"alcove":1,"namespace":"fuzz","branch":"default","read_only":true}`,
		`{"alcove":1,"namespace":"`+strings.Repeat("n", 5000)+`"}`, `{"alcove":1,"branch":"none"}`, `{"alcove":9}`, `{"alcove":`+nested(5000)+`}`, "hello", string(random.odd())) + "\n")
	for range random.IntN(12) {
		f.count("frames through the socket")
		sent.Write(random.line())
	}
	answers := make(chan []byte, 1)
	go func() {
		all, _ := io.ReadAll(conn) // a connection that was reset has said enough
		answers <- all
	}()
	conn.Write(sent.Bytes()) // the server hangs up after a bad hello
	way := random.IntN(3)
	if way == 0 { // in the middle of a frame
		line := random.line()
		conn.Write(line[:len(line)/2])
		conn.Close()
	} else {
		conn.(*net.UnixConn).CloseWrite()
	}
	all := <-answers
	if way != 0 && len(all) == 0 {
		f.t.Errorf("%.100q and %d bytes were answered with nothing", sent.Bytes(), sent.Len())
	}
	f.mustBeLines("through the socket", all)
}

// throughBridge sends odd frames to alcove mcp, which must end when its input does.
func (f *fuzzed) throughBridge(random frames) {
	cmd := program(f.t, f.dir, "mcp")
	var in, out bytes.Buffer
	for range 20 {
		f.count("frames through the bridge")
		in.Write(random.line())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, io.Discard
	if err := cmd.Start(); err != nil {
		f.t.Error(err)
		return
	}
	hangs := time.AfterFunc(levelWithin, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !hangs.Stop() {
		f.t.Errorf("the bridge did not end with its input: %v", err)
	}
	f.mustBeLines("through the bridge", out.Bytes())
}

// overHTTP sends odd bodies in both protocols.
func (f *fuzzed) overHTTP(random frames, n int) {
	session := ""
	for range n {
		headers := oneOf(random.Rand,
			map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "memory_status"},
			map[string]string{"Mcp-Protocol-Version": "2026-07-28"},
			map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session},
			map[string]string{"Mcp-Session-Id": oneOf(random.Rand, "alcove-none", strings.Repeat("s", 2000), session)},
			map[string]string{"Mcp-Protocol-Version": oneOf(random.Rand, "1999-01-01", "x", strings.Repeat("9", 3000))},
			map[string]string{"Content-Type": oneOf(random.Rand, "text/plain", "application/json; charset=utf-7", "multipart/form-data")},
			map[string]string{"Accept": oneOf(random.Rand, "", "text/html", "application/json", "*/*;q=0")},
			map[string]string{"Last-Event-Id": strings.Repeat("1", 2000)},
			map[string]string{},
		)
		body := random.odd()
		f.count("frames over HTTP")
		status, id, answer, err := f.post(oneOf(random.Rand, "POST", "POST", "POST", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"), body, headers)
		if err != nil {
			f.t.Errorf("%.200q with %v: %v", body, headers, err)
			continue
		}
		if status >= 500 && status != http.StatusServiceUnavailable {
			f.t.Errorf("%.200q with %v: answered %d %.300s", body, headers, status, answer)
		}
		if session == "" {
			session = id
		}
	}
	if session != "" {
		if _, _, _, err := f.post("DELETE", nil, map[string]string{"Mcp-Session-Id": session}); err != nil {
			f.t.Errorf("end a session: %v", err)
		}
	}
}

func (f *fuzzed) post(method string, body []byte, headers map[string]string) (status int, session string, answer []byte, err error) {
	q, err := http.NewRequest(method, "http://"+f.HTTP+"/mcp", bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	q.Header.Set("Authorization", "Bearer "+f.token())
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		q.Header.Set(name, value)
	}
	client := &http.Client{Timeout: levelWithin}
	response, err := client.Do(q)
	if err != nil {
		return 0, "", nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, response.Header.Get("Mcp-Session-Id"), answer, err
}

// trick is a request that tries to be taken for another.
type trick struct {
	name   string
	head   string // with HOST and TOKEN for what is right
	status int    // that is due; 0: the connection is closed without an answer, or refused with 4xx
}

// tricks all would store a memory if they came through.
func tricks() []trick {
	const start, right = "POST /mcp HTTP/1.1\r\n", "Authorization: Bearer TOKEN\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: memory_store\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	all := []trick{
		{"two hosts", start + "Host: HOST\r\nHost: evil.example\r\n" + right, 400},
		{"no host", start + right, 400},
		{"a host with a space", start + "Host: 127.0.0.1 evil.example\r\n" + right, 400},
		{"another host in the request line", "POST http://evil.example/mcp HTTP/1.1\r\nHost: HOST\r\n" + right, 403},
		{"a length and chunks", start + "Host: HOST\r\nTransfer-Encoding: chunked\r\n" + right, 400},
		{"two lengths", start + "Host: HOST\r\nContent-Length: 5\r\n" + right, 400},
		{"a length below zero", "POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n" + right, 400},
		{"a header of a megabyte", start + "Host: HOST\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n" + right, 431},
		{"a header with a space before its colon", start + "Host: HOST\r\nX : y\r\n" + right, 400},
		{"no token", strings.Replace(start+"Host: HOST\r\n"+right, "Bearer TOKEN", "Bearer ", 1), 401},
		{"half a token", strings.Replace(start+"Host: HOST\r\n"+right, "TOKEN", "HALF", 1), 401},
		{"two tokens", strings.Replace(start+"Host: HOST\r\n"+right, "Authorization", "Authorization: Bearer no\r\nAuthorization", 1), 401},
		{"the token in the address", strings.Replace(strings.Replace(start+"Host: HOST\r\n"+right, "/mcp", "/mcp?token=TOKEN", 1), "Bearer TOKEN", "Bearer no", 1), 401},
		{"a path with dots", strings.Replace(start+"Host: HOST\r\n"+right, "/mcp", "/healthz/../admin", 1), 307},
		{"a method of its own", strings.Replace(start+"Host: HOST\r\n"+right, "POST", "CONNECT", 1), 0},
		{"an old protocol without a host", strings.Replace(start+right, "HTTP/1.1", "HTTP/1.0", 1), 403},
	}
	for _, host := range []string{"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:PORT", "127.0.0.1@evil.example", "192.0.2.1", "[::ffff:192.0.2.1]",
		"0x7f000001.evil.example", "2130706433", "0", "0.0.0.0", "localhost.", "127.1", "127.0.0.1%00.evil.example", strings.Repeat("a", 2000)} {
		all = append(all, trick{"the host " + host[:min(len(host), 40)], start + "Host: " + host + "\r\n" + right, 0})
	}
	for _, origin := range []string{"http://evil.example", "https://evil.example:443", "null", "file://localhost", "http://127.0.0.1@evil.example", "http://localhost.evil.example", "http://evil.example#127.0.0.1",
		"http://evil.example/?localhost", "chrome-extension://localhost", "http://", "//localhost", "http://127.0.0.1:1\thttp://evil.example", "HTTP://EVIL.EXAMPLE"} {
		all = append(all, trick{"the origin " + origin, start + "Host: HOST\r\nOrigin: " + origin + "\r\n" + right, 0})
	}
	return all
}

// TestRequestsThatPretendToBeOthersReachNothing sends tricks as bytes. None may store what it carries.
func TestRequestsThatPretendToBeOthersReachNothing(t *testing.T) {
	s := startServer(t, dataDir(t), nil)
	carry := func(name, head string) (int, error) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"key":%q,"value":1,"namespace":"reached"},%s}}`, name, modernMeta)
		token := s.token()
		_, port, err := net.SplitHostPort(s.HTTP)
		if err != nil {
			return 0, err
		}
		head = strings.NewReplacer("HOST", s.HTTP, "PORT", port, "TOKEN", token, "HALF", token[:len(token)/2]).Replace(head)
		if strings.Contains(head, "chunked") {
			body = "0\r\n\r\n" + body // by its chunks the request ends before what it carries
		}
		if !strings.Contains(head, "Content-Length: -1") {
			head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
		}
		conn, err := net.Dial("tcp", s.HTTP)
		if err != nil {
			return 0, err
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(levelWithin))
		go io.WriteString(conn, head+"Connection: close\r\n\r\n"+body) // the server may hang up before it is read
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		return response.StatusCode, err
	}
	honest := strings.Replace(tricks()[0].head, "Host: evil.example\r\n", "", 1)
	if status, err := carry("honest", honest); status != 200 || err != nil {
		t.Fatalf("an honest request is answered with %d, %v", status, err)
	}
	for _, c := range tricks() {
		status, err := carry(c.name, c.head)
		hungUp := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err != nil && strings.Contains(err.Error(), "reset")
		if c.status != 0 && status != c.status && !hungUp || c.status == 0 && !hungUp && (status < 400 || status >= 500) {
			t.Errorf("%s: answered %d, not %d (%v)", c.name, status, c.status, err)
		}
	}
	session, err := s.connect("socket")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, c := range append(tricks(), trick{name: "honest"}) {
		r, err := session.Call(context.Background(), "memory_recall", map[string]any{"key": c.name, "namespace": "reached"})
		if reached := strings.Contains(string(r.Structured), `"found":true`); err != nil || reached != (c.name == "honest") {
			t.Errorf("%s: stored: %t, %v", c.name, reached, err)
		}
	}
	s.mustNotHavePanicked()
}

// TestTheSocketAnswersAHalfClosedClient sends a request and closes its writing side at once, as a pipe does.
func TestTheSocketAnswersAHalfClosedClient(t *testing.T) {
	dir := dataDir(t)
	serveForTest(t, dir)
	conn, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, rpc(1, "memory_store", `{"key":"k","value":1}`))
	conn.Conn.(*net.UnixConn).CloseWrite()
	all, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(all), `"version"`) {
		t.Errorf("answered %q, %v", all, err)
	}
}
