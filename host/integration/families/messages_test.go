//go:build guests

package families_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
)

// hearing is an answer of memory_hear.
type hearing struct {
	Messages []struct {
		From, Name, Content string
		Recipients          []string
	}
	LastHeard     uint64 `json:"last_heard"`
	MoreAvailable bool   `json:"more_available"`
	MessagesLost  bool   `json:"messages_lost"`
}

func (h hearing) String() string {
	var list []string
	for _, m := range h.Messages {
		list = append(list, m.From+":"+m.Content)
	}
	return strings.Join(list, " ")
}

// hear is what an agent hears after a cursor, to the end.
func hear(s *server.Agent, after uint64) (all hearing) {
	s.T.Helper()
	for all.LastHeard, all.MoreAvailable = after, true; all.MoreAvailable; {
		var page hearing
		s.Ask("memory_hear", map[string]any{"last_heard": all.LastHeard, "limit": 7}, &page)
		page.Messages = append(all.Messages, page.Messages...)
		page.MessagesLost = page.MessagesLost || all.MessagesLost
		all = page
	}
	return all
}

// message reads the next message of a stream, as FROM:CONTENT.
func message(t *testing.T, p *server.Stream) string {
	t.Helper()
	m := p.Next()
	if m.Type != "message" {
		t.Fatalf("%s came, not a message", m.Text)
	}
	return m.From + ":" + m.Content
}

// room is a namespace with three agents, of which ann speaks over MCP and works on a branch, and bob is on a WebSocket.
type meeting struct {
	*server.Server
	ann, eve *server.Agent
	bob      *server.Stream
	keys     map[string]operator.IssuedKey
}

func newMeeting(t *testing.T, o host.Options) *meeting {
	t.Helper()
	m := &meeting{Server: server.Carrying(t, o), keys: map[string]operator.IssuedKey{}}
	for _, name := range []string{"ann", "bob", "eve"} {
		m.keys[name] = m.Issue(name, server.EveryRight, "room", "z-"+name) // where a client works that names no namespace: the first
	}
	m.ann, m.eve, m.bob = m.Agent(m.keys["ann"], owner.Hello{}), m.Agent(m.keys["eve"], owner.Hello{}), m.Stream(m.keys["bob"])
	m.ann.Ask("memory_branch", map[string]any{"action": "fork", "name": "draft"}, nil)
	m.ann.Ask("memory_branch", map[string]any{"action": "switch", "name": "draft"}, nil)
	return m
}

func TestAgentsOnTwoBranchesHearEachOtherOverAWebSocketAndMCP(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, host.Options{})
	outside := m.Stream(m.Issue("zoe", server.EveryRight, "other"))
	m.bob.Ask("status", nil, nil) // the stream is served by now, and hears the room without a subscription
	outside.Ask("status", nil, nil)
	first := hear(m.eve, 0)
	m.ann.Ask("memory_say", map[string]any{"message": "Hello meeting room"}, nil)
	if got := message(t, m.bob); got != "ann:Hello meeting room" {
		t.Errorf("bob is sent %s", got)
	}
	m.bob.Send(map[string]any{"type": "say", "id": "1", "message": "hello ann"})
	m.bob.Await(func(a server.Arrived) bool { return a.Type == "answer" && a.Error == nil })
	m.bob.Ask("say", map[string]any{"message": "and all"}, nil)
	if got := hear(m.ann, 0).String(); got != "bob:hello ann bob:and all" {
		t.Errorf("ann hears %s", got)
	}
	if got := hear(m.eve, first.LastHeard).String(); got != "ann:Hello meeting room bob:hello ann bob:and all" {
		t.Errorf("eve hears %s", got)
	}
	for _, want := range []string{"bob:hello ann", "bob:and all"} { // a stream gets what its client says, too
		if got := message(t, m.bob); got != want {
			t.Errorf("bob is sent %s, not %s", got, want)
		}
	}
	var here struct {
		Agents []struct {
			AgentID   string
			Connected bool
		}
	}
	m.ann.Ask("memory_who_is_here", nil, &here)
	if got := fmt.Sprint(here.Agents); len(here.Agents) != 3 || strings.Contains(got, "zoe") || strings.Contains(got, "false") {
		t.Errorf("here are %s", got)
	}
	outside.Ask("say", map[string]any{"message": "elsewhere"}, nil)
	if got := message(t, outside); got != "zoe:elsewhere" {
		t.Errorf("in another namespace comes %s", got)
	}
	m.ann.Ask("memory_say", map[string]any{"message": "last"}, nil)
	if got := message(t, m.bob); got != "ann:last" {
		t.Errorf("bob is sent %s", got)
	}
}

