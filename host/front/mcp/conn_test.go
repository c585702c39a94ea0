package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/tool"
)

// slow is a tool that lasts until it is cancelled or released.
type slow struct {
	begun   chan struct{}
	release chan struct{}
	ended   chan error // the reason of its context
}

func addSlow(t testing.TB, s *Server) *slow {
	t.Helper()
	w := &slow{make(chan struct{}, 1000), make(chan struct{}), make(chan error, 1000)}
	addTool(t, s, "slow", func(ctx context.Context, _ *tool.Call) (tool.Answer, error) {
		w.begun <- struct{}{}
		select {
		case <-ctx.Done():
		case <-w.release:
		}
		w.ended <- ctx.Err()
		return tool.Answer{Structured: struct{}{}}, ctx.Err()
	})
	return w
}

func TestTwoClientsAtOnceEachGetTheirOwnAnswers(t *testing.T) {
	s := newServer(t, Options{})
	var both sync.WaitGroup
	for _, name := range []string{"ada", "bob"} {
		p := connect(t, s, Session{}).initialize(name)
		both.Go(func() {
			for i := range 50 {
				key := fmt.Sprintf("%s-%d", name, i)
				p.must("memory_store", fmt.Sprintf(`{"key":%q,"value":%q}`, key, key))
				o := p.must("memory_recall", fmt.Sprintf(`{"key":%q}`, key))
				if o.field("value") != `"`+key+`"` || o.field("agent") != `"`+name+`"` {
					t.Errorf("%s recalled %s", name, o.structured)
				}
			}
		})
	}
	both.Wait()
}

func TestACancelledRequestStopsAndIsNotAnswered(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	id, _ := p.start("tools/call", `{"name":"slow"}`)
	await.Value(t, "the call", w.begun)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`)
	if err := await.Value(t, "the cancellation", w.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	p.must("memory_status", `{}`)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[id] == nil {
		t.Error("the cancelled request was answered")
	}
}

func TestARequestIsCancelledEvenBeforeItBegins(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	for range 100 {
		id, _ := p.start("tools/call", `{"name":"slow"}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		if err := await.Value(t, "the cancellation", w.ended); !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	}
}

func TestASlowRequestHoldsUpNobody(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	_, wait := p.start("tools/call", `{"name":"slow"}`)
	await.Value(t, "the call", w.begun)
	p.must("memory_status", `{}`)
	close(w.release)
	wait()
}

