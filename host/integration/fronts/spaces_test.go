package fronts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// landlord is a server of spaces.
type landlord struct {
	*server.Server
	folder folder.Folder
}

// newLandlord starts a server with spaces of the given names.
func newLandlord(t *testing.T, o host.SpacesOptions, names ...string) landlord {
	t.Helper()
	o.Dir = t.TempDir()
	l := landlord{folder: folder.Folder{Path: o.Dir}}
	for _, name := range names {
		if _, err := l.folder.Create(name); err != nil {
			t.Fatal(err)
		}
		must.Do(t, os.WriteFile(owner.TokenPath(filepath.Join(o.Dir, name)), []byte(tokenOf(name)), 0o600))
	}
	l.Server = server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", Spaces: &o})
	return l
}

func tokenOf(name string) string { return strings.Repeat(name+"-", 32) }

// ask sends a request to a space.
func (l landlord) ask(space, token, path, body string) (status int, answer string) {
	l.T.Helper()
	return l.Send("POST", "/s/"+space+path, body, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
}

// stores stores a text in a space.
func (l landlord) stores(space, key, text string) {
	l.T.Helper()
	body := must.Get(json.Marshal(map[string]string{"key": key, "value": text}))
	if status, answer := l.ask(space, tokenOf(space), "/operation/memory_store", string(body)); status != http.StatusOK {
		l.T.Fatalf("store in the space %s: got %d %s, want 200", space, status, answer)
	}
}

// has reports whether a text is found in a space.
func (l landlord) has(space, text string) bool {
	l.T.Helper()
	status, answer := l.ask(space, tokenOf(space), "/operation/memory_search", `{"query":"`+text+`"}`)
	if status != http.StatusOK {
		l.T.Fatalf("search the space %s: got %d %s, want 200", space, status, answer)
	}
	return strings.Contains(answer, text)
}

func (l landlord) isOpen(space string) bool {
	var owned *owner.OwnedError
	return errors.As(owner.CheckFree(filepath.Join(l.folder.Path, space)), &owned)
}

func TestSpacesShareNothing(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{}, "red", "blue")
	l.Put("default", "k", "walnut of the server")
	l.stores("red", "k", "walnut of red")
	l.stores("blue", "k", "walnut of blue")
	red := operatorOf(t, l, "red")
	key := must.Get(operator.Call(t.Context(), red, operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.EveryRight, Namespaces: []string{"*"}}))
	for holder, token := range map[string]string{"red": tokenOf("red"), "blue": tokenOf("blue"), "server": l.Token(), "ann of red": key.Secret, "nobody": ""} {
		for place, at := range map[string]string{"red": "/s/red", "blue": "/s/blue", "server": ""} {
			admitted := strings.HasSuffix(holder, place)
			for _, path := range []string{"/operation/memory_search", "/mcp", "/stream", "/metrics", "/operation"} {
				body := `{"query":"walnut"}`
				if path == "/mcp" {
					body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"walnut"}}}`
				}
				status, answer := l.Send("POST", at+path, body, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
				if (status != http.StatusUnauthorized) != admitted {
					t.Errorf("%s asks %s for %s: got %d %.200s, want that it is admitted: %t", holder, place, path, status, answer, admitted)
				}
				for _, other := range []string{"red", "blue", "the server"} {
					if strings.Contains(answer, "walnut of "+other) && !(admitted && strings.HasSuffix(other, place)) {
						t.Errorf("%s asks %s for %s: got %s, want nothing of %s", holder, place, path, answer, other)
					}
				}
			}
		}
	}
}

func operatorOf(t *testing.T, l landlord, space string) operator.Server {
	t.Helper()
	return server.Operator(t, filepath.Join(l.folder.Path, space))
}

// A session of MCP ends at the border of its space, though its id is known to the process.
func TestASessionOfOneSpaceIsUnknownToOthers(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{}, "red", "blue")
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	send := func(space, session, body string) *http.Response {
		r := must.Get(http.NewRequestWithContext(t.Context(), "POST", l.URL()+"/s/"+space+"/mcp", strings.NewReader(body)))
		for name, value := range map[string]string{"Authorization": "Bearer " + tokenOf(space), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		answer := must.Get(http.DefaultClient.Do(r))
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	session := send("red", "", initialize).Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("initialize: got no session, want one")
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status := send("red", session, list).StatusCode; status != http.StatusOK {
		t.Errorf("list tools in the session's space: got %d, want 200", status)
	}
	if status := send("blue", session, list).StatusCode; status != http.StatusNotFound {
		t.Errorf("list tools in another space: got %d, want 404", status)
	}
}

func TestASpaceIsClosedWhenItIsIdleAndOpenedAgain(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{Idle: time.Millisecond}, "red")
	if l.isOpen("red") {
		t.Error("the space is open before its first use")
	}
	for i := range 5 {
		l.stores("red", fmt.Sprint(i), "walnut")
		await.That(t, "the space is closed", func() bool { return !l.isOpen("red") })
	}
	if _, answer := l.ask("red", tokenOf("red"), "/operation/memory_status", `{}`); !strings.Contains(answer, `"keys":5`) {
		t.Errorf("status: got %s, want 5 keys", answer)
	}
}

// A space that closes while clients come serves each of them before it is closed, or when it is open again.
func TestNoRequestFailsWhileSpacesCloseAndOpen(t *testing.T) {
	t.Parallel()
	names := []string{"red", "blue", "green"}
	l := newLandlord(t, host.SpacesOptions{Idle: time.Millisecond, Open: 4}, names...)
	var clients sync.WaitGroup
	for c := range 6 {
		clients.Go(func() {
			for i := range 15 {
				space := names[(c+i)%len(names)]
				body := fmt.Sprintf(`{"key":"%d/%d","value":"x"}`, c, i)
				if status, answer := l.ask(space, tokenOf(space), "/operation/memory_store", body); status != http.StatusOK {
					t.Errorf("store in the space %s: got %d %s, want 200", space, status, answer)
				}
			}
		})
	}
	clients.Wait()
	keys := 0
	for _, space := range names {
		var status struct{ Result struct{ Keys int } }
		_, answer := l.ask(space, tokenOf(space), "/operation/memory_status", `{}`)
		must.Do(t, json.Unmarshal([]byte(answer), &status))
		keys += status.Result.Keys
	}
	if keys != 90 {
		t.Errorf("in all spaces: got %d memories, want 90", keys)
	}
}

func TestTheSpaceThatWasUnusedForLongestGivesWay(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{Open: 2}, "red", "blue", "green")
	l.stores("red", "k", "x")
	l.stores("blue", "k", "x")
	l.stores("green", "k", "x")
	if l.isOpen("red") || !l.isOpen("blue") || !l.isOpen("green") {
		t.Errorf("open: red %t, blue %t, green %t; want the last two that were used", l.isOpen("red"), l.isOpen("blue"), l.isOpen("green"))
	}
	for _, space := range []string{"blue", "green"} {
		session := must.Get(owner.Connect(t.Context(), l.At.Socket, owner.Hello{Space: space}))
		defer session.Close()
	}
	if status, answer := l.ask("red", tokenOf("red"), "/operation/memory_status", `{}`); status != http.StatusServiceUnavailable || !strings.Contains(answer, "2 spaces are in use, which is the limit") {
		t.Errorf("a third space while two are in use: got %d %s, want 503 and the limit", status, answer)
	}
}

// What strangers are told does not depend on whether there is a space, and none is opened for them.
func TestStrangersLearnNothingOfSpaces(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{}, "red")
	must.Do(t, os.Symlink(filepath.Join(l.folder.Path, "red"), filepath.Join(l.folder.Path, "link")))
	for _, token := range []string{"", "wrong", "alcove_key_000000000000_wrong", strings.Repeat("x", 1<<16)} {
		_, want := l.ask("red", token, "/operation/memory_status", `{}`)
		for _, name := range []string{"blue", "link", "Red", "owner.lock", "red%2f..", strings.Repeat("a", 300), ".deleted"} {
			status, got := l.ask(name, token, "/operation/memory_status", `{}`)
			if refused := status == http.StatusUnauthorized && got == want; !refused && status != http.StatusNotFound && status != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("a token of %d bytes at the space %.20q: got %d %s, want what a space that exists answers: %s", len(token), name, status, got, want)
			}
		}
	}
	if status, answer := l.ask("link", tokenOf("red"), "/operation/memory_status", `{}`); status != http.StatusUnauthorized {
		t.Errorf("a space by a symbolic link: got %d %s, want 401", status, answer)
	}
	if l.isOpen("red") {
		t.Error("the space was opened for a stranger")
	}
}

func TestAHelloChoosesASpace(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{}, "red")
	l.stores("red", "k", "walnut")
	s := must.Get(l.Connect(owner.Hello{Space: "red"}))
	defer s.Close()
	if told := server.AnswerText(s, "memory_recall", map[string]any{"key": "k"}); !strings.Contains(told, "walnut") {
		t.Errorf("recall in the space: got %s, want walnut", told)
	}
	var refused *owner.Refusal
	for _, c := range []struct{ at, space, code string }{
		{l.At.Socket, "blue", "not_found"}, {l.At.Socket, "../red", "invalid_argument"}, {server.Start(t, host.Options{}).At.Socket, "red", "invalid_argument"},
	} {
		if _, err := owner.Connect(t.Context(), c.at, owner.Hello{Space: c.space}); !errors.As(err, &refused) || refused.Code != c.code {
			t.Errorf("a hello to the space %s: got %v, want a refusal with the code %s", c.space, err, c.code)
		}
	}
}

func TestASpaceThatAnotherProcessServesIsNamed(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{}, "red")
	_, _, stop := server.Run(t, host.Options{Dir: filepath.Join(l.folder.Path, "red")})
	if status, answer := l.ask("red", tokenOf("red"), "/operation/memory_status", `{}`); status != http.StatusServiceUnavailable || !strings.Contains(answer, fmt.Sprintf("process %d serves the space red by itself", os.Getpid())) {
		t.Errorf("a space of another server: got %d %s, want 503 and the process", status, answer)
	}
	stop()
	l.stores("red", "k", "x")
}

func TestAnOperatorClosesASpace(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{}, "red")
	l.stores("red", "k", "walnut")
	session := must.Get(owner.Connect(t.Context(), l.At.Socket, owner.Hello{Space: "red"})) // which ends with the space
	defer session.Close()
	must.Get(operator.Call(t.Context(), operatorOf(t, l, "red"), operator.CloseSpace, operator.None{}))
	await.That(t, "the space is closed", func() bool { return !l.isOpen("red") })
	if !l.has("red", "walnut") {
		t.Error("after the space was closed and opened again: got nothing, want walnut")
	}
	if _, err := operator.Call(t.Context(), l.Acts, operator.CloseSpace, operator.None{}); err == nil || !strings.Contains(err.Error(), "alcove stop ends it") {
		t.Errorf("close the server's own memory: got %v, want an error that names alcove stop", err)
	}
}

// Everything that is open when the server stops is closed, streams too, and what was acknowledged is there afterwards.
func TestAServerThatStopsClosesItsSpaces(t *testing.T) {
	t.Parallel()
	l := newLandlord(t, host.SpacesOptions{}, "red", "blue")
	l.stores("red", "k", "walnut")
	l.stores("blue", "k", "walnut")
	session := must.Get(owner.Connect(t.Context(), l.At.Socket, owner.Hello{Space: "red"}))
	defer session.Close()
	l.Stop()
	if l.isOpen("red") || l.isOpen("blue") || owner.CheckFree(l.folder.Path) != nil {
		t.Error("after the server stopped: a space or their folder is still locked")
	}
	_, answer := server.StartOn(t, host.Options{Dir: filepath.Join(l.folder.Path, "red")}, host.Listen{HTTP: "127.0.0.1:0"}).Send("POST", "/operation/memory_status", `{}`, nil)
	if !strings.Contains(answer, `"keys":1`) {
		t.Errorf("status of the space by itself: got %s, want 1 key", answer)
	}
}