// What ann tells bob alone has no trace in any answer to eve, who may read the namespace: not in what it hears and is sent, not in
// events, lists, searches and counts.
func TestADirectMessageLeavesNoTraceForOthers(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, host.Options{})
	eves := m.Stream(m.keys["eve"])
	eves.Subscribe(map[string]any{"watermark": 0, "namespaces": "room"})
	m.bob.Subscribe(map[string]any{"kinds": []string{"message", "notification_created"}})
	looks := map[string]map[string]any{
		"memory_hear": {}, "memory_poll_events": {"agentId": "eve"}, "memory_get_notifications": {"unread_only": false}, "memory_search": {"query": "kumquat"},
		"memory_status": {}, "memory_who_is_here": {}, "memory_list_agents": {}, "memory_query_facts": {}, "memory_capabilities": {"family": "messages", "verbose": true},
	}
	watermarks := regexp.MustCompile(`"latestWatermark":\d+`)
	look := func() map[string]string {
		answers := map[string]string{}
		for tool, arguments := range looks {
			answers[tool] = watermarks.ReplaceAllString(m.eve.AnswerText(tool, arguments), "") // all namespaces share them
		}
		return answers
	}
	m.ann.Ask("memory_say", map[string]any{"message": "open"}, nil)
	look() // loads the families that it asks
	before := look()
	for i := range 3 {
		m.ann.Ask("memory_say", map[string]any{"message": fmt.Sprintf("kumquat %d", i), "recipients": []string{"bob"}}, nil)
	}
	m.ann.Ask("memory_notify", map[string]any{"target_agent_id": "bob", "title": "kumquat", "payload": "kumquat"}, nil)
	for _, want := range []string{"open", "kumquat 0", "kumquat 1", "kumquat 2"} {
		if got := message(t, m.bob); got != "ann:"+want {
			t.Errorf("bob is sent %s, not %s", got, want)
		}
	}
	if n := m.bob.Next(); n.Kind != "notification_created" || !says(n.Text, "kumquat") {
		t.Errorf("bob is sent %s", n.Text)
	}
	for tool, text := range look() {
		if tool == "memory_status" || tool == "memory_who_is_here" { // versions, which all namespaces share, and ann's last call
			if says(text, "kumquat") {
				t.Errorf("%s tells %s", tool, text)
			}
			continue
		}
		if text != before[tool] {
			t.Errorf("%s answers\n%s\nand before\n%s", tool, text, before[tool])
		}
	}
	m.ann.Ask("memory_say", map[string]any{"message": "again"}, nil)
	for { // all that eve is sent, up to what is for all
		n := eves.Next()
		if says(n.Text, "kumquat") || n.Kind == "notification_created" {
			t.Errorf("eve is sent %s", n.Text)
		}
		if n.Content == "again" {
			break
		}
	}
	if text := m.eve.AnswerText("memory_mark_notifications_read", map[string]any{"notificationIds": "ntf:x"}); !says(text, "error: ") {
		t.Errorf("eve marks %s", text)
	}
}

// speaking makes the test binary a client that speaks, for a test that kills it: it prints each number whose message was acknowledged.
const speaking = "ALCOVE_TEST_SPEAKING"

// A client is killed while it speaks. The other, on a WebSocket, sees that it is gone, and every acknowledged message arrives once and in
// order; so it does for one that hears later.
func TestAKilledClientIsSeenToBeGoneAndItsMessagesArriveOnce(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, host.Options{})
	m.bob.Subscribe(map[string]any{"kinds": []string{"message"}})
	child := speaker(t, m.Server, m.Issue("dan", server.EveryRight, "room"))
	for range 5 {
		message(t, m.bob)
	}
	acknowledged := child.kill()
	got := []string{}
	for range 5 {
		got = append(got, strconv.Itoa(len(got)))
	}
	gone := func() bool {
		var here struct {
			Agents []struct {
				AgentID   string
				Connected bool
			}
		}
		m.bob.Ask("who_is_here", nil, &here)
		at := slices.IndexFunc(here.Agents, func(a struct {
			AgentID   string
			Connected bool
		}) bool {
			return a.AgentID == "dan"
		})
		return at >= 0 && !here.Agents[at].Connected
	}
	await.That(t, "the killed client is not connected", gone)
	m.eve.Ask("memory_say", map[string]any{"message": "end"}, nil)
	for {
		said := message(t, m.bob)
		if said == "eve:end" {
			break
		}
		got = append(got, strings.TrimPrefix(said, "dan:"))
	}
	for i, text := range got {
		if text != strconv.Itoa(i) {
			t.Fatalf("message %d is %q: %q", i, text, got)
		}
	}
	if len(got) < acknowledged || len(got) > acknowledged+1 {
		t.Errorf("%d messages arrived, %d were acknowledged", len(got), acknowledged)
	}
	if heard := hear(m.Agent(m.keys["bob"], owner.Hello{}), 0); len(heard.Messages) != len(got)+1 || heard.MessagesLost {
		t.Errorf("%d are heard of %d", len(heard.Messages), len(got)+1)
	}
}

