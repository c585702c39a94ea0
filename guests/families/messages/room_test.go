package messages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// world is a space that scenarios share: each has a namespace of its own.
type world struct {
	*testing.T
	*alcovetest.Space
}

func (w world) as(agent string, namespaces ...string) {
	w.Caller, w.Key, w.Rights, w.Read, w.Write = agent, "key of "+agent, nil, nil, nil
	if len(namespaces) > 0 {
		w.Write = namespaces
	}
}

func (w world) call(tool string, arguments map[string]any, result any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, result); err != nil {
		w.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
}

func (w world) fails(code alcove.Code, says, tool string, arguments map[string]any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, nil); alcove.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		w.T.Errorf("%s %v: %v; want %s that says %q", tool, arguments, err, code, says)
	}
}

// say has an agent say something, and returns its sequence.
func (w world) say(agent, text string, to ...string) uint64 {
	w.T.Helper()
	w.as(agent)
	arguments := map[string]any{"message": text}
	if len(to) > 0 {
		arguments["recipients"] = to
	}
	var out spoken
	w.call("memory_say", arguments, &out)
	if out.Sequence == 0 || !strings.HasPrefix(out.MessageID, "msg:") {
		w.T.Fatalf("said %+v", out)
	}
	return out.Sequence
}

// hear is what an agent hears after a cursor, as FROM:TEXT.
func (w world) hear(agent string, after uint64, limit int) (string, hearing) {
	w.T.Helper()
	w.as(agent)
	var out hearing
	w.call("memory_hear", map[string]any{"last_heard": after, "limit": limit}, &out)
	return heardOf(out), out
}

func heardOf(out hearing) string {
	var list []string
	for _, m := range out.Messages {
		list = append(list, m.From+":"+m.Content)
	}
	return strings.Join(list, " ")
}

func (w world) hears(agent, want string) {
	w.T.Helper()
	if got, out := w.hear(agent, 0, 100); got != want {
		w.T.Errorf("%s hears %q of %+v, want %q", agent, got, out, want)
	}
}

// knowing are agents that the family agents knows.
func (w world) knowing(agents ...string) {
	w.Ops[alcove.OpToolsCall] = func(request []byte) (any, error) {
		var r struct {
			Tool      string
			Arguments struct {
				AgentIDs []string `json:"agentIds"`
			}
		}
		if err := json.Unmarshal(request, &r); err != nil || r.Tool != "memory_list_agents" {
			return nil, fmt.Errorf("%s: %w", request, err)
		}
		list := []map[string]any{}
		for _, agent := range agents {
			if len(r.Arguments.AgentIDs) == 0 || slices.Contains(r.Arguments.AgentIDs, agent) {
				list = append(list, map[string]any{"agentId": agent, "name": "The " + agent, "role": "tester"})
			}
		}
		return map[string]any{"result": map[string]any{"agents": list}}, nil
	}
}

