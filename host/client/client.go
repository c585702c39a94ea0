// Package client calls the tools of a data directory's owner.
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

	"github.com/alcove-memory/alcove/host/bridge"
)

const protocolVersion = "2025-11-25"

// Client is a session with the owner. It goes on when the owner is replaced. One call at a time.
type Client struct {
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
	next  int
}

// Result is what a tool answered.
type Result struct {
	Text       string          // for people and models
	Structured json.RawMessage // for programs; nil when the tool gave none
	Notes      []string        // what a family's tool says beside its answer
}

// Error is a tool's own error.
type Error struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details"`
}

func (e *Error) Error() string { return e.Message }

// Open begins a session over the connections that dial makes, as bridge.Options has it.
func Open(ctx context.Context, version string, dial func(context.Context, bridge.Place) (io.ReadWriteCloser, error)) (*Client, error) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := &Client{in: inWrite, out: bufio.NewReader(outRead), ended: make(chan error, 1)}
	go func() {
		err := bridge.Run(ctx, bridge.Options{Dial: dial, In: inRead, Out: outWrite, Fatal: func(error) bool { return true }})
		if err == nil {
			err = io.EOF
		}
		inRead.CloseWithError(err)
		outWrite.CloseWithError(err)
		c.ended <- err
	}()
	_, err := c.ask("initialize", map[string]any{
		"protocolVersion": protocolVersion, "capabilities": struct{}{},
		"clientInfo": map[string]string{"name": "alcove", "version": version},
	})
	if err != nil {
		c.Close()
		return nil, err
	}
	if err := c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the session.
func (c *Client) Close() {
	c.in.Close()
	<-c.ended
}

// Call calls a tool. Errors of the tool are of type Error.
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
		return Result{}, toolError(result)
	}
	return result, nil
}

// toolError finds the error in a result, wherever the tool put it.
func toolError(r Result) error {
	for _, raw := range [][]byte{r.Structured, []byte(r.Text)} {
		var wrapped struct{ Error *Error }
		if json.Unmarshal(raw, &wrapped) == nil && wrapped.Error != nil && wrapped.Error.Message != "" {
			return wrapped.Error
		}
		var plain Error
		if json.Unmarshal(raw, &plain) == nil && plain.Message != "" {
			return &plain
		}
	}
	return &Error{Code: "internal", Message: r.Text}
}

// ask sends a request and gives its result.
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
			failure := Error{Code: "internal"}
			json.Unmarshal(answer.Error.Data, &failure) // what else it says, if anything
			failure.Message = answer.Error.Message
			return nil, &failure
		}
		return answer.Result, nil
	}
}

func (c *Client) write(message any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return fmt.Errorf("put the request into JSON: %w", err)
	}
	if _, err := c.in.Write(line.Bytes()); err != nil {
		return lost(err)
	}
	return nil
}

func lost(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the session with the alcove server has ended")
	}
	return err
}