// child is a client in a process of its own.
type child struct {
	t     *testing.T
	c     *exec.Cmd
	lines *bufio.Scanner
}

// speaker starts a client that says numbers from 0 on.
func speaker(t *testing.T, h *server.Server, key operator.IssuedKey) *child {
	t.Helper()
	c := exec.Command(must.Get(os.Executable()), "-test.run", "^TestAClientThatSpeaks$")
	c.Env = append(os.Environ(), speaking+"="+h.At.Socket+" "+key.Secret)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return &child{t, c, bufio.NewScanner(out)}
}

// kill kills the client as kill -9 does, and returns how many messages were acknowledged.
func (c *child) kill() (acknowledged int) {
	c.t.Helper()
	if err := c.c.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	for c.lines.Scan() {
		if n, isNumber := strings.CutPrefix(c.lines.Text(), "said "); isNumber {
			acknowledged = must.Get(strconv.Atoi(n)) + 1
		}
	}
	return acknowledged
}

// TestAClientThatSpeaks is the client of TestAKilledClient….
func TestAClientThatSpeaks(t *testing.T) {
	at := strings.Fields(os.Getenv(speaking))
	if len(at) != 2 {
		t.Skip("another test runs it, with " + speaking)
	}
	h := &server.Server{T: t, At: owner.Record{Socket: at[0]}}
	ann := h.Agent(operator.IssuedKey{Secret: at[1]}, owner.Hello{})
	for n := 0; n < 59; n++ { // say_per_minute
		ann.Ask("memory_say", map[string]any{"message": strconv.Itoa(n)}, nil)
		fmt.Println("said", n)
	}
	<-t.Context().Done()
}

