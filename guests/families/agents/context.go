package agents

import (
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/identity"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// GetAgentContext tells an agent who it is, which scopes it may use, and how the memory is.
//
// As a prompt it is text of at most 400 tokens for a system prompt.
//
//alcove:description Your identity, scopes and the system's health.
//alcove:title Context of an agent
//alcove:tool read-only
//alcove:camel
type GetAgentContext struct {
	AgentID string `alcove:"required"`
	Format  string `alcove:"default=json,enum=json|prompt"`
}

//alcove:camel
type agentContext struct {
	Identity     *agentIdentity `json:"identity,omitzero"`
	Scopes       []agentScope   `json:"scopes,omitzero"`
	SystemHealth *systemHealth  `json:"systemHealth,omitzero"`
	Prompt       string         `json:"prompt,omitzero"` // With the format prompt, alone.
}

//alcove:camel
type agentIdentity struct {
	AgentID      string
	Name         string
	Role         string `json:"role,omitzero"`
	Telos        string
	Capabilities []string
	Settings     alcove.Raw  `alcove:"opaque"`
	DefaultScope string      `json:"defaultScope,omitzero"`
	RegisteredAt alcove.Time `json:"registered_at"`
}

//alcove:camel
type agentScope struct {
	ScopeID       string
	Name          string
	ReadPolicy    string
	WritePolicy   string
	RetentionDays int  `json:"retentionDays,omitzero"` // Absent: unlimited.
	MayWrite      bool // Whether the agent may write it.
}

//alcove:camel
type systemHealth struct {
	SyncStatus          string // synced, or indexing after a start.
	EmbeddingQueueDepth int    // Memories that wait for a vector.
}

const (
	mostScopes       = 200 // scopes of a context
	mostPromptTokens = 400
)

// Call collects the context.
func (in GetAgentContext) Call(c *alcove.Call) (out agentContext, err error) {
	id, err := identity.Acting(c, in.AgentID)
	if err != nil {
		return out, err
	}
	a, err := find(c, id)
	if err == nil && a == nil {
		err = alcove.Errorf(alcove.NotFound, "agent %s is not registered in %s: call memory_register_agent_core", id, c.Namespace)
	}
	if err != nil {
		return out, err
	}
	scopes, err := scopesOf(c, id)
	if err != nil {
		return out, err
	}
	if in.Format == "prompt" {
		out.Prompt, err = prompt(c, a, scopes)
		return out, err
	}
	settings := a.Settings
	if len(settings) == 0 {
		settings = alcove.Raw("{}")
	}
	out.Identity = &agentIdentity{AgentID: a.AgentID, Name: a.Name, Role: a.Role, Telos: a.Telos, Capabilities: a.Capabilities, Settings: settings,
		DefaultScope: a.DefaultScope, RegisteredAt: a.RegisteredAt}
	out.Scopes = scopes
	out.SystemHealth, err = health(c)
	return out, err
}

// scopesOf are the scopes that an agent may read, as far as the caller may.
func scopesOf(c *alcove.Call, agentID string) (list []agentScope, err error) {
	for after := ""; ; {
		page, err := c.ScopeList(alcove.ScopeListRequest{After: after, Limit: mostScopes})
		if err != nil {
			return nil, err
		}
		for i := range page.Scopes {
			s := &page.Scopes[i]
			reads, err := c.CallerCan(alcove.CallerCanRequest{Action: "read", Namespace: s.Namespace, Agent: agentID})
			if err != nil {
				return nil, err
			}
			if !reads.Allowed {
				continue
			}
			writes, err := c.CallerCan(alcove.CallerCanRequest{Action: "write", Namespace: s.Namespace, Agent: agentID})
			if err != nil {
				return nil, err
			}
			name := s.Name
			if name == "" {
				name = s.Namespace
			}
			list = append(list, agentScope{s.Namespace, name, s.Read, s.Write, s.RetentionDays, writes.Allowed})
			if len(list) == mostScopes {
				return list, nil
			}
		}
		if after = page.Next; after == "" {
			return list, nil
		}
	}
}

func health(c *alcove.Call) (*systemHealth, error) {
	status, err := c.StatusGet(alcove.StatusGetRequest{})
	if err != nil {
		return nil, err
	}
	h := &systemHealth{SyncStatus: "synced"}
	if !status.Searchable {
		h.SyncStatus = "indexing"
	}
	for _, e := range status.Embedders {
		h.EmbeddingQueueDepth += e.Waiting
	}
	return h, nil
}

const etiquette = `# Etiquette
- Store one idea in each memory.
- Give its type: decision, observation, plan, error, insight, correction or learning.
- Search before you store; correct what is wrong instead of repeating it.
- Keep secrets out. Share in a scope only what its members need.
`

// prompt renders the context in at most mostPromptTokens tokens: scopes that do not fit are left out, then texts are cut.
func prompt(c *alcove.Call, a *agent, scopes []agentScope) (string, error) {
	left := mostPromptTokens
	take := func(text string) (string, error) {
		text, used, err := cut(c, text, left)
		left -= used
		return text, err
	}
	end, err := take(etiquette)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, line := range lines(a, scopes) {
		if left < 8 {
			break
		}
		line, err := take(line)
		if err != nil {
			return "", err
		}
		all.WriteString(line)
	}
	return all.String() + "\n" + end, nil
}

// lines are the lines of a prompt before the etiquette, the most important first.
func lines(a *agent, scopes []agentScope) (list []string) {
	who := "# Your identity\nYou are " + a.Name + " (" + a.AgentID + ")"
	if a.Role != "" {
		who += ", " + a.Role
	}
	list = append(list, who+".\n")
	for _, part := range [][2]string{{"Your purpose: ", words.Cut(a.Telos, 600)}, {"You can: ", words.Cut(a.text(), 400)}, {"Style: ", a.PromptStyle}, {"Your default scope: ", a.DefaultScope}} {
		if part[1] != "" {
			list = append(list, part[0]+part[1]+"\n")
		}
	}
	for i, s := range scopes {
		line := "- " + s.Name + " (" + s.ScopeID + "): read by " + s.ReadPolicy + ", written by " + s.WritePolicy
		if s.RetentionDays > 0 {
			line += ", kept " + strconv.Itoa(s.RetentionDays) + " days"
		}
		if i == 0 {
			line = "\n# Your scopes\n" + line
		}
		list = append(list, line+"\n")
	}
	return list
}

// cut shortens a text to some tokens, and tells how many it has.
func cut(c *alcove.Call, text string, most int) (string, int, error) {
	for {
		out, err := c.TextTokens(alcove.TextTokensRequest{Texts: []string{text}})
		if err != nil || out.Counts[0] <= most {
			return text, sum(out.Counts), err
		}
		text = words.Cut(text, len(text)*most/(out.Counts[0]+1)*9/10)
	}
}

func sum(counts []int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}
