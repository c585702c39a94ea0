package operations

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

// peer is a client of a connection.
type peer struct {
	t     testing.TB
	conn  net.Conn
	in    *bufio.Reader
	ended chan error // what ServeConn returned
	// held are calls of memory_hold, each of which answers when its channel is closed.
	held chan chan struct{}
}

// connected serves a client with memory_echo and memory_hold.
func connected(t testing.TB, ctx context.Context, o Options) *peer {
	p := &peer{t: t, ended: make(chan error, 1), held: make(chan chan struct{}, 1000)}
	spec := func(name string, run tool.Handler) tool.Spec {
		return tool.Spec{Name: name, Input: json.RawMessage(`{"type":"object"}`), Handler: run}
	}
	registry := tool.NewRegistry(nil)
	if err := registry.Add(
		spec("memory_echo", func(_ context.Context, c *tool.Call) (tool.Answer, error) {
			return c.Tool.Answer(tool.Result{Output: c.JSON}), nil
		}),
		spec("memory_hold", func(ctx context.Context, c *tool.Call) (tool.Answer, error) {
			release := make(chan struct{})
			p.held <- release
			select {
			case <-release:
				return c.Tool.Answer(tool.Result{Output: c.JSON}), nil
			case <-ctx.Done():
				return tool.Answer{}, ctx.Err()
			}
		}),
		operation.Spec(),
	); err != nil {
		t.Fatal(err)
	}
	o.Dispatcher = tool.NewDispatcher(registry, tool.Options{})
	ours, theirs := net.Pipe()
	p.conn, p.in = ours, bufio.NewReader(ours)
	go func() {
		p.ended <- New(o).ServeConn(ctx, theirs, theirs, connection.Client{Caller: memory.Caller{Rights: memory.FullRights()}})
		theirs.Close()
	}()
	t.Cleanup(func() { ours.Close() })
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) read() string {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatalf("read an answer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// expect reads an answer that begins with one text and has the others.
func (p *peer) expect(begin string, has ...string) {
	p.t.Helper()
	got := p.read()
	if !strings.HasPrefix(got, begin) || !json.Valid([]byte(got)) {
		p.t.Errorf("got %.300s, not %s…", got, begin)
	}
	for _, text := range has {
		if !strings.Contains(got, text) {
			p.t.Errorf("got %.500s without %s", got, text)
		}
	}
}

func TestEachOperationIsAnsweredInALineWithItsID(t *testing.T) {
	p := connected(t, t.Context(), Options{})
	for _, c := range []struct{ line, begin, has string }{
		{`{"id":1,"method":"echo","params":{"a":1}}`, `{"id":1,"version":"1.0"`, `"result":{"a":1}`},
		{`{"method":"echo","params":{"id":7},"id":"x,}\""}`, `{"id":"x,}\"","version"`, `"result":{"id":7}`},
		{` {"method":"echo", "id" : 2.50e3 , "params":{}} ` + "\r", `{"id":2.50e3,"version"`, `"result":{}`},
		{`{"method":"echo"}`, `{"version"`, `"result":{}`},
		{`{"id":"only"}`, `{"id":"only","version"`, `needs method`},
		{`{"id":3,"batch":[{"method":"echo"},{"method":"nothing"}]}`, `{"id":3,`, `"E_NOT_FOUND"`},
		{`{"id":4,"method":"echo","options":{"dry":true}}`, `{"id":4,`, `there is no option`},
		{`{"id":5,"method":"echo","metadata":{"request_id":"r5"}}`, `{"id":5,`, `"request_id":"r5"`},
		{`{"id":6,"method":"echo",}`, `{"id":6,"error"`, `not valid JSON`},
		{`{"id":6,"id":6,"method":"echo"}`, `{"error"`, `the id is given twice`},
		{`{"id":[1],"method":"echo"}`, `{"error"`, `must be text or a number`},
		{`{"id":null,"method":"echo"}`, `{"error"`, `must be text or a number`},
		{`{"id":"` + strings.Repeat("x", 2000) + `","method":"echo"}`, `{"error"`, `at most 1024 bytes`},
		{`[{"id":7,"method":"echo"}]`, `{"error"`, `the line is another value`},
		{`nothing`, `{"error"`, `not valid JSON`},
		{`{"id":8,"jsonrpc":"2.0","method":"initialize"}`, `{"id":8,`, `"E_NOT_FOUND"`},
	} {
		p.send(c.line)
		got := p.read()
		if !strings.HasPrefix(got, c.begin) || !strings.Contains(got, c.has) || !json.Valid([]byte(got)) {
			t.Errorf("%.100s is answered with %.400s", c.line, got)
		}
	}
}

func TestOperationsOfAConnectionRunAtOnce(t *testing.T) {
	p := connected(t, t.Context(), Options{})
	p.send(`{"id":"slow","method":"hold"}`)
	release := <-p.held
	p.send(`{"id":"quick","method":"echo"}`)
	p.expect(`{"id":"quick"`)
	close(release)
	p.expect(`{"id":"slow"`)
}

func TestOperationsBeyondTheLimitWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connected(t, t.Context(), Options{})
		for i := range connection.MaxInFlight {
			p.send(fmt.Sprintf(`{"id":%d,"method":"hold"}`, i))
		}
		go p.send(`{"id":"late","method":"hold"}`)
		synctest.Wait()
		if n := len(p.held); n != connection.MaxInFlight {
			t.Errorf("%d run", n)
		}
		close(<-p.held)
		p.read()
		synctest.Wait()
		if n := len(p.held); n != connection.MaxInFlight {
			t.Errorf("%d run or have run, when one has ended", n)
		}
		p.conn.Close()
		synctest.Wait()
		for len(p.held) > 0 {
			close(<-p.held)
		}
		<-p.ended
	})
}

func TestAClientThatReadsNothingIsServedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connected(t, t.Context(), Options{})
		for range 3 {
			p.send(`{"id":1,"method":"echo","params":{"x":"` + strings.Repeat("x", connection.MaxUnread/2) + `"}}`)
		}
		synctest.Wait()
		p.send(`{"id":2,"method":"hold"}`)
		synctest.Wait()
		if len(p.held) > 0 {
			t.Error("an operation is run while more than 4 MiB of answers wait")
		}
		p.read()
		p.read()
		synctest.Wait()
		if len(p.held) != 1 {
			t.Error("no operation is run, though the client has read most answers")
		}
		close(<-p.held)
		p.read()
		p.expect(`{"id":2,`)
		p.conn.Close()
		<-p.ended
	})
}

func TestAnOperationThatIsTooLongIsSkipped(t *testing.T) {
	p := connected(t, t.Context(), Options{Limits: connection.Limits{Message: 100_000}})
	go p.send(`{"id":1,"method":"echo","params":{"x":"`+strings.Repeat("x", 100_000)+`"}}`, `{"id":2,"method":"echo"}`)
	p.expect(`{"id":1,"error"`, "100000 bytes", "E_INVALID_ARGUMENT")
	p.expect(`{"id":2,"version"`)
}

// The peer of net.Pipe reads what is written at once, so that the half line is surely received.
func TestAHalfLineIsNotRun(t *testing.T) {
	p := connected(t, t.Context(), Options{})
	io.WriteString(p.conn, `{"id":1,"method":"hold"`)
	p.conn.Close()
	if err := <-p.ended; len(p.held) > 0 {
		t.Errorf("half an operation was run, %v", err)
	}
}

// failing is a connection whose reading ends with an error, as it does when the server stops.
type failing struct {
	io.Reader
	fail chan error
}

func (f failing) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if errors.Is(err, io.EOF) {
		return n, <-f.fail
	}
	return n, err
}

func TestAServerThatStopsAnswersWhatRunsAndSaysSo(t *testing.T) {
	p := connected(t, t.Context(), Options{})
	s := New(Options{Dispatcher: tool.NewDispatcher(tool.NewRegistry(nil), tool.Options{})})
	ours, theirs := net.Pipe()
	fail := make(chan error, 1)
	fail <- errors.New("stopped")
	go func() {
		s.ServeConn(t.Context(), failing{strings.NewReader(`{"id":1,"method":"x"}` + "\n"), fail}, theirs, connection.Client{})
		theirs.Close()
	}()
	p.in = bufio.NewReader(ours)
	p.expect(`{"id":1,`)
	p.expect(`{"error":{"code":"E_UNAVAILABLE"`, "operations without an answer were not begun", `"retryable":true`)
	if line, err := p.in.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Errorf("then follows %q, %v", line, err)
	}
}

func FuzzRequest(f *testing.F) {
	for _, seed := range []string{`{"id":1,"method":"x"}`, `{"method":"x","id":"a"}`, `{"id":1}`, `{"i\u0064":1,"x":{"id":2}}`, `{}`, `[]`, `{"id":1,"id":2}`, ` { "a" : 1 , "id" : 2 , "b" : 3 } `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want map[string]json.RawMessage
		valid := json.Unmarshal(line, &want) == nil && want != nil
		id, body, fault := request([]byte(string(line)))
		if fault != "" {
			if id != nil && !json.Valid(id) {
				t.Fatalf("%q: the id is %q", line, id)
			}
			return
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(body, &got); err != nil || !valid {
			t.Fatalf("%q became %q: %v", line, body, err)
		}
		if string(want["id"]) != string(id) {
			t.Fatalf("%q: the id is %q, not %q", line, id, want["id"])
		}
		delete(want, "id")
		if len(got) != len(want) {
			t.Fatalf("%q became %q", line, body)
		}
		for name, value := range want {
			if string(got[name]) != string(value) {
				t.Fatalf("%q became %q", line, body)
			}
		}
	})
}
