package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/sdk/client"
)

// Rights of keys: to read and write, and all that a key may have without rights over others.
var (
	ReadWrite  = []operator.Right{"read", "write"}
	EveryRight = []operator.Right{"read", "write", "branch", "family:*"}
)

// Issue makes a key.
func (s *Server) Issue(agent string, rights []operator.Right, namespaces ...string) operator.IssuedKey {
	s.T.Helper()
	issued, err := operator.Call(s.T.Context(), s.Acts, operator.CreateKey, operator.KeyRequest{Agent: agent, Namespaces: namespaces, Rights: rights})
	if err != nil {
		s.T.Fatalf("make a key for %s: %v", agent, err)
	}
	return issued
}

// Connect connects to the socket as alcove mcp does.
func (s *Server) Connect(h owner.Hello) (*client.Session, error) {
	c, err := Session(s.T.Context(), func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		return owner.Connect(ctx, s.At.Socket, h)
	})
	if err == nil {
		s.T.Cleanup(func() { c.Close() })
	}
	return c, err
}

// Session begins a session through a bridge.
func Session(ctx context.Context, dial func(context.Context, bridge.SessionState) (io.ReadWriteCloser, error)) (*client.Session, error) {
	return client.NewSession(ctx, bridge.Connect(ctx, dial), client.Program{Name: "alcove", Version: "test"})
}

// Dialling connects bridges to the server of a data directory.
func Dialling(dir string) func(context.Context, bridge.SessionState) (io.ReadWriteCloser, error) {
	return func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
		return owner.Dial(ctx, owner.Options{Dir: dir, Hello: owner.Hello{Branch: at.Branch}})
	}
}

// Connected is a client of the server of a data directory.
func Connected(t testing.TB, dir string) *client.Session {
	t.Helper()
	c, err := Session(t.Context(), Dialling(dir))
	if err != nil {
		t.Fatalf("connect to the server of %s: %v", dir, err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Decode reads the result of a call, unless it failed.
func Decode(r client.ToolResult, v any) error {
	if r.Structured == nil {
		return nil // the call failed
	}
	return json.Unmarshal(r.Structured, v)
}

// AnswerText is what a tool answers, or "error: " and its error.
func AnswerText(c *client.Session, tool string, arguments map[string]any) string {
	r, err := c.Call(context.Background(), tool, arguments)
	if err != nil {
		return "error: " + err.Error()
	}
	return r.Text
}

// Answered calls a tool, and reads its result.
func Answered[T any](t testing.TB, c *client.Session, tool string, arguments map[string]any) (out T) {
	t.Helper()
	text := AnswerText(c, tool, arguments)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s %v: got %s, want a result", tool, arguments, text)
	}
	return out
}

// Agent is an agent with a key that calls tools as alcove mcp does.
type Agent struct {
	*client.Session
	T   testing.TB
	Key operator.IssuedKey
}

// Agent connects the holder of a key.
func (s *Server) Agent(key operator.IssuedKey, hello owner.Hello) *Agent {
	s.T.Helper()
	hello.Key = key.Secret
	c, err := s.Connect(hello)
	if err != nil {
		s.T.Fatalf("connect with the key of %s: %v", key.Agent, err)
	}
	return &Agent{c, s.T, key}
}

// Ask calls a tool, and reads its result into result unless that is nil.
func (a *Agent) Ask(tool string, arguments map[string]any, result any) {
	a.T.Helper()
	r, err := a.Call(context.Background(), tool, arguments)
	if err != nil {
		a.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(r.Structured, result); err != nil {
		a.T.Fatalf("%s %v: %v in %s", tool, arguments, err, r.Text)
	}
}

// AnswerText is what a tool answers, or "error: " and its error.
func (a *Agent) AnswerText(tool string, arguments map[string]any) string {
	return AnswerText(a.Session, tool, arguments)
}

// Post sends a call of MCP over HTTP with a bearer token, and with a key in _meta unless it is empty.
func (s *Server) Post(token, meta, tool, arguments string) (status int, body string) {
	s.T.Helper()
	if meta != "" {
		meta = fmt.Sprintf(`"alcove/key":%q,`, meta)
	}
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, arguments, meta)
	answer := s.Do("POST", token, call, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		s.T.Fatalf("read the answer of %s: %v", tool, err)
	}
	return answer.StatusCode, string(data)
}

// Do sends a request to the route of MCP, with headers as names and values in turn.
func (s *Server) Do(method, token, body string, headers ...string) *http.Response {
	s.T.Helper()
	q, err := http.NewRequestWithContext(s.T.Context(), method, s.URL()+"/mcp", strings.NewReader(body))
	if err != nil {
		s.T.Fatalf("make a request: %v", err)
	}
	for i, set := 0, append(headers, "Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream"); i < len(set); i += 2 {
		q.Header.Set(set[i], set[i+1])
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		s.T.Fatalf("send %s: %v", body, err)
	}
	return answer
}

// Send sends a request with the server's token; edit may change it.
func (s *Server) Send(method, path, body string, edit func(*http.Request)) (int, string) {
	s.T.Helper()
	status, text, err := s.Try(method, path, body, edit)
	if err != nil {
		s.T.Fatalf("send %s %s: %v", method, path, err)
	}
	return status, text
}

// Try is Send that returns the error.
func (s *Server) Try(method, path, body string, edit func(*http.Request)) (int, string, error) {
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+s.Token())
	if edit != nil {
		edit(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// Operated is the answer to an operation.
type Operated struct {
	Method   string
	Result   json.RawMessage
	Error    *struct{ Code, Message string }
	Steps    []Operated
	Metadata struct {
		RequestID string `json:"request_id"`
		Version   uint64
		Notes     []string
	}
}

// Operate runs an operation over HTTP.
func (s *Server) Operate(body string, edit func(*http.Request)) Operated {
	s.T.Helper()
	status, text := s.Send("POST", "/operation", body, edit)
	var o Operated
	if err := json.Unmarshal([]byte(text), &o); status != http.StatusOK || err != nil {
		s.T.Fatalf("%.200s is answered with %d %.500s, %v", body, status, text, err)
	}
	return o
}
