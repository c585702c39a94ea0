package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/tool"
)

// heap is how many bytes are in use after what is not in use was collected.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// pipe is a connection to a server over which any bytes go.
func pipe(t *testing.T, s *Server) (conn net.Conn, left chan struct{}) {
	t.Helper()
	ours, theirs := net.Pipe()
	left = make(chan struct{})
	go func() {
		defer close(left)
		defer theirs.Close()
		s.ServeConn(context.Background(), theirs, theirs, owner()) // it ends when the client leaves
	}()
	t.Cleanup(func() {
		ours.Close()
		await.Value(t, "the end of a connection", left)
	})
	return ours, left
}

func TestUnfinishedLinesOfAllClientsTogetherAreLimited(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends a gigabyte to measure memory: the tests without -short run it")
	}
	const clients, limit, slack = 64, 32 << 20, 16 << 20
	s := newServer(t, Options{Limits: connection.Limits{Input: jsonrpc.NewBudget(limit, 0)}})
	before := heap()
	unfinished := []byte(`{"jsonrpc":"2.0","id":1,"x":"` + strings.Repeat("x", 15<<20))
	var conns []net.Conn
	var left []chan struct{}
	var writing sync.WaitGroup
	for range clients {
		conn, gone := pipe(t, s)
		conns, left = append(conns, conn), append(left, gone)
		writing.Go(func() { conn.Write(unfinished) }) // as far as the server reads
	}
	p := connect(t, s, Session{}).initialize("small")
	counted := int64(0)
	for i := range 200 {
		p.must("memory_store", fmt.Sprintf(`{"key":"k%d","value":%d}`, i, i))
		used := s.options.Limits.Input.Used()
		if counted = max(counted, used); used > limit {
			t.Errorf("%d bytes are counted, beyond the limit", used)
		}
	}
	if counted == 0 { // at the end there may be none: lines that outgrow the room at the same time are all refused
		t.Error("no bytes are counted")
	}
	if grown := heap() - before; grown > limit+clients*(256<<10)+slack {
		t.Errorf("the heap grew by %d bytes for %d unfinished lines", grown, clients)
	}
	for _, conn := range conns {
		conn.Close()
	}
	for _, gone := range left {
		await.Value(t, "the end of a connection", gone)
	}
	writing.Wait()
	if used := s.options.Limits.Input.Used(); used != 0 {
		t.Errorf("%d bytes are counted after all have left", used)
	}
	if grown := heap() - before; grown > slack {
		t.Errorf("%d bytes are still in use after all have left", grown)
	}
}

func TestALargeMessageCountsUntilItIsServed(t *testing.T) {
	s := newServer(t, Options{Limits: connection.Limits{Input: jsonrpc.NewBudget(64<<20, 0)}})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	_, wait := p.start("tools/call", `{"name":"slow","arguments":{"x":"`+strings.Repeat("x", 2<<20)+`"}}`)
	await.Value(t, "the call", w.begun)
	if used := s.options.Limits.Input.Used(); used < 1<<20 || used > 3<<20 {
		t.Errorf("%d bytes are counted while a call of 2 MiB is served", used)
	}
	close(w.release)
	wait()
	p.must("memory_status", `{}`)
	if used := s.options.Limits.Input.Used(); used != 0 {
		t.Errorf("%d bytes are counted afterwards", used)
	}
}

func TestABodyForWhichThereIsNoRoomIsRefusedWithTheLimit(t *testing.T) {
	s := newServer(t, Options{})
	s.options.Limits.Input = jsonrpc.NewBudget(1<<20, 1) // nobody waits
	url := serveHTTP(t, s)
	if o := callModern(t, url, "memory_store", `{"key":"k","value":1}`); o.failed != nil {
		t.Errorf("a small call: %s", o.text)
	}
	response, text := post(t, url, strings.Repeat("x", 2<<20), nil)
	if response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "1048576 bytes") {
		t.Errorf("answered %d %s", response.StatusCode, text)
	}
	if used := s.options.Limits.Input.Used(); used != 0 {
		t.Errorf("%d bytes are counted afterwards", used)
	}
}

