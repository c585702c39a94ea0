package fronts_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

// greeted connects to a socket as a program does that speaks no MCP.
func greeted(t *testing.T, path, hello string) (net.Conn, *bufio.Reader, string) {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, hello+"\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	welcome, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return conn, r, welcome
}

func TestOperationsAreServedOnTheSocket(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann := k.Issue("ann", server.ReadWrite, "team/*")
	for _, c := range []struct{ hello, welcome, line, has string }{
		{`{"alcove":1,"protocol":"operations","agent":"bob","namespace":"home"}`, `"protocol":"operations"`, `{"id":1,"method":"recall","params":{"key":"k"}}`, "tea at home"},
		{`{"alcove":1,"protocol":"operations","agent":"bob"}`, `"pid":`, `{"id":1,"method":"store","params":{"key":"b","value":1},"then":{"method":"recall"}}`, `"agent":"bob"`},
		{`{"alcove":1,"protocol":"operations","read_only":true}`, `"pid":`, `{"id":1,"method":"store","params":{"key":"c","value":1}}`, "E_DENIED"},
		{`{"alcove":1,"protocol":"operations","agent":"mallory","key":"` + ann.Secret + `"}`, `"pid":`, `{"id":1,"method":"store","params":{"key":"d","value":1},"options":{"namespace":"team/a"},"then":{"method":"recall"}}`, `"agent":"ann"`},
		{`{"alcove":1,"protocol":"operations","key":"` + ann.Secret + `"}`, `"pid":`, `{"id":1,"method":"recall","params":{"key":"k","namespace":"home"}}`, `may not read namespace`},
		{`{"alcove":1,"protocol":"operations","namespace":"team/b","key":"` + ann.Secret + `"}`, `"pid":`, `{"id":1,"method":"recall","params":{"key":"k"}}`, "tea of others"},
		{`{"alcove":1,"protocol":"mcp"}`, `"pid":`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
	} {
		conn, r, welcome := greeted(t, k.At.Socket, c.hello)
		if !strings.Contains(welcome, c.welcome) {
			t.Errorf("%s is welcomed with %s", c.hello, welcome)
		}
		io.WriteString(conn, c.line+"\n")
		if answer, err := r.ReadString('\n'); err != nil || !strings.Contains(answer, c.has) || !strings.Contains(answer, `"id":1`) {
			t.Errorf("%s: %s is answered with %s, %v", c.hello, c.line, answer, err)
		}
	}
	for hello, refusal := range map[string]string{
		`{"alcove":1,"protocol":"telnet"}`:                                                          `does not speak`,
		`{"alcove":1,"protocol":"operations","protocol":"mcp"}`:                                     `"protocol\" twice`,
		`{"alcove":1,"key":"a","protocol":"operations","KEY":"b"}`:                                  `"key\" twice`,
		`{"alcove":1,"protocol":"operations","key":"` + ann.Secret + `x"}`:                          `not known here`,
		`{"alcove":1,"protocol":"operations","key":"alcove_key_` + strings.Repeat("x", 3000) + `"}`: `not known here`,
		`{"alcove":1,"protocol":"operations","agent":"` + strings.Repeat("a", 70_000):               `longer than`,
		`{"method":"status"}`: `speaks socket protocol 1`,
	} {
		if _, _, answer := greeted(t, k.At.Socket, hello); !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), strings.ReplaceAll(refusal, `\"`, `"`)) || !strings.Contains(answer, `"error"`) {
			t.Errorf("%.100s is answered with %s", hello, answer)
		}
	}
}

// transports are the addresses under which a server is reached, with what its clients need.
func transports(k *server.Server) map[string]client.Options {
	return map[string]client.Options{
		k.At.Socket: {Agent: "prog"}, k.Dir: {Agent: "prog"}, "unix://" + k.At.Socket: {Agent: "prog"}, "http://" + k.At.HTTP: {Agent: "prog", Key: k.Host.Token()},
	}
}

