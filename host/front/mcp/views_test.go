package mcp

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/alcove-memory/alcove/host/internal/profile"
)

const (
	showing    = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`
	notShowing = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=other"]}},"experimental":{"io.modelcontextprotocol/ui":{}}}`
	listing    = `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}`
)

// pages are views as they are built.
func pages() fs.FS {
	files := fstest.MapFS{}
	for _, v := range knownViews() {
		files[v.name+".html"] = &fstest.MapFile{Data: []byte("<!doctype html><title>" + v.name + "</title>")}
	}
	return files
}

// introduced is a client that has introduced itself with capabilities, and what it was answered.
func introduced(t *testing.T, o Options, session Session, capabilities string) (*peer, string) {
	t.Helper()
	p := connect(t, newServer(t, o), session)
	answer := p.request("initialize", fmt.Sprintf(`{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"tester","version":"1"}}`, capabilities))
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p, answer
}

// unmarked is a list of tools without what it says of views, and the views of tools by their names.
func unmarked(t *testing.T, answer string) (rest any, views map[string]string) {
	t.Helper()
	var list map[string]any
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		t.Fatalf("the list %s cannot be read: %v", answer, err)
	}
	views = map[string]string{}
	result, _ := list["result"].(map[string]any)
	tools, _ := result["tools"].([]any)
	for _, each := range tools {
		tool := each.(map[string]any)
		meta, _ := tool["_meta"].(map[string]any)
		if ui, ok := meta["ui"].(map[string]any); ok {
			views[tool["name"].(string)] = ui["resourceUri"].(string)
			if meta["ui/resourceUri"] != ui["resourceUri"] {
				t.Errorf("%s has the views %v", tool["name"], meta)
			}
			delete(meta, "ui")
			delete(meta, "ui/resourceUri")
			if len(meta) == 0 {
				delete(tool, "_meta")
			}
		}
	}
	return list, views
}

func TestAClientThatShowsViewsIsToldOfThem(t *testing.T) {
	p, answer := introduced(t, Options{Views: pages()}, Session{}, showing)
	if !strings.Contains(answer, `"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}`) {
		t.Errorf("it is answered with %s", answer)
	}
	_, views := unmarked(t, p.request("tools/list", `{}`))
	if want := map[string]string{"memory_search": "ui://alcove/results", "memory_history": "ui://alcove/history", "memory_branch": "ui://alcove/branch"}; !reflect.DeepEqual(views, want) {
		t.Errorf("the views are %v, want %v", views, want)
	}
	for _, v := range knownViews() {
		if list := p.request("resources/list", `{}`); !strings.Contains(list, v.uri()) {
			t.Errorf("%s is not in %s", v.uri(), list)
		}
		page := p.request("resources/read", fmt.Sprintf(`{"uri":%q}`, v.uri()))
		for _, want := range []string{`"mimeType":"text/html;profile=mcp-app"`, `<title>` + v.name + `</title>`, `"connectDomains":[]`, `"resourceDomains":[]`, `"frameDomains":[]`, `"prefersBorder":true`} {
			if plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(page); !strings.Contains(plain, want) {
				t.Errorf("%s lacks %s: %s", v.uri(), want, page)
			}
		}
	}
	if answer := p.request("resources/read", `{"uri":"ui://alcove/../secret"}`); !strings.Contains(answer, `"error"`) {
		t.Errorf("a page that does not exist is answered with %s", answer)
	}
}

func TestAClientThatShowsNoViewsSeesNothingOfThem(t *testing.T) {
	for _, capabilities := range []string{`{}`, notShowing, `{"extensions":{"io.modelcontextprotocol/ui":null}}`, `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":"text/html;profile=mcp-app"}}}`} {
		without, began := introduced(t, Options{}, Session{}, capabilities)
		p, answer := introduced(t, Options{Views: pages()}, Session{}, capabilities)
		if answer != began {
			t.Errorf("%s: it is answered with %s, without views with %s", capabilities, answer, began)
		}
		if got, want := p.request("tools/list", `{}`), without.request("tools/list", `{}`); got != want {
			t.Errorf("%s: it lists %s, without views %s", capabilities, got, want)
		}
		if got := p.request("resources/list", `{}`); strings.Contains(got, "ui://") {
			t.Errorf("%s: it lists %s", capabilities, got)
		}
	}
}

func TestViewsChangeNothingElseOfTheList(t *testing.T) {
	for _, name := range profile.All() {
		without, _ := introduced(t, Options{}, Session{Profile: name}, showing)
		p, _ := introduced(t, Options{Views: pages()}, Session{Profile: name}, showing)
		want, _ := unmarked(t, without.request("tools/list", `{}`))
		got, views := unmarked(t, p.request("tools/list", `{}`))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: it lists %v, without views %v", name, got, want)
		}
		if (len(views) == 0) != (name == profile.Operation) {
			t.Errorf("%s: the views are %v", name, views)
		}
	}
}

func TestAStatelessClientSaysSoWithEachRequest(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{Views: pages()}))
	ask := func(method, params, capabilities string) string {
		meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s,"io.modelcontextprotocol/clientInfo":{"name":"m","version":"1"}}`, capabilities)
		headers := modernHeaders(method, "")
		delete(headers, "Mcp-Name")
		if strings.HasPrefix(params, `"uri"`) {
			headers["Mcp-Name"] = "ui://alcove/graph"
			params += ","
		}
		_, answer := post(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":%q,"params":{%s%s}}`, method, params, meta), headers)
		return answer
	}
	for _, round := range []struct {
		capabilities string
		shows        bool
	}{{showing, true}, {`{}`, false}, {notShowing, false}, {showing, true}} {
		for _, method := range []string{"tools/list", "server/discover", "resources/list"} {
			answer := ask(method, "", round.capabilities)
			if strings.Contains(answer, `"error"`) || strings.Contains(answer, "ui://") != (round.shows && method != "server/discover") || strings.Contains(answer, viewExtension) != (round.shows && method == "server/discover") {
				t.Errorf("%s of a client with %s is answered with %s", method, round.capabilities, answer)
			}
		}
	}
	if page := ask("resources/read", `"uri":"ui://alcove/graph"`, showing); !strings.Contains(page, "graph") || !strings.Contains(page, viewMIME) {
		t.Errorf("the page is %s", page)
	}
}

func TestTheNextServerKnowsWhichClientsShowViews(t *testing.T) {
	space, kept := newSpace(t), &keptMap{byID: map[string][2]string{}}
	first := keyed(t, newServerOf(t, space, Options{Kept: kept, Views: pages()}))
	response, text := post(t, first, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"web","version":"1"}}}`, showing), nil)
	session := map[string]string{"Mcp-Session-Id": response.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
	plain := begin(t, first)
	_, before := post(t, first, listing, session)
	if !strings.Contains(before, "ui://alcove/results") {
		t.Fatalf("after %s it lists %s", text, before)
	}
	second := keyed(t, newServerOf(t, space, Options{Kept: kept, Views: pages()}))
	if _, after := post(t, second, listing, session); after != before {
		t.Errorf("it lists %s, before %s", after, before)
	}
	if _, answer := post(t, second, listing, plain); strings.Contains(answer, "ui:") {
		t.Errorf("another client lists %s", answer)
	}
}
