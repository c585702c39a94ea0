package mcp

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// resourceAnswer is the answer to a message about resources.
type resourceAnswer struct {
	Result struct {
		Resources []struct{ URI, Name, Title string }
		Templates []struct{ URITemplate, Name string } `json:"resourceTemplates"`
		Contents  []struct {
			URI, MimeType, Text string
			Meta                struct {
				Memory map[string]json.RawMessage `json:"alcove/memory"`
			} `json:"_meta"`
		}
		NextCursor string
	}
	Error *struct {
		Code    int
		Message string
		Data    struct{ URI, Code string }
	}
}

func (p *peer) resources(method, params string) (a resourceAnswer) {
	p.t.Helper()
	answer := p.request(method, params)
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		p.t.Fatalf("%s was answered with %s: %v", method, answer, err)
	}
	return a
}

// readURI reads a resource.
func (p *peer) readURI(uri string) resourceAnswer {
	p.t.Helper()
	return p.resources("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
}

func TestAMemoryIsAResource(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"a/b c","value":"first","namespace":"team/x"}`)
	p.must("memory_store", `{"key":"a/b c","value":"second","tags":["t"],"namespace":"team/x"}`)
	p.must("memory_store", `{"key":"n","value":{"x":[1,2.50]}}`)
	for uri, want := range map[string]string{
		"alcove://memory/team%2Fx/a%2Fb%20c": "second",
		"alcove://memory/default/n":          `{"x":[1,2.50]}`,
	} {
		a := p.readURI(uri)
		if a.Error != nil || len(a.Result.Contents) != 1 || a.Result.Contents[0].Text != want || a.Result.Contents[0].URI != uri {
			t.Errorf("%s is %+v, want the text %s", uri, a, want)
		}
	}
	if tags := p.readURI("alcove://memory/team%2Fx/a%2Fb%20c").Result.Contents[0].Meta.Memory["tags"]; string(tags) != `["t"]` {
		t.Errorf("the tags are %s", tags)
	}
	history := p.readURI("alcove://memory/team%2Fx/a%2Fb%20c/history")
	if len(history.Result.Contents) != 1 || strings.Count(history.Result.Contents[0].Text, `"version"`) != 2 || !strings.Contains(history.Result.Contents[0].Text, "first") {
		t.Errorf("the history is %+v", history)
	}
	if b := p.readURI("alcove://branch/default"); len(b.Result.Contents) != 1 || !strings.Contains(b.Result.Contents[0].Text, `"default"`) {
		t.Errorf("the branch is %+v", b)
	}
	if s := p.readURI("alcove://session/current"); len(s.Result.Contents) != 1 || !strings.Contains(s.Result.Contents[0].Text, `"session"`) {
		t.Errorf("the session is %+v", s)
	}
}

func TestResourcesAreListedByPage(t *testing.T) {
	p := use(t)
	const stored = 120
	for i := range stored {
		p.must("memory_store", fmt.Sprintf(`{"key":"key %d","value":%d,"namespace":"n/%d"}`, i, i, i%3))
	}
	seen, cursor, pages := map[string]bool{}, "", 0
	for {
		a := p.resources("resources/list", fmt.Sprintf(`{"cursor":%q}`, cursor))
		if a.Error != nil || len(a.Result.Resources) > pageSize+1 {
			t.Fatalf("page %d has %d resources, %v", pages, len(a.Result.Resources), a.Error)
		}
		for _, r := range a.Result.Resources {
			seen[r.URI] = true
		}
		pages++
		if cursor = a.Result.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != stored+1 || pages < 3 || !seen["alcove://memory/n%2F1/key%201"] || !seen["alcove://session/current"] {
		t.Errorf("%d pages have %d resources", pages, len(seen))
	}
	for _, wrong := range []string{"x", "MQ==", "OTk6", "LTE6"} {
		if a := p.resources("resources/list", fmt.Sprintf(`{"cursor":%q}`, wrong)); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("the cursor %s: %+v", wrong, a)
		}
	}
}

func TestASubscriberIsToldOfChanges(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":1}`)
	for _, uri := range []string{"alcove://memory/default/k", "alcove://branch/default", "alcove://memory/default/later"} {
		if a := p.resources("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri)); a.Error != nil {
			t.Fatalf("subscribing to %s: %+v", uri, a.Error)
		}
	}
	expect := func(uris ...string) {
		t.Helper()
		for _, uri := range uris {
			if line := p.line(); line != fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri) {
				t.Errorf("the client is told %s, want an update of %s", line, uri)
			}
		}
	}
	p.must("memory_store", `{"key":"k","value":2}`)
	expect("alcove://branch/default", "alcove://memory/default/k")
	p.must("memory_store", `{"key":"later","value":2}`)
	expect("alcove://branch/default", "alcove://memory/default/later")
	p.resources("resources/unsubscribe", `{"uri":"alcove://branch/default"}`)
	p.must("memory_forget", `{"key":"k"}`)
	expect("alcove://memory/default/k")
}

