package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// asked is a question to the user of a client.
type asked struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Message         string
		RequestedSchema struct{ Properties map[string]json.RawMessage }
		RequestID       json.RawMessage
	}
}

// asking is a client that can ask its user.
func asking(t *testing.T, s *Server) *peer {
	return connect(t, s, Session{}).initializeWith("tester", `{"elicitation":{}}`)
}

// question waits for the next question, and answers it.
func (p *peer) question(answer string) (q asked) {
	p.t.Helper()
	line := p.line()
	if err := json.Unmarshal([]byte(line), &q); err != nil || q.Method != "elicitation/create" {
		p.t.Fatalf("the client is sent %s, want a question: %v", line, err)
	}
	if answer != "" {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, answer))
	}
	return q
}

// begin starts a call.
func (p *peer) begin(name, arguments string) (wait func() outcome) {
	p.t.Helper()
	_, answer := p.start("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	return func() outcome { p.t.Helper(); return parseOutcome(p.t, name, []byte(answer())) }
}

// bothChanged stores a memory that two branches changed.
func bothChanged(p *peer, keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.must("memory_store", fmt.Sprintf(`{"key":%q,"value":"before"}`, key))
	}
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	for _, key := range keys {
		p.must("memory_store", fmt.Sprintf(`{"key":%q,"value":"of the side","branch":"side"}`, key))
		p.must("memory_store", fmt.Sprintf(`{"key":%q,"value":"of the main"}`, key))
	}
}

