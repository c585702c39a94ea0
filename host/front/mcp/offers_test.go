package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// bookshop is a family that offers resources, prompts and completions, and asks.
func bookshop() *fake {
	f := newFake()
	match := func(r abi.Resource) func(string) (map[string]string, bool) { return r.Match }
	text := func(name string) tool.Spec {
		return tool.Spec{Name: name, Description: "Answers.", Unlisted: true, Annotations: tool.Annotations{ReadOnly: true},
			Input: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"after":{"type":"string"},"argument":{"type":"string"},"value":{"type":"string"},"given":{"type":"object"}}}`)}
	}
	prompt := text("books_prompt")
	prompt.Description, prompt.Input = "Recommend a book.", json.RawMessage(`{"type":"object","properties":{"topic":{"type":"string","description":"About what."},"tone":{"type":"string","enum":["plain","fine"]}},"required":["topic"]}`)
	asks := tool.Spec{Name: "books_lend", Description: "Lend a book.", Asks: true, Content: true, Input: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)}
	f.all = append(f.all, tool.Family{Name: "books", Version: "1.0.0", Description: "Keeps books.",
		Tools: []tool.Spec{text("books_read"), text("books_list"), text("books_complete"), prompt, asks},
		Resources: []tool.Resource{
			{URI: "books://catalogue", Name: "catalogue", Title: "Catalogue", MIMEType: "text/plain", Tool: "books_read", Match: match(abi.Resource{URI: "books://catalogue"})},
			{URI: "books://book/{id}", Name: "book", Variables: []string{"id"}, Tool: "books_read", List: "books_list", Complete: "books_complete", Match: match(abi.Resource{URI: "books://book/{id}"})},
		},
		Prompts: []tool.Prompt{{Name: "recommend", Tool: "books_prompt"}, {Name: "remember", Tool: "books_prompt"}},
	})
	answer := func(output string) func(context.Context, familyCall) (tool.Result, error) {
		return func(context.Context, familyCall) (tool.Result, error) {
			return tool.Result{Output: json.RawMessage(output)}, nil
		}
	}
	f.answers["books_read"] = func(_ context.Context, c familyCall) (tool.Result, error) {
		if strings.Contains(string(c.Arguments), "lost") {
			return tool.Result{}, &memory.Error{Code: memory.NotFound, Message: "it is lost"}
		}
		return tool.Result{Output: fmt.Appendf(nil, `{"contents":[{"type":"text","text":%q},{"type":"resource","data":"AAAA","mime_type":"image/png"}]}`, c.Arguments)}, nil
	}
	f.answers["books_list"] = func(_ context.Context, c familyCall) (tool.Result, error) {
		if strings.Contains(string(c.Arguments), "1") {
			return tool.Result{Output: json.RawMessage(`{"resources":[{"uri":"books://book/b","name":"b"}]}`)}, nil
		}
		return tool.Result{Output: json.RawMessage(`{"resources":[{"uri":"books://book/a","name":"a"},{"uri":"alcove://memory/default/secret","name":"stolen"}],"next":"1"}`)}, nil
	}
	f.answers["books_complete"] = answer(`{"values":["alpha","beta"],"more":true}`)
	f.answers["books_prompt"] = answer(`{"messages":[{"role":"user","content":{"type":"text","text":"Which book?"}}]}`)
	return f
}

func TestAFamilyOffersResources(t *testing.T) {
	f := bookshop()
	p := withFamilies(t, f, owner())
	a := p.readURI("books://book/a%2Fb")
	if a.Error != nil || len(a.Result.Contents) != 2 || a.Result.Contents[0].Text != `{"id":"a/b"}` || a.Result.Contents[0].URI != "books://book/a%2Fb" || a.Result.Contents[1].MimeType != "image/png" {
		t.Errorf("the book is %+v, want a text with the id and an image", a)
	}
	if got := f.last(t); got.Tool != "books_read" || got.Agent != "tester" {
		t.Errorf("the tool is called as %+v, want books_read as the client", got)
	}
	if a := p.readURI("books://book/lost"); a.Error == nil || a.Error.Code != -32002 {
		t.Errorf("a book that is not there is %+v, want that there is none", a)
	}
	if a := p.resources("resources/templates/list", `{}`); !strings.Contains(fmt.Sprint(a.Result.Templates), "books://book/{id}") {
		t.Errorf("the templates are %v, want that of books", a.Result.Templates)
	}
	var uris []string
	for cursor, page := "", 0; page == 0 || cursor != ""; page++ {
		a := p.resources("resources/list", fmt.Sprintf(`{"cursor":%q}`, cursor))
		for _, r := range a.Result.Resources {
			uris = append(uris, r.URI)
		}
		if cursor = a.Result.NextCursor; page > 10 || a.Error != nil {
			t.Fatalf("the list does not end: %+v", a)
		}
	}
	if got := strings.Join(uris, " "); got != "alcove://session/current books://catalogue books://book/a books://book/b" {
		t.Errorf("the resources are %s, want the family's own and none of others", got)
	}
	if got := strings.Join(p.listed(`{}`), " "); strings.Contains(got, "books_read") {
		t.Errorf("the tools are %s, want none that answers for resources", got)
	}
}

func TestACallerWithoutTheRightToAFamilyIsOfferedNothingOfIt(t *testing.T) {
	session := owner()
	session.Rights = session.Rights.LimitedTo([]memory.Right{memory.ToUse("auto-tag")})
	p := withFamilies(t, bookshop(), session)
	if a := p.readURI("books://catalogue"); a.Error == nil || a.Error.Code != -32002 {
		t.Errorf("the catalogue is %+v, want that there is none", a)
	}
	if got := p.request("prompts/get", `{"name":"recommend","arguments":{"topic":"x"}}`); !strings.Contains(got, "not found") {
		t.Errorf("the prompt is %s, want that there is none", got)
	}
	if got := p.request("prompts/list", `{}`); strings.Contains(got, "recommend") {
		t.Errorf("the prompts are %s, want none of the family", got)
	}
}

func TestAFamilyOffersPromptsAndCompletions(t *testing.T) {
	f := bookshop()
	p := withFamilies(t, f, owner())
	list := p.request("prompts/list", `{}`)
	if !strings.Contains(list, `"name":"recommend"`) || !strings.Contains(list, `"description":"About what.","required":true`) || strings.Count(list, `"name":"remember"`) != 1 {
		t.Errorf("the prompts are %s, want recommend with the arguments of its tool, and one remember", list)
	}
	if got := p.request("prompts/get", `{"name":"recommend","arguments":{"topic":"seas"}}`); !strings.Contains(got, "Which book?") || string(f.last(t).Arguments) != `{"topic":"seas"}` {
		t.Errorf("the prompt is %s for %s, want the tool's messages", got, f.last(t).Arguments)
	}
	if got := p.request("prompts/get", `{"name":"recommend","arguments":{}}`); !strings.Contains(got, `"error"`) || !strings.Contains(got, "topic") {
		t.Errorf("a prompt without its argument is %s, want an error that names it", got)
	}
	long := strings.Repeat("x", longestArgument+1)
	if got := p.request("prompts/get", fmt.Sprintf(`{"name":"recommend","arguments":{"topic":%q}}`, long)); !strings.Contains(got, "at most 8192 are allowed") {
		t.Errorf("a long argument comes to %.200s, want an error that names the limit", got)
	}
	for params, want := range map[string]string{
		`{"ref":{"type":"ref/prompt","name":"recommend"},"argument":{"name":"tone","value":"f"}}`:         `"values":["fine"]`,
		`{"ref":{"type":"ref/resource","uri":"books://book/{id}"},"argument":{"name":"id","value":"al"}}`: `"hasMore":true`,
	} {
		if got := p.request("completion/complete", params); !strings.Contains(got, want) {
			t.Errorf("%s is completed with %s, want %s", params, got, want)
		}
	}
	f.change(func(all []tool.Family) []tool.Family { return all[:len(all)-1] })
	if got := p.request("prompts/list", `{}`); strings.Contains(got, "recommend") {
		t.Errorf("without the family the prompts are %s, want none of it", got)
	}
}

// lends asks the user before it lends.
func lends(_ context.Context, c familyCall) (tool.Result, error) {
	if len(c.Client.Answers["sure"]) == 0 {
		return tool.Result{}, &memory.Error{Code: memory.InputRequired, Details: map[string]any{"state": "secret", "requests": map[string]any{
			"sure": map[string]any{"ask": "user", "params": map[string]any{"message": "Lend it?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}}}}}}}
	}
	return tool.Result{Output: fmt.Appendf(nil, `{"content":[{"type":"text","text":"lent, %s"},{"type":"image","data":"AAAA","mime_type":"image/png"}]}`, c.Client.State)}, nil
}

func TestAToolOfAFamilyAsksTheUser(t *testing.T) {
	f := bookshop()
	f.answers["books_lend"] = lends
	p := connect(t, newServer(t, Options{}, f), owner()).initializeWith("tester", `{"elicitation":{}}`)
	wait := p.begin("books_lend", `{"id":"a"}`)
	if q := p.question(`{"action":"accept","content":{}}`); q.Params.Message != "Lend it?" {
		t.Errorf("the user is asked %q, want what the tool asks", q.Params.Message)
	}
	if o := wait(); !strings.Contains(o.text, "lent, secret") {
		t.Errorf("the call comes to %s, want the state that the tool gave", o.text)
	}
}

func TestAToolCannotAskAClientThatCannotAnswer(t *testing.T) {
	f := bookshop()
	f.answers["books_lend"] = lends
	p := withFamilies(t, f, owner())
	if failure := p.refused("books_lend", `{"id":"a"}`); !strings.Contains(failure.Message, "elicitation") {
		t.Errorf("the refusal is %+v, want the capability that the client lacks", failure)
	}
	if got := p.request("tools/call", `{"name":"books_lend","arguments":{"id":"a"},`+modernMeta+`}`); !strings.Contains(got, `"code":-32021`) || !strings.Contains(got, `"requiredCapabilities":{"elicitation":{}}`) {
		t.Errorf("a stateless client gets %s, want the capability that it lacks", got)
	}
}

func TestAStatelessClientCarriesTheStateOfAToolSealed(t *testing.T) {
	f := bookshop()
	f.answers["books_lend"] = lends
	p := connect(t, newServer(t, Options{}, f), owner())
	meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	call := func(id, more string) string {
		return p.request("tools/call", fmt.Sprintf(`{"name":"books_lend","arguments":{"id":%q},%s%s}`, id, meta, more))
	}
	var first struct {
		Result struct {
			ResultType, RequestState string
			InputRequests            map[string]json.RawMessage
		}
	}
	got := call("a", "")
	if err := json.Unmarshal([]byte(got), &first); err != nil || first.Result.ResultType != "input_required" || len(first.Result.InputRequests["sure"]) == 0 || first.Result.RequestState == "" || strings.Contains(got, "secret") {
		t.Fatalf("the call comes to %s, want a question with a sealed state: %v", got, err)
	}
	answered := `,"inputResponses":{"sure":{"action":"accept","content":{}},"other":{"action":"accept"}},"requestState":"`
	for state, want := range map[string]string{first.Result.RequestState: "lent, secret", first.Result.RequestState + "x": `"code":-32602`, "": "lent, "} {
		if got := call("a", answered+state+`"`); !strings.Contains(got, want) {
			t.Errorf("with the state %.20q the call comes to %s, want %s", state, got, want)
		}
	}
	if got := call("b", answered+first.Result.RequestState+`"`); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("with the state of another call it comes to %s, want an error", got)
	}
	if got := call("a", `,"inputResponses":{"sure":12345}`); strings.Contains(got, "lent") {
		t.Errorf("an answer that is none comes to %s, want none", got)
	}
}