func TestWhatWasAskedBeforeTheEndIsStillAnswered(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	_, wait := p.start("tools/call", `{"name":"slow"}`)
	await.Value(t, "the call", w.begun)
	p.in.Close()
	close(w.release)
	wait()
	if err := await.Value(t, "the end", p.ended); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestLinesThatAreTooLongAreAnsweredAndSkipped(t *testing.T) {
	s := newServer(t, Options{Limits: connection.Limits{Message: 1 << 20}})
	p := connect(t, s, Session{}).initialize("tester")
	long := strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct{ line, id string }{
		"id first":     {`{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"id":1,"a":"` + long + `"}}`, "77"},
		"id last":      {`{"method":"tools/call","params":{"id":1,"a":["\"id\":2,` + long + `"]},"jsonrpc":"2.0","id":"seven \" }"}`, `"seven \" }"`},
		"no id":        {`{"jsonrpc":"2.0","method":"x","params":{"id":1,"a":"` + long + `"}}`, "null"},
		"not JSON":     {long, "null"},
		"an odd id":    {`{"id":{"a":1},"x":"` + long + `"}`, "null"},
		"a long id":    {`{"id":"` + long + `"}`, "null"},
		"unterminated": {`{"x":"` + long, "null"},
	} {
		p.send(c.line)
		var e struct {
			ID    json.RawMessage
			Error struct{ Message string }
		}
		if err := json.Unmarshal([]byte(p.line()), &e); err != nil {
			t.Fatal(err)
		}
		if string(e.ID) != c.id || !strings.Contains(e.Error.Message, "1048576 bytes") {
			t.Errorf("%s: answered %s %q", name, e.ID, e.Error.Message)
		}
	}
	p.must("memory_status", `{}`)
}

func TestALineOfExactlyTheLimitIsServed(t *testing.T) {
	s := newServer(t, Options{Limits: connection.Limits{Message: 1 << 12}})
	p := connect(t, s, Session{}).initialize("tester")
	line := `{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":""}}`
	line = strings.Replace(line, `""`, `"`+strings.Repeat("x", 1<<12-len(line))+`"`, 1)
	p.send(line)
	if got := p.line(); !strings.Contains(got, `"result":{}`) {
		t.Errorf("answered %s", got)
	}
	p.send(line + " ")
	if got := p.line(); !strings.Contains(got, "4096 bytes") {
		t.Errorf("answered %s", got)
	}
}

func TestGarbageIsAnsweredAndForgotten(t *testing.T) {
	p := use(t)
	for line, want := range map[string]string{
		"garbage":          "not valid JSON",
		`{"jsonrpc":"2.0"`: "not valid JSON",
		"\xff\xfe":         "not valid UTF-8",
		`[]`:               "no batches",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: "no batches",
		`"text"`:                     "not a JSON object",
		`{"id":"a","method":"ping"}`: "jsonrpc must be",
		`{"jsonrpc":"1.0","id":"a","method":"ping"}`:                                                                            "jsonrpc must be",
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                                                           "id of a request must be text or a number",
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`:                                                                            "id of a request must be text or a number",
		`{"jsonrpc":"2.0","id":"a","method":5}`:                                                                                 "the method must be text",
		`{"jsonrpc":"2.0","id":"a"}`:                                                                                            "has no method",
		`{"jsonrpc":"2.0","id":"a","method":"tools/call"}`:                                                                      "params needs name",
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[]}`:                                                          "params must be an object",
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":5}}`:                                                  "params needs name",
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"remember"}}`:                                         "the tools are memory_store, memory_recall",
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"recall"}}`:                                           `\"memory_recall\" is the one you mean`,
		`{"jsonrpc":"2.0","id":"a","method":"no/such"}`:                                                                         "not found",
		strings.Repeat("[", 100_000):                                                                                            "not valid JSON",
		`{"jsonrpc":"2.0","id":"a","method":"ping","params":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`: "not valid JSON",
	} {
		p.send(line)
		if got := p.line(); !strings.Contains(got, want) || !strings.Contains(got, `"error"`) {
			t.Errorf("%.80q is answered with %s, not %q", line, got, want)
		}
	}
	p.send("")
	p.send("   ")
	p.send(`{"jsonrpc":"2.0","method":"notifications/unheard-of"}`)
	p.send(`{"jsonrpc":"2.0","id":99,"result":{}}`)
	p.must("memory_status", `{}`)
}

