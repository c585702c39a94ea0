package servers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/follow"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// said is an answer of a server.
type said struct {
	status   int
	version  string // of the space
	followed bool   // a server answered that does not lead the space
	body     string
}

// result is what an answer tells, without when it was asked, which a continuation has, too. What it tells of accesses is left out: they are
// counted without a version, and come to copies later.
func (s said) result(t *testing.T) string {
	t.Helper()
	var a struct{ Result, Error any }
	if err := json.Unmarshal([]byte(s.body), &a); err != nil {
		t.Fatalf("read an answer: got %d %s, want an object", s.status, s.body)
	}
	return unversioned.ReplaceAllString(string(must.Get(json.MarshalIndent(a, "", " "))), "")
}

var unversioned = regexp.MustCompile(`\s*"(accesses|idle|next)": ("[^"]*"|[0-9.e-]+),`)

// question is a call, and how new its answer has to be.
type question struct {
	tool      string
	arguments map[string]any
	within    string // ms; empty: nothing is said
	least     string
}

func (q question) ask(t *testing.T, s *server.Sharing, key string) said {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), "POST", s.URL()+"/operation/"+q.tool, bytes.NewReader(must.Get(json.Marshal(q.arguments)))))
	for name, value := range map[string]string{"Authorization": "Bearer " + key, follow.StalenessHeader: q.within, follow.LeastHeader: q.least} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return said{body: err.Error()}
	}
	defer got.Body.Close()
	return said{got.StatusCode, got.Header.Get(follow.VersionHeader), got.Header.Get(follow.AgeHeader) != "", string(must.Get(io.ReadAll(got.Body)))}
}

// following waits until a server answers a read of the default space from its copy.
func following(t *testing.T, s *server.Sharing, key string) {
	t.Helper()
	until(t, "the server answers from its copy", func() (bool, string) {
		a := question{tool: "memory_recall", arguments: map[string]any{"key": "k"}, within: "0"}.ask(t, s, key)
		return a.followed, fmt.Sprint(a)
	})
}

// reads are what copies answer.
func reads(key, word, branch string) []question {
	of := func(tool string, arguments map[string]any) question {
		if branch != "" {
			arguments["branch"] = branch
		}
		return question{tool: tool, arguments: arguments}
	}
	return []question{
		of("memory_recall", map[string]any{"key": key}),
		of("memory_history", map[string]any{"key": key}),
		of("memory_search", map[string]any{"query": word}),
		of("memory_search", map[string]any{"query": word, "mode": "lexical", "explain": true}),
		of("memory_search", map[string]any{"k": 5, "facets": true}),
		of("memory_search", map[string]any{"prefix": "k", "tags": []string{"even"}}),
	}
}

