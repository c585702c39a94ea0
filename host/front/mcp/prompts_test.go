package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// promptAnswer is the answer to a message about prompts, or to a completion.
type promptAnswer struct {
	Result struct {
		Prompts []struct {
			Name, Description string
			Arguments         []struct {
				Name     string
				Required bool
			}
		}
		Messages []struct {
			Role    string
			Content struct{ Text string }
		}
		Completion struct {
			Values  []string
			Total   int
			HasMore bool
		}
	}
	Error *struct {
		Code    int
		Message string
	}
}

func (p *peer) prompts(method, params string) (a promptAnswer) {
	p.t.Helper()
	answer := p.request(method, params)
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		p.t.Fatalf("%s was answered with %s: %v", method, answer, err)
	}
	return a
}

// named is a call in the text of a prompt.
var named = regexp.MustCompile(`(memory_\w+) (\{)`)

// calls returns the calls that a text names, with their arguments.
func calls(t *testing.T, text string) (list [][2]string) {
	t.Helper()
	for _, at := range named.FindAllStringSubmatchIndex(text, -1) {
		var arguments json.RawMessage
		if err := json.NewDecoder(strings.NewReader(text[at[4]:])).Decode(&arguments); err != nil {
			t.Fatalf("the arguments in %q cannot be decoded: %v", text[at[0]:], err)
		}
		list = append(list, [2]string{text[at[2]:at[3]], string(arguments)})
	}
	return list
}

