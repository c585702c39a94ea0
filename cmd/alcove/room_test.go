//go:build guests

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// listener is an agent with a key on a WebSocket. It keeps what was said, and the sessions that were abandoned.
type listener struct {
	t         *testing.T
	ws        *websocket.Conn
	asked     int
	said      []string // AGENT:TEXT, in the order of arrival
	abandoned int
}

func (s *testServer) listener(key string) *listener {
	s.t.Helper()
	ws, _, err := websocket.Dial(s.t.Context(), "http://"+s.HTTP+"/stream", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { ws.CloseNow() })
	return &listener{t: s.t, ws: ws}
}

// heard is a message of the server.
type heard struct {
	Type, From, Content string
	ID                  int
	Result, Error       json.RawMessage
}

// next reads a message, and keeps what it says.
func (l *listener) next(ctx context.Context) (m heard) {
	l.t.Helper()
	_, text, err := l.ws.Read(ctx)
	var event struct{ Type string }
	if err == nil {
		err = json.Unmarshal(text, &event)
	}
	if err == nil && event.Type != "subscribed" {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || event.Type == "error" {
		l.t.Fatalf("read %s: %v, want an event that is no error", text, err)
	}
	m.Type = event.Type
	switch {
	case m.Type == "message":
		l.said = append(l.said, m.From+":"+m.Content)
	case m.Type == "event" && strings.Contains(string(text), `"abandoned"`):
		l.abandoned++
	}
	return m
}

// until reads until something holds.
func (l *listener) until(holds func() bool) {
	l.t.Helper()
	for !holds() {
		l.next(l.t.Context())
	}
}

func (l *listener) send(message object) {
	l.t.Helper()
	text, err := json.Marshal(message)
	if err == nil {
		err = l.ws.Write(l.t.Context(), websocket.MessageText, text)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// ask calls a tool over the WebSocket.
func (l *listener) ask(method string, params object, result any) {
	l.t.Helper()
	l.asked++
	l.send(object{"id": l.asked, "method": method, "params": params})
	for {
		m := l.next(l.t.Context())
		if m.Type != "answer" || m.ID != l.asked {
			continue
		}
		if m.Error != nil {
			l.t.Fatalf("%s of %v: %s", method, params, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				l.t.Fatalf("%s %v: %v in %s", method, params, err, m.Result)
			}
		}
		return
	}
}

// sees reports whether an agent is connected.
func (l *listener) sees(agent string) (connected bool) {
	l.t.Helper()
	var here struct {
		Agents []struct {
			AgentID   string
			Connected bool
		}
	}
	l.ask("who_is_here", nil, &here)
	for _, a := range here.Agents {
		connected = connected || a.AgentID == agent && a.Connected
	}
	return connected
}

// hearing is an answer of memory_hear.
type hearing struct {
	Messages      []struct{ From, Content string }
	LastHeard     int  `json:"last_heard"`
	MoreAvailable bool `json:"more_available"`
	MessagesLost  bool `json:"messages_lost"`
}

// hear is what others said after a cursor, to the end, and the next cursor.
func (c *mcpClient) hear(after int) (said []string, next int) {
	c.t.Helper()
	for more := true; more; {
		var page hearing
		c.call("memory_hear", object{"last_heard": after, "limit": 2}, &page)
		for _, m := range page.Messages {
			said = append(said, m.From+":"+m.Content)
		}
		if page.MessagesLost {
			c.t.Errorf("messages after %d were lost", after)
		}
		after, more = page.LastHeard, page.MoreAvailable
	}
	return said, after
}

// worker is the agent dan, whose client is a process that is killed again and again. Its checkpoints keep how far it heard.
type worker struct {
	*mcpClient
	acknowledged []string
}

func (w *worker) say(text string) {
	w.t.Helper()
	w.call("memory_say", object{"message": text}, nil)
	w.acknowledged = append(w.acknowledged, "dan:"+text)
}

// Bob is on a WebSocket, dan a process that speaks MCP over stdio, each with a key. Dan saves a checkpoint, is killed with kill -9 while a
// message of his is under way, and wakes as another process: bob sees that he is gone, dan has the facts of his checkpoint and hears on
// from where he had heard. Each message arrives once, in the order of its sender, on the WebSocket and for one that hears later.
func TestAnAgentThatIsKilledWakesInTheRoomThatItLeft(t *testing.T) {
	s := startServer(t, t.TempDir(), nil)
	s.mustRun("family", "grant", "sessions", "--hook", "session_end")
	rights := []string{"--rights", "read,write,branch,family:*"}
	keys := map[string]string{}
	for _, agent := range []string{"bob", "dan", "eve"} {
		keys[agent] = s.key(agent, rights...)
	}
	begin := func() *mcpClient {
		cmd := program(t, s.dir, "mcp")
		cmd.Env = append(cmd.Env, "ALCOVE_KEY="+keys["dan"])
		return clientOf(t, cmd)
	}
	bob := s.listener(keys["bob"])
	bob.send(object{"type": "subscribe", "id": "s", "kinds": []string{"message", "session_ended"}})
	for bob.next(t.Context()).Type != "subscribed" {
	}

	dan, cursor := &worker{mcpClient: begin()}, 0
	var bobs, heardByDan []string
	tell := func(text string) {
		bob.ask("say", object{"message": text}, nil)
		bobs = append(bobs, "bob:"+text)
	}
	for round := range 3 {
		fact := fmt.Sprintf("Rule %d: never deploy on Friday.", round)
		bob.ask("store", object{"key": "rule", "value": fact, "importance": 0.9}, nil)
		dan.call("memory_session_start", object{"contextSummary": "the release"}, nil)
		dan.say(fmt.Sprint(round, " begins"))
		tell(fmt.Sprint(round, " before"))
		said, next := dan.hear(cursor)
		heardByDan = append(heardByDan, said...)
		dan.call("memory_save_checkpoint", object{"summary": fmt.Sprint(next)}, nil)
		dan.say(fmt.Sprint(round, " saved"))
		dan.begin("tools/call", toolCall("memory_say", object{"message": fmt.Sprint(round, " cut off")}))
		if err := dan.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		await.That(t, "bob sees that dan is gone", func() bool { return !bob.sees("dan") })
		bob.until(func() bool { return bob.abandoned == round+1 })
		bob.ask("store", object{"key": "rule", "value": "Deploy at will.", "importance": 0.9}, nil)
		tell(fmt.Sprint(round, " while dan is away"))

		dan.mcpClient = begin()
		var w struct {
			Summary, Note string
			Unclean       bool
			Context       []struct{ Content string }
		}
		dan.call("memory_wake", nil, &w)
		if !w.Unclean || w.Note != "" || len(w.Context) != 1 || w.Context[0].Content != fact {
			t.Errorf("dan wakes with %+v, not %q", w, fact)
		}
		if _, err := fmt.Sscan(w.Summary, &cursor); err != nil || cursor != next {
			t.Errorf("dan heard up to %q, not %d", w.Summary, next)
		}
		said, cursor = dan.hear(cursor)
		heardByDan = append(heardByDan, said...)
		dan.say(fmt.Sprint(round, " is awake"))
		if !bob.sees("dan") {
			t.Error("bob does not see that dan is back")
		}
	}
	tell("end")
	bob.until(func() bool { return len(bob.said) > 0 && bob.said[len(bob.said)-1] == "bob:end" })

	if want := bobs[:len(bobs)-1]; !slices.Equal(heardByDan, want) {
		t.Errorf("dan heard %q, not %q", heardByDan, want)
	}
	var ofBob, ofDan []string
	for _, m := range bob.said {
		switch {
		case strings.HasPrefix(m, "bob:"):
			ofBob = append(ofBob, m)
		case !strings.HasSuffix(m, " cut off"): // which was not acknowledged
			ofDan = append(ofDan, m)
		}
	}
	if !slices.Equal(ofBob, bobs) || !slices.Equal(ofDan, dan.acknowledged) {
		t.Errorf("bob is sent %q", bob.said)
	}
	for round := range 3 {
		cut := func(m string) bool { return m == fmt.Sprint("dan:", round, " cut off") }
		at := slices.IndexFunc(bob.said, cut)
		if at < 0 {
			continue // killed before it was said
		}
		saved, awake := slices.Index(bob.said, fmt.Sprint("dan:", round, " saved")), slices.Index(bob.said, fmt.Sprint("dan:", round, " is awake"))
		if slices.ContainsFunc(bob.said[at+1:], cut) || at < saved || at > awake {
			t.Errorf("what was cut off came at another place or twice: %q", bob.said)
		}
	}
	cmd := program(t, s.dir, "mcp")
	cmd.Env = append(cmd.Env, "ALCOVE_KEY="+keys["eve"])
	if later, _ := clientOf(t, cmd).hear(0); !slices.Equal(later, bob.said) {
		t.Errorf("one that hears later hears %q, not %q", later, bob.said)
	}
	s.mustNotHavePanicked()
}
