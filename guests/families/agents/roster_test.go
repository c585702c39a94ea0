package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	hosttokens "github.com/alcove-memory/alcove/host/tool/tokens"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// world is a space that scenarios share: each has a namespace of its own.
type world struct {
	*testing.T
	*alcovetest.Space
}

// as makes an agent with a key for all namespaces, or for some, the caller.
func (w world) as(agent string, namespaces ...string) {
	w.Caller, w.Key, w.Rights, w.Read, w.Write = agent, "key of "+agent, nil, nil, nil
	if len(namespaces) > 0 {
		w.Write = namespaces
	}
}

func (w world) call(tool string, arguments map[string]any, result any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, result); err != nil {
		w.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
}

func (w world) fails(code alcove.Code, says, tool string, arguments map[string]any) {
	w.T.Helper()
	err := w.Space.Tool(tool, arguments, nil)
	if alcove.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		w.T.Errorf("%s %v: %v; want %s that says %q", tool, arguments, err, code, says)
	}
	if known := (*alcove.Error)(nil); errors.As(err, &known) && code == alcove.Conflict && known.Retryable {
		w.T.Errorf("%s %v: %v is retryable, and would be refused again", tool, arguments, err)
	}
}

// register registers an agent with capabilities, as itself.
func (w world) register(agent string, capabilities ...string) {
	w.T.Helper()
	w.as(agent)
	w.call("memory_register_agent_core", map[string]any{"name": "The " + agent, "capabilities": capabilities}, nil)
}