// TestACopyAnswersAsTheLeaderDoesAtItsVersion writes by way of the leader at random, and compares what a copy tells then with what the leader
// tells of the same version.
func TestACopyAnswersAsTheLeaderDoesAtItsVersion(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	lead, others := leader(t, list, "default")
	for _, s := range others {
		following(t, s, key)
	}
	words := []string{"walnut", "elm", "birch", "cedar", "rowan"}
	random := rand.New(rand.NewPCG(stress.FromEnvironment(t).Seed, 1))
	branches, answered, asked := []string{""}, 0, 0
	for round := range stress.FromEnvironment(t).Rounds(25) {
		branch := branches[random.IntN(len(branches))]
		write := question{tool: "memory_store", arguments: map[string]any{"key": fmt.Sprint("k", random.IntN(8)), "value": words[random.IntN(len(words))] + " and " + words[random.IntN(len(words))]}}
		switch random.IntN(8) {
		case 0:
			write = question{tool: "memory_forget", arguments: map[string]any{"key": fmt.Sprint("k", random.IntN(8))}}
		case 1:
			name := fmt.Sprint("b", round)
			write = question{tool: "memory_branch", arguments: map[string]any{"action": "create", "name": name}}
			branches, branch = append(branches, name), ""
		case 2:
			if branch != "" {
				write, branch = question{tool: "memory_merge", arguments: map[string]any{"from": branch, "into": "default"}}, ""
			}
		case 3:
			write.arguments["tags"] = []string{"even"}
		}
		if branch != "" {
			write.arguments["branch"] = branch
		}
		wrote := write.ask(t, lead, key)
		if wrote.status != http.StatusOK || wrote.version == "" {
			t.Fatalf("%+v: got %+v, want 200 and a version", write, wrote)
		}
		for _, q := range reads(fmt.Sprint("k", random.IntN(8)), words[random.IntN(len(words))], branches[random.IntN(len(branches))]) {
			want := q.ask(t, lead, key)
			q.least = wrote.version
			got := q.ask(t, others[random.IntN(len(others))], key)
			asked++
			if got.followed {
				answered++
			}
			if got.result(t) != want.result(t) {
				t.Fatalf("round %d: after %+v at version %s, %+v of a copy (%t, version %s): got %s, want what the leader tells at %s: %s", round, write, wrote.version, q, got.followed, got.version, got.result(t), want.version, want.result(t))
			}
		}
	}
	if answered*2 < asked {
		t.Errorf("copies answered %d of %d questions, want most", answered, asked)
	}
	t.Logf("copies answered %d of %d questions", answered, asked)
}

func TestACopyAnswersNothingToARevokedKey(t *testing.T) {
	t.Parallel()
	list := three(t)
	lead, others := leader(t, list, "default")
	made, err := operator.Call(t.Context(), server.Operator(t, lead.Dir), operator.CreateKey, operator.KeyRequest{Agent: "eve", Rights: server.ReadWrite, Namespaces: []string{"*"}})
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	following(t, others[0], made.Secret)
	if _, err := operator.Call(t.Context(), server.Operator(t, lead.Dir), operator.RevokeKey, operator.KeyID{ID: made.ID}); err != nil {
		t.Fatalf("revoke a key: %v", err)
	}
	revoked := time.Now()
	recall := question{tool: "memory_recall", arguments: map[string]any{"key": "k"}, within: "0"}
	if a := recall.ask(t, others[0], made.Secret); a.status != http.StatusUnauthorized {
		t.Errorf("an answer as new as its question, to a revoked key: got %+v, want 401", a)
	}
	recall.within = "86400000"
	until(t, "a revoked key is refused", func() (bool, string) {
		sent := time.Now()
		a := recall.ask(t, others[1], made.Secret)
		if a.status == http.StatusOK && sent.Sub(revoked) > follow.Oldest {
			t.Fatalf("%v after a key was revoked: got %+v, want 401", sent.Sub(revoked), a)
		}
		return a.status == http.StatusUnauthorized && sent.Sub(revoked) > follow.Oldest, fmt.Sprint(a)
	})
}

func TestACopyWritesNothingAndCountsNothing(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	_, others := leader(t, list, "default")
	following(t, others[0], key)
	for _, q := range []question{
		{tool: "memory_store", arguments: map[string]any{"key": "k", "value": "walnut"}},
		{tool: "memory_recall", arguments: map[string]any{"query": "walnut"}},
		{tool: "memory_recall", arguments: map[string]any{"key": "k", "use": true}},
		{tool: "memory_search", arguments: map[string]any{"order": "accesses"}},
		{tool: "memory_status", arguments: map[string]any{}},
		{tool: "memory_branch", arguments: map[string]any{"action": "list"}},
	} {
		q.within = "2000"
		if a := q.ask(t, others[0], key); a.followed || a.status != http.StatusOK {
			t.Errorf("%+v: got %+v, want the answer of the leader", q, a)
		}
	}
}

