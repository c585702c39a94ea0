package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

func TestProfilesSayWhichToolsAreListed(t *testing.T) {
	all := "memory_auto_tag memory_tag_suggest site_memory_store odd_loose odd_far site_memory_recall"
	for _, c := range []struct {
		session Session
		core    int
		beyond  string
	}{
		{Session{}, 11, ""},
		{Session{Profile: profile.Agent}, 11, ""},
		{Session{Profile: profile.Operation}, 1, ""},
		{Session{Profile: profile.Operation, Families: []string{"auto-tag"}}, 1, ""},
		{Session{Profile: profile.Full}, 12, all},
		{Session{Profile: profile.Deferred}, 12, all},
		{Session{Families: []string{"auto-tag", "nowhere", "broken"}}, 11, tagging},
		{Session{Rights: owner().Rights.ReadOnly(), Profile: profile.Full}, 9, "memory_tag_suggest site_memory_store odd_loose odd_far site_memory_recall"},
	} {
		p := withFamilies(t, newFake(), c.session)
		for _, params := range []string{`{}`, `{` + modernMeta + `}`} {
			names := p.listed(params)
			beyond := p.beyondCore(params)
			if core := len(names) - len(strings.Fields(beyond)); core != c.core || beyond != c.beyond {
				t.Errorf("%+v: %d core tools and %s", c.session, core, beyond)
			}
		}
	}
}

func TestWhatIsNotListedCanStillBeCalled(t *testing.T) {
	p := withFamilies(t, newFake(), Session{Profile: profile.Operation})
	p.must("memory_store", `{"key":"k","value":1}`)
	p.must("memory_auto_tag", `{"id":"k"}`)
	p.quiet()
	var r loaded
	p.must("memory_load_family", `{"family":"site"}`).into(&r)
	if len(r.Tools) == 0 {
		t.Errorf("loaded with %+v", r)
	}
	p.quiet()
	if got := p.listed(`{}`); len(got) != 1 || got[0] != operationName {
		t.Errorf("listed are %s", got)
	}
}

func TestTheListFollowsTheClientsName(t *testing.T) {
	for name, whole := range map[string]bool{"claude-code": true, "codex-mcp-client": true, "cursor-vscode": true, "Visual Studio Code": true, "tester": false, "": false} {
		s := newServer(t, Options{}, newFake())
		p := connect(t, s, Session{}).initialize(name)
		if got := p.beyondCore(`{}`) != ""; got != whole {
			t.Errorf("%q, on a connection: got the tools of families %t, want %t", name, got, whole)
		}
		if whole {
			p.must("memory_load_family", `{"family":"site"}`)
			p.quiet() // they are listed already
		}
		meta := strings.Replace(modernMeta, `"name":"future"`, `"name":"`+name+`"`, 1)
		if got := connect(t, s, Session{}).beyondCore(`{`+meta+`}`) != ""; got != whole {
			t.Errorf("%q, without a session: got the tools of families %t, want %t", name, got, whole)
		}
		chosen := connect(t, s, Session{Profile: profile.Agent}).initialize(name)
		if got := chosen.beyondCore(`{}`); got != "" {
			t.Errorf("%q, with a profile of its own: got %s, want the core alone", name, got)
		}
	}
}