// A resource that a client may not read looks like one that does not exist.
func TestResourcesRespectRights(t *testing.T) {
	s := newServer(t, Options{})
	connect(t, s, owner()).initialize("owner").must("memory_store", `{"key":"secret","value":1,"namespace":"vault"}`)
	p := connectAs(t, s, Session{Rights: memory.RightsTo([]string{"work"}, []string{"work"})}).initialize("guest")
	p.must("memory_store", `{"key":"own","value":1,"namespace":"work"}`)
	known := strings.Replace(fmt.Sprintf("%+v", p.readURI("alcove://memory/vault/secret").Error), "secret", "K", -1)
	unknown := strings.Replace(fmt.Sprintf("%+v", p.readURI("alcove://memory/vault/nothing").Error), "nothing", "K", -1)
	if known != unknown || !strings.Contains(known, "-32002") {
		t.Errorf("a memory that may not be read is answered with %s, one that does not exist with %s", known, unknown)
	}
	for _, uri := range []string{"alcove://memory/vault/secret/history", "alcove://memory/work/secret", "alcove://session/other", "alcove://branch/none"} {
		if a := p.readURI(uri); a.Error == nil || a.Error.Code != -32002 || a.Error.Data.URI != uri {
			t.Errorf("reading %s = %+v, want the error -32002 with the address", uri, a)
		}
	}
	for _, r := range p.resources("resources/list", `{}`).Result.Resources {
		if strings.Contains(r.URI, "vault") {
			t.Errorf("the list has %s", r.URI)
		}
	}
	if a := p.resources("resources/subscribe", `{"uri":"alcove://memory/vault/secret"}`); a.Error == nil || a.Error.Code != -32002 {
		t.Errorf("subscribing to what may not be read: %+v", a)
	}
	nobody := connectAs(t, s, Session{Rights: memory.RightsTo([]string{"none"}, nil)}).initialize("nobody")
	if a := nobody.readURI("alcove://memory/work/own"); a.Error == nil {
		t.Errorf("a client without the right to read reads %+v", a)
	}
}

func TestResourcesHaveLimits(t *testing.T) {
	p := use(t)
	long := "alcove://memory/n/" + strings.Repeat("k", longestURI)
	if a := p.readURI(long); a.Error == nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, "at most 8192") {
		t.Errorf("a long URI: %+v", a.Error)
	}
	for i := range mostSubscriptions {
		if a := p.resources("resources/subscribe", fmt.Sprintf(`{"uri":"alcove://memory/n/%d"}`, i)); a.Error != nil {
			t.Fatal(a.Error)
		}
	}
	if a := p.resources("resources/subscribe", `{"uri":"alcove://memory/n/more"}`); a.Error == nil || !strings.Contains(a.Error.Message, "100 subscriptions") {
		t.Errorf("one subscription too many: %+v", a.Error)
	}
	value := strings.Repeat("x", 1<<20-2)
	p.must("memory_store", fmt.Sprintf(`{"key":"big","value":%q}`, value))
	if a := p.readURI("alcove://memory/default/big"); a.Error != nil || a.Result.Contents[0].Text != value {
		t.Errorf("the largest value is answered with %+v", a.Error)
	}
	if _, err := textOf("uri", "", strings.Repeat("x", maxResource+1), nil); err == nil || !strings.Contains(err.Error(), "at most 2097152") {
		t.Errorf("a text that is too long: %v", err)
	}
}

func TestResourcesWorkWithoutASession(t *testing.T) {
	p := connect(t, newServer(t, Options{}), Session{})
	p.must("memory_store", `{"key":"k","value":"v"}`)
	if a := p.resources("resources/read", `{"uri":"alcove://memory/default/k",`+modernMeta+`}`); a.Error != nil || a.Result.Contents[0].Text != "v" {
		t.Errorf("read: %+v", a)
	}
	if a := p.resources("resources/read", `{"uri":"alcove://memory/default/none",`+modernMeta+`}`); a.Error == nil || a.Error.Code != -32602 || a.Error.Data.URI == "" {
		t.Errorf("what does not exist: %+v", a)
	}
	id, wait := p.start("subscriptions/listen", `{"notifications":{"resourceSubscriptions":["alcove://memory/default/k"]},`+modernMeta+`}`)
	if line := p.line(); !strings.Contains(line, "acknowledged") || !strings.Contains(line, "alcove://memory/default/k") {
		t.Fatalf("the subscription is answered with %s", line)
	}
	p.must("memory_store", `{"key":"k","value":"w"}`)
	if line := p.line(); !strings.Contains(line, `"uri":"alcove://memory/default/k"`) || !strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":`+id) {
		t.Errorf("the client is told %s", line)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	_ = wait
	if a := p.resources("subscriptions/listen", `{"notifications":{"resourceSubscriptions":["alcove://session/current"]},`+modernMeta+`}`); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("subscribing to what does not change: %+v", a)
	}
}

func TestResourcesWorkOverHTTP(t *testing.T) {
	s := newServer(t, Options{})
	connect(t, s, owner()).initialize("owner").must("memory_store", `{"key":"k","value":"v"}`)
	h := httptest.NewServer(as(owner(), s.Handler()))
	defer h.Close()
	for uri, want := range map[string]struct {
		status int
		has    string
	}{"alcove://memory/default/k": {200, `"text":"v"`}, "alcove://memory/default/none": {400, `"data":{"uri":"alcove://memory/default/none"}`}} {
		r, body := post(t, h.URL, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q,`+modernMeta+`}}`, uri), modernHeaders("resources/read", uri))
		if r.StatusCode != want.status || !strings.Contains(body, want.has) {
			t.Errorf("%s: %d %s, want %d and %s", uri, r.StatusCode, body, want.status, want.has)
		}
	}
}
