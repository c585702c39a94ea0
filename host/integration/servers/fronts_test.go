package servers_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// talk sends a message of MCP over HTTP.
func talk(t *testing.T, url, key, session, message string) (status int, id, answer string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), "POST", url+"/mcp", strings.NewReader(message)))
	for name, value := range map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err.Error()
	}
	defer got.Body.Close()
	return got.StatusCode, got.Header.Get("Mcp-Session-Id"), string(must.Get(io.ReadAll(got.Body)))
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	status     = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_status","arguments":{}}}`
)

func TestASessionOverHTTPGoesOnWithTheNextLeader(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	was, others := leader(t, list, "default")
	code, session, answer := talk(t, others[0].URL(), key, "", initialize)
	if code != http.StatusOK || session == "" {
		t.Fatalf("begin a session by way of a server that does not lead: got %d %s, want 200 and a session", code, answer)
	}
	if code, _, answer := talk(t, others[1].URL(), key, session, status); code != http.StatusOK {
		t.Fatalf("the session by way of another server: got %d %s, want 200", code, answer)
	}
	was.Stop()
	until(t, "the session goes on", func() (bool, string) {
		code, _, answer := talk(t, others[1].URL(), key, session, status)
		if code == http.StatusNotFound {
			t.Fatalf("after a handover: got %d %s, want that the session is known", code, answer)
		}
		return code == http.StatusOK && !strings.Contains(answer, `"isError":true`), answer
	})
}

func TestTheMetricsOfASpaceHaveTheLeaseOfItsLeader(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	for i, s := range list {
		r := must.Get(http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/metrics", nil))
		r.Header.Set("Authorization", "Bearer "+key)
		got := must.Get(http.DefaultClient.Do(r))
		text := string(must.Get(io.ReadAll(got.Body)))
		got.Body.Close()
		if !strings.Contains(text, "alcove_lease_left_seconds ") {
			t.Errorf("metrics by way of server %d: got %d %.300s, want the lease", i, got.StatusCode, text)
		}
	}
}

func TestAStreamBySomeServerHasTheEventsOfAll(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	_, others := leader(t, list, "default")
	ws, _, err := server.DialStream(t.Context(), others[0].URL(), key, nil)
	if err != nil {
		t.Fatalf("open a stream by way of a server that does not lead: %v", err)
	}
	defer ws.CloseNow()
	must.Do(t, ws.Write(t.Context(), 1, []byte(`{"type":"subscribe","id":"s","watermark":0}`)))
	if status, answer := ask(t, others[1].URL(), key, "memory_store", map[string]any{"key": "k", "value": "walnut"}); status != http.StatusOK {
		t.Fatalf("store: got %d %s, want 200", status, answer)
	}
	for of := ""; !strings.HasSuffix(of, "#k"); {
		p, err := server.ReadStream(t.Context(), ws)
		if err != nil || p.Error != nil {
			t.Fatalf("read the stream: got %+v (%v), want the event of k", p, err)
		}
		of = p.Payload.FactID
	}
}

func TestCommandsOfEveryMachineReachTheLeader(t *testing.T) {
	t.Parallel()
	list := threeAsInProduction(t)
	_, others := leader(t, list, "default")
	for i, s := range others {
		session := server.Connected(t, s.Dir)
		if _, err := session.Call(t.Context(), "memory_store", map[string]any{"key": "k", "value": i}); err != nil {
			t.Errorf("store by way of the socket of server %d: got %v, want none", i, err)
		}
	}
	was, others := leader(t, list, "default")
	session := server.Connected(t, others[0].Dir)
	was.Kill()
	await.That(t, "a session goes on when the leader is killed", func() bool {
		_, err := session.Call(t.Context(), "memory_recall", map[string]any{"key": "k"})
		return err == nil
	})
}