func TestTheListOfASessionOverHTTPFollowsTheClientsName(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}, newFake()))
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, whole := range map[string]bool{"claude-code": true, "tester": false} {
		response, _ := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"`+name+`","version":"1"}}}`, nil)
		_, text := post(t, url, list, map[string]string{"Mcp-Session-Id": response.Header.Get("Mcp-Session-Id")})
		if got := strings.Contains(text, "memory_tag_suggest"); got != whole {
			t.Errorf("%s: got the tools of families %t, want %t: %.300s", name, got, whole, text)
		}
	}
}

func TestClaudeCodeAlwaysLoadsTheCoreAlone(t *testing.T) {
	p := connect(t, newServer(t, Options{}, newFake()), Session{}).initialize("claude-code")
	var r struct {
		Result struct {
			Tools []struct {
				Name string
				Meta map[string]any `json:"_meta"`
			}
		}
	}
	if err := json.Unmarshal([]byte(p.request("tools/list", `{}`)), &r); err != nil {
		t.Fatal(err)
	}
	always, beyond := 0, strings.Fields(p.beyondCore(`{}`))
	for _, each := range r.Result.Tools {
		if each.Meta[coreMeta] != true {
			continue
		}
		if always++; slices.Contains(beyond, each.Name) {
			t.Errorf("%s is always loaded, want the core alone", each.Name)
		}
	}
	if always != 11 {
		t.Errorf("got %d tools that are always loaded, want 11", always)
	}
}

func TestListsAreInOneOrder(t *testing.T) {
	f := newFake()
	s := newServer(t, Options{}, f)
	first := strings.Join(connect(t, s, Session{Profile: profile.Deferred}).initialize("a").listed(`{}`), " ")
	f.change(func(all []tool.Family) []tool.Family {
		slices.Reverse(all)
		return all
	})
	if got := strings.Join(connect(t, s, Session{Profile: profile.Deferred}).initialize("b").listed(`{}`), " "); got != first {
		t.Errorf("after the families were installed in another order, got %s, want %s", got, first)
	}
	p := connect(t, s, Session{}).initialize("c")
	before := p.listed(`{}`)
	p.must("memory_load_family", `{"family":"site"}`)
	p.line()
	p.must("memory_load_family", `{"family":"auto-tag"}`)
	p.line()
	if got := p.listed(`{}`); !slices.Equal(got[:len(before)], before) || strings.Join(got[len(before):], " ") != tagging+" site_memory_recall" {
		t.Errorf("after loading, got %s, want the core as before, and the families by name", got)
	}
}

func TestLoadingNeverChangesTheListOfAClientWithoutASession(t *testing.T) {
	p := connect(t, newServer(t, Options{}, newFake()), Session{})
	before := p.listed(`{` + modernMeta + `}`)
	answer := p.request("tools/call", `{"name":"memory_load_family","arguments":{"family":"auto-tag"},`+modernMeta+`}`)
	if !strings.Contains(answer, "Go on with memory_operation") || !strings.Contains(answer, `"inputSchema":{`) {
		t.Errorf("loaded with %.600s, want the schemas, and to go on with memory_operation", answer)
	}
	if got := p.listed(`{` + modernMeta + `}`); !slices.Equal(got, before) {
		t.Errorf("after loading, got the list %s, want %s", got, before)
	}
	p.quiet()
	if got := p.request("tools/call", `{"name":"memory_operation","arguments":{"method":"memory_auto_tag","params":{"id":"k"}},`+modernMeta+`}`); strings.Contains(got, `"isError":true`) || strings.Contains(got, `"error"`) {
		t.Errorf("memory_operation was answered with %s, want the tool's answer", got)
	}
}

func TestProfilesAndFamiliesThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct {
		profile  string
		families []string
		want     string
	}{
		{"", nil, ""}, {"full", []string{"a"}, ""},
		{"nonsense", nil, "the profiles are auto, agent, operation, full, code, deferred"},
		{"", make([]string, 101), "at most 100"},
		{"", []string{""}, "1 to 128 bytes"},
		{"", []string{strings.Repeat("x", 129)}, "1 to 128 bytes"},
	} {
		err := CheckProfile(c.profile, c.families)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %d families: %v", c.profile, len(c.families), err)
		}
	}
}

func TestTheAddressSaysWhichToolsAreListedOverHTTP(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}, newFake()))
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	for query, want := range map[string]string{
		"": "", "?profile=agent": "", "?families=auto-tag,%20site": "memory_tag_suggest", "?profile=full": "memory_tag_suggest", "?profile=deferred": "memory_tag_suggest",
	} {
		_, text := post(t, url+"/"+query, list, modernHeaders("tools/list", ""))
		if strings.Contains(text, "memory_tag_suggest") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s lists %.300s", query, text)
		}
	}
	for query, want := range map[string]string{"?profile=none": "the profiles are auto, agent", "?families=" + strings.Repeat("x,", 200): "at most 100", "?profile=%zz": "cannot be read"} {
		response, text := post(t, url+"/"+query, list, modernHeaders("tools/list", ""))
		if response.StatusCode != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%.30s is answered with %d %s", query, response.StatusCode, text)
		}
	}
}

func TestTheAddressSaysWhereASessionOverHTTPBegins(t *testing.T) {
	for _, c := range []struct {
		query        string
		has          Session
		agent, where string
		writes       bool
	}{
		{"?namespace=notes&branch=idea&agent=ann&read_only=false", Session{Rights: memory.FullRights()}, "ann", "notes/idea", true},
		{"?agent=ann&read_only=true", Session{Agent: "of the key", Namespace: "home", Rights: memory.FullRights()}, "of the key", "home/", false},
	} {
		address, err := url.Parse("https://memory.example/mcp" + c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.has.choose(address)
		if where := got.Namespace + "/" + got.Branch; err != nil || got.Agent != c.agent || where != c.where || got.Rights.WritesNothing() == c.writes {
			t.Errorf("%s: got agent %q at %s, writes nothing: %t, %v; want %q at %s", c.query, got.Agent, where, got.Rights.WritesNothing(), err, c.agent, c.where)
		}
	}
	if _, err := (Session{}).choose(&url.URL{RawQuery: "read_only=perhaps"}); err == nil || !strings.Contains(err.Error(), "must be true or false") {
		t.Errorf("read_only=perhaps: got %v, want a refusal", err)
	}
}

func TestASessionOverHTTPHasItsOwnList(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}, newFake()))
	first, second := begin(t, url), begin(t, url)
	response, text := post(t, url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_load_family","arguments":{"family":"auto-tag"}}}`, first)
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") || !strings.Contains(text, "notifications/tools/list_changed") || !strings.Contains(text, `"memory_auto_tag"`) {
		t.Errorf("loaded with %s", text)
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if _, text := post(t, url, list, first); !strings.Contains(text, "memory_auto_tag") {
		t.Errorf("the first session lists %.300s", text)
	}
	if _, text := post(t, url, list, second); strings.Contains(text, "memory_auto_tag") || strings.Contains(text, "list_changed") {
		t.Errorf("the second session lists %.300s", text)
	}
	if o := callModern(t, url, "memory_auto_tag", `{"id":"k"}`); o.field("tool") != `"memory_auto_tag"` {
		t.Errorf("called with %s", o.text)
	}
	if o := callModern(t, url, "site.memory.store", `{"content":"x"}`); o.field("tool") != `"site.memory.store"` {
		t.Errorf("called with %s", o.text)
	}
}

