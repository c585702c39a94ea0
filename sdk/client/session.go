package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	mcpVersion    = "2025-11-25" // of the Model Context Protocol
	invalidParams = -32602       // the protocol's code, also of a tool that does not exist
)

// Session calls tools as the clients of models do, over MCP: answers are short, the list of tools is what a model is shown, and the
// server keeps the session's branch and the families that it loaded. A Client is for programs that need none of it. A Session calls one
// tool at a time; it is safe for concurrent use.
type Session struct {
	conn   io.ReadWriteCloser
	server Program

	mu   sync.Mutex // held from a request to its answer
	in   *bufio.Reader
	next int // id of a request
}

// Program is how a client or a server introduces itself.
type Program struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ToolResult is a tool's answer in a session.
type ToolResult struct {
	Text       string          // for people and models
	Structured json.RawMessage // for programs; nil: the tool has none
	Notes      []string        // notes of a family's tool, outside its answer
	Proposal   string          // the branch on which the call's write is proposed; empty: it is done
}

// NewSession begins a session on a connection, such as the standard input and output of alcove mcp, which finds or starts the server and
// survives its replacement. Close closes the connection.
func NewSession(ctx context.Context, conn io.ReadWriteCloser, p Program) (*Session, error) {
	s := &Session{conn: conn, in: bufio.NewReader(conn)}
	var greeting struct{ ServerInfo Program }
	err := s.ask(ctx, "initialize", map[string]any{"protocolVersion": mcpVersion, "capabilities": struct{}{}, "clientInfo": p}, &greeting)
	if err == nil {
		err = s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	s.server = greeting.ServerInfo
	return s, nil
}

// Close ends the session, and a call that is unanswered.
func (s *Session) Close() error { return s.conn.Close() }

// Server is the server that the session began with.
func (s *Session) Server() Program { return s.server }

// Tools returns the list of tools as the session's model is shown it, which is the answer to MCP's tools/list, and their names.
func (s *Session) Tools(ctx context.Context) (list json.RawMessage, names []string, err error) {
	if err := s.ask(ctx, "tools/list", struct{}{}, &list); err != nil {
		return nil, nil, err
	}
	var read struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(list, &read); err != nil {
		return nil, nil, fmt.Errorf("read the list of tools: %w", err)
	}
	for _, t := range read.Tools {
		names = append(names, t.Name)
	}
	return list, names, nil
}

// Call calls a tool. Errors of the tool are of type *Error; the ToolResult beside one may have what was done before. The end of ctx ends
// the session.
func (s *Session) Call(ctx context.Context, tool string, arguments any) (ToolResult, error) {
	var answer struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
		Meta              struct {
			Notes    []string `json:"alcove/notes"`
			Proposal string   `json:"alcove/proposal"`
		} `json:"_meta"`
	}
	if err := s.ask(ctx, "tools/call", map[string]any{"name": tool, "arguments": arguments}, &answer); err != nil {
		return ToolResult{}, err
	}
	var text []string
	for _, part := range answer.Content {
		text = append(text, part.Text)
	}
	result := ToolResult{strings.Join(text, "\n"), answer.StructuredContent, answer.Meta.Notes, answer.Meta.Proposal}
	if answer.IsError {
		return result, result.failed()
	}
	return result, nil
}

// failed returns the error that a result is: in its structured form or in its text.
func (r ToolResult) failed() *Error {
	for _, raw := range [][]byte{r.Structured, []byte(r.Text)} {
		if e := decodeError(raw); e != nil && e.Message != "" {
			return e
		}
		var plain Error
		if json.Unmarshal(raw, &plain) == nil && plain.Message != "" {
			return plain.normal()
		}
	}
	return &Error{Code: Internal, Message: r.Text}
}

// ask sends a request and decodes its result.
func (s *Session) ask(ctx context.Context, method string, params, result any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer context.AfterFunc(ctx, func() { s.conn.Close() })()
	s.next++
	if err := s.write(map[string]any{"jsonrpc": "2.0", "id": s.next, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			return gone(err)
		}
		var answer struct {
			ID     *int
			Method string
			Result json.RawMessage
			Error  *struct {
				Code    int
				Message string
				Data    json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		switch {
		case answer.Method != "" || answer.ID == nil || *answer.ID != s.next:
			continue // a notification
		case answer.Error == nil:
			if err := json.Unmarshal(answer.Result, result); err != nil {
				return fmt.Errorf("read the answer of %s: %w", method, err)
			}
			return nil
		}
		failure := Error{Code: Internal}
		if answer.Error.Code == invalidParams {
			failure.Code = InvalidArgument
		}
		json.Unmarshal(answer.Error.Data, &failure) // optional
		failure.Message = answer.Error.Message
		return failure.normal()
	}
}

func (s *Session) write(message any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	if _, err := s.conn.Write(line.Bytes()); err != nil {
		return gone(err)
	}
	return nil
}

// gone is the error of a connection that ended.
func gone(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return errors.New("the session with the alcove server has ended")
	}
	return err
}