// told are the notifications that the family sent, as AGENT REASON.
func (w world) told() *[]string {
	list := &[]string{}
	w.Ops[alcove.OpToolsCall] = func(request []byte) (any, error) {
		var r struct {
			Tool      string
			Arguments notice
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		var n struct {
			Arguments struct {
				Target string `json:"target_agent_id"`
				FactID string `json:"factId"`
				Title  string
				Reason string
			}
		}
		if err := json.Unmarshal(request, &n); err != nil || r.Tool != "memory_notify" {
			return nil, fmt.Errorf("%s: %w", request, err)
		}
		*list = append(*list, n.Arguments.Target+" "+n.Arguments.FactID+" "+n.Arguments.Reason)
		return map[string]any{"result": map[string]any{}}, nil
	}
	return list
}

// letters are vectors by which texts are alike that share their first letters.
func (w world) letters(model string) {
	w.Ops[alcove.OpEmbedTexts] = func(request []byte) (any, error) {
		var r alcove.EmbedTextsRequest
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		out := map[string]any{"model": model, "dimensions": 3}
		var list [][]float32
		for _, text := range r.Texts {
			v := []float32{.1, .1, .1}
			v[text[0]%3]++
			list = append(list, v)
		}
		out["vectors"] = list
		return out, nil
	}
}

func (w world) store(key, text string, importance float64) {
	w.T.Helper()
	if _, err := w.Space.Store(alcove.Entry{Namespace: w.Namespace, Key: key, Value: alcove.JSON(text), Importance: &importance}); err != nil {
		w.T.Fatal(err)
	}
}

func (w world) tell() {
	w.T.Helper()
	if err := w.Space.Tell(); err != nil {
		w.T.Fatal(err)
	}
}

// tokens counts as models do.
func tokens(t *testing.T, text string) int {
	t.Helper()
	counter, err := tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	return counter.Count(text)
}

var tokenizer = sync.OnceValues(hosttokens.Load)

func TestAgents(t *testing.T) {
	space := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	for name, scenario := range map[string]func(world){
		"registering is safe to repeat, and keeps the first time and what is not given": func(w world) {
			w.as("ann")
			var out registration
			w.call("memory_register_agent_core", map[string]any{"name": "Ann", "role": "planner", "capabilities": []string{"roadmaps"}, "settings": map[string]any{"tone": "dry"}, "telos": "to plan"}, &out)
			if !out.Created || out.AgentID != "ann" || out.ScopeID != "private-ann" {
				t.Fatalf("registered %+v, want ann created with scope private-ann", out)
			}
			var first, again agents
			w.call("memory_list_agents", nil, &first)
			w.Now = w.Now.Add(3_600_000_000_000)
			w.call("memory_register", map[string]any{"name": "Ann B.", "role": "lead"}, &out)
			w.call("memory_list_agents", nil, &again)
			one := again.Agents[0]
			if out.Created || len(again.Agents) != 1 || one.Name != "Ann B." || one.Role != "lead" || one.Telos != "to plan" || !slices.Equal(one.Capabilities, []string{"roadmaps"}) || one.RegisteredAt != first.Agents[0].RegisteredAt {
				t.Errorf("%+v, then %+v", out, again)
			}
			events := len(w.Events())
			w.call("memory_register", map[string]any{"name": "Ann B.", "role": "lead"}, &out)
			if out.Created || len(w.Events()) != events {
				t.Error("a repetition that changes nothing is an event")
			}
		},
		"an agent registers as itself, and as another with act_as alone": func(w world) {
			w.as("mallory")
			for _, tool := range []string{"memory_register_agent_core", "memory_get_agent_context", "memory_embed_capabilities"} {
				w.fails(alcove.Denied, "act_as", tool, map[string]any{"name": "Ann", "agentId": "ann"})
			}
			w.Rights = []string{"act_as"}
			var out registration
			w.call("memory_register_agent_core", map[string]any{"name": "Bot", "agentId": "bot"}, &out)
			if out.AgentID != "bot" || out.ScopeID != "" {
				t.Errorf("registered for another = %+v, want bot without a scope", out)
			}
			w.as("")
			w.Key = ""
			w.fails(alcove.InvalidArgument, "no name", "memory_register", map[string]any{"name": "Nobody"})
		},
		"whoami tells the agent, its rights, and what it registered": func(w world) {
			w.as("wim", w.Namespace)
			var out self
			w.call("memory_whoami", nil, &out)
			if out.AgentID != "wim" || out.Registered || !slices.Equal(out.Rights, []string{"read", "write"}) || out.Namespace != w.Namespace || out.Branch != "default" {
				t.Errorf("memory_whoami = %+v, want wim, not registered, with read and write", out)
			}
			w.call("memory_register", map[string]any{"name": "Wim", "role": "tester"}, nil)
			w.call("memory_whoami", nil, &out)
			if !out.Registered || out.Name != "Wim" || out.Role != "tester" {
				t.Errorf("memory_whoami = %+v, want Wim registered as tester", out)
			}
		},
		"a namespace does not know the agents of another": func(w world) {
			w.register("eve", "spying")
			var out agents
			w.Namespace += "-other"
			w.call("memory_list_agents", nil, &out)
			if len(out.Agents) != 0 {
				t.Errorf("agents of another namespace = %+v, want none", out)
			}
			var me self
			if w.call("memory_whoami", nil, &me); me.Registered || me.Name != "" || me.AgentID != "eve" {
				t.Errorf("in another namespace: got %+v, want eve, not registered, without a name", me)
			}
		},
		"the best match for a need comes first": func(w world) {
			w.register("dba", "postgres", "database tuning")
			w.register("painter", "watercolour", "oil")
			w.register("both", "postgres", "oil painting")
			ids := func(arguments map[string]any) (list []string) {
				var out agents
				w.call("memory_list_agents", arguments, &out)
				for _, a := range out.Agents {
					list = append(list, a.AgentID)
				}
				return list
			}
			if got := ids(map[string]any{"query": "tune the postgres database"}); !slices.Equal(got, []string{"dba", "both"}) {
				t.Errorf("by words: %v", got)
			}
			var out agents
			w.call("memory_list_agents", map[string]any{"query": "somebody who repairs roofs"}, &out)
			if len(out.Agents) != 3 || !out.NothingMatches || out.Agents[0].Score == nil || *out.Agents[0].Score != 0 {
				t.Errorf("where nobody matches: %+v, want all three with score 0, and nothing_matches", out)
			}
			if got := ids(map[string]any{"agentIds": []string{"painter", "nobody"}}); !slices.Equal(got, []string{"painter"}) {
				t.Errorf("by id: %v", got)
			}
			var page agents
			w.call("memory_list_agents", map[string]any{"limit": 2}, &page)
			if len(page.Agents) != 2 || !page.Truncated || !slices.Equal(ids(map[string]any{"limit": 2, "cursor": page.NextCursor}), []string{"painter"}) {
				t.Errorf("in pages: %+v", page)
			}
		},
		"capabilities have a vector where there is an embedder": func(w world) {
			var out embedded
			w.register("lex", "law")
			w.call("memory_embed_capabilities", map[string]any{"agentId": "lex"}, &out)
			if out.Method != "lexical" {
				t.Errorf("without an embedder: %+v", out)
			}
			w.letters("m1")
			w.call("memory_embed_capabilities", map[string]any{"agentId": "lex"}, &out)
			var found agents
			w.call("memory_list_agents", map[string]any{"query": "lawyers wanted"}, &found)
			if out.Method != "vector" || len(found.Agents) != 1 || *found.Agents[0].Score < .99 {
				t.Errorf("embedded %+v and found %+v, want one agent by vector with a score near 1", out, found)
			}
			w.fails(alcove.NotFound, "memory_register_agent_core", "memory_embed_capabilities", map[string]any{"agentId": "lex", "namespace": w.Namespace + "-other"})
		},
		"agents without a vector are compared by meaning, too": func(w world) {
			w.register("lex", "lawyers wanted")
			w.register("other", "zzz")
			w.letters("m1")
			var found agents
			w.call("memory_list_agents", map[string]any{"query": "rules of courts"}, &found)
			if len(found.Agents) != 1 || found.Agents[0].AgentID != "lex" || *found.Agents[0].Score < .99 || found.NothingMatches {
				t.Errorf("memory_list_agents = %+v, want lex with a score near 1", found)
			}
		},
		"the context has identity, scopes and health, and a prompt of at most 400 tokens": func(w world) {
			w.as("cara")
			w.fails(alcove.NotFound, "memory_register_agent_core", "memory_get_agent_context", map[string]any{"agentId": "cara"})
			w.call("memory_register", map[string]any{"name": "Cara", "role": "analyst", "telos": strings.Repeat("to understand the world, ", 60), "capabilities": []string{"statistics"}, "settings": map[string]any{"x": 1}}, nil)
			w.call("memory_create_scope", map[string]any{"name": "Numbers", "members": []string{"dan"}, "writePolicy": "creator", "retentionDays": 30}, nil)
			w.as("dan")
			w.call("memory_register", map[string]any{"name": "Dan"}, nil)
			var out agentContext
			w.call("memory_get_agent_context", map[string]any{"agentId": "dan"}, &out)
			at := slices.IndexFunc(out.Scopes, func(s agentScope) bool { return s.ScopeID == "numbers" })
			if at < 0 || out.Scopes[at] != (agentScope{"numbers", "Numbers", "members", "creator", 30, false}) || out.Identity.Name != "Dan" || out.SystemHealth.SyncStatus != "synced" || string(out.Identity.Settings) != "{}" {
				t.Errorf("%+v of %+v", out, out.Identity)
			}
			if slices.ContainsFunc(out.Scopes, func(s agentScope) bool { return s.ScopeID == "private-cara" }) {
				t.Error("dan sees cara's private scope")
			}
			w.as("cara")
			for i := range 30 {
				w.call("memory_create_scope", map[string]any{"name": fmt.Sprintf("Long name of a scope, number %d", i)}, nil)
			}
			out = agentContext{}
			w.call("memory_get_agent_context", map[string]any{"agentId": "cara", "format": "prompt"}, &out)
			if !strings.Contains(out.Prompt, "You are Cara (cara), analyst.") || !strings.Contains(out.Prompt, "# Your scopes") || !strings.Contains(out.Prompt, "# Etiquette") || out.Identity != nil {
				t.Errorf("the prompt is %q, want cara's role, scopes and etiquette", out.Prompt)
			}
			if n := tokens(t, out.Prompt); n > 400 || n < 300 {
				t.Errorf("%d tokens", n)
			}
		},
		"the id of a scope comes from its name, and there is one of each": func(w world) {
			w.as("sam")
			var out createdScope
			w.call("memory_create_scope", map[string]any{"name": "Incident Room: Müller & Co."}, &out)
			if out.ScopeID != "incident-room-m-ller-co." {
				t.Errorf("created scope %+v, want incident-room-m-ller-co.", out)
			}
			w.fails(alcove.Conflict, "", "memory_create_scope", map[string]any{"name": "incident room m-ller co."})
			w.fails(alcove.InvalidArgument, "makes no id", "memory_create_scope", map[string]any{"name": "…"})
			w.as("tom", "tom/*", w.Namespace)
			w.fails(alcove.Denied, "", "memory_create_scope", map[string]any{"name": "elsewhere"})
			w.call("memory_create_scope", map[string]any{"name": "tom/notes"}, &out)
			if out.ScopeID != "tom/notes" {
				t.Errorf("created scope %+v, want tom/notes", out)
			}
		},
		"members come and go by the creator's will, at once": func(w world) {
			w.as("una")
			w.call("memory_create_scope", map[string]any{"name": "una-crew"}, nil)
			var out members
			w.call("memory_scope_members", map[string]any{"scopeId": "una-crew", "add": []string{"vic", "wes"}, "remove": "wes"}, &out)
			if !slices.Equal(out.Members, []string{"una", "vic"}) {
				t.Errorf("members %+v, want una and vic", out)
			}
			w.as("vic")
			w.call("memory_scope_members", map[string]any{"scopeId": "una-crew"}, &out)
			if !slices.Equal(out.Members, []string{"una", "vic"}) {
				t.Errorf("a member sees %+v", out)
			}
			w.fails(alcove.Denied, "creator", "memory_scope_members", map[string]any{"scopeId": "una-crew", "add": "xia"})
			w.fails(alcove.Denied, "creator", "memory_delete_scope", map[string]any{"scopeId": "una-crew"})
			w.as("una")
			w.call("memory_scope_members", map[string]any{"scopeId": "una-crew", "remove": "vic"}, nil)
			w.as("vic")
			w.fails(alcove.NotFound, "", "memory_scope_members", map[string]any{"scopeId": "una-crew"})
			w.fails(alcove.NotFound, "", "memory_scope_members", map[string]any{"scopeId": "no-such-crew"})
		},
		"a creator grants no right to write that its key lacks": func(w world) {
			w.as("rita")
			w.call("memory_create_scope", map[string]any{"name": "rita-notes"}, nil)
			w.Read, w.Write = []string{"*"}, []string{w.Namespace}
			if err := w.Space.Tool("memory_scope_members", map[string]any{"scopeId": "rita-notes", "add": "sid"}, nil); alcove.CodeOf(err) != alcove.Denied {
				t.Errorf("memory_scope_members without the right to write: %v, want %s", err, alcove.Denied)
			}
		},
		"a scope is archived unless it holds memories": func(w world) {
			w.as("zoe")
			var out deletedScope
			w.call("memory_create_scope", map[string]any{"name": "zoe-old"}, nil)
			space := w.Namespace
			w.Namespace = "zoe-old"
			w.store("k", "a fact", .2)
			w.Namespace = space
			w.fails(alcove.Conflict, "holds 1 memories", "memory_delete_scope", map[string]any{"scopeId": "zoe-old"})
			w.fails(alcove.Conflict, "holds 1 memories", "memory_delete_scope", map[string]any{"scopeId": "zoe-old", "hard": true})
			w.call("memory_delete_scope", map[string]any{"scopeId": "zoe-old", "force": true}, &out)
			if !out.Success || out.EntityID != "zoe-old" {
				t.Errorf("memory_delete_scope by force = %+v, want success for zoe-old", out)
			}
			if _, err := w.Space.Store(alcove.Entry{Namespace: "zoe-old", Key: "l", Value: alcove.JSON(1)}); alcove.CodeOf(err) != alcove.Denied {
				t.Errorf("an archived scope takes a memory: %v", err)
			}
			w.call("memory_delete_scope", map[string]any{"scopeId": "zoe-old", "force": true, "hard": true}, &out)
			w.fails(alcove.NotFound, "", "memory_delete_scope", map[string]any{"scopeId": "zoe-old"})
		},
		"a dry run registers nobody": func(w world) {
			w.as("dry")
			w.DryRun = true
			w.call("memory_register", map[string]any{"name": "Dry"}, nil)
			w.call("memory_create_scope", map[string]any{"name": "dry-scope"}, nil)
			w.DryRun = false
			w.fails(alcove.NotFound, "", "memory_get_agent_context", map[string]any{"agentId": "dry"})
			w.fails(alcove.NotFound, "", "memory_scope_members", map[string]any{"scopeId": "dry-scope"})
		},
		"an outage of postgres reaches the agent for databases, and not its writer": func(w world) {
			told := w.told()
			w.register("pg", "postgres", "database outages")
			w.register("ux", "design", "colours")
			w.register("sre", "postgres outage response")
			w.as("sre")
			w.store("outage", "Postgres outage in production since nine.", .8)
			w.store("aside", "Postgres is a nice name.", .5)
			w.tell()
			if got := strings.Join(*told, "; "); got != "pg "+w.Namespace+"#outage relevance:0.667" {
				t.Errorf("told %q, want pg of the outage alone", got)
			}
			w.store("outage", "Postgres outage in production since nine, and database errors.", .9)
			w.tell()
			if len(*told) != 1 {
				t.Errorf("a later version is told again: %q", *told)
			}
		},
		"routing compares by meaning where there is an embedder": func(w world) {
			told := w.told()
			w.letters("m1")
			w.register("a", "aardvarks")
			w.register("b", "bees")
			w.call("memory_embed_capabilities", map[string]any{"agentId": "b"}, nil)
			w.letters("m2") // of which no agent has a vector
			w.as("writer")
			w.store("k", "badgers were seen", .6)
			w.tell()
			if got := strings.Join(*told, "; "); got != "b "+w.Namespace+"#k relevance:1.000" {
				t.Errorf("told %q, want b of the badgers by words", got)
			}
		},
		"routing never tells of a scope that an agent may not read": func(w world) {
			told := w.told()
			w.register("in", "secrets of finance")
			w.register("out", "secrets of finance")
			w.as("boss")
			w.call("memory_create_scope", map[string]any{"name": "board", "members": []string{"in"}}, nil)
			w.Namespace = "board"
			w.store("k", "Secrets of finance.", .9)
			w.tell()
			if got := strings.Join(*told, "; "); got != "in board#k relevance:1.000" {
				t.Errorf("told %q, want the member in alone", got)
			}
			w.as("in") // registers where it is a member, and is one no more
			w.call("memory_register", map[string]any{"name": "In"}, nil)
			w.as("boss")
			w.call("memory_scope_members", map[string]any{"scopeId": "board", "remove": "in"}, nil)
			w.store("l", "More secrets of finance.", .9)
			w.tell()
			if len(*told) != 1 {
				t.Errorf("told %q, want nothing more for who is a member no longer", *told)
			}
		},
		"routing heeds its settings": func(w world) {
			told := w.told()
			for i := range 5 {
				w.register(fmt.Sprintf("r%d", i), "routing", "packets")
			}
			w.as("writer")
			w.Config["route_enabled"] = false
			w.store("off", "routing packets", .9)
			w.tell()
			if len(*told) != 0 {
				t.Errorf("off: %q", *told)
			}
			w.Config["route_enabled"], w.Config["route_max_agents"], w.Config["route_min_importance"] = nil, 2, .95
			w.store("low", "routing packets", .9)
			w.store("high", "routing packets", .96)
			w.tell()
			if got := strings.Join(*told, "; "); got != "r0 "+w.Namespace+"#high relevance:1.000; r1 "+w.Namespace+"#high relevance:1.000" {
				t.Errorf("told %q, want two agents of the important memory alone", got)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			space.Namespace, space.Branch = "s-"+strings.Map(func(r rune) rune {
				if 'a' <= r && r <= 'z' {
					return r
				}
				return '-'
			}, name), "default"
			clear(space.Ops)
			for key := range space.Config {
				space.Config[key] = nil
			}
			if len(space.Namespace) > 60 {
				space.Namespace = space.Namespace[:60]
			}
			scenario(world{t, space})
		})
	}
}