func TestTheGoClientUsesEveryTransport(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	for address, o := range transports(k) {
		o.Namespace = "go"
		c, ctx := server.Program(t, address, o), t.Context()
		importance := 0.5
		r, err := c.Store(ctx, client.Memory{Key: "tea", Value: map[string]any{"kind": "<green>"}, Tags: []string{"drink"}, Importance: &importance})
		if err != nil || r.Key != "tea" || r.Version == 0 || r.Timestamp.IsZero() {
			t.Errorf("%s: stored %+v, %v", address, r, err)
		}
		m, err := c.Recall(ctx, "tea")
		if err != nil || string(m.Value) != `{"kind":"<green>"}` || m.Agent != "prog" || *m.Importance != 0.5 || m.Tags[0] != "drink" {
			t.Errorf("%s: recalled %+v, %v", address, m, err)
		}
		hits, err := c.Search(ctx, "green", 3)
		if err != nil || len(hits) != 1 || hits[0].Key != "tea" || hits[0].Namespace != "go" || hits[0].Score <= 0 {
			t.Errorf("%s: found %+v, %v", address, hits, err)
		}
		if _, err := c.Recall(ctx, "none"); client.CodeOf(err) != client.NotFound {
			t.Errorf("%s: a key that is not there: %v", address, err)
		}
		if err := c.Call(ctx, "no_such_tool", nil, nil); client.CodeOf(err) != client.NotFound {
			t.Errorf("%s: a tool that is not there: %v", address, err)
		}
		var e *client.Error
		if err := c.Call(ctx, "store", map[string]any{"key": "x", "value": 1, "if_version": 9}, nil); !errors.As(err, &e) || e.Code != client.Conflict || e.Message == "" {
			t.Errorf("%s: a conflict: %v", address, err)
		}
		list, err := c.Batch(ctx, client.Operation{Method: "recall", Params: map[string]any{"key": "tea"}}, client.Operation{Method: "nothing"},
			client.Operation{Method: "recall", Params: map[string]any{"key": "k"}, Namespace: "home"})
		if err != nil || len(list) != 3 || list[0].Err != nil || list[1].Err == nil || list[1].Err.Code != client.NotFound || !strings.Contains(string(list[2].Result), "tea at home") {
			t.Errorf("%s: a batch: %+v, %v", address, list, err)
		}
		a, err := c.Do(ctx, client.Operation{Method: "search", Params: map[string]any{"query": "green"}, RequestID: "chain", Then: []client.Operation{
			{Method: "recall", Params: map[string]any{"key": client.Result("/results/0/key")}}}})
		if err != nil || len(a.Steps) != 1 || a.Method != "recall" || a.Metadata.RequestID != "chain" || a.Decode(&m) != nil || m.Key != "tea" {
			t.Errorf("%s: a chain: %+v, %v", address, a, err)
		}
		if a, err := c.Do(ctx, client.Operation{Method: "forget", Params: map[string]any{"key": "tea"}, DryRun: true}); err != nil || !a.Metadata.DryRun {
			t.Errorf("%s: a dry run: %+v, %v", address, a, err)
		}
		if deleted, err := c.Forget(ctx, "tea"); err != nil || !deleted {
			t.Errorf("%s: forgotten: %t, %v", address, deleted, err)
		}
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				key := fmt.Sprint("at once/", i)
				_, err := c.Store(ctx, client.Memory{Key: key, Value: i})
				if m, recall := c.Recall(ctx, key); err != nil || recall != nil || string(m.Value) != fmt.Sprint(i) {
					t.Errorf("%s: at once: %s, %v, %v", address, m.Value, err, recall)
				}
			})
		}
		all.Wait()
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := c.Call(ended, "status", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a cancelled call: %v", address, err)
		}
		c.Close()
	}
}

func TestAnAnswerBeyondTheClientsLimitIsAnError(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	for address, o := range transports(k) {
		o.MaxAnswer = 100_000
		c := server.Program(t, address, o)
		if _, err := c.Store(t.Context(), client.Memory{Key: "big", Value: strings.Repeat("x", 200_000)}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Recall(t.Context(), "big"); client.CodeOf(err) != client.Exhausted {
			t.Errorf("%s: Recall: %v, want %s", address, err, client.Exhausted)
		}
		if err := c.Call(t.Context(), "status", nil, nil); err != nil {
			t.Errorf("%s, afterwards: %v", address, err)
		}
	}
}

func TestARevokedKeyEndsItsClients(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann := k.Issue("ann", server.ReadWrite, "team/*")
	var clients []*client.Client
	for address, o := range transports(k) {
		o.Key = ann.Secret
		clients = append(clients, server.Program(t, address, o))
		o.Key += "x"
		if _, err := client.Dial(t.Context(), address, o); client.CodeOf(err) != client.Denied {
			t.Errorf("%s: a forged key: %v", address, err)
		}
	}
	if _, err := operator.Call(t.Context(), k.Acts, operator.RevokeKey, operator.KeyID{ID: ann.ID}); err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		if err := c.Call(t.Context(), "status", nil, nil); client.CodeOf(err) != client.Denied || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("a revoked key: %v", err)
		}
	}
}

