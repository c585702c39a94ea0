package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// hostile is what somebody sends who means no good, or has a mistake in a program. Each front end must answer it in
// the same way: with an error that says what is wrong, or with the right answer.
type hostile struct {
	name      string
	tool      string
	arguments string // as they are sent, byte for byte
	code      string // of the error that is due; empty: none is
	says      string // what the error, or the answer without white space, must hold
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func manyTags(n int) string {
	return `"` + strings.Repeat(`x","`, n-1) + `x"`
}

// hostiles are told in order: later ones find what earlier ones stored.
func hostiles() []hostile {
	long := strings.Repeat("x", 2<<20)
	items := strings.Repeat(`{"value":1},`, 1000) + `{"value":1}`
	const bad = "invalid_argument"
	return []hostile{
		{"a value nested too deep", "memory_store", `{"key":"k","value":` + nested(600) + `}`, bad, "at most 512 are allowed"},
		{"a value nested absurdly deep", "memory_store", `{"key":"k","value":` + nested(200_000) + `}`, bad, ""},
		{"a text that is nested JSON", "memory_store", `{"key":"text","value":"` + nested(600) + `"}`, "", `"key":"text"`},
		{"brackets that never close", "memory_store", `{"key":"k","value":` + strings.Repeat("[", 100_000) + `}`, bad, ""},

		{"a parameter given twice", "memory_store", `{"key":"a","key":"b","value":1}`, bad, `"key" is given twice`},
		{"a parameter given twice, once escaped", "memory_store", `{"key":"a","\u006bey":"b","value":1}`, bad, `"key" is given twice`},
		{"a parameter given twice in an item", "memory_store", `{"items":[{"key":"a","key":"b","value":1}]}`, bad, `"key" is given twice`},
		{"a value with a field twice is kept as it is", "memory_store", `{"key":"twice","value":{"a":1,"a":2}}`, "", `"key":"twice"`},
		{"and given back so", "memory_recall", `{"key":"twice"}`, "", `"value":{"a":1,"a":2}`},

		{"half a surrogate pair in a key", "memory_store", `{"key":"\ud800","value":1}`, bad, "not valid Unicode"},
		{"the other half", "memory_recall", `{"key":"x\udc00"}`, bad, "not valid Unicode"},
		{"half a pair in a tag", "memory_store", `{"key":"k","value":1,"tags":["\ud83d"]}`, bad, "not valid Unicode"},
		{"half a pair in a list of keys", "memory_forget", `{"key":["a","\ud800"]}`, bad, "not valid Unicode"},
		{"a whole pair", "memory_store", `{"key":"\ud83d\ude00","value":1}`, "", `"key":"😀"`},
		{"half a pair in a value stays as it was sent", "memory_store", `{"key":"half","value":"\ud800"}`, "", `"key":"half"`},
		{"and comes back so", "memory_recall", `{"key":"half"}`, "", `"value":"\ud800"`},

		{"a key with a zero byte", "memory_store", `{"key":"a\u0000b","value":"zero"}`, bad, "key has a NUL character"},
		{"a zero byte in a key to read", "memory_recall", `{"key":"a\u0000b"}`, bad, "key has a NUL character"},
		{"a zero byte in a link", "memory_store", `{"key":"a","value":1,"links":["b\u0000"]}`, bad, "key has a NUL character"},
		{"a key of separators", "memory_store", `{"key":"../..//|\\\u0001\u001f\u007f\u2028\r\n\t","value":"odd"}`, "", `"version"`},
		{"is found again too", "memory_recall", `{"key":"../..//|\\\u0001\u001f\u007f\u2028\r\n\t"}`, "", `"value":"odd"`},
		{"a key that is too long", "memory_store", `{"key":"` + long[:1025] + `","value":1}`, bad, "at most 1024 are allowed"},
		{"a key that is just short enough", "memory_store", `{"key":"` + long[:1024] + `","value":1}`, "", `"version"`},
		{"an empty key among keys", "memory_forget", `{"key":["a",""]}`, bad, "key is empty"},

		{"ten thousand tags", "memory_store", `{"key":"k","value":1,"tags":[` + manyTags(10_000) + `]}`, bad, "10000 tags: at most 64 are allowed"},
		{"a tag that is too long", "memory_store", `{"key":"k","value":1,"tags":["` + long[:129] + `"]}`, bad, "at most 128 are allowed"},
		{"a value that is too long", "memory_store", `{"key":"k","value":"` + long + `"}`, bad, "at most 1048576 are allowed"},
		{"a thousand and one items", "memory_store", `{"items":[` + items + `]}`, bad, "at most 1000 are allowed"},
		{"a question that is too long", "memory_search", `{"query":"` + long[:4097] + `"}`, bad, "4096"},
		{"a name that is too long", "memory_branch", `{"action":"fork","name":"` + long[:129] + `"}`, bad, "at most 128 are allowed"},
		{"a name with other characters", "memory_branch", `{"action":"fork","name":"a b"}`, bad, "letters, digits"},
		{"metadata that is too long", "memory_store", `{"key":"k","value":1,"metadata":{"m":"` + long[:70_000] + `"}}`, bad, "65536"},

		{"fewer than no hits", "memory_search", `{"query":"x","k":-1}`, bad, "k must be a whole number from 1 to 50"},
		{"more hits than allowed", "memory_search", `{"query":"x","k":51}`, bad, "k must be a whole number from 1 to 50"},
		{"a number of hits beyond all numbers", "memory_search", `{"query":"x","k":1e400}`, bad, "k must be a whole number from 1 to 50"},
		{"part of a hit", "memory_search", `{"query":"x","k":1.5}`, bad, "k must be a whole number from 1 to 50"},
		{"an offset below zero", "memory_search", `{"query":"x","offset":-1}`, bad, "offset must be a whole number"},
		{"a question of nothing but control characters", "memory_search", `{"query":"\u0000\u202e\ufeff"}`, "", `"results":[]`},
		{"an importance that is not a number", "memory_store", `{"key":"k","value":1,"importance":"NaN"}`, bad, "a number from 0 to 1"},
		{"an importance beyond all numbers", "memory_store", `{"key":"k","value":1,"importance":1e999}`, bad, "a number from 0 to 1"},
		{"a version below zero", "memory_store", `{"key":"k","value":1,"if_version":-1}`, bad, "if_version must be a version"},
		{"a version beyond 64 bits", "memory_store", `{"key":"k","value":1,"if_version":18446744073709551616}`, bad, "if_version must be a version"},
		{"a version that nothing has", "memory_store", `{"key":"nothing","value":1,"if_version":9223372036854775807}`, "conflict", "does not exist"},

		{"the future", "memory_recall", `{"key":"half","as_of":"2999-01-01"}`, bad, "lies in the future"},
		{"a version of the future", "memory_recall", `{"key":"half","as_of":"v99999"}`, bad, "there is no version v99999"},
		{"a moment before all", "memory_recall", `{"key":"half","as_of":"0001-01-01T00:00:00Z"}`, "", `"found":false`},
		{"a moment before the epoch", "memory_recall", `{"key":"half","as_of":"1969-12-31"}`, "", `"found":false`},
		{"no moment at all", "memory_recall", `{"key":"half","as_of":"soon"}`, bad, "is not a moment"},
		{"a fork from the future", "memory_branch", `{"action":"fork","name":"f","as_of":"2999-01-01"}`, bad, "lies in the future"},
		{"an expiry in the past", "memory_store", `{"key":"k","value":1,"expires":"2001-01-01"}`, bad, "is in the past"},
		{"a search between the years", "memory_search", `{"query":"zero","since":"9999-01-01"}`, "", `"results":[]`},

		{"a branch merged into itself", "memory_branch", `{"action":"merge","source":"default"}`, bad, "merged with itself"},
		{"a branch compared with itself", "memory_branch", `{"action":"diff","compare":"default"}`, bad, "merged with itself"},
		{"the first branch deleted", "memory_branch", `{"action":"delete","name":"default"}`, "denied", "cannot be deleted"},
		{"a branch that is there made again", "memory_branch", `{"action":"create","name":"default"}`, "conflict", "exists already"},
		{"a branch that is not there", "memory_recall", `{"key":"k","branch":"nope"}`, "not_found", `no branch "nope"`},

		{"a memory that links to itself", "memory_store", `{"key":"c1","value":"circle","links":["c1","c2"],"supersedes":"c2"}`, "", `"version"`},
		{"and one that links back", "memory_store", `{"key":"c2","value":"circle","links":["c1"],"supersedes":"c1"}`, "", `"version"`},
		{"a circle can be recalled", "memory_recall", `{"key":"c1"}`, "", `"links":["c1","c2"]`},
		{"and found", "memory_search", `{"query":"circle"}`, "", `"key":"c2"`},
		{"and forgotten", "memory_forget", `{"key":["c1","c2"]}`, "", `"count":2`},

		{"numbers beyond a float", "memory_store", `{"key":"n","value":[9007199254740993,1e400,-0,0.1000000000000000055511151231257827,123456789012345678901234567890],"metadata":{"m":9007199254740993}}`, "", `"version"`},
		{"come back digit for digit", "memory_recall", `{"key":"n"}`, "", `"value":[9007199254740993,1e400,-0,0.1000000000000000055511151231257827,123456789012345678901234567890]`},
		{"in metadata too", "memory_recall", `{"key":"n"}`, "", `"metadata":{"m":9007199254740993}`},
		{"a number as a key", "memory_store", `{"key":9007199254740993,"value":1}`, "", `"key":"9007199254740993"`},
		{"a conflict in a namespace called like the catalogue's", "memory_store", `{"namespace":"_","key":"k","value":1,"if_version":7}`, "conflict", "does not exist"},

		{"an object where text is due", "memory_recall", `{"key":{"a":1}}`, bad, "key must be text"},
		{"a list where an object is due", "memory_store", `{"key":"k","value":1,"metadata":[1]}`, bad, "metadata must be an object"},
		{"items that are no objects", "memory_store", `{"items":[1,"x",null]}`, bad, "items[0] must be an object"},
		{"nothing", "memory_store", `{}`, bad, "needs value"},
		{"an action that there is not", "memory_branch", `{"action":"explode"}`, bad, "action must be one of"},
		{"a log entry of no kind", "memory_log", `{"event":"","data":1}`, bad, "needs event"},
		{"data nested too deep", "memory_log", `{"event":"e","data":` + nested(600) + `}`, bad, "at most 512 are allowed"},
		{"a page beyond all pages", "memory_history", `{"limit":1000000}`, bad, "limit must be a whole number"},
	}
}

// answered is what a front end made of a call.
type answered struct {
	code string // of an error; empty for none
	text string // of the error, or the answer without white space
}

// front is a way to call the server.
type front struct {
	name string
	call func(t *testing.T, tool, arguments string) answered
}

func TestHostileInputIsAnsweredTheSameByEveryFrontEnd(t *testing.T) {
	t.Parallel()
	for _, open := range []func(t *testing.T, dir string) front{stdioFront, socketFront, httpFront, commandFront} {
		dir := dataDir(t)
		serveForTest(t, dir)
		f := open(t, dir)
		t.Run(f.name, func(t *testing.T) {
			for _, h := range hostiles() {
				got := f.call(t, h.tool, h.arguments)
				if got.code != h.code || !strings.Contains(got.text, h.says) {
					t.Errorf("%s: answered %q %.300q, not %q with %q", h.name, got.code, got.text, h.code, h.says)
				}
			}
		})
	}
}

// serveForTest starts the program as a server, on the socket and over HTTP, that lasts as long as the test.
func serveForTest(t *testing.T, dir string) owner.Record {
	t.Helper()
	cmd := program(t, dir, "serve", "--listen", "127.0.0.1:0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	return servedBy(t, dir, cmd.Process)
}

// servedBy waits until a process owns a data directory and serves HTTP. Clients that come sooner would start an owner of their own.
func servedBy(t *testing.T, dir string, p *os.Process) (r owner.Record) {
	t.Helper()
	await.That(t, "the server comes up", func() (up bool) {
		var err error
		r, err = owner.ReadRecord(dir)
		return err == nil && r.HTTP != "" && r.PID == p.Pid
	})
	return r
}

// rpc is a call as one line.
func rpc(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
}

// understand reads the answer to a call.
func understand(t *testing.T, line []byte) answered {
	t.Helper()
	var answer struct {
		Result *struct {
			IsError           bool
			StructuredContent json.RawMessage
			Content           []struct{ Text string }
		}
		Error *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatalf("%.300q is no answer: %v", line, err)
	}
	switch {
	case answer.Error != nil: // the call could not even be read
		return answered{"invalid_argument", answer.Error.Message}
	case answer.Result == nil:
		t.Fatalf("%.300q is no answer", line)
	case answer.Result.IsError:
		var failure struct{ Code, Message string }
		if err := json.Unmarshal([]byte(answer.Result.Content[0].Text), &failure); err != nil || failure.Code == "" {
			t.Fatalf("%.300q is no error", line)
		}
		return answered{failure.Code, failure.Message}
	}
	return answered{"", compacted(answer.Result.StructuredContent)}
}

func compacted(raw []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}

// lineFront calls over lines of JSON-RPC.
func lineFront(name string, w io.Writer, r *bufio.Reader) front {
	next := 1000
	return front{name, func(t *testing.T, tool, arguments string) answered {
		t.Helper()
		next++
		if _, err := io.WriteString(w, rpc(next, tool, arguments)); err != nil {
			t.Fatal(err)
		}
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			var about struct {
				ID     json.RawMessage
				Method string
			}
			json.Unmarshal(line, &about)
			if id := string(about.ID); about.Method == "" && (id == fmt.Sprint(next) || id == "null") {
				return understand(t, line)
			}
		}
	}}
}

func stdioFront(t *testing.T, dir string) front {
	c := newClient(t, dir)
	return lineFront("stdio", c.in, c.out)
}

func socketFront(t *testing.T, dir string) front {
	conn, err := owner.Dial(t.Context(), owner.Options{Dir: dir, Hello: owner.Hello{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return lineFront("socket", conn, bufio.NewReader(conn))
}

func httpFront(t *testing.T, dir string) front {
	r, err := owner.ReadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	return front{"HTTP", func(t *testing.T, tool, arguments string) answered {
		t.Helper()
		body := strings.Replace(rpc(1, tool, arguments), `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`, 1)
		_, answer := postMCP(t, dir, r.HTTP, body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
		return understand(t, answer)
	}}
}

// postMCP posts a message with the token.
func postMCP(t *testing.T, dir, address, body string, headers ...string) (status int, answer []byte) {
	t.Helper()
	token, err := os.ReadFile(owner.TokenPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequest("POST", "http://"+address+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	headers = append([]string{"Authorization", "Bearer " + strings.TrimSpace(string(token)), "Content-Type", "application/json", "Accept", "application/json, text/event-stream"}, headers...)
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

func commandFront(t *testing.T, dir string) front {
	return front{"command line", func(t *testing.T, tool, arguments string) answered {
		t.Helper()
		cmd := program(t, dir, "call", "--json", tool, "-")
		cmd.Stdin = strings.NewReader(arguments)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err == nil {
			return answered{"", compacted(out.Bytes())}
		}
		if out.Len() > 0 {
			t.Errorf("%s failed and printed %q", tool, out.String())
		}
		message, told := strings.CutPrefix(errs.String(), "alcove: ")
		if !told {
			t.Fatalf("%.300q is no error", errs.String())
		}
		for code, exit := range exitCodes() {
			if exit == cmd.ProcessState.ExitCode() {
				return answered{code, message}
			}
		}
		t.Fatalf("exit code %d: %s", cmd.ProcessState.ExitCode(), message)
		return answered{}
	}}
}

// huge is how many bytes a message has that is much too long.
const huge = 100 << 20

// writeHuge sends the beginning of a call, a long value and its end.
func writeHuge(t *testing.T, w io.Writer, id int) {
	t.Helper()
	part := bytes.Repeat([]byte("x"), 1<<20)
	out := bufio.NewWriterSize(w, 1<<20)
	fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_store","arguments":{"key":"k","value":"`, id)
	for range huge / len(part) {
		out.Write(part)
	}
	out.WriteString("\"}}}\n")
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestALineOf100MBIsSkippedAndItsSenderToldSo(t *testing.T) {
	dir := dataDir(t)
	serveForTest(t, dir)
	stdio := newClient(t, dir)
	conn, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, c := range map[string]struct {
		w io.Writer
		r *bufio.Reader
	}{"stdio": {stdio.in, stdio.out}, "socket": {conn, bufio.NewReader(conn)}} {
		written := make(chan struct{})
		go func() { defer close(written); writeHuge(t, c.w, 77) }()
		line, err := c.r.ReadBytes('\n')
		<-written
		var answer struct {
			ID    int
			Error struct{ Message string }
		}
		if err = errors.Join(err, json.Unmarshal(line, &answer)); err != nil || answer.ID != 77 || !strings.Contains(answer.Error.Message, "the message is longer than 16777216 bytes") {
			t.Errorf("%s: answered %.300q (%v)", name, line, err)
		}
		if got := lineFront(name, c.w, c.r).call(t, "memory_store", `{"key":"after","value":1}`); got.code != "" {
			t.Errorf("%s: afterwards: %+v", name, got)
		}
	}
	if grown := residentOf(t, dir); grown > 400<<20 { // with the race detector, which takes as much again
		t.Errorf("the server takes %d MB", grown>>20)
	}
}

// residentOf is how much memory the owner has, in bytes; 0 where that cannot be told.
func residentOf(t *testing.T, dir string) int64 {
	t.Helper()
	r, err := owner.ReadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.PID))
	if err != nil {
		return 0
	}
	var kilobytes int64
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			fmt.Sscan(text, &kilobytes)
		}
	}
	return kilobytes << 10
}

func TestABodyOf100MBIsRefused(t *testing.T) {
	dir := dataDir(t)
	r := serveForTest(t, dir)
	for name, length := range map[string]int64{"with its length told": huge, "without": -1} {
		q, err := http.NewRequest("POST", "http://"+r.HTTP+"/mcp", io.LimitReader(endless{}, huge))
		if err != nil {
			t.Fatal(err)
		}
		token, err := os.ReadFile(owner.TokenPath(dir))
		if err != nil {
			t.Fatal(err)
		}
		q.ContentLength = length
		q.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		q.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(q)
		if err != nil {
			if length < 0 && errors.Is(err, syscall.EPIPE) {
				continue // the server closed the connection while the body was still coming
			}
			t.Fatalf("%s: post: %v", name, err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(body), "16777216") {
			t.Errorf("%s: status %d, body %.200s, want %d and the limit", name, response.StatusCode, body, http.StatusRequestEntityTooLarge)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestAHelloOf100MBIsRefused(t *testing.T) {
	dir := dataDir(t)
	r := serveForTest(t, dir)
	conn, err := net.Dial("unix", r.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.Copy(conn, io.LimitReader(endless{}, huge)) // until the server hangs up
	answer, err := io.ReadAll(conn)
	if !strings.Contains(string(answer), "too long") && !strings.Contains(string(answer), "longer than") {
		t.Errorf("answered %.300q (%v)", answer, err)
	}
	if got := socketFront(t, dir).call(t, "memory_status", `{}`); got.code != "" {
		t.Errorf("afterwards: %+v", got)
	}
}

// TestLinesThatAreNoMessagesAreAnsweredAndSkipped sends lines that no client sends by design.
func TestLinesThatAreNoMessagesAreAnsweredAndSkipped(t *testing.T) {
	lines := map[string]string{
		"no JSON":                        "hello there",
		"cut off":                        `{"jsonrpc":"2.0","id":1,"method":`,
		"not UTF-8":                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_store\",\"arguments\":{\"key\":\"\xff\",\"value\":1}}}",
		"a zero byte":                    "{\"jsonrpc\":\"2.0\",\x00\"id\":1}",
		"a batch":                        `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		"a number":                       `42`,
		"another protocol":               `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		"an id that is an object":        `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		"a method that is a list":        `{"jsonrpc":"2.0","id":1,"method":["ping"]}`,
		"a method that there is not":     `{"jsonrpc":"2.0","id":1,"method":"no/such"}`,
		"parameters that are no object":  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`,
		"a tool without a name":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`,
		"a tool that there is not":       `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{}}}`,
		"arguments that are a list":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","arguments":[1]}}`,
		"nested a hundred thousand deep": nested(100_000),
		"parameters nested very deep":    `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 20_000) + `1` + strings.Repeat(`}`, 20_000) + `}`,
		"a number beyond all numbers":    `{"jsonrpc":"2.0","id":1e999,"method":"no/such"}`,
	}
	dir := dataDir(t)
	r := serveForTest(t, dir)
	for _, f := range []struct {
		name string
		open func(t *testing.T) (io.Writer, *bufio.Reader)
	}{
		{"stdio", func(t *testing.T) (io.Writer, *bufio.Reader) { c := newClient(t, dir); return c.in, c.out }},
		{"socket", func(t *testing.T) (io.Writer, *bufio.Reader) {
			conn, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return conn, bufio.NewReader(conn)
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			w, in := f.open(t)
			for name, line := range lines {
				if _, err := io.WriteString(w, line+"\n"); err != nil {
					t.Fatal(err)
				}
				answer, err := in.ReadBytes('\n')
				if err != nil || !bytes.Contains(answer, []byte(`"error"`)) && !bytes.Contains(answer, []byte(`"isError":true`)) {
					t.Errorf("%s: answered %.300q (%v)", name, answer, err)
				}
			}
			if got := lineFront(f.name, w, in).call(t, "memory_status", `{}`); got.code != "" {
				t.Errorf("afterwards: %+v", got)
			}
		})
	}
	t.Run("HTTP", func(t *testing.T) {
		for name, line := range lines {
			status, answer := postMCP(t, dir, r.HTTP, line)
			if status < 400 && !bytes.Contains(answer, []byte(`"error"`)) && !bytes.Contains(answer, []byte(`"isError":true`)) || status >= 500 {
				t.Errorf("%s: answered %d %.300q", name, status, answer)
			}
		}
	})
}

func TestArgumentsThatAreNotUTF8AreRefused(t *testing.T) {
	dir := dataDir(t)
	for _, args := range [][]string{
		{"store", "k\xff", "1"}, {"store", "k", "v\xff"}, {"store", "k", "\"v\xff\""}, {"store", "k", "1", "--tags", "\xff"}, {"store", "k", "1", "--agent", "\xff"},
		{"recall", "\xff"}, {"search", "\xff"}, {"forget", "a", "\xff"}, {"log", "\xff", "1"}, {"log", "e", "\xff"}, {"history", "\xff"},
		{"branch", "fork", "\xff"}, {"call", "memory_store", "{\"key\":\"\xff\",\"value\":1}"},
	} {
		cmd := program(t, dir, args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err == nil || !strings.Contains(errs.String(), "not valid UTF-8") || cmd.ProcessState.ExitCode() != exitCodes()["invalid_argument"] {
			t.Errorf("alcove %q: %v, %s%s, want an invalid argument for what is not valid UTF-8", args, err, out.String(), errs.String())
		}
	}
}
