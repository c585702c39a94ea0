package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	carried "github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/tool/tokens"
)

// server is a server with the built-in families in this process.
type server struct {
	url, token string
	count      *tokens.Tokenizer
}

// serve runs a server on an empty data directory for as long as use takes.
func serve(ctx context.Context, use func(*server) error) (err error) {
	count, err := tokens.Load()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "alcove-listing-")
	if err != nil {
		return fmt.Errorf("make a temporary data directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dir = filepath.Join(dir, "data")
	h, err := host.Open(ctx, host.Options{Dir: dir, Version: "listing", Families: carried.Families(), Cache: carried.Cache(),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	started, ended := make(chan owner.Record, 1), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, host.Listen{HTTP: "127.0.0.1:0", Started: func(r owner.Record) { started <- r }})
	}()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	select {
	case r := <-started:
		token, err := os.ReadFile(owner.TokenPath(dir))
		if err != nil {
			return fmt.Errorf("read the token: %w", err)
		}
		return use(&server{"http://" + r.HTTP + "/mcp", strings.TrimSpace(string(token)), count})
	case err := <-ended:
		ended <- nil
		return err
	}
}

// ask sends a request of the stateless protocol, as a client with a profile.
func (s *server) ask(profile, method, name, params string) (json.RawMessage, error) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"listing","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta + `}}`
	r, err := http.NewRequest(http.MethodPost, s.url+"?profile="+profile, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for header, value := range map[string]string{"Authorization": "Bearer " + s.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		if value != "" {
			r.Header.Set(header, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", method, err)
	}
	if _, event, is := strings.Cut(string(data), "data: "); is {
		data = []byte(event)
	}
	var read struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(data, &read); err != nil || read.Result == nil {
		return nil, fmt.Errorf("%s was answered with %.300s (%w)", method, data, errors.Join(err, errors.New("no result")))
	}
	return read.Result, nil
}

// listed is a tool in a list.
type listed struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// list is the tools of a profile, and the bytes of the answer.
func (s *server) list(profile string) (tools []listed, size int, err error) {
	raw, err := s.ask(profile, "tools/list", "", "")
	if err != nil {
		return nil, 0, err
	}
	var read struct{ Tools []listed }
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, 0, fmt.Errorf("read the list of %s: %w", profile, err)
	}
	return read.Tools, len(raw), nil
}

// tokensOf are those of what a model is shown of a tool.
func (s *server) tokensOf(t listed) int {
	return s.count.Count(`{"name":"` + t.Name + `","description":"` + t.Description + `","input_schema":` + string(t.InputSchema) + `}`)
}

// profiles is the table of the lists.
func (s *server) profiles() (string, error) {
	var b strings.Builder
	b.WriteString("| profile | tools | bytes of the list | tokens of names, descriptions and schemas | tools with a schema of answers |\n|---|---|---|---|---|\n")
	for _, profile := range []string{"agent", "operation", "full", "deferred", "code"} {
		tools, size, err := s.list(profile)
		if err != nil {
			return "", err
		}
		all, outputs := 0, 0
		for _, t := range tools {
			all += s.tokensOf(t)
			if t.OutputSchema != nil {
				outputs++
			}
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %d |\n", profile, len(tools), thousands(size), thousands(all), outputs)
	}
	return b.String(), nil
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
