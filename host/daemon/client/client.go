// Package client is an MCP client that calls the tools of an Alcove server.
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

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

const protocolVersion = "2025-11-25"

// Client is a session with a server. It survives the replacement of the server's process. Methods must not be called
// concurrently.
type Client struct {
	in     *io.PipeWriter
	out    *bufio.Reader
	ended  chan struct{} // closed when the connection is
	next   int
	server Server
}

// Server is the server's introduction of itself.
type Server struct {
	Name    string
	Version string
}

// Result is a tool's answer.
type Result struct {
	Text       string          // for people and models
	Structured json.RawMessage // for programs; nil if the tool has none
	Notes      []string        // notes of a family's tool, outside its answer
}

// Error is an error of a tool.
type Error struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details"`
}

func (e *Error) Error() string { return e.Message }

// Open starts a session over the connections that dial makes; see [bridge.Options].
func Open(ctx context.Context, version string, dial func(context.Context, bridge.SessionState) (io.ReadWriteCloser, error)) (*Client, error) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := &Client{in: inWrite, out: bufio.NewReader(outRead), ended: make(chan struct{})}
	go func() {
		err := bridge.Run(ctx, bridge.Options{Dial: dial, In: inRead, Out: outWrite, Fatal: func(error) bool { return true }})
		if err == nil {
			err = io.EOF
		}
		inRead.CloseWithError(err)
		outWrite.CloseWithError(err)
		close(c.ended)
	}()
	raw, err := c.ask("initialize", map[string]any{
		"protocolVersion": protocolVersion, "capabilities": struct{}{},
		"clientInfo": map[string]string{"name": "alcove", "version": version},
	})
	var greeting struct{ ServerInfo Server }
	if err == nil {
		err = json.Unmarshal(raw, &greeting)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.server = greeting.ServerInfo
	if err := c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the session. Closing it again does nothing.
func (c *Client) Close() {
	c.in.Close()
	<-c.ended
}

// Server is the server that the session began with.
func (c *Client) Server() Server { return c.server }

// List returns the list of tools as models are shown it, and their number.
func (c *Client) List() (list json.RawMessage, tools int, err error) {
	raw, err := c.ask("tools/list", struct{}{})
	if err != nil {
		return nil, 0, err
	}
	var read struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, 0, fmt.Errorf("read the list of tools: %w", err)
	}
	return raw, len(read.Tools), nil
}

// Tools lists the names of the tools that the server offers.
func (c *Client) Tools() ([]string, error) {
	raw, _, err := c.List()
	if err != nil {
		return nil, err
	}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the list of tools: %w", err)
	}
	names := make([]string, len(list.Tools))
	for i, t := range list.Tools {
		names[i] = t.Name
	}
	return names, nil
}

// Call calls a tool. Errors of the tool are of type *Error; the Result beside one may have what was done before.
func (c *Client) Call(tool string, arguments any) (Result, error) {
	raw, err := c.ask("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return Result{}, err
	}
	var answer struct {
		Content []struct {
			Type, Text string
		}
		StructuredContent json.RawMessage
		IsError           bool
		Meta              struct {
			Notes []string `json:"alcove/notes"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Result{}, fmt.Errorf("read the answer of %s: %w", tool, err)
	}
	var text []string
	for _, part := range answer.Content {
		text = append(text, part.Text)
	}
	result := Result{Text: strings.Join(text, "\n"), Structured: answer.StructuredContent, Notes: answer.Meta.Notes}
	if answer.IsError {
		return result, toolError(result)
	}
	return result, nil
}

// toolError finds the error in a result: in its structured form or in its text.
func toolError(r Result) error {
	for _, raw := range [][]byte{r.Structured, []byte(r.Text)} {
		var wrapped struct{ Error *Error }
		if json.Unmarshal(raw, &wrapped) == nil && wrapped.Error != nil && wrapped.Error.Message != "" {
			wrapped.Error.Code = strings.ToLower(strings.TrimPrefix(wrapped.Error.Code, "E_")) // as operations spell it
			return wrapped.Error
		}
		var plain Error
		if json.Unmarshal(raw, &plain) == nil && plain.Message != "" {
			return &plain
		}
	}
	return &Error{Code: "internal", Message: r.Text}
}

// ask sends a request and returns its result.
func (c *Client) ask(method string, params any) (json.RawMessage, error) {
	c.next++
	if err := c.write(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, lost(err)
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
			return nil, fmt.Errorf("read the server's answer: %w", err)
		}
		if answer.Method != "" || answer.ID == nil || *answer.ID != c.next {
			continue // a notification
		}
		if answer.Error != nil {
			failure := Error{Code: codeOf(answer.Error.Code)}
			json.Unmarshal(answer.Error.Data, &failure) // optional
			failure.Message = answer.Error.Message
			return nil, &failure
		}
		return answer.Result, nil
	}
}

// codeOf is the code of an error of the protocol. Of a tool that does not exist, the server answers that the parameters are invalid.
func codeOf(protocol int) string {
	if protocol == jsonrpc.CodeInvalidParams {
		return "invalid_argument"
	}
	return "internal"
}

func (c *Client) write(message any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	if _, err := c.in.Write(line.Bytes()); err != nil {
		return lost(err)
	}
	return nil
}

func lost(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return errors.New("the session with the alcove server has ended")
	}
	return err
}