// A server that stops while clients store over the socket answers each operation, or says that it did not begin it. The next server
// gets what is sent again.
func TestAStopFinishesOrRefusesEachOperationOfTheSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	r, stop := server.Serve(t, h, host.Listen{})
	const senders = 4
	var mu sync.Mutex
	answered, sent, goodbyes := map[string]bool{}, map[string]bool{}, 0
	var all sync.WaitGroup
	enough := make(chan struct{}, 1)
	for s := range senders {
		conn, in, _ := greeted(t, r.Socket, `{"alcove":1,"protocol":"operations"}`)
		all.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("s%d-%d", s, i)
				if _, err := fmt.Fprintf(conn, `{"id":%q,"method":"store","params":{"key":%q,"value":1}}`+"\n", key, key); err != nil {
					return
				}
				mu.Lock()
				sent[key] = true
				mu.Unlock()
			}
		})
		all.Go(func() {
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				var a struct {
					ID    string
					Error json.RawMessage
				}
				if err := json.Unmarshal([]byte(line), &a); err != nil {
					t.Errorf("answered %s", line)
				}
				mu.Lock()
				if a.ID == "" {
					goodbyes++
				} else {
					answered[a.ID] = a.Error == nil
				}
				n := len(answered)
				mu.Unlock()
				if n == 50 {
					enough <- struct{}{}
				}
			}
		})
	}
	<-enough
	begun := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	hurried := time.Since(begun) > 4*time.Second // calls may have been cancelled, which says nothing of what they did
	all.Wait()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if goodbyes != senders {
		t.Errorf("%d of %d connections ended with the reason", goodbyes, senders)
	}
	space := server.Owner(server.Open(t, host.Options{Dir: dir}), "")
	for key := range sent {
		done, known := answered[key]
		m, err := space.Recall(t.Context(), memory.Location{}, key, memory.AsOf{})
		switch {
		case err != nil:
			t.Fatal(err)
		case done && m == nil:
			t.Errorf("%s was acknowledged, and is lost", key)
		case !done && m != nil && !(known && hurried):
			t.Errorf("%s was refused or not begun (%t), and is there", key, known)
		}
	}
	t.Logf("%d were sent, %d answered", len(sent), len(answered))
}

func TestTheLimitsOfAKeyHoldOnTheSocket(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	issued, err := operator.Call(t.Context(), k.Acts, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"team/*"}, Rights: server.ReadWrite, Limits: operator.KeyLimits{BodyBytes: 4096, CallsPerSecond: 0.01, Burst: 2}})
	if err != nil {
		t.Fatal(err)
	}
	conn, r, _ := greeted(t, k.At.Socket, `{"alcove":1,"protocol":"operations","key":"`+issued.Secret+`"}`)
	ask := func(line string) string {
		t.Helper()
		io.WriteString(conn, line+"\n")
		answer, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if said := ask(`{"id":1,"method":"store","params":{"key":"k","value":"` + strings.Repeat("x", 5000) + `"}}`); !strings.Contains(said, `{"id":1,"error"`) || !strings.Contains(said, "longer than 4096 bytes") {
		t.Errorf("a long operation is answered with %s", said)
	}
	var last string
	for i := 0; i < 100 && !strings.Contains(last, "E_EXHAUSTED"); i++ {
		last = ask(`{"id":2,"method":"status"}`)
	}
	if !strings.Contains(last, `{"id":2,"error"`) || !strings.Contains(last, `"retryable":true`) || !strings.Contains(last, `"details"`) {
		t.Errorf("beyond the rate, an operation is answered with %s", last)
	}
}