func TestEveryCallThatAPromptNamesSucceeds(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":"the \"blue\" door","importance":0.9,"namespace":"n"}`)
	given := map[string]string{"topic": `the "blue" door {x}`, "text": "The door is blue.\nAlways.", "agent": "tester", "since": "1 hour ago", "namespace": "n", "branch": "default", "key": "door"}
	for _, known := range knownPrompts() {
		if slices.Contains(known.tools, "memory_record_handoff") {
			continue // of a family: the test of families runs it
		}
		for _, all := range []bool{true, false} {
			arguments := map[string]string{}
			for _, a := range known.arguments {
				if all || a.required {
					arguments[a.name] = given[a.name]
				}
			}
			encoded, err := json.Marshal(arguments)
			if err != nil {
				t.Fatal(err)
			}
			a := p.prompts("prompts/get", fmt.Sprintf(`{"name":%q,"arguments":%s}`, known.name, encoded))
			if a.Error != nil || len(a.Result.Messages) != 1 || a.Result.Messages[0].Role != "user" {
				t.Fatalf("prompts/get %s %s = %+v, want one message of the user", known.name, encoded, a)
			}
			text := a.Result.Messages[0].Content.Text
			list := calls(t, text)
			if len(list) == 0 || len(text) > 1200 {
				t.Errorf("%s names %d calls in %d bytes: %s", known.name, len(list), len(text), text)
			}
			for _, call := range list {
				p.must(call[0], call[1])
			}
			for _, name := range regexp.MustCompile(`memory_[a-z_]+`).FindAllString(text, -1) {
				if name != "memory_operation" && !slices.Contains(known.tools, name) {
					t.Errorf("%s names %s, and does not say that it needs it", known.name, name)
				}
			}
		}
	}
	if p.must("memory_recall", `{"key":"door","namespace":"n"}`).field("found") != "true" {
		t.Error("remember has stored nothing")
	}
}

func TestPromptsRefuseWrongArguments(t *testing.T) {
	p := use(t)
	for params, want := range map[string]string{
		`{"name":"recall"}`:                            "needs topic",
		`{"name":"recall","arguments":{"topic":"  "}}`: "needs topic",
		`{"name":"nothing"}`:                           "not found",
		`{}`:                                           "needs name",
		`{"name":"recall","arguments":{"topic":"` + strings.Repeat("x", longestArgument+1) + `"}}`: "at most 8192",
	} {
		if a := p.prompts("prompts/get", params); a.Error == nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, want) {
			t.Errorf("%.80s: %+v, want %s", params, a.Error, want)
		}
	}
}

func TestPromptsAreThoseWhoseToolsAClientMayUse(t *testing.T) {
	s := newServer(t, Options{})
	for want, session := range map[string]Session{
		"brief recall remember review what-changed": owner(),
		"brief recall what-changed":                 {Rights: memory.FullRights().ReadOnly()},
		"":                                          {Rights: memory.RightsTo(nil, nil)},
	} {
		p := connectAs(t, s, session).initialize("tester")
		var names []string
		for _, each := range p.prompts("prompts/list", `{}`).Result.Prompts {
			names = append(names, each.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("with %s, the prompts are %s, want %s", session.Rights, got, want)
		}
		if a := p.prompts("prompts/get", `{"name":"remember","arguments":{"text":"x"}}`); (a.Error == nil) != strings.Contains(want, "remember") {
			t.Errorf("with %s, remember is answered with %+v", session.Rights, a)
		}
	}
}

func TestArgumentsAreCompleted(t *testing.T) {
	s := newServer(t, Options{})
	p := connect(t, s, owner()).initialize("owner")
	p.must("memory_branch", `{"action":"fork","name":"experiment"}`)
	for i := range 120 {
		p.must("memory_store", fmt.Sprintf(`{"key":"many/%03d","value":1,"namespace":"team/x"}`, i))
	}
	p.must("memory_store", `{"key":"one","value":1,"namespace":"vault"}`)
	guest := connectAs(t, s, Session{Rights: memory.RightsTo([]string{"team/x"}, nil)}).initialize("guest")
	for _, each := range []struct {
		by                  *peer
		ref, argument, with string
		first               string
		n                   int
		more                bool
	}{
		{p, `{"type":"ref/resource","uri":"alcove://memory/{namespace}/{key}{?branch}"}`, `{"name":"namespace","value":"te"}`, `{}`, "team/x", 1, false},
		{p, `{"type":"ref/resource","uri":"alcove://memory/{namespace}/{key}{?branch}"}`, `{"name":"key","value":"many/"}`, `{"arguments":{"namespace":"team/x"}}`, "many/000", 100, true},
		{p, `{"type":"ref/resource","uri":"alcove://branch/{name}"}`, `{"name":"name","value":"e"}`, `{}`, "experiment", 1, false},
		{p, `{"type":"ref/resource","uri":"alcove://session/{id}"}`, `{"name":"id","value":""}`, `{}`, "current", 1, false},
		{p, `{"type":"ref/prompt","name":"what-changed"}`, `{"name":"since","value":"y"}`, `{}`, "yesterday", 1, false},
		{p, `{"type":"ref/prompt","name":"recall"}`, `{"name":"topic","value":"y"}`, `{}`, "", 0, false},
		{guest, `{"type":"ref/prompt","name":"recall"}`, `{"name":"namespace","value":""}`, `{}`, "team/x", 1, false},
		{guest, `{"type":"ref/prompt","name":"remember"}`, `{"name":"key","value":""}`, `{"arguments":{"namespace":"vault"}}`, "", 0, false},
		{p, `{"type":"ref/prompt","name":"recall"}`, `{"name":"namespace","value":"` + strings.Repeat("x", longestArgument+1) + `"}`, `{}`, "", 0, false},
	} {
		a := each.by.prompts("completion/complete", fmt.Sprintf(`{"ref":%s,"argument":%s,"context":%s}`, each.ref, each.argument, each.with))
		c := a.Result.Completion
		if a.Error != nil || len(c.Values) != each.n || c.HasMore != each.more || each.n > 0 && c.Values[0] != each.first {
			t.Errorf("%s %.60s: %+v, %+v, want %d from %s", each.ref, each.argument, c, a.Error, each.n, each.first)
		}
	}
}
