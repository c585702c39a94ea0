package fronts_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestStreamsAreBehindTheSameChecks(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	ws, _, err := server.DialStream(t.Context(), s.URL(), s.Token(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	for name, c := range map[string]struct {
		token  string
		edit   func(http.Header)
		status int
	}{
		"without a token":       {"", func(h http.Header) { h.Del("Authorization") }, http.StatusUnauthorized},
		"a forged key":          {"alcove_key_0123456789ab_forged", nil, http.StatusUnauthorized},
		"another origin":        {s.Token(), func(h http.Header) { h.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"a page of another app": {s.Token(), func(h http.Header) { h.Set("Origin", "http://localhost:3000") }, http.StatusForbidden},
		"an origin of nothing":  {s.Token(), func(h http.Header) { h.Set("Origin", "null") }, http.StatusForbidden},
	} {
		ws, answer, err := server.DialStream(t.Context(), s.URL(), c.token, c.edit)
		if err == nil {
			ws.CloseNow()
			t.Errorf("%s is admitted", name)
		} else if answer == nil || answer.StatusCode != c.status {
			t.Errorf("%s: %v, want status %d", name, err, c.status)
		}
	}
	if status, _ := s.Send("GET", "/stream", "", func(r *http.Request) { r.Host = "evil.example" }); status != http.StatusForbidden {
		t.Errorf("another host is answered with %d", status)
	}
	if status, _ := s.Send("GET", "/stream", "", nil); status != http.StatusUpgradeRequired {
		t.Errorf("a request that is no WebSocket is answered with %d", status)
	}
}

func TestAKeyThatEndsClosesItsStreams(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann := k.Issue("ann", server.ReadWrite, "team/*")
	ws, _, err := server.DialStream(t.Context(), "http://"+k.At.HTTP, ann.Secret, func(h http.Header) { h.Set("Alcove-Agent", "mallory") })
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	for _, text := range []string{`{"type":"subscribe","id":"s","watermark":0}`, `{"id":1,"method":"store","params":{"key":"mine","value":1,"namespace":"team/a"}}`} {
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]string{}
	for answered := false; seen["team/a#mine"] == "" || !answered; {
		p, err := server.ReadStream(t.Context(), ws)
		if err != nil || p.Error != nil {
			t.Fatalf("read: %+v, %v, want an answer", p, err)
		}
		answered = answered || p.Type == "answer"
		if p.Type == "event" {
			seen[p.Payload.FactID] = p.Agent
		}
	}
	if len(seen) != 3 || seen["team/a#mine"] != "ann" {
		t.Errorf("the key's holder sees %v", seen)
	}
	if _, err := operator.Call(t.Context(), k.Acts, operator.RevokeKey, operator.KeyID{ID: ann.ID}); err != nil {
		t.Fatal(err)
	}
	p, err := server.ReadStream(t.Context(), ws)
	if err != nil || p.Error == nil || p.Error.Code != "E_DENIED" || !strings.Contains(p.Error.Message, "revoked") {
		t.Errorf("then comes %+v, %v", p, err)
	}
	if _, err := server.ReadStream(t.Context(), ws); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("it is closed with %v", err)
	}
	if ws, _, err := server.DialStream(t.Context(), "http://"+k.At.HTTP, ann.Secret, nil); err == nil {
		ws.CloseNow()
		t.Error("a revoked key opens a stream")
	}
}

// TestAStreamLosesNothingThroughRestarts follows a memory whose server is stopped again and again, while others write.
func TestAStreamLosesNothingThroughRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var current atomic.Pointer[server.Server]
	s := server.Start(t, host.Options{Dir: dir})
	current.Store(s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stored, seen := sync.Map{}, sync.Map{}
	writing, stopWriting := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for w := range 2 {
		workers.Go(func() {
			for i := 0; writing.Err() == nil; i++ {
				key := fmt.Sprintf("w%d-%d", w, i)
				status, text, err := current.Load().Try("POST", "/operation", `{"method":"store","params":{"value":1,"key":"`+key+`"}}`, nil)
				if err == nil && status == http.StatusOK && !strings.Contains(text, `"error"`) {
					stored.Store("default#"+key, true)
				}
			}
		})
	}
	var watermark atomic.Uint64
	workers.Go(func() {
		for ctx.Err() == nil {
			if ws, _, err := server.DialStream(ctx, current.Load().URL(), s.Token(), nil); err == nil {
				follow(ctx, ws, &watermark, &seen)
			}
		}
	})
	count := func(m *sync.Map) (n int) {
		m.Range(func(any, any) bool { n++; return true })
		return n
	}
	for range 3 {
		before, events := count(&stored), count(&seen)
		await.That(t, "writes and events go on", func() bool { return count(&stored) > before+5 && count(&seen) > events })
		current.Load().Stop()
		current.Store(server.Start(t, host.Options{Dir: dir}))
	}
	stopWriting()
	await.That(t, "every acknowledged store is followed", func() bool {
		missing := 0
		stored.Range(func(key, _ any) bool {
			if _, ok := seen.Load(key); !ok {
				missing++
			}
			return true
		})
		return missing == 0
	})
	cancel()
	workers.Wait()
}

// follow notes the events of a stream, and its watermark, until it ends.
func follow(ctx context.Context, ws *websocket.Conn, watermark *atomic.Uint64, seen *sync.Map) {
	defer ws.CloseNow()
	if ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"subscribe","id":"s","watermark":%d}`, watermark.Load())) != nil {
		return
	}
	for {
		p, err := server.ReadStream(ctx, ws)
		if err != nil {
			return
		}
		if p.Type == "event" {
			seen.Store(p.Payload.FactID, true)
			watermark.Store(p.Watermark)
		}
	}
}
