package families_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

// givenTo is the tool and the arguments that a guest which echoes its request was called with.
func givenTo(t *testing.T, c *client.Session, tool, given string) string {
	t.Helper()
	r, err := c.Call(t.Context(), tool, json.RawMessage(given))
	if err != nil {
		t.Fatalf("call %s with %s: %v", tool, given, err)
	}
	var echoed abi.ToolRequest
	if err := json.Unmarshal(r.Structured, &echoed); err != nil {
		t.Fatalf("%s answers %.300s: %v", tool, r.Structured, err)
	}
	return echoed.Tool + " " + string(echoed.Arguments)
}

func TestAToolAnswersToItsAliases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	o, c := server.Operator(t, dir), server.Connected(t, dir)
	list := guest.Tool("notes_list", `{"limit":{"type":"integer"},"order":{"type":"string"}}`)
	list.Aliases = []abi.Alias{{Name: "notes_recent", Arguments: map[string]json.RawMessage{"limit": json.RawMessage("5"), "order": json.RawMessage(`"newest"`)}}, {Name: "site.notes"}}
	list.Parameters = map[string]string{"max": "limit", "sortBy": "order"}
	server.Install(t, o, abi.Manifest{Name: "notes", Tools: []abi.Tool{list}}, guest.Echo)
	for _, call := range []struct{ tool, given, want string }{
		{"notes_list", `{"max":3,"sort_by":"key"}`, `notes_list {"limit":3,"order":"key"}`},
		{"notes_recent", `{}`, `notes_list {"limit":5,"order":"newest"}`},
		{"notes.recent", `{"limit":null,"sortby":"key"}`, `notes_list {"limit":5,"order":"key"}`},
		{"notes_recent", `{"max":7}`, `notes_list {"limit":7,"order":"newest"}`},
		{"site_notes", `{"limit":"1"}`, `notes_list {"limit":1}`},
		{"site.notes", `{}`, `notes_list {}`},
	} {
		if got := givenTo(t, c, call.tool, call.given); got != call.want {
			t.Errorf("%s %s became %s", call.tool, call.given, got)
		}
	}
	if _, err := c.Call(t.Context(), "memory_load_family", map[string]any{"family": "notes"}); err != nil {
		t.Fatal(err)
	}
	_, names, err := c.Tools(t.Context())
	if err != nil || !slices.Contains(names, "notes_list") || slices.Contains(names, "notes_recent") || slices.Contains(names, "site_notes") {
		t.Errorf("the list has %q (%v)", names, err)
	}
	relay := abi.Manifest{Name: "relay", Tools: []abi.Tool{guest.Tool("relay_do", `{}`)},
		Capabilities: []abi.Request{{Name: abi.CanToolsCall, Scope: []string{"notes_list"}, Reason: "to ask"}}}
	server.Install(t, o, relay, guest.Relay(`tools.call {"tool":"notes.recent","arguments":{}}`))
	if r, err := c.Call(t.Context(), "relay_do", nil); err != nil || !strings.Contains(string(r.Structured), `"arguments":{"limit":5,"order":"newest"}`) {
		t.Errorf("a family's call by an alias is answered with %.300s (%v)", r.Structured, err)
	}
}

func TestAnAliasTakesNobodysName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	o := server.Operator(t, dir)
	server.Install(t, o, abi.Manifest{Name: "notes", Tools: []abi.Tool{guest.Tool("notes_list", `{}`)}}, guest.Echo)
	for alias, want := range map[string]string{
		"memory_store": "the server's own memory_store", "memory-st0re": "the server's own memory_store",
		"notes_list": "notes_list of family notes", "n0tes.list": "notes_list of family notes", "other_find": "resembles its tool other_find_",
	} {
		tool, second := guest.Tool("other_do", `{}`), guest.Tool("other_find_", `{}`)
		tool.Aliases = []abi.Alias{{Name: alias}}
		_, err := operator.Call(t.Context(), o, operator.InstallFamily, operator.InstallRequest{Module: guest.Pack(t, abi.Manifest{Name: "other", Tools: []abi.Tool{tool, second}}, guest.Echo)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the alias %s: %v", alias, err)
		}
	}
}

