package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testspace"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
)

const patience = await.Limit // with anything that should happen at once

func newSpace(t testing.TB) *memory.Space { return newSpaceWith(t, nil) }

func newSpaceWith(t testing.TB, hooks memory.Hooks) *memory.Space {
	t.Helper()
	space := testspace.Open(t, testspace.Options{Hooks: func() memory.Hooks { return hooks }})
	if err := space.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return space
}

// owner is the session of a client that may do everything.
func owner() Session { return Session{Rights: memory.FullRights()} }

// as serves requests with a session.
func as(session Session, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(WithSession(r.Context(), session)))
	})
}

// ownersAccess is a space as its owner may use it.
func ownersAccess(s *memory.Space) *memory.Access {
	return s.As(memory.Caller{Rights: memory.FullRights()})
}

func newServer(t testing.TB, o Options, families ...tool.Source) *Server {
	t.Helper()
	return newServerOf(t, newSpace(t), o, families...)
}

// newServerOf serves a space and at most one source of families.
func newServerOf(t testing.TB, space *memory.Space, o Options, families ...tool.Source) *Server {
	t.Helper()
	var source tool.Source
	if len(families) > 0 {
		source = families[0]
	}
	o.Version, o.Space = "1.2.3", space
	all := tool.NewRegistry(source)
	if err := all.Add(core.Specs(core.Options{Space: space, Version: o.Version})...); err != nil {
		t.Fatal(err)
	}
	s := New(tool.NewDispatcher(all, tool.Options{Logger: o.Logger, Clock: o.Clock}), o)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// addTool gives a server a core tool more.
func addTool(t testing.TB, s *Server, name string, run tool.Handler) {
	t.Helper()
	if err := s.registry.Add(tool.Spec{Name: name, Description: "x", Input: json.RawMessage(`{"type":"object"}`), Lenient: true, Handler: run}); err != nil {
		t.Fatal(err)
	}
}

// coreTools are the core tools in a registry, with at most one source of families.
func coreTools(t testing.TB, families ...tool.Source) *tool.Registry {
	t.Helper()
	var source tool.Source
	if len(families) > 0 {
		source = families[0]
	}
	all := tool.NewRegistry(source)
	if err := all.Add(core.Specs(core.Options{})...); err != nil {
		t.Fatal(err)
	}
	return all
}

// coreNames lists the core tools that a client is offered.
func coreNames(t testing.TB, readOnly bool) string { return coreTools(t).Names(readOnly) }

// peer is a client of a connection, which sends whatever a test wants.
type peer struct {
	t     testing.TB
	in    *io.PipeWriter
	ended chan error
	lines chan []byte // answers that nobody waits for by id

	mu      sync.Mutex
	next    int
	waiting map[string]chan []byte
}

// connect opens a connection to a server. It says nothing yet.
func connect(t testing.TB, s *Server, session Session) *peer {
	t.Helper()
	if _, all := session.Rights.Readable(); !all { // unless a test says otherwise, the client is the owner's
		session.Rights = owner().Rights
	}
	return connectAs(t, s, session)
}

// connectAs is connect with exactly the rights of a session.
func connectAs(t testing.TB, s *Server, session Session) *peer {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	p := &peer{t: t, in: in, ended: make(chan error, 1), lines: make(chan []byte, 1024), waiting: map[string]chan []byte{}}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		p.ended <- s.ServeConn(ctx, fromClient, toClient, session)
		toClient.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(out)
	}()
	t.Cleanup(func() {
		in.Close()
		select {
		case <-read:
		case <-time.After(patience):
			t.Error("the server did not let go of its client")
		}
		cancel()
	})
	return p
}

func (p *peer) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			close(p.lines)
			return
		}
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		json.Unmarshal(line, &m)
		p.mu.Lock()
		waiting := p.waiting[string(m.ID)]
		delete(p.waiting, string(m.ID))
		p.mu.Unlock()
		if waiting != nil {
			waiting <- line
			continue
		}
		p.lines <- line
	}
}

// send writes a line.
func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// line waits for an answer that was not asked for by id.
func (p *peer) line() string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the connection ended")
		}
		return string(bytes.TrimSpace(line))
	case <-time.After(patience):
		p.t.Fatal("no answer came")
	}
	return ""
}

