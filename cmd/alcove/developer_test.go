package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/sdk/client"
)

// primitives is a server with the family developer, and how clients call it.
type primitives struct{ *testServer }

func servePrimitives(t *testing.T) primitives {
	t.Helper()
	if len(builtIn()) == 0 {
		t.Skip("this program is built without its families: make test builds it with them")
	}
	return primitives{startServer(t, t.TempDir(), nil)}
}

// client is one of its own over HTTP.
func (p primitives) client(key string) *client.Client {
	p.t.Helper()
	c, err := client.Dial(p.t.Context(), "http://"+p.HTTP, client.Options{Key: key, Wait: await.Limit})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

type object = map[string]any

// ask calls a tool that must answer.
func ask(t *testing.T, c *client.Client, tool string, arguments object) (out object) {
	t.Helper()
	if err := c.Call(t.Context(), tool, arguments, &out); err != nil {
		t.Errorf("call %s with %v: %v", tool, arguments, err)
	}
	return out
}

// mustFail calls a tool that must fail with a code.
func mustFail(t *testing.T, c *client.Client, code client.Code, tool string, arguments object) {
	t.Helper()
	var out json.RawMessage
	if err := c.Call(t.Context(), tool, arguments, &out); client.CodeOf(err) != code {
		t.Errorf("%s %v: %s, %v, not %s", tool, arguments, out, err, code)
	}
}

// Of clients that swap a cell from the same counter, one wins: after all of them, the counter is 1 and the number of wins.
func TestOfSixteenClientsThatSwapACellOneWinsEachTime(t *testing.T) {
	p := servePrimitives(t)
	token := p.token()
	ask(t, p.client(token), "cell", object{"action": "init", "cell": "turn", "value": "nobody"})
	swap := func(c *client.Client, by int, counter uint64) (bool, error) {
		var out struct{ Swapped bool }
		err := c.Call(t.Context(), "cell", object{"action": "cas", "cell": "turn", "value": by, "expected_counter": counter}, &out)
		if client.CodeOf(err) == client.Conflict { // overtaken again and again: nothing was kept
			return false, nil
		}
		return out.Swapped, err
	}
	wins := make([]int, 16)
	var calling sync.WaitGroup
	for i := range wins {
		c := p.client(token)
		calling.Go(func() {
			for range 6 {
				var now struct{ Counter uint64 }
				if err := c.Call(t.Context(), "cell", object{"action": "get", "cell": "turn"}, &now); err != nil {
					t.Error(err)
					return
				}
				won, err := swap(c, i, now.Counter)
				if err != nil {
					t.Error(err)
					return
				}
				if won {
					wins[i]++
				}
			}
		})
	}
	calling.Wait()
	total := 0
	for _, n := range wins {
		total += n
	}
	now := ask(t, p.client(token), "cell", object{"action": "get", "cell": "turn"})
	if now["counter"] != float64(1+total) || total == 0 {
		t.Errorf("the counter is %v after %d wins", now["counter"], total)
	}
	t.Logf("%d wins in %d swaps", total, 6*len(wins))

	var both [2]bool
	for i, c := range []*client.Client{p.client(token), p.client(token)} {
		calling.Go(func() {
			won, err := swap(c, i, uint64(1+total))
			if both[i] = won; err != nil {
				t.Error(err)
			}
		})
	}
	calling.Wait()
	if both[0] == both[1] {
		t.Errorf("of two that swap from the same counter, won: %v", both)
	}
}

// A client that is killed in a transaction leaves its branch and nothing else; the branch expires.
func TestAKilledClientLeavesOnlyABranch(t *testing.T) {
	p := servePrimitives(t)
	process := program(t, p.dir, "mcp", "--agent", "ann")
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(out)
	send := func(id int, method, params string) object {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for {
			var answer struct {
				ID     int
				Result struct{ StructuredContent object }
			}
			if err := lines.Decode(&answer); err != nil {
				t.Fatal(err)
			}
			if answer.ID == id { // otherwise it is a notification
				return answer.Result.StructuredContent
			}
		}
	}
	send(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	begun := send(2, "tools/call", `{"name":"memory_transaction","arguments":{"action":"begin"}}`)
	branch, _ := begun["branch"].(string)
	put := send(3, "tools/call", fmt.Sprintf(`{"name":"memory_kv","arguments":{"action":"put","key":"x","value":1,"branch":%q}}`, branch))
	if branch == "" || put["stored"] != 1.0 {
		t.Fatalf("begin = %v, put = %v, want a branch, and one stored", begun, put)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	process.Wait()

	c := p.client(p.token())
	if got := ask(t, c, "kv", object{"action": "get", "key": "x"}); got["found"] != false {
		t.Errorf("outside of the transaction: %v", got)
	}
	list := ask(t, c, "branch", object{"action": "list"})["branches"].([]any)
	if len(list) != 2 {
		t.Errorf("branches = %v, want 2", list)
	}
	var queued []struct{ Family, Job, State string }
	if err := json.Unmarshal([]byte(p.mustRun("family", "jobs", "--json")), &queued); err != nil {
		t.Error(err)
	}
	found := false
	for _, j := range queued {
		found = found || j.Family == "developer" && j.Job == "expire" && j.State == "queued"
	}
	if !found {
		t.Errorf("no job is going to delete %s: %+v", branch, queued)
	}
}

// A caller with a key for one namespace sees and changes nothing of others, and nothing that is private to other agents.
func TestTheRightsOfAKeyBoundThePrimitives(t *testing.T) {
	p := servePrimitives(t)
	p.mustRun("family", "grant", "developer", "records.read=*")
	all := p.client(p.token())
	for _, namespace := range []string{"default", "secret"} {
		ask(t, all, "kv", object{"action": "put", "key": "k", "value": "the plan of " + namespace, "namespace": namespace})
		ask(t, all, "store", object{"key": "m", "value": "the plan of " + namespace, "namespace": namespace})
		ask(t, all, "wm_add", object{"content": "a private thought", "namespace": namespace})
		ask(t, all, "link_entity", object{"entityId": "e", "name": "Plan of " + namespace, "type": "project", "namespace": namespace})
	}
	ann := p.client(p.key("ann", "--rights", "read,write,branch,family:*"))
	reader := p.client(p.key("bob", "--rights", "read,family:*"))
	for _, tool := range []object{
		{"tool": "kv", "action": "get", "key": "k"}, {"tool": "kv", "action": "put", "key": "k", "value": 1}, {"tool": "query_raw", "table": "kv"}, {"tool": "query_raw", "table": "memories"},
		{"tool": "events", "action": "list"}, {"tool": "bundle", "action": "export", "namespaces": []string{"secret"}}, {"tool": "namespaces", "action": "exists", "name": "secret"},
		{"tool": "namespaces", "action": "delete", "name": "secret", "force": true},
	} {
		name := tool["tool"].(string)
		delete(tool, "tool")
		if tool["name"] == nil && tool["namespaces"] == nil {
			tool["namespace"] = "secret"
		}
		mustFail(t, ann, client.Denied, name, tool)
	}
	if got := ask(t, ann, "namespaces", object{"action": "list"}); fmt.Sprint(got["namespaces"]) != "[default]" {
		t.Errorf("namespaces = %v, want default alone", got)
	}
	if got := ask(t, ann, "bundle", object{"action": "export"}); strings.Contains(fmt.Sprint(got), "secret") {
		t.Errorf("the exported bundle is %v, want nothing of secret", got)
	}
	mustFail(t, ann, client.Denied, "store_info", object{"action": "durability"})

	// Rows of open collections are shown, those of private ones only to callers who act for all agents.
	if got := ask(t, ann, "query_raw", object{"table": "graph/entity"}); len(got["rows"].([]any)) != 1 || strings.Contains(fmt.Sprint(got), "secret") {
		t.Errorf("rows of graph/entity = %v, want 1, of default", got)
	}
	mustFail(t, ann, client.NotFound, "query_raw", object{"table": "working-memory/wm"})
	mustFail(t, ann, client.NotFound, "query_raw", object{"table": "developer/txn"})
	if got := ask(t, all, "query_raw", object{"table": "working-memory/wm"}); len(got["rows"].([]any)) != 1 {
		t.Errorf("rows of working-memory/wm = %v, want 1", got)
	}

	// Who may only read gets what there is, and puts nothing.
	if got := ask(t, reader, "kv", object{"action": "get", "key": "k"}); got["value"] != "the plan of default" {
		t.Errorf("get = %v, want the plan of default", got)
	}
	mustFail(t, reader, client.Denied, "kv", object{"action": "put", "key": "k", "value": 1})
	mustFail(t, reader, client.Denied, "transaction", object{"action": "begin"})

	// A transaction of one namespace takes what is in it, and leaves what is in others.
	begun := ask(t, ann, "transaction", object{"action": "begin"})
	ask(t, ann, "kv", object{"action": "put", "key": "k", "value": "new", "branch": begun["branch"]})
	mustFail(t, ann, client.Denied, "kv", object{"action": "get", "key": "k", "namespace": "secret", "branch": begun["branch"]})
	if got := ask(t, ann, "transaction", object{"action": "commit", "id": begun["id"]}); got["state"] != "committed" {
		t.Errorf("commit = %v, want it committed", got)
	}
	if got := ask(t, ann, "transaction", object{"action": "info", "id": begun["id"]}); got["state"] != "committed" {
		t.Errorf("info = %v, want it committed", got)
	}
	if got := ask(t, all, "kv", object{"action": "get", "key": "k"}); got["value"] != "new" {
		t.Errorf("get after the commit = %v, want new", got)
	}
	begun = ask(t, ann, "transaction", object{"action": "begin"})
	mustFail(t, all, client.NotFound, "transaction", object{"action": "commit", "id": begun["id"]})
	if got := ask(t, ann, "transaction", object{"action": "rollback", "id": begun["id"]}); got["state"] != "rolled_back" {
		t.Errorf("rollback = %v, want it rolled back", got)
	}
	// A transaction that is rolled back loses its changes without more ado, and is none of the branches to restore.
	begun = ask(t, all, "transaction", object{"action": "begin"})
	ask(t, all, "kv", object{"action": "put", "key": "k", "value": "newest", "branch": begun["branch"]})
	ask(t, all, "transaction", object{"action": "rollback", "id": begun["id"]})
	if got := ask(t, all, "memory_branch", object{"action": "list", "name": begun["branch"]}); len(got["branches"].([]any)) != 0 {
		t.Errorf("got %v, want the branch %v gone", got, begun["branch"])
	}
	if got := ask(t, all, "memory_branch", object{"action": "list", "deleted": true}); len(got["branches"].([]any)) != 0 {
		t.Errorf("%v can be restored, want nothing", got)
	}
	// The keys of one agent are one caller; a key without the right to branch begins none.
	mustFail(t, p.client(p.key("eve", "--rights", "read,write,family:*")), client.Denied, "transaction", object{"action": "begin"})
}