func TestTheUserSettlesTheClashesOfAMerge(t *testing.T) {
	p := asking(t, newServer(t, Options{}))
	bothChanged(p, "a", "b")
	wait := p.begin("memory_branch", `{"action":"merge","source":"side"}`)
	q := p.question(`{"action":"accept","content":{"clash1":"source","clash2":"target"}}`)
	if !strings.Contains(q.Params.Message, `"side" and "default"`) || len(q.Params.RequestedSchema.Properties) != 2 || !strings.Contains(string(q.Params.RequestedSchema.Properties["clash1"]), "of the side") {
		t.Errorf("the question is %+v", q)
	}
	if merged := wait().field("merged"); merged != "true" {
		t.Errorf("merged is %s", merged)
	}
	for key, want := range map[string]string{"a": `"of the side"`, "b": `"of the main"`} {
		if got := p.must("memory_recall", fmt.Sprintf(`{"key":%q}`, key)).field("value"); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}

func TestClashesInTheNamespaceOfTheCallAreSettled(t *testing.T) {
	p := asking(t, newServer(t, Options{}))
	p.must("memory_store", `{"key":"k","value":1,"namespace":"team/x"}`)
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	p.must("memory_store", `{"key":"k","value":2,"namespace":"team/x","branch":"side"}`)
	p.must("memory_store", `{"key":"k","value":3,"namespace":"team/x"}`)
	for i, namespace := range []string{`"namespace":"team/x",`, `"namespace":["team/x","team/y"],`, ``} {
		wait := p.begin("memory_branch", `{"action":"merge",`+namespace+`"source":"side"}`)
		p.question(`{"action":"accept","content":{"clash1":"source"}}`)
		if o := wait(); o.failed != nil || o.field("merged") != "true" {
			t.Fatalf("with %s the merge comes to %s", namespace, o.text)
		}
		p.must("memory_store", fmt.Sprintf(`{"key":"k","value":"side %d","namespace":"team/x","branch":"side"}`, i))
		p.must("memory_store", fmt.Sprintf(`{"key":"k","value":"main %d","namespace":"team/x"}`, i))
	}
}

func TestManyClashesAreSettledTogether(t *testing.T) {
	p := asking(t, newServer(t, Options{}))
	var keys []string
	for i := range mostClashes + 1 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	bothChanged(p, keys...)
	wait := p.begin("memory_branch", `{"action":"merge","source":"side"}`)
	p.question(`{"action":"accept","content":{"keep":"source"}}`)
	if merged := wait().field("merged"); merged != "true" {
		t.Errorf("merged is %s", merged)
	}
}

func TestARefusalChangesNothing(t *testing.T) {
	p := asking(t, newServer(t, Options{AskWithin: 50 * time.Millisecond}))
	bothChanged(p, "a")
	var keys []string
	for i := range askBeyond + 1 {
		keys = append(keys, fmt.Sprintf("k%02d", i))
		p.must("memory_store", fmt.Sprintf(`{"key":%q,"value":1}`, keys[i]))
	}
	list, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	before := p.must("memory_status", `{}`).field("latest_version")
	for _, answer := range []string{`{"action":"decline"}`, `{"action":"cancel"}`, `{"action":"accept"}`, `{"action":"accept","content":{"clash1":"neither","forget":false,"delete":false}}`, `[]`, ""} {
		wait := p.begin("memory_branch", `{"action":"merge","source":"side"}`)
		p.question(answer)
		if answer == "" && !strings.Contains(p.line(), "notifications/cancelled") {
			t.Error("the client is not told that its answer is not waited for")
		}
		if o := wait(); o.failed != nil || o.field("merged") != "false" || o.field("unresolved") != "1" {
			t.Errorf("%s: the merge comes to %s", answer, o.text)
		}
		wait = p.begin("memory_forget", fmt.Sprintf(`{"key":%s}`, list))
		p.question(answer)
		if answer == "" {
			p.line()
		}
		if o := wait(); o.failed == nil || !strings.Contains(o.failed.Message, "nothing was changed") {
			t.Errorf("%s: forgetting comes to %s", answer, o.text)
		}
		wait = p.begin("memory_branch", `{"action":"delete","name":"side"}`)
		p.question(answer)
		if answer == "" {
			p.line()
		}
		if o := wait(); o.failed == nil || !strings.Contains(o.failed.Message, "force") {
			t.Errorf("%s: deleting comes to %s", answer, o.text)
		}
	}
	if now := p.must("memory_status", `{}`).field("latest_version"); now != before {
		t.Errorf("the version is %s, want %s as before", now, before)
	}
}

func TestWritesGoOnWhileAPersonThinks(t *testing.T) {
	s := newServer(t, Options{})
	p := asking(t, s)
	bothChanged(p, "a")
	wait := p.begin("memory_branch", `{"action":"merge","source":"side"}`)
	q := p.question("")
	other := connect(t, s, Session{}).initialize("other")
	other.must("memory_store", `{"key":"meanwhile","value":1}`)
	other.must("memory_store", `{"key":"meanwhile","value":2,"branch":"side"}`)
	p.must("memory_store", `{"key":"own","value":1}`)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"clash1":"source"}}}`, q.ID))
	if o := wait(); o.field("merged") != "false" || o.field("unresolved") != "1" {
		t.Errorf("a merge with a clash that nobody was asked about comes to %s", o.text)
	}
}

func TestAnAcceptedDeletionIsDone(t *testing.T) {
	p := asking(t, newServer(t, Options{}))
	bothChanged(p, "a")
	wait := p.begin("memory_branch", `{"action":"delete","name":"side"}`)
	p.question(`{"action":"accept","content":{"delete":true}}`)
	if o := wait(); o.failed != nil {
		t.Errorf("the deletion fails with %s", o.text)
	}
	var keys []string
	for i := range askBeyond + 1 {
		keys = append(keys, fmt.Sprintf(`"k%02d"`, i))
		p.must("memory_store", fmt.Sprintf(`{"key":%s,"value":1}`, keys[i]))
	}
	wait = p.begin("memory_forget", `{"key":[`+strings.Join(keys, ",")+`]}`)
	p.question(`{"action":"accept","content":{"forget":true}}`)
	if o := wait(); o.failed != nil || o.field("count") != fmt.Sprint(askBeyond+1) {
		t.Errorf("forgetting comes to %s", o.text)
	}
	p.must("memory_forget", `{"key":["x","y"]}`) // asks nobody
}

func TestAClientThatCannotAskIsNotAsked(t *testing.T) {
	p := use(t)
	bothChanged(p, "a")
	if o := p.must("memory_branch", `{"action":"merge","source":"side"}`); o.field("merged") != "false" {
		t.Errorf("the merge comes to %s", o.text)
	}
	if o := p.must("memory_branch", `{"action":"merge","source":"side","strategy":"source"}`); o.field("merged") != "true" {
		t.Errorf("the merge comes to %s", o.text)
	}
}

func TestAStatelessClientIsToldWhatToAsk(t *testing.T) {
	p := connect(t, newServer(t, Options{}), Session{})
	bothChanged(p, "a")
	meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	call := func(more string) string {
		return p.request("tools/call", `{"name":"memory_branch","arguments":{"action":"merge","source":"side"},`+meta+more+`}`)
	}
	var first struct {
		Result struct {
			ResultType    string
			InputRequests map[string]struct {
				Method string
				Params struct{ Message string }
			}
		}
	}
	if err := json.Unmarshal([]byte(call("")), &first); err != nil || first.Result.ResultType != "input_required" || len(first.Result.InputRequests) != 1 {
		t.Fatalf("the merge comes to %s, %v", call(""), err)
	}
	for id, q := range first.Result.InputRequests {
		if q.Method != "elicitation/create" || !strings.Contains(q.Params.Message, "both changed") {
			t.Errorf("the question is %+v", q)
		}
		if got := call(`,"inputResponses":{"other":{"action":"accept","content":{"clash1":"source"}}}`); !strings.Contains(got, "input_required") {
			t.Errorf("the answer to another question comes to %s", got)
		}
		if got := call(fmt.Sprintf(`,"inputResponses":{%q:{"action":"decline"}}`, id)); !strings.Contains(got, `"merged":false`) {
			t.Errorf("a refusal comes to %s", got)
		}
		if got := call(fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{"clash1":"source"}}}`, id)); !strings.Contains(got, `"merged":true`) {
			t.Errorf("the answer comes to %s", got)
		}
	}
}