func TestBodiesCountAsLongAsTheyAreServed(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	url := serveHTTP(t, s)
	answered := make(chan string, 2)
	for _, known := range []bool{true, false} { // whether the length is
		body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{"x":"` + strings.Repeat("x", 2<<20) + `"},` + modernMeta + `}}`
		r, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if !known {
			r.ContentLength = -1
		}
		r.Header.Set("Content-Type", "application/json")
		for name, value := range modernHeaders("tools/call", "slow") {
			r.Header.Set(name, value)
		}
		go func() {
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				answered <- err.Error()
				return
			}
			response.Body.Close()
			answered <- response.Status
		}()
		await.Value(t, "the call", w.begun)
	}
	if used := s.options.Limits.Input.Used(); used < 3<<20 || used > 4<<20+4<<10 {
		t.Errorf("%d bytes are counted", used)
	}
	close(w.release)
	for range 2 {
		if got := await.Value(t, "an answer", answered); got != "200 OK" {
			t.Errorf("answered %q, want 200 OK", got)
		}
	}
	if used := s.options.Limits.Input.Used(); used != 0 {
		t.Errorf("%d bytes are counted afterwards", used)
	}
}

func TestAClientThatDoesNotReadIsServedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		c := newServer(t, Options{}).newConn(r, w, owner(), func(error) {})
		big := protocol.JSONRPCResponse{Result: strings.Repeat("x", connection.MaxUnread/3)}
		for range 4 {
			go c.answer(big)
		}
		synctest.Wait()
		served := make(chan struct{})
		go func() {
			c.Enter(t.Context())
			close(served)
		}()
		read, lines := 0, bufio.NewReader(r)
		for ; c.Unread() > connection.MaxUnread; read++ {
			select {
			case <-served:
				t.Fatal("a request is served while more than 4 MiB of answers wait")
			default:
			}
			lines.ReadBytes('\n')
			synctest.Wait()
		}
		<-served
		if read == 0 || read == 4 {
			t.Errorf("%d of 4 answers had to be read", read)
		}
		for ; read < 4; read++ {
			lines.ReadBytes('\n')
		}
	})
}

func TestAClientThatReadsLateIsServedInTheEnd(t *testing.T) {
	s := newServer(t, Options{})
	big := strings.Repeat("x", 1<<20)
	addTool(t, s, "big", func(context.Context, *tool.Call) (tool.Answer, error) {
		return tool.Answer{Structured: map[string]string{"x": big}}, nil
	})
	conn, _ := pipe(t, s)
	const calls = 50
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for id := range calls {
			fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"big"}}`+"\n", id)
		}
	}()
	r := bufio.NewReader(conn)
	for range calls {
		if line, err := r.ReadBytes('\n'); err != nil || !bytes.Contains(line, []byte(`"result"`)) {
			t.Fatalf("answer %.100q, %v, want a result", line, err)
		}
	}
	<-asked
}

func TestAnIDIsCancelledHoweverItIsWritten(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	p.send(`{"jsonrpc":"2.0","id":700,"method":"tools/call","params":{"name":"slow"}}`)
	await.Value(t, "the call", w.begun)
	p.send(`{"jsonrpc":"2.0","id":7e2,"method":"ping"}`)
	if got := p.line(); !strings.Contains(got, "use each id once") {
		t.Errorf("answered %s", got)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":700.0}}`)
	if err := await.Value(t, "the cancellation", w.ended); err == nil {
		t.Error("it went on")
	}
}

func TestTheIDOfACancelledRequestMayBeUsedAgain(t *testing.T) {
	s := newServer(t, Options{})
	stubborn := make(chan struct{})
	begun := make(chan struct{}, 1)
	addTool(t, s, "stubborn", func(context.Context, *tool.Call) (tool.Answer, error) {
		begun <- struct{}{}
		<-stubborn // whatever is cancelled
		return tool.Answer{Structured: map[string]string{"of": "the first"}}, nil
	})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	p.send(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"stubborn"}}`)
	await.Value(t, "the first call", begun)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
	p.send(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"slow"}}`)
	await.Value(t, "the second call", w.begun)
	close(stubborn)
	p.must("memory_status", `{}`)
	close(w.release)
	if got := p.line(); strings.Contains(got, "the first") || !strings.Contains(got, `"id":"x"`) {
		t.Errorf("the second call is answered with %s", got)
	}
}

func TestAnIDThatHTTPCannotRepeatIsRefused(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}))
	session := begin(t, url)
	for id, served := range map[string]bool{`9007199254740991`: true, `9007199254740992`: false, `9007199254740993`: false, `1e400`: false, `-1.5`: true, `"9007199254740993"`: true, `18446744073709551616`: false} {
		_, text := post(t, url, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`, session)
		var answer struct {
			ID    json.RawMessage
			Error *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || string(answer.ID) != id || (answer.Error == nil) != served {
			t.Errorf("ping with id %s: %s, want that id, served: %t", id, text, served)
		}
	}
}
