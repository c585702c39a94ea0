package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

const (
	protocol     = "2025-06-18"     // a revision that all servers here speak
	answerLimit  = 16 << 20         // bytes of one message
	answerWithin = 60 * time.Second // far above any answer here: a server that hangs fails its row
	endWithin    = 10 * time.Second
)

// session is a server process over stdio. It is not safe for concurrent use.
type session struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	said    *tail
	last    int // id of the last request
	version string
}

// start runs a server and initializes a session with it.
func start(ctx context.Context, line, env []string) (*session, error) {
	s := &session{cmd: exec.CommandContext(ctx, line[0], line[1:]...), said: &tail{}}
	s.cmd.Env, s.cmd.Stderr, s.cmd.WaitDelay = env, s.said, endWithin
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewScanner(out)
	s.out.Buffer(nil, answerLimit)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", line[0], err)
	}
	if err := s.initialize(); err != nil {
		return nil, errors.Join(err, s.kill())
	}
	return s, nil
}

func (s *session) initialize() error {
	answer, err := s.request("initialize", map[string]any{
		"protocolVersion": protocol, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "alcove-compare", "version": "1"},
	})
	if err != nil {
		return err
	}
	var result struct {
		ServerInfo struct{ Version string }
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return fmt.Errorf("read what initialize answers: %w", err)
	}
	s.version = result.ServerInfo.Version
	return s.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

func (s *session) send(message map[string]any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(data, '\n'))
	return err
}

// request returns the result that the server answers. What it asks or tells meanwhile is ignored: the session offers no abilities.
func (s *session) request(method string, params any) (json.RawMessage, error) {
	s.last++
	if err := s.send(map[string]any{"jsonrpc": "2.0", "id": s.last, "method": method, "params": params}); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	hung := time.AfterFunc(answerWithin, func() { s.cmd.Process.Kill() })
	defer hung.Stop()
	for s.out.Scan() {
		var m struct {
			ID     *int
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if json.Unmarshal(s.out.Bytes(), &m) != nil || m.ID == nil || m.Method != "" || *m.ID != s.last {
			continue
		}
		if m.Error != nil {
			return nil, refused{fmt.Sprintf("%s: %s", method, m.Error.Message)}
		}
		return m.Result, nil
	}
	return nil, fmt.Errorf("%s: the server ended: %w: %s", method, errors.Join(io.ErrUnexpectedEOF, s.out.Err()), s.said)
}

// refused is an error that a server answers.
type refused struct{ message string }

func (r refused) Error() string { return r.message }

// call calls a tool and returns the texts of its answer.
func (s *session) call(c call) (string, error) {
	answer, err := s.request("tools/call", map[string]any{"name": c.tool, "arguments": c.arguments})
	if err != nil {
		return "", err
	}
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return "", fmt.Errorf("read what %s answers: %w", c.tool, err)
	}
	var text strings.Builder
	for _, c := range result.Content {
		text.WriteString(c.Text + "\n")
	}
	if result.IsError {
		return "", refused{c.tool + ": " + text.String()}
	}
	return text.String(), nil
}

// close ends the session as clients do: by the end of its input.
func (s *session) close() {
	s.in.Close()
	slow := time.AfterFunc(endWithin, func() { s.cmd.Process.Kill() })
	defer slow.Stop()
	s.cmd.Wait() // how it ends is not compared
}

func (s *session) kill() error {
	err := s.cmd.Process.Kill()
	s.cmd.Wait()
	return err
}

// tail keeps the end of what a server writes to its log.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 2000
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-most):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
