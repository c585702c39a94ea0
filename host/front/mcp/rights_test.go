package mcp

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

func TestAClientHasTheRightsOfItsSession(t *testing.T) {
	space := newSpace(t)
	for _, namespace := range []string{"home", "work", "vault"} {
		if _, err := ownersAccess(space).Store(context.Background(), memory.Location{Namespace: namespace}, []memory.Item{{Key: "tea", Value: json.RawMessage(`"tea of ` + namespace + `"`)}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	s := newServerOf(t, space, Options{})
	for session, want := range map[*Session]string{
		{Namespace: "home", Rights: memory.RightsTo([]string{"work"}, []string{"home"})}: "home work", {Rights: memory.FullRights()}: "home work vault", {}: "",
	} {
		h := httptest.NewServer(as(*session, s.Handler()))
		_, found := post(t, h.URL, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"tea"},`+modernMeta+`}}`, modernHeaders("tools/call", "memory_search"))
		for _, namespace := range []string{"home", "work", "vault"} {
			if strings.Contains(found, "tea of "+namespace) != strings.Contains(want, namespace) {
				t.Errorf("with %s, found is %s", session.Rights, found)
			}
		}
		_, stored := post(t, h.URL, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_store","arguments":{"key":"k","value":1,"namespace":"work"},`+modernMeta+`}}`, modernHeaders("tools/call", "memory_store"))
		if strings.Contains(stored, "denied") == session.Rights.MayWrite("work") {
			t.Errorf("with %s, storing in work is answered with %s", session.Rights, stored)
		}
		h.Close()
	}
}

// Lists in the server may exclude namespaces, which rights do. Clients may not write such lists.
func TestAClientCannotExcludeNamespaces(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":"tea"}`)
	for tool, arguments := range map[string]string{
		"memory_search": `{"query":"tea","namespace":["*","!default"]}`, "memory_recall": `{"query":"tea","namespaces":["!default"]}`,
		"memory_branch": `{"action":"diff","compare":"default","namespace":["team/*","!team/a"]}`, "memory_poll_events": `{"scopeIds":["*","!default"]}`,
	} {
		if f := p.refused(tool, arguments); f.Code != memory.InvalidArgument || !strings.Contains(f.Message, "excludes one") {
			t.Errorf("%s %s: got %+v, want %s", tool, arguments, f, memory.InvalidArgument)
		}
	}
}
