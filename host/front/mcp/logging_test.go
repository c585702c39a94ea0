package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/tool"
)

func TestAClientIsToldOfItsCallsFromItsLevelOn(t *testing.T) {
	p := use(t)
	p.refused("memory_recall", `{}`) // told to nobody: the level is error at first
	p.request("logging/setLevel", `{"level":"warning"}`)
	p.must("memory_status", `{}`)
	p.refused("memory_recall", `{}`)
	if line := p.line(); !strings.Contains(line, `"level":"warning"`) || !strings.Contains(line, "invalid_argument") || !strings.Contains(line, "notifications/message") {
		t.Errorf("the client is told %s", line)
	}
	p.request("logging/setLevel", `{"level":"debug"}`)
	p.must("memory_status", `{}`)
	if line := p.line(); !strings.Contains(line, `"level":"debug"`) || !strings.Contains(line, "memory_status") {
		t.Errorf("the client is told %s", line)
	}
	if got := p.request("logging/setLevel", `{"level":"loud"}`); !strings.Contains(got, "-32602") {
		t.Errorf("a level that does not exist is answered with %s", got)
	}
}

func TestAStatelessClientIsToldOnlyIfItsCallSaysSo(t *testing.T) {
	p := connect(t, newServer(t, Options{}), Session{})
	call := func(meta string) {
		p.request("tools/call", `{"name":"memory_recall","arguments":{},`+meta+`}`)
	}
	call(modernMeta)
	call(strings.Replace(modernMeta, `_meta":{`, `_meta":{"io.modelcontextprotocol/logLevel":"warning",`, 1))
	if line := p.line(); !strings.Contains(line, `"level":"warning"`) {
		t.Errorf("the client is told %s", line)
	}
	if len(p.lines) > 0 {
		t.Errorf("the client is told more: %s", p.line())
	}
}

func TestATraceReachesHandlersAndTheLog(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var out bytes.Buffer
	s := newServer(t, Options{Logger: slog.New(trace.Logging(slog.NewTextHandler(&out, nil)))})
	seen := make(chan string, 2)
	addTool(t, s, "traced", func(ctx context.Context, _ *tool.Call) (tool.Answer, error) {
		seen <- trace.Of(ctx).String()
		return tool.Answer{}, context.DeadlineExceeded
	})
	p := connect(t, s, Session{}).initialize("tester")
	for given, want := range map[string]string{parent: parent, "nonsense": ""} {
		p.request("tools/call", `{"name":"traced","arguments":{},"_meta":{"traceparent":"`+given+`"}}`)
		if got := <-seen; got != want {
			t.Errorf("with the trace context %s the handler sees %q", given, got)
		}
	}
	if !strings.Contains(out.String(), "trace_id=4bf92f3577b34da6a3ce929d0e0e4736") {
		t.Errorf("the log is %s", &out)
	}
}

func TestOnlyTheClientThatReadsThemIsToldSizes(t *testing.T) {
	s := newServer(t, Options{})
	for name, told := range map[string]bool{"claude-code": true, "other": false} {
		list := connect(t, s, Session{}).initialize(name).request("tools/list", `{}`)
		if strings.Contains(list, `"anthropic/maxResultSizeChars":200000`) != told || strings.Contains(list, "_meta") != told {
			t.Errorf("%s is told %s", name, list)
		}
	}
}

func TestTheProfileCodeListsSchemasOfAnswers(t *testing.T) {
	var list struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema struct{ Type string }
			}
		}
	}
	answer := connect(t, newServer(t, Options{}), Session{Profile: profile.Code}).initialize("coder").request("tools/list", `{}`)
	if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list.Result.Tools) == 0 {
		t.Fatalf("the list is %s: %v", answer, err)
	}
	for _, each := range list.Result.Tools {
		if each.OutputSchema.Type != "object" {
			t.Errorf("%s answers with the type %q", each.Name, each.OutputSchema.Type)
		}
	}
}

func TestListsSayHowLongTheyStayTrue(t *testing.T) {
	p := connect(t, newServer(t, Options{}), Session{})
	for method, want := range map[string]string{
		"tools/list": `"cacheScope":"private" "ttlMs":60000`, "resources/templates/list": `"cacheScope":"private" "ttlMs":60000`, "resources/list": `"cacheScope":"private" "ttlMs":0`,
	} {
		got := p.request(method, `{`+modernMeta+`}`)
		for _, part := range strings.Fields(want) {
			if !strings.Contains(got, part) {
				t.Errorf("%s is answered with %s, want %s", method, got, part)
			}
		}
	}
}