func TestClientsWhoseListsAreChangedByTheFamiliesAreTold(t *testing.T) {
	f := newFake()
	s := newServer(t, Options{}, f)
	plain, full := connect(t, s, Session{}).initialize("plain"), connect(t, s, Session{Profile: profile.Full}).initialize("full")
	using := connect(t, s, Session{Families: []string{"auto-tag"}}).initialize("using")
	asking := connect(t, s, Session{Profile: profile.Full})
	asking.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	if got := asking.line(); !strings.Contains(got, "acknowledged") {
		t.Fatalf("answered %s", got)
	}
	f.change(func(all []tool.Family) []tool.Family { all[0].Loaded = true; return all })
	f.change(func(all []tool.Family) []tool.Family { all[1].Digest = "new"; return all })
	full.quiet() // its tools are the same
	f.change(func(all []tool.Family) []tool.Family {
		all[1].Tools = append(all[1].Tools, tool.Spec{Name: "site.added", Description: "Added while it ran."})
		return all
	})
	if got := full.line(); !strings.Contains(got, "list_changed") {
		t.Errorf("told %s", got)
	}
	if got := asking.line(); !strings.Contains(got, "list_changed") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"sub"`) {
		t.Errorf("told %s", got)
	}
	plain.quiet()
	using.quiet()
	f.change(func(all []tool.Family) []tool.Family { all[0].Fault = "gone"; return all })
	if got := using.line(); !strings.Contains(got, "list_changed") {
		t.Errorf("told %s", got)
	}
	if got := using.beyondCore(`{}`); got != "" {
		t.Errorf("listed are %s", got)
	}
	plain.quiet()
}

func TestAFamilyThatIsInstalledIsThereAtOnce(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	f.change(func(all []tool.Family) []tool.Family {
		return append(all, tool.Family{Name: "new", Description: "New.", Tools: []tool.Spec{{Name: "new_tool", Description: "New."}}})
	})
	p.must("new_tool", `{}`)
	p.must("memory_load_family", `{"family":"new"}`)
	f.change(func(all []tool.Family) []tool.Family { return all[:4] })
	if got := p.request("tools/call", `{"name":"new_tool"}`); !strings.Contains(got, `there is no tool \"new_tool\"`) || !strings.Contains(got, "families") {
		t.Errorf("answered %s", got)
	}
	if got := p.must("memory_capabilities", `{}`).field("note"); !strings.Contains(got, `\"new\", which is not there`) {
		t.Errorf("noted %s", got)
	}
}