// start sends a request and gives what waits for its answer.
func (p *peer) start(method, params string) (id string, wait func() string) {
	p.t.Helper()
	p.mu.Lock()
	p.next++
	id = fmt.Sprint(p.next)
	answer := make(chan []byte, 1)
	p.waiting[id] = answer
	p.mu.Unlock()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return id, func() string {
		p.t.Helper()
		select {
		case line := <-answer:
			return string(line)
		case <-time.After(patience):
			p.t.Fatalf("%s was not answered", method)
		}
		return ""
	}
}

func (p *peer) request(method, params string) string {
	p.t.Helper()
	_, wait := p.start(method, params)
	return wait()
}

// initialize introduces the client as older revisions do.
func (p *peer) initialize(name string) *peer { return p.initializeWith(name, `{}`) }

// initializeWith is initialize with capabilities of the client.
func (p *peer) initializeWith(name, capabilities string) *peer {
	p.t.Helper()
	p.request("initialize", fmt.Sprintf(`{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":%q,"version":"1"}}`, name))
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// outcome is what a call of a tool came to.
type outcome struct {
	t          testing.TB
	structured json.RawMessage
	text       string
	notes      []string
	failed     *tool.Failure
}

func parseOutcome(t testing.TB, name string, answer []byte) outcome {
	t.Helper()
	var r struct {
		Result *struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &r); err != nil || r.Result == nil || len(r.Result.Content) == 0 {
		t.Fatalf("%s was answered with %s", name, answer)
	}
	o := outcome{t: t, structured: r.Result.Structured, text: r.Result.Content[0].Text}
	for _, c := range r.Result.Content[1:] {
		o.notes = append(o.notes, c.Text)
	}
	if r.Result.IsError && o.structured != nil { // an operation's
		var operated struct{ Error tool.Failure }
		o.into(&operated)
		o.failed = &operated.Error
		o.failed.Code = memory.Code(strings.ToLower(strings.TrimPrefix(string(o.failed.Code), "E_")))
		return o
	}
	if r.Result.IsError {
		o.failed = &tool.Failure{}
		if err := json.Unmarshal([]byte(o.text), o.failed); err != nil || o.structured != nil {
			t.Fatalf("the error of %s is %s", name, answer)
		}
		return o
	}
	checkOutput(t, name, o.structured)
	return o
}

// checkOutput checks a result against its tool's output schema.
func checkOutput(t testing.TB, name string, structured json.RawMessage) {
	t.Helper()
	for _, each := range coreTools(t).Core() {
		if each.Name != name {
			continue
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(each.Output))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("output.json", document); err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(structured))
		if err != nil {
			t.Fatalf("the structured result of %s is %s: %v", name, structured, err)
		}
		if err := compiler.MustCompile("output.json").Validate(instance); err != nil {
			t.Errorf("the result of %s does not fit its schema: %v\n%s", name, err, structured)
		}
	}
}

// call uses a tool; arguments are JSON.
func (p *peer) call(name, arguments string) outcome {
	p.t.Helper()
	return parseOutcome(p.t, name, []byte(p.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))))
}

// must is call for what should go well.
func (p *peer) must(name, arguments string) outcome {
	p.t.Helper()
	o := p.call(name, arguments)
	if o.failed != nil {
		p.t.Fatalf("%s %s failed: %s", name, arguments, o.text)
	}
	return o
}

// refused is call for what should not; it gives the error.
func (p *peer) refused(name, arguments string) tool.Failure {
	p.t.Helper()
	o := p.call(name, arguments)
	if o.failed == nil {
		p.t.Fatalf("%s %s was not refused: %s", name, arguments, o.text)
	}
	return *o.failed
}

// into decodes a structured result.
func (o outcome) into(v any) {
	o.t.Helper()
	if err := json.Unmarshal(o.structured, v); err != nil {
		o.t.Fatal(err)
	}
}

// field is a member of the structured result, as JSON.
func (o outcome) field(name string) string {
	o.t.Helper()
	var members map[string]json.RawMessage
	o.into(&members)
	return string(members[name])
}

// use connects a client that has introduced itself to a new server.
func use(t testing.TB) *peer {
	return connect(t, newServer(t, Options{}), Session{}).initialize("tester")
}