func TestAFamilyCallsACoreToolWithinItsOwnPowers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	server.Serve(t, h, host.Listen{})
	o, c := server.Operator(t, dir), server.Connected(t, dir)
	may := func(tools, read, write []string) (list []abi.Request) {
		for name, scope := range map[abi.Capability][]string{abi.CanToolsCall: tools, abi.CanMemoryRead: read, abi.CanMemoryWrite: write} {
			if scope != nil {
				list = append(list, abi.Request{Name: name, Scope: scope, Reason: "to be tested"})
			}
		}
		return list
	}
	all, core := []string{"*"}, []string{"memory_store", "memory_recall", "memory_search", "memory_forget", "memory_history"}
	store := `tools.call {"tool":"memory.store","arguments":{"key":"k","content":"stored by a family","type":"note"}}`
	families := map[string]struct {
		capabilities []abi.Request
		calls        []string
		want, denied string
	}{
		"stores":  {may(core, all, all), []string{store, `tools.call {"tool":"memory_recall","arguments":{"key":"k"}}`}, `"value":"stored by a family"`, ""},
		"forgets": {may(core, all, all), []string{`tools.call {"tool":"memory_forget","arguments":{"key":"k"}}`, `tools.call {"tool":"memory_recall","arguments":{"key":"k"}}`}, `"found":false`, ""},
		"rehearses": {may(core, all, all), []string{`tools.call {"tool":"memory_store","arguments":{"key":"k2","value":1,"dry_run":true}}`,
			`tools.call {"tool":"memory_recall","arguments":{"key":"k2"}}`}, `"found":false`, ""},
		"wide":      {may(all, all, all), []string{store}, "", "memory_store is a core tool"},
		"reader":    {may(core, all, nil), []string{store}, "", "the family needs memory.read and memory.write"},
		"writer":    {may(core, nil, all), []string{store}, "", "the family needs memory.read and memory.write"},
		"elsewhere": {may(core, []string{"other"}, []string{"other"}), []string{`tools.call {"tool":"memory_search","arguments":{"query":"family"}}`}, "", "may not read namespace"},
		"branches":  {may(append(core, "memory_branch"), all, all), []string{`tools.call {"tool":"memory_branch","arguments":{"action":"list"}}`}, "", `there is no tool "memory_branch"`},
		"strays":    {may(core, all, all), []string{`tools.call {"tool":"memory_recall","arguments":{"key":"k","branch":"other"}}`}, "", "leave out branch"},
	}
	for name, f := range families {
		server.Install(t, o, abi.Manifest{Name: name, Tools: []abi.Tool{guest.Tool(name+"_do", `{}`)}, Capabilities: f.capabilities}, guest.Relay(f.calls...))
	}
	for _, name := range []string{"stores", "elsewhere", "rehearses", "wide", "reader", "writer", "branches", "strays", "forgets"} {
		f := families[name]
		r, err := c.Call(t.Context(), name+"_do", nil)
		switch {
		case f.denied != "" && (err == nil || !strings.Contains(err.Error(), f.denied)):
			t.Errorf("%s: %.300s (%v), want an error that says %q", name, r.Structured, err, f.denied)
		case f.denied == "" && (err != nil || !strings.Contains(string(r.Structured), f.want)):
			t.Errorf("%s: %.300s (%v), want %q", name, r.Structured, err, f.want)
		}
	}
}

// TestWhatACoreToolWroteForAFamilyIsPartOfItsCall has a family store and then fail, and one that says that it only reads.
func TestWhatACoreToolWroteForAFamilyIsPartOfItsCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	o, c := server.Operator(t, dir), server.Connected(t, dir)
	capabilities := []abi.Request{{Name: abi.CanToolsCall, Scope: []string{"memory_store"}, Reason: "t"}, {Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "t"}, {Name: abi.CanMemoryWrite, Scope: []string{"*"}, Reason: "t"}}
	store := `tools.call {"tool":"memory_store","arguments":{"key":"half","value":"half a call"}}`
	server.Install(t, o, abi.Manifest{Name: "fails", Tools: []abi.Tool{guest.Tool("fails_do", `{}`)}, Capabilities: capabilities}, guest.Relay(store, `no.such {}`))
	reads := guest.Tool("reads_do", `{}`)
	readOnly := true
	reads.Annotations.ReadOnly = &readOnly
	server.Install(t, o, abi.Manifest{Name: "reads", Tools: []abi.Tool{reads}, Capabilities: capabilities}, guest.Relay(store))
	for _, tool := range []string{"fails_do", "reads_do"} {
		if r, err := c.Call(t.Context(), tool, nil); err == nil {
			t.Errorf("%s is answered with %.300s", tool, r.Structured)
		}
	}
	var failed *client.Error
	r, err := c.Call(t.Context(), "memory_recall", map[string]any{"key": "half"})
	if errors.As(err, &failed) || !strings.Contains(string(r.Structured), `"found":false`) {
		t.Errorf("something of it is there: %.300s (%v)", r.Structured, err)
	}
}

// usageOf is how agents called tools, as a family with tools.usage sees it.
func usageOf(t *testing.T, c *client.Session) string {
	t.Helper()
	r, err := c.Call(t.Context(), "report_do", nil)
	if err != nil {
		t.Fatal(err)
	}
	var answer abi.ToolsUsageResponse
	if err := json.Unmarshal(r.Structured, &answer); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, u := range answer.Usage {
		if u.Tool != "report_do" {
			list = append(list, fmt.Sprintf("%s %s %d/%d", u.Tool, u.As, u.Calls, u.Errors))
		}
	}
	return strings.Join(list, ", ")
}

func TestHowToolsAreUsedIsCountedForWhomIsGranted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	_, stop := server.Serve(t, h, host.Listen{})
	o, c := server.Operator(t, dir), server.Connected(t, dir)
	list := guest.Tool("notes_list", `{"limit":{"type":"integer"}}`)
	list.Aliases = []abi.Alias{{Name: "notes_recent"}}
	server.Install(t, o, abi.Manifest{Name: "notes", Tools: []abi.Tool{list}}, guest.Echo)
	server.Install(t, o, abi.Manifest{Name: "report", Tools: []abi.Tool{guest.Tool("report_do", `{}`)},
		Capabilities: []abi.Request{{Name: abi.CanToolsUsage, Reason: "to report"}}}, guest.Relay(`tools.usage {"days":1}`))
	for _, call := range []struct{ tool, arguments string }{{"notes_list", `{}`}, {"notes.recent", `{}`}, {"notes_recent", `{"limit":"many"}`}, {"memory_status", `{}`}, {"memory_recall", `{"key":"k"}`}, {"memory_recall", `{"query":"k"}`}} {
		_, _ = c.Call(t.Context(), call.tool, json.RawMessage(call.arguments)) // one of them fails
	}
	const want = "memory_recall  2/0, memory_status  1/0, notes_list  1/0, notes_list notes_recent 2/1"
	if got := usageOf(t, c); got != want {
		t.Errorf("counted are %s", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	must.Do(t, h.Close())
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	if got := usageOf(t, server.Connected(t, dir)); got != want {
		t.Errorf("after a restart counted are %s", got)
	}
}