func TestADeepValueIsRefusedByName(t *testing.T) {
	p := use(t)
	refusal := p.refused("memory_store", `{"key":"k","value":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`}`)
	if !strings.Contains(refusal.Message, "at most 512") {
		t.Errorf("refused with %s", refusal.Message)
	}
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	p.must("memory_store", `{"key":"k","value":`+deep+`}`)
	if got := p.must("memory_recall", `{"key":"k"}`).field("value"); got != deep {
		t.Errorf("recalled %.60s", got)
	}
}

func TestIdsComeBackToTheLetter(t *testing.T) {
	p := use(t)
	for _, id := range []string{`9007199254740993`, `"a\u0062"`, `-1`, `0`, `1.50`, `""`} {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		var r struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(p.line()), &r); err != nil || string(r.ID) != id {
			t.Errorf("the id %s came back as %s", id, r.ID)
		}
	}
}

func TestAnIdInUseIsRefused(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	id, wait := p.start("tools/call", `{"name":"slow"}`)
	await.Value(t, "the call", w.begun)
	p.mu.Lock()
	first := p.waiting[id]
	delete(p.waiting, id)
	p.mu.Unlock()
	p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
	if got := p.line(); !strings.Contains(got, "use each id once") {
		t.Errorf("answered %s", got)
	}
	p.mu.Lock()
	p.waiting[id] = first
	p.mu.Unlock()
	close(w.release)
	wait()
}

func TestManyRequestsAtOnceAreServedInTurn(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	p := connect(t, s, Session{}).initialize("tester")
	var waits []func() string
	for range connection.MaxInFlight {
		_, wait := p.start("tools/call", `{"name":"slow"}`)
		waits = append(waits, wait)
	}
	for range connection.MaxInFlight {
		await.Value(t, "a call", w.begun)
	}
	_, late := p.start("tools/call", `{"name":"slow"}`)
	select {
	case <-w.begun:
		t.Error("more requests are served than the limit")
	default:
	}
	close(w.release)
	for _, wait := range append(waits, late) {
		wait()
	}
}

func TestListeningIsAcknowledgedAndEnds(t *testing.T) {
	p := connect(t, newServer(t, Options{}), Session{})
	p.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	first, second := p.line(), p.line()
	if !strings.Contains(first, "notifications/subscriptions/acknowledged") || !strings.Contains(second, `"id":"sub"`) {
		t.Errorf("answered %s and %s", first, second)
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"future","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func TestBothProtocolErasAreSpokenOnOneConnection(t *testing.T) {
	p := use(t)
	if got := p.request("server/discover", `{`+modernMeta+`}`); !strings.Contains(got, "2026-07-28") || !strings.Contains(got, "2024-11-05") || !strings.Contains(got, "instructions") {
		t.Errorf("discovered %s", got)
	}
	answer := p.request("tools/call", `{"name":"memory_store","arguments":{"key":"k","value":"v"},`+modernMeta+`}`)
	if parseOutcome(t, "memory_store", []byte(answer)); !strings.Contains(answer, `"resultType":"complete"`) {
		t.Errorf("answered %s", answer)
	}
	if got := p.must("memory_recall", `{"key":"k"}`).field("agent"); got != `"future"` {
		t.Errorf("the agent is %s", got)
	}
}

func TestARequestThatStandsAloneLeavesTheSessionWhereItIs(t *testing.T) {
	p := use(t)
	p.must("memory_branch", `{"action":"create","name":"mine"}`)
	answer := p.request("tools/call", `{"name":"memory_branch","arguments":{"action":"switch","name":"mine"},`+modernMeta+`}`)
	if o := parseOutcome(t, "memory_branch", []byte(answer)); !strings.Contains(o.text, `pass branch=\"mine\"`) {
		t.Errorf("switched with %s", o.text)
	}
	if got := p.must("memory_status", `{}`).field("branch"); got != `"default"` {
		t.Errorf("the session is on %s", got)
	}
}

func TestACallOnAnotherBranchSaysWhereTheSessionIs(t *testing.T) {
	p := use(t)
	p.must("memory_branch", `{"action":"fork","name":"mine"}`)
	for _, arguments := range []string{
		`{"action":"list","branch":"mine"}`, `{"action":"fork","name":"yours","branch":"mine"}`, `{"action":"create","name":"new","branch":"mine"}`,
		`{"action":"diff","compare":"default","branch":"mine"}`, `{"action":"merge","source":"default","branch":"mine"}`, `{"action":"delete","name":"new","branch":"mine"}`,
	} {
		if got := p.must("memory_branch", arguments).field("current"); got != `"default"` {
			t.Errorf("%s: the session is said to be on %s", arguments, got)
		}
	}
}