func TestListenersOverHTTPAreTold(t *testing.T) {
	f := newFake()
	url := serveHTTP(t, newServer(t, Options{}, f))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	body := `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/?families=site", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range modernHeaders("subscriptions/listen", "") {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	heard := bufio.NewScanner(response.Body)
	next := func() string {
		for heard.Scan() {
			if strings.HasPrefix(heard.Text(), "data:") {
				return heard.Text()
			}
		}
		t.Fatalf("the stream ended: %v", heard.Err())
		return ""
	}
	if got := next(); !strings.Contains(got, "acknowledged") {
		t.Fatalf("heard %s", got)
	}
	f.change(func(all []tool.Family) []tool.Family { all[1].Tools = all[1].Tools[:1]; return all })
	if got := next(); !strings.Contains(got, "list_changed") || !strings.Contains(got, `"sub"`) {
		t.Errorf("heard %s", got)
	}
}

func TestProgressIsTold(t *testing.T) {
	f := newFake()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.answers["memory_auto_tag"] = func(_ context.Context, c familyCall) (tool.Result, error) {
		for i := range 10 {
			c.Progress(float64(i), 10, fmt.Sprintf("%d of 10", i))
			now = now.Add(60 * time.Millisecond)
		}
		c.Progress(3, 10, "back")
		c.Progress(10, 10, strings.Repeat("x", 500))
		return tool.Result{Output: json.RawMessage(`{}`)}, nil
	}
	s := newServer(t, Options{Clock: func() time.Time { return now }}, f)
	p := connect(t, s, Session{}).initialize("tester")
	p.request("tools/call", `{"name":"memory_auto_tag","arguments":{"id":"k"},"_meta":{"progressToken":9007199254740993}}`)
	var told []string
	for {
		line := p.line()
		if strings.Contains(line, "list_changed") {
			break
		}
		told = append(told, line)
	}
	if len(told) != 6 || !strings.Contains(told[0], `"progressToken":9007199254740993`) || !strings.Contains(told[1], `"message":"2 of 10"`) || !strings.Contains(told[1], `"total":10`) {
		t.Errorf("told %d times: %s", len(told), told)
	}
	if last := told[len(told)-1]; !strings.Contains(last, `"progress":10`) || len(last) > 400 {
		t.Errorf("told last %s", last)
	}
	p.request("tools/call", `{"name":"memory_operation","arguments":{"method":"memory_auto_tag","params":{"id":"k"}},"_meta":{"progressToken":"t"}}`)
	if got := p.line(); !strings.Contains(got, `"progressToken":"t"`) {
		t.Errorf("told %s", got)
	}
}

func TestProgressIsToldWhenTheClockIsPutBack(t *testing.T) {
	f := newFake()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.answers["memory_auto_tag"] = func(_ context.Context, c familyCall) (tool.Result, error) {
		c.Progress(1, 10, "before")
		now = now.Add(-10 * 24 * time.Hour)
		c.Progress(2, 10, "after")
		return tool.Result{Output: json.RawMessage(`{}`)}, nil
	}
	p := connect(t, newServer(t, Options{Clock: func() time.Time { return now }}, f), Session{}).initialize("tester")
	p.request("tools/call", `{"name":"memory_auto_tag","arguments":{"id":"k"},"_meta":{"progressToken":"t"}}`)
	for _, want := range []string{"before", "after"} {
		if got := p.line(); !strings.Contains(got, want) {
			t.Errorf("told %s, not %s", got, want)
		}
	}
}

func TestProgressIsToldOverHTTP(t *testing.T) {
	f := newFake()
	f.answers["memory_auto_tag"] = func(_ context.Context, c familyCall) (tool.Result, error) {
		if c.Progress == nil {
			return tool.Result{}, errNo
		}
		c.Progress(1, 2, "half")
		c.Progress(2, 2, "")
		return tool.Result{Output: json.RawMessage(`{"n":9007199254740993}`)}, nil
	}
	url := serveHTTP(t, newServer(t, Options{}, f))
	body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_auto_tag","arguments":{"id":"k"},"_meta":{"progressToken":"t",` + modernMeta[len(`"_meta":{`):] + `}}`
	response, text := post(t, url, body, modernHeaders("tools/call", "memory_auto_tag"))
	events := strings.Split(strings.TrimSpace(text), "\n\n")
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != eventStream || len(events) != 3 {
		t.Fatalf("answered %d %s: %s", response.StatusCode, response.Header, text)
	}
	for i, want := range []string{`"message":"half"`, `"progress":2`, `"n":9007199254740993`} {
		if !strings.HasPrefix(events[i], "event: message\ndata: {") || !strings.Contains(events[i], want) {
			t.Errorf("event %d is %s", i, events[i])
		}
	}
	headers := modernHeaders("tools/call", "memory_auto_tag")
	headers["Accept"] = "application/json"
	if response, text := post(t, url, body, headers); strings.Contains(text, "half") {
		t.Errorf("a client that takes no events is answered with %d %s", response.StatusCode, text)
	}
}