func TestContentBeyondTheLimitIsRefused(t *testing.T) {
	f := bookshop()
	f.answers["books_lend"] = func(context.Context, familyCall) (tool.Result, error) {
		return tool.Result{Output: json.RawMessage(`{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, mostContent) + `{"type":"text","text":"x"}]}`)}, nil
	}
	p := withFamilies(t, f, owner())
	if failure := p.refused("books_lend", `{}`); !strings.Contains(failure.Message, "at most 256") {
		t.Errorf("the refusal is %+v, want the limit", failure)
	}
	f.answers["books_lend"] = func(context.Context, familyCall) (tool.Result, error) {
		return tool.Result{Output: json.RawMessage(`{"content":[{"type":"film"}]}`)}, nil
	}
	if failure := p.refused("books_lend", `{}`); !strings.Contains(failure.Message, "film") {
		t.Errorf("the refusal is %+v, want the type that there is not", failure)
	}
}

func TestAClientIsToldWhatAFamilyLogsDuringItsCall(t *testing.T) {
	f := bookshop()
	f.answers["books_lend"] = func(_ context.Context, c familyCall) (tool.Result, error) {
		if c.Client.Log != nil {
			c.Client.Log("looking for it")
		}
		return tool.Result{Output: json.RawMessage(`{"content":[{"type":"text","text":"found"}]}`)}, nil
	}
	session := owner()
	session.Profile = profile.Full // which lists all, whatever is called
	p := withFamilies(t, f, session)
	p.must("books_lend", `{}`)
	p.quiet()
	p.request("logging/setLevel", `{"level":"info"}`)
	wait := p.begin("books_lend", `{}`)
	if line := p.line(); !strings.Contains(line, `"notifications/message"`) || !strings.Contains(line, "looking for it") {
		t.Errorf("the client is told %s, want the line of the family", line)
	}
	wait()
}

func TestAResourceOfAFamilyIsFollowed(t *testing.T) {
	p := withFamilies(t, bookshop(), owner())
	if got := p.request("resources/subscribe", `{"uri":"books://catalogue"}`); strings.Contains(got, `"error"`) {
		t.Fatalf("the subscription is refused: %s", got)
	}
	p.must("memory_store", `{"key":"k","value":1}`)
	if line := p.line(); !strings.Contains(line, "books://catalogue") {
		t.Errorf("after a write the client is told %s, want that the resource may have changed", line)
	}
}