func TestEveryLegacyRevisionIsNegotiated(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		p := connect(t, newServer(t, Options{}), Session{})
		got := p.request("initialize", `{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		if !strings.Contains(got, `"protocolVersion":"`+revision+`"`) || !strings.Contains(got, `"name":"alcove"`) {
			t.Errorf("%s is answered with %s", revision, got)
		}
	}
}

func TestACallThatIsSentAgainHappensOnce(t *testing.T) {
	p := use(t)
	params := `{"name":"memory_log","arguments":{"event":"paid","data":{"amount":1}},"_meta":{"alcove/request-id":"r-1"}}`
	for range 3 {
		o := parseOutcome(t, "memory_log", []byte(p.request("tools/call", params)))
		if o.failed != nil || o.field("sequence") != "1" {
			t.Errorf("it was number %s: %s", o.field("sequence"), o.text)
		}
	}
	other := strings.Replace(params, `"amount":1`, `"amount":2`, 1)
	if o := parseOutcome(t, "memory_log", []byte(p.request("tools/call", other))); o.failed == nil || o.failed.Code != memory.Conflict {
		t.Errorf("the same id for something else is answered with %s", o.text)
	}
	for _, id := range []string{`5`, `""`, `"` + strings.Repeat("x", 129) + `"`} {
		bad := strings.Replace(params, `"r-1"`, id, 1)
		if o := parseOutcome(t, "memory_log", []byte(p.request("tools/call", bad))); o.failed == nil || !strings.Contains(o.failed.Message, "alcove/request-id") {
			t.Errorf("the id %.20s is answered with %s", id, o.text)
		}
	}
}

func TestAFaultOfTheServerIsLoggedAndNotTold(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for name, run := range map[string]tool.Handler{
		"fails": func(context.Context, *tool.Call) (tool.Answer, error) {
			return tool.Answer{}, errors.New("secret path /etc/x")
		},
		"panics": func(context.Context, *tool.Call) (tool.Answer, error) { panic("secret path /etc/x") },
	} {
		addTool(t, s, name, run)
	}
	p := connect(t, s, Session{}).initialize("tester")
	for _, name := range []string{"fails", "panics"} {
		refusal := p.refused(name, `{}`)
		if refusal.Code != memory.Internal || strings.Contains(refusal.Message, "secret") {
			t.Errorf("%s: told %+v", name, refusal)
		}
	}
	p.in.Close()
	await.Value(t, "the end", p.ended)
	if strings.Count(log.String(), "secret path") < 2 {
		t.Errorf("the log says %s", log.String())
	}
}

func TestAnAgentsNameIsMadeFitToKeep(t *testing.T) {
	s := newServer(t, Options{})
	p := connect(t, s, Session{}).initialize("evil\n\tname " + strings.Repeat("é", 500))
	p.must("memory_store", `{"key":"k","value":1}`)
	got := p.must("memory_recall", `{"key":"k"}`).field("agent")
	if strings.Contains(got, `\n`) || len([]rune(got)) > longestAgent+2 || !strings.HasPrefix(got, `"evilname `) {
		t.Errorf("the agent is %s", got)
	}
}