func TestASessionIsToldAheadOfEachAnswer(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}, newFake()))
	session := begin(t, url)
	for range 50 {
		for _, arguments := range []string{`{"family":"auto-tag"}`, `{"family":"auto-tag","unload":true}`} {
			_, text := post(t, url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_load_family","arguments":`+arguments+`}}`, session)
			if strings.Count(text, "list_changed") != 1 || !strings.Contains(text, `"family":"auto-tag"`) {
				t.Fatalf("answered %s", text)
			}
		}
	}
}

func TestADeprecatedFamilyIsListedOnlyOnceItWasLoaded(t *testing.T) {
	f := newFake()
	f.all[0].Deprecated = true
	for _, name := range []string{profile.Agent, profile.Full} {
		p := withFamilies(t, f, Session{Profile: name})
		var r loaded
		p.must("memory_smart_load", `{"intent":"I want to find the key phrases of my notes and tag them"}`).into(&r)
		if r.Family == "auto-tag" || len(r.Tools) > 0 || strings.Contains(p.beyondCore(`{}`), "memory_auto_tag") {
			t.Errorf("with the profile %s, the intent loads %+v", name, r)
		}
		p.must("memory_auto_tag", `{"id":"k"}`) // calls load
		p.line()
		if got := p.beyondCore(`{}`); !strings.Contains(got, "memory_auto_tag") {
			t.Errorf("with the profile %s, after a call, %s are listed", name, got)
		}
		p.must("memory_load_family", `{"family":"auto-tag","unload":true}`)
		if got := p.beyondCore(`{}`); strings.Contains(got, "memory_auto_tag") {
			t.Errorf("with the profile %s, once unloaded, %s are listed", name, got)
		}
	}
}