func TestMessages(t *testing.T) {
	space := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	var made atomic.Int64
	for name, scenario := range map[string]func(world){
		"a room is read in pages, with one's own words, and nobody has heard it by that": func(w world) {
			for i := range 7 {
				w.say([]string{"ann", "bob"}[i%2], fmt.Sprint(i))
			}
			w.say("ann", "psst", "bob")
			w.knowing("ann")
			w.as("ann")
			var pages []string
			for before, first := uint64(0), true; first || before > 0; first = false {
				var out reading
				w.call("memory_read_room", map[string]any{"before": before, "limit": 3}, &out)
				if out.Total != 7 || len(out.Messages) > 0 && out.Messages[0].From == "ann" && out.Messages[0].Name != "The ann" {
					w.T.Errorf("read %+v", out)
				}
				pages, before = append(pages, heardOf(hearing{Messages: out.Messages})), out.Before
			}
			if got := strings.Join(pages, " | "); got != "ann:4 bob:5 ann:6 | bob:1 ann:2 bob:3 | ann:0" {
				w.T.Errorf("in pages: %s", got)
			}
			var unheard hearing
			if w.call("memory_hear", nil, &unheard); heardOf(unheard) != "bob:1 bob:3 bob:5" {
				w.T.Errorf("then she hears %q", heardOf(unheard))
			}
			w.as("eve")
			w.Now = w.Now.Add(3 * time.Hour)
			var out reading
			if w.call("memory_read_room", nil, &out); out.Total != 0 || len(out.Messages) != 0 {
				w.T.Errorf("what expired is read: %+v", out)
			}
		},
		"a room is heard by all but the speaker, in order, and the same cursor hears the same": func(w world) {
			for i := range 7 {
				w.say([]string{"ann", "bob"}[i%2], fmt.Sprint(i))
			}
			w.hears("ann", "bob:1 bob:3 bob:5")
			w.hears("eve", "ann:0 bob:1 ann:2 bob:3 ann:4 bob:5 ann:6")
			var all []string
			cursor := uint64(0)
			for more := true; more; {
				got, out := w.hear("eve", cursor, 2)
				if again, _ := w.hear("eve", cursor, 2); again != got {
					w.T.Errorf("again it hears %q, not %q", again, got)
				}
				if out.MessagesLost {
					w.T.Errorf("lost: %+v", out)
				}
				all, cursor, more = append(all, got), out.LastHeard, out.MoreAvailable
			}
			if got := strings.Join(all, " | "); got != "ann:0 bob:1 | ann:2 bob:3 | ann:4 bob:5 | ann:6" {
				w.T.Errorf("in pages: %s", got)
			}
			if got, out := w.hear("eve", cursor, 10); got != "" || out.LastHeard != cursor {
				w.T.Errorf("then %q, %+v", got, out)
			}
			if last := w.say("eve", "own"); true {
				if _, out := w.hear("eve", cursor, 10); out.LastHeard != last || len(out.Messages) != 0 {
					w.T.Errorf("one's own message is passed over: %+v, want %d", out, last)
				}
			}
		},
		"a direct message reaches its recipients alone, and leaves no trace for others": func(w world) {
			w.knowing("bob", "cid")
			first := w.say("ann", "to all")
			_, before := w.hear("eve", 0, 10)
			w.say("ann", "for bob", "bob", "bob")
			w.say("bob", "for both", "ann", "cid")
			w.say("ann", "to all again", "all")
			w.hears("bob", "ann:to all ann:for bob ann:to all again")
			w.hears("cid", "ann:to all bob:for both ann:to all again")
			w.hears("ann", "bob:for both")
			w.hears("eve", "ann:to all ann:to all again")
			if before.LastHeard != first {
				w.T.Errorf("%+v, want %d", before, first)
			}
			var out hearing
			w.as("bob")
			w.call("memory_hear", map[string]any{"last_heard": first, "limit": 1}, &out)
			if len(out.Messages) != 1 || !slices.Equal(out.Messages[0].Recipients, []string{"bob"}) || !out.MoreAvailable {
				w.T.Errorf("memory_hear = %+v, want one message for bob, and more available", out)
			}
			w.as("bo") // whose log begins alike
			w.call("memory_hear", nil, &out)
			if strings.Contains(heardOf(out), "for") {
				w.T.Errorf("bo hears %q", heardOf(out))
			}
		},
		"a message to an agent that nobody knows is refused, with the names that are near": func(w world) {
			w.knowing("nova", "scout")
			w.say("robin", "hello")
			w.as("ann")
			w.fails(alcove.NotFound, "no agent nobody-here is registered", "memory_say", map[string]any{"message": "x", "recipients": []string{"nova", "nobody-here"}})
			w.fails(alcove.NotFound, "known there are nova, ", "memory_say", map[string]any{"message": "x", "recipients": "novva"})
			w.fails(alcove.NotFound, "known there are scout, ", "memory_say", map[string]any{"message": "x", "recipients": "Scout-2"})
			w.say("ann", "a reply", "robin")
			w.say("ann", "to myself", "ann")
			w.hears("robin", "ann:a reply")
			w.hears("nova", "robin:hello")
		},
		"without a cursor nothing is heard twice, and with one everything can be": func(w world) {
			w.knowing("eve")
			listen := func(agent string, arguments map[string]any, want string) {
				w.T.Helper()
				w.as(agent)
				var out hearing
				if w.call("memory_hear", arguments, &out); heardOf(out) != want {
					w.T.Errorf("%s with %v hears %q, want %q", agent, arguments, heardOf(out), want)
				}
			}
			for i := range 3 {
				w.say("ann", fmt.Sprint(i))
			}
			listen("eve", map[string]any{"limit": 2}, "ann:0 ann:1")
			listen("eve", nil, "ann:2")
			listen("eve", nil, "")
			listen("bob", nil, "ann:0 ann:1 ann:2")
			w.say("ann", "psst", "eve")
			listen("eve", nil, "ann:psst")
			listen("eve", map[string]any{"last_heard": 0}, "ann:0 ann:1 ann:2 ann:psst")
			listen("eve", nil, "")
			w.say("bob", "3")
			w.DryRun = true
			listen("eve", nil, "bob:3")
			w.DryRun = false
			listen("eve", nil, "bob:3")
			w.say("bob", "4")
			w.as("eve")
			w.Read, w.Write = []string{w.Namespace}, []string{"elsewhere"}
			var out hearing
			for range 2 { // who may not write hears, and nothing is noted
				if w.call("memory_hear", nil, &out); heardOf(out) != "bob:4" {
					w.T.Errorf("a reader hears %q, want bob:4", heardOf(out))
				}
			}
		},
		"branches share a room, namespaces do not": func(w world) {
			w.say("ann", "hello")
			w.Branch = "default"
			here := w.Namespace
			w.Namespace += "-next"
			w.hears("bob", "")
			w.Namespace = here
			w.hears("bob", "ann:hello")
		},
		"messages are heard for message_ttl_hours, and those that are gone are told of": func(w world) {
			first := w.say("ann", "old")
			w.Now = w.Now.Add(time.Hour)
			w.say("ann", "newer")
			if got, out := w.hear("bob", first, 10); got != "ann:newer" || out.MessagesLost {
				w.T.Errorf("an hour later bob hears %q, %+v, want the newer message and none lost", got, out)
			}
			w.Now = w.Now.Add(90 * time.Minute)
			if got, out := w.hear("bob", first, 10); got != "ann:newer" || out.MessagesLost {
				w.T.Errorf("later still bob hears %q, %+v, want the newer message and none lost", got, out)
			}
			if got, out := w.hear("bob", first-1, 10); got != "ann:newer" || !out.MessagesLost {
				w.T.Errorf("of the old one: %q, %+v", got, out)
			}
			if _, out := w.hear("bob", 0, 10); out.MessagesLost {
				w.T.Error("who never heard anything lost something")
			}
			w.Config["message_ttl_hours"] = 100
			w.hears("bob", "ann:old ann:newer")
			w.Now = w.Now.Add(200 * time.Hour)
			if got, out := w.hear("bob", first-1, 10); got != "" || !out.MessagesLost {
				w.T.Errorf("after all expired: %q, %+v", got, out)
			}
		},
		"a room keeps room_max_messages, and tells who lost some": func(w world) {
			w.Config["room_max_messages"] = 10
			first := w.say("ann", "0")
			second := w.say("ann", "1")
			for i := 2; i < 12; i++ {
				w.say("ann", fmt.Sprint(i))
			}
			if got, out := w.hear("bob", second, 100); got != "ann:2 ann:3 ann:4 ann:5 ann:6 ann:7 ann:8 ann:9 ann:10 ann:11" || out.MessagesLost {
				w.T.Errorf("bob hears %q, %+v, want messages 2 to 11 and none lost", got, out)
			}
			if _, out := w.hear("bob", first, 100); !out.MessagesLost {
				w.T.Errorf("memory_hear = %+v, want messages lost", out)
			}
			w.Config["room_max_messages"] = nil
		},
		"who says too much in a minute is refused, and others are not": func(w world) {
			w.Config["say_per_minute"] = 3
			for i := range 3 {
				w.say("ann", fmt.Sprint(i))
			}
			w.as("ann")
			w.fails(alcove.Exhausted, "say_per_minute: wait 60 seconds", "memory_say", map[string]any{"message": "more"})
			w.say("bob", "mine")
			w.as("ann")
			w.Now = w.Now.Add(59 * time.Second)
			w.fails(alcove.Exhausted, "wait 1 seconds", "memory_say", map[string]any{"message": "more"})
			w.Now = w.Now.Add(time.Second)
			w.say("ann", "again")
		},
		"messages are bounded, and have a speaker": func(w world) {
			w.as("ann")
			w.fails(alcove.Exhausted, "message_max_bytes allows 8192", "memory_say", map[string]any{"message": strings.Repeat("x", 8193)})
			w.fails(alcove.InvalidArgument, "empty", "memory_say", map[string]any{"message": "  "})
			w.fails(alcove.InvalidArgument, "", "memory_say", map[string]any{"message": "x", "recipients": []string{""}})
			w.Config["message_max_bytes"] = 65536
			long := strings.Repeat("ü\n", 20000)
			w.say("ann", long)
			if got, _ := w.hear("bob", 0, 10); got != "ann:"+long {
				w.T.Errorf("%d bytes are heard", len(got))
			}
			w.as("")
			w.Namespace += "-anonymous"
			w.call("memory_say", map[string]any{"message": "x"}, nil)
			w.hears("bob", "anonymous:x")
			w.as("nan", "elsewhere")
			w.fails(alcove.Denied, "", "memory_say", map[string]any{"message": "x"})
			w.fails(alcove.Denied, "", "memory_hear", nil)
		},
		"a dry run says nothing": func(w world) {
			w.as("ann")
			w.DryRun = true
			w.call("memory_say", map[string]any{"message": "x"}, nil)
			w.DryRun = false
			w.hears("bob", "")
		},
		"names and roles come from the family agents": func(w world) {
			w.knowing("ann")
			w.say("ann", "a")
			w.say("bob", "b")
			_, out := w.hear("eve", 0, 10)
			if out.Messages[0].Name != "The ann" || out.Messages[1].Name != "" {
				w.T.Errorf("memory_hear = %+v, want the name of ann, and none of bob", out)
			}
			var here company
			w.call("memory_who_is_here", nil, &here)
			got := map[string]present{}
			for _, p := range here.Agents {
				got[p.AgentID] = p
			}
			if len(got) != 2 || got["ann"].Role != "tester" || got["bob"].Name != "bob" || got["bob"].Connected || got["bob"].LastSeen == "" {
				w.T.Errorf("memory_who_is_here = %+v, want ann as tester, and bob, not connected", here)
			}
			w.Now = w.Now.Add(5*time.Minute + time.Second)
			if w.call("memory_who_is_here", nil, &here); len(here.Agents) != 0 {
				w.T.Errorf("six minutes later: %+v", here)
			}
		},
		"a notification is its receiver's alone, until it is read": func(w world) {
			w.knowing("bob", "cid")
			w.as("ann")
			var sent notified
			w.call("memory_notify", map[string]any{"target_agent_id": "bob", "title": "Look", "payload": map[string]any{"n": 1}, "factId": "k", "priority": 8}, &sent)
			w.Now = w.Now.Add(time.Second)
			w.call("memory_notify", map[string]any{"target_agent_id": []string{"cid", "bob"}, "title": "Both", "payload": "text", "expires_at": "1h"}, nil)
			w.fails(alcove.NotFound, "no agent nobody", "memory_notify", map[string]any{"target_agent_id": "nobody", "title": "t", "payload": 1})
			var got notifications
			w.call("memory_inbox", nil, &got)
			if len(got.Notifications) != 0 || got.Unread != 0 {
				w.T.Errorf("ann has %+v", got)
			}
			w.fails(alcove.Denied, "act_as", "memory_get_notifications", map[string]any{"agentId": "bob"})
			w.fails(alcove.NotFound, "", "memory_mark_notifications_read", map[string]any{"notificationIds": sent.NotificationID})
			w.as("bob")
			w.call("memory_get_notifications", nil, &got)
			if len(got.Notifications) != 2 || got.Unread != 2 || got.Notifications[0].Title != "Both" || string(got.Notifications[1].Payload) != `{"n":1}` || got.Notifications[1].FactID.Key != "k" || got.Notifications[1].From != "ann" || got.Notifications[1].Priority != 8 {
				w.T.Errorf("bob has %+v", got)
			}
			var done marked
			w.call("memory_mark_notifications_read", map[string]any{"notificationIds": []any{sent.NotificationID.Key}}, &done)
			again := done
			w.call("memory_mark_notifications_read", map[string]any{"notificationIds": sent.NotificationID}, &again)
			if done.Updated != 1 || again.Updated != 0 {
				w.T.Errorf("marked %+v, %+v", done, again)
			}
			w.call("memory_get_notifications", nil, &got)
			if len(got.Notifications) != 1 || got.Unread != 1 {
				w.T.Errorf("then bob has %+v", got)
			}
			w.call("memory_get_notifications", map[string]any{"unread_only": false}, &got)
			if len(got.Notifications) != 2 || got.Notifications[1].ReadAt == 0 {
				w.T.Errorf("of all, %+v", got)
			}
			w.Now = w.Now.Add(2 * time.Hour)
			if w.call("memory_get_notifications", nil, &got); got.Unread != 0 {
				w.T.Errorf("an expired one is there: %+v", got)
			}
			if w.call("memory_get_notifications", map[string]any{"unread_only": false}, &got); len(got.Notifications) != 1 {
				w.T.Errorf("all notifications = %+v, want 1", got)
			}
			w.Now = w.Now.Add(31 * 24 * time.Hour)
			if w.call("memory_get_notifications", map[string]any{"unread_only": false}, &got); len(got.Notifications) != 0 {
				w.T.Errorf("a month later: %+v", got)
			}
		},
		"notifications are bounded, and found in scopes": func(w world) {
			w.knowing("bob")
			w.Config["inbox_max_notifications"] = 10
			w.as("ann")
			for i := range 10 {
				w.call("memory_notify", map[string]any{"target_agent_id": "bob", "title": fmt.Sprint(i), "payload": i}, nil)
				w.Now = w.Now.Add(time.Second)
			}
			w.fails(alcove.Exhausted, "inbox_max_notifications", "memory_notify", map[string]any{"target_agent_id": "bob", "title": "t", "payload": 1})
			w.fails(alcove.InvalidArgument, "", "memory_notify", map[string]any{"target_agent_id": "bob", "title": strings.Repeat("t", 201), "payload": 1})
			w.call("memory_notify", map[string]any{"target_agent_id": "ann", "title": "to myself", "payload": 1, "scopeId": w.Namespace + "-x"}, nil)
			var got notifications
			w.as("bob")
			if w.call("memory_get_notifications", map[string]any{"limit": 3}, &got); len(got.Notifications) != 3 || got.Unread != 10 || got.Notifications[0].Title != "9" {
				w.T.Errorf("memory_get_notifications = %+v, want 3 of 10 unread, 9 first", got)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			space.Namespace, space.Branch = fmt.Sprintf("room%d", made.Add(1)), "default"
			clear(space.Ops)
			for key := range space.Config {
				space.Config[key] = nil
			}
			scenario(world{t, space})
		})
	}
}