func TestServingEndsWithItsContext(t *testing.T) {
	s := newServer(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	in, _ := io.Pipe()
	go func() { ended <- s.ServeConn(ctx, in, io.Discard, owner()) }()
	cancel()
	if err := await.Value(t, "the end", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestServingEndsWhenTheClientCannotBeReadOrWrittenTo(t *testing.T) {
	s := newServer(t, Options{})
	broken := errors.New("broken")
	if err := s.ServeConn(context.Background(), iotest.ErrReader(broken), io.Discard, owner()); !errors.Is(err, broken) {
		t.Errorf("reading: it ended with %v", err)
	}
	in, client := io.Pipe()
	defer client.Close()
	out, server := io.Pipe()
	out.CloseWithError(broken)
	ended := make(chan error, 1)
	go func() { ended <- s.ServeConn(context.Background(), in, server, owner()) }()
	io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if err := await.Value(t, "the end", ended); !errors.Is(err, broken) {
		t.Errorf("writing: it ended with %v", err)
	}
}

// library connects the protocol library's own client.
func library(t *testing.T, s *Server, version string) *client.Client {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		s.ServeConn(ctx, fromClient, toClient, owner())
		toClient.Close()
	}()
	c := client.NewClient(transport.NewIO(out, in, io.NopCloser(strings.NewReader(""))))
	start(t, c, version)
	t.Cleanup(func() { c.Close(); cancel() })
	return c
}

func start(t *testing.T, c *client.Client, version string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	request := protocol.InitializeRequest{}
	request.Params.ProtocolVersion = version
	request.Params.ClientInfo = protocol.Implementation{Name: "library", Version: "1"}
	if _, err := c.Initialize(ctx, request); err != nil {
		t.Fatal(err)
	}
	if c.ProtocolVersion() != version {
		t.Fatalf("negotiated %s, not %s", c.ProtocolVersion(), version)
	}
}

// drive uses every tool through the library's client.
func drive(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list, err := c.ListTools(ctx, protocol.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var offered []string
	for _, each := range list.Tools {
		offered = append(offered, each.Name)
	}
	if strings.Join(offered, ", ") != coreNames(t, false) {
		t.Errorf("offered are %s", offered)
	}
	for _, step := range []struct{ tool, arguments, want string }{
		{"memory_store", `{"key":"tz","value":{"zone":"CET","n":9007199254740993}}`, `"key":"tz"`},
		{"memory_recall", `{"key":"tz"}`, `"n":9007199254740993`},
		{"memory_search", `{"query":"CET"}`, `"key":"tz"`},
		{"memory_log", `{"event":"seen","data":1}`, `"sequence":1`},
		{"memory_branch", `{"action":"fork","name":"side"}`, `"name":"side"`},
		{"memory_store", `{"key":"tz","value":"UTC","branch":"side"}`, `"version"`},
		{"memory_branch", `{"action":"diff","compare":"side"}`, `"changed":1`},
		{"memory_branch", `{"action":"merge","source":"side"}`, `"merged":true`},
		{"memory_history", `{"key":"tz"}`, `"UTC"`},
		{"memory_forget", `{"key":"tz"}`, `"deleted":true`},
		{"memory_status", `{}`, `"branches":2`},
	} {
		request := protocol.CallToolRequest{}
		request.Params.Name, request.Params.Arguments = step.tool, json.RawMessage(step.arguments)
		result, err := c.CallTool(ctx, request)
		if err != nil || result.IsError {
			t.Fatalf("call %s: %+v, %v, want a result", step.tool, result, err)
		}
		text := result.Content[0].(protocol.TextContent).Text
		if !strings.Contains(text, step.want) {
			t.Errorf("call %s with %s = %s, want %s", step.tool, step.arguments, text, step.want)
		}
		checkOutput(t, step.tool, result.RawStructuredContent)
	}
}

func TestTheLibrarysClientUsesEveryToolOnAConnection(t *testing.T) {
	for _, version := range []string{protocol.LATEST_LEGACY_PROTOCOL_VERSION, protocol.ProtocolVersion20260728} {
		t.Run(version, func(t *testing.T) { drive(t, library(t, newServer(t, Options{}), version)) })
	}
}

func TestWhatACallTellsIsReadBeforeItsAnswer(t *testing.T) {
	s := newServer(t, Options{})
	addTool(t, s, "telling", func(_ context.Context, c *tool.Call) (tool.Answer, error) {
		c.Progress(1, 1, "done")
		return tool.Answer{Structured: struct{}{}}, nil
	})
	conn, _ := pipe(t, s)
	lines := bufio.NewReader(conn)
	for id := range 200 {
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"telling","_meta":{"progressToken":%d}}}`+"\n", id, id)
		for _, want := range []string{`"method":"notifications/progress"`, `"result"`} {
			if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, want) {
				t.Fatalf("call %d: %s, %v, not %s", id, line, err, want)
			}
		}
	}
}

func TestACallIsAnsweredAlikeWithTheLibraryAndWithoutIt(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":"<v> \"q\""}`)
	id := regexp.MustCompile(`"id":[^,]+,`)
	for _, call := range []string{
		`"name":"memory_recall","arguments":{"key":"k"}`, `"name":"memory.recall","arguments":{"key":"none"}`, `"name":"memory_search","arguments":{"query":"v"}`,
		`"name":"memory_recall"`, `"name":"memory_recall","arguments":null`, `"name":"nowhere","arguments":{}`,
	} {
		for _, meta := range []string{`{}`, `{"alcove/request-id":""}`, `{"alcove/request-id":7}`, `{"alcove/request-id":null,"alcove/key":null}`, `{"alcove/key":"none"}`, `{"alcove/key":7}`} {
			without := p.request("tools/call", `{`+call+`,"_meta":`+meta+`}`)
			with := p.request("tools/call", `{`+call+`,"_meta":`+meta+`,"task":null}`)
			if id.ReplaceAllString(without, "") != id.ReplaceAllString(with, "") {
				t.Errorf("%s with %s is answered\n%s and with the library\n%s", call, meta, without, with)
			}
		}
	}
}

func TestAClientThatDoesNotReadKeepsNoAdmission(t *testing.T) {
	limits := &admissions{ended: make(chan struct{}, 1)}
	s := newServer(t, Options{Limits: connection.Limits{Keys: limits}})
	conn, _ := pipe(t, s)
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	await.Value(t, "the end of the admission", limits.ended)
}

// admissions tells when one ends.
type admissions struct{ ended chan struct{} }

func (a *admissions) Begin(string) (func(), error) { return func() { a.ended <- struct{}{} }, nil }
func (a *admissions) Charge(string) error          { return nil }
func (a *admissions) BodyLimit(string) int64       { return 1 << 20 }