func TestACopyAnswersWhileASpaceHasNoLeaderAndFollowsTheNextOne(t *testing.T) {
	t.Parallel()
	list := threeAsInProduction(t)
	key := issue(t, list[0])
	was, others := leader(t, list, "default")
	store := question{tool: "memory_store", arguments: map[string]any{"key": "k", "value": "walnut"}}
	if a := store.ask(t, was, key); a.status != http.StatusOK {
		t.Fatalf("store: got %+v, want 200", a)
	}
	for _, s := range others {
		following(t, s, key)
	}
	dead := was.Cluster().Self
	was.Kill()
	recall := question{tool: "memory_recall", arguments: map[string]any{"key": "k"}, within: "1000"}
	for _, s := range others {
		a := recall.ask(t, s, key)
		if unled := s.Cluster().Spaces[0].Server == dead; unled && (!a.followed || a.status != http.StatusOK || !strings.Contains(a.body, "walnut")) {
			t.Errorf("a read while the space has no leader: got %+v, want walnut of the copy", a)
		}
	}
	for i, s := range others {
		store.arguments["value"] = fmt.Sprint("elm ", i)
		var wrote said
		until(t, "the next leader stores", func() (bool, string) {
			wrote = store.ask(t, s, key)
			return wrote.status == http.StatusOK, fmt.Sprint(wrote)
		})
		recall.least = wrote.version
		for _, s := range others {
			until(t, "the value of the next leader is read", func() (bool, string) {
				a := recall.ask(t, s, key)
				if a.status == http.StatusOK && !strings.Contains(a.body, fmt.Sprint("elm ", i)) {
					t.Fatalf("a read of version %s: got %+v, want elm %d", wrote.version, a, i)
				}
				return a.status == http.StatusOK, fmt.Sprint(a)
			})
		}
	}
}

func TestWhatIsAskedOfCopiesHasLimits(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	_, others := leader(t, list, "default")
	for _, q := range []question{
		{within: "-1"}, {within: "86400001"}, {within: "1.5"}, {within: "99999999999999999999"}, {within: "0x10"}, {within: strings.Repeat("1", 4000)},
		{least: "-1"}, {least: "9223372036854775808"}, {least: "v12"},
	} {
		q.tool, q.arguments = "memory_recall", map[string]any{"key": "k"}
		if a := q.ask(t, others[0], key); a.status != http.StatusBadRequest || !strings.Contains(a.body, "give one whole number from 0 to ") {
			t.Errorf("%.60q and %.60q: got %+v, want 400 and the limit", q.within, q.least, a)
		}
	}
	ahead := question{tool: "memory_recall", arguments: map[string]any{"key": "k"}, least: "9223372036854775807"}
	if a := ahead.ask(t, others[0], key); a.status != http.StatusOK || a.followed {
		t.Errorf("a version that the space has not reached: got %+v, want the answer of the leader", a)
	}
}

func TestACopyAnswersCallsOfMCPThatNeedNoSession(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	lead, others := leader(t, list, "default")
	question{tool: "memory_store", arguments: map[string]any{"key": "k", "value": "walnut"}}.ask(t, lead, key)
	following(t, others[0], key)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_recall","arguments":{"key":"k"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	ask := func(s *server.Sharing) (followed bool, answer string) {
		r := must.Get(http.NewRequestWithContext(t.Context(), "POST", s.URL()+"/mcp", strings.NewReader(call)))
		for name, value := range map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "memory_recall", follow.StalenessHeader: "0"} {
			r.Header.Set(name, value)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("call a tool: %v", err)
		}
		defer got.Body.Close()
		return got.Header.Get(follow.AgeHeader) != "", string(must.Get(io.ReadAll(got.Body)))
	}
	_, want := ask(lead)
	until(t, "a copy answers a call of MCP", func() (bool, string) {
		followed, got := ask(others[0])
		if got != want || !strings.Contains(got, "walnut") {
			t.Fatalf("a call of MCP: got %s (of a copy: %t), want what the leader says: %s", got, followed, want)
		}
		return followed, got
	})
}