// Eighteen clients of one agent speak at once, over the socket and WebSockets: exactly say_per_minute messages are taken.
func TestSayPerMinuteHoldsForConcurrentCallers(t *testing.T) {
	t.Parallel()
	clock := testclock.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	h := server.Carrying(t, host.Options{Clock: clock.Now})
	key := h.Issue("ann", server.EveryRight, "room")
	var mu sync.Mutex
	taken := map[string]int{}
	var all sync.WaitGroup
	for i := range 8 {
		c := h.Agent(key, owner.Hello{})
		all.Go(func() {
			for n := 0; n < 9; {
				text := c.AnswerText("memory_say", map[string]any{"message": fmt.Sprintf("%d.%d", i, n)})
				mu.Lock()
				switch {
				case says(text, "error: ", "say_per_minute"):
					taken["refused"]++
					n++
				case says(text, "error: ", "try again"): // overtaken too often
				case says(text, "message_id"):
					taken["said"]++
					n++
				default:
					t.Errorf("answered %s", text)
					n++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if taken["said"] != 60 || taken["refused"] != 12 {
		t.Errorf("took %v, want 60 said and 12 refused", taken)
	}
	heard := hear(h.Agent(h.Issue("bob", server.EveryRight, "room"), owner.Hello{}), 0)
	last := map[string]int{}
	for _, m := range heard.Messages {
		who, n, _ := strings.Cut(m.Content, ".")
		if at := must.Get(strconv.Atoi(n)); at < last[who] {
			t.Errorf("of %s, %d comes after %d", who, at, last[who])
		} else {
			last[who] = at + 1
		}
	}
	if len(heard.Messages) != 60 {
		t.Errorf("%d are heard", len(heard.Messages))
	}
}

// With routing on, what ann stores about an outage notifies the agent for databases, and neither its writer nor those who may not read it.
func TestAnImportantMemoryNotifiesTheAgentsThatItConcerns(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, host.Options{})
	_, err := operator.Call(t.Context(), m.Acts, operator.GrantFamily, operator.GrantRequest{Family: "agents", Hooks: map[abi.Hook]registry.On{abi.HookStored: {}}})
	must.Do(t, err)
	m.bob.Subscribe(map[string]any{"kinds": []string{"notification_created"}})
	m.bob.Ask("register_agent_core", map[string]any{"name": "Bob", "capabilities": []string{"postgres", "database outages"}}, nil)
	m.ann.Ask("memory_register_agent_core", map[string]any{"name": "Ann", "capabilities": []string{"postgres outage response"}}, nil)
	m.eve.Ask("memory_register_agent_core", map[string]any{"name": "Eve", "capabilities": []string{"watercolour"}}, nil)
	m.ann.Ask("memory_store", map[string]any{"key": "outage", "value": "Postgres outage in production since nine.", "importance": 0.8}, nil)
	if n := m.bob.Next(); n.Kind != "notification_created" || !says(n.Text, "room#outage", "Postgres outage") {
		t.Errorf("bob is sent %s", n.Text)
	}
	var inbox struct {
		Notifications []struct{ Reason, From, FactID string }
		Unread        int
	}
	m.bob.Ask("memory_inbox", nil, &inbox)
	if inbox.Unread != 1 || inbox.Notifications[0].Reason != "relevance:0.802" || inbox.Notifications[0].FactID != "room#outage" {
		t.Errorf("bob has %+v", inbox)
	}
	for name, c := range map[string]*server.Agent{"ann": m.ann, "eve": m.eve} {
		if c.Ask("memory_inbox", nil, &inbox); inbox.Unread != 0 {
			t.Errorf("%s has %+v", name, inbox)
		}
	}
	// A scope of ann's: bob, who is no member, is not told of what it holds, and has no trace of it.
	m.ann.Ask("memory_create_scope", map[string]any{"name": "z-ann"}, nil)
	m.ann.Ask("memory_register", map[string]any{"name": "Ann", "namespace": "z-ann"}, nil)
	m.ann.Ask("memory_store", map[string]any{"key": "secret", "value": "Postgres outage was our database fault.", "importance": 0.9, "namespace": "z-ann"}, nil)
	m.ann.Ask("memory_store", map[string]any{"key": "second", "value": "Another database outage of Postgres.", "importance": 0.9}, nil)
	if n := m.bob.Next(); !says(n.Text, "room#second") || says(n.Text, "fault") {
		t.Errorf("then bob is sent %s", n.Text)
	}
}

// A family that an operator granted everything it asks for reads no message, whoever calls it: not eve, and not the one it is for.
func TestNoOtherFamilyReadsMessages(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, host.Options{})
	m.bob.Ask("status", nil, nil) // the stream is served by now
	m.ann.Ask("memory_say", map[string]any{"message": "kumquat for bob", "recipients": []string{"bob"}}, nil)
	m.ann.Ask("memory_notify", map[string]any{"target_agent_id": "bob", "title": "kumquat", "payload": "kumquat"}, nil)
	requests, tools := map[string]string{}, []string{}
	for i, request := range []string{
		`record.list {"family":"messages","collection":"message"}`, `record.list {"family":"messages","collection":"log"}`, `record.list {"family":"messages","collection":"notification"}`,
		`record.list {"family":"messages","collection":"notification","filters":[{"field":"agentId","op":"eq","value":"bob"}]}`,
		`record.search {"family":"messages","collection":"message","query":"kumquat"}`, `record.collections {"family":"messages"}`,
		`text.count {"family":"messages","collection":"message","terms":["kumquat"]}`,
	} {
		name := fmt.Sprint("spy", i)
		requests[name], tools = request, append(tools, name+"_ask")
	}
	m.Asking(abi.CanRecordsRead, requests)
	for _, tool := range tools {
		for name, text := range map[string]string{"eve": m.eve.AnswerText(tool, nil), "bob": m.bob.Operate(tool, nil, nil).Text} {
			if says(text, "kumquat") || says(text, "ntf:") || says(text, `"documents":1`) {
				t.Errorf("%s, called by %s, answers %s", requests[strings.TrimSuffix(tool, "_ask")], name, text)
			}
		}
	}
	m.Asking(abi.CanRecordsRead, map[string]string{"reads": `record.collections {"family":"agents"}`}) // which has no private ones
	if text := m.eve.AnswerText("reads_ask", nil); !says(text, `"family":"agents"`) {
		t.Errorf("of the family agents: %s", text)
	}
}
