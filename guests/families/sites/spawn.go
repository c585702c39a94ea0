package sites

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// AgentSpawn delegates a task to a temporary agent.
//
// The agent has a namespace of its own, and a key that covers this namespace alone: with it the agent calls the site's tools, and remembers by
// the site's memory tools. The key ends with the task, when it expires, and with the caller's own key; it is shown here alone. Without
// expiresInMinutes, 30 days are allowed.
//
//alcove:camel
//alcove:title Delegate a task
//alcove:description Send a temporary agent to a website with a task: delegate it.
//alcove:tool memory_agent_spawn
//alcove:alias ora.agent.spawn
type AgentSpawn struct {
	SiteSlug         string `alcove:"required"`
	TaskDescription  string `alcove:"required,min=1,max=8192"`
	AgentType        string `alcove:"required,enum=writer|researcher|analyst|custom"`
	ExpiresInMinutes int    `alcove:"min=1,max=43200"`
}

//alcove:camel
type spawned struct {
	AgentSlug string
	Namespace string
	ExpiresAt string
	Tools     []string
	Agent     string // The agent's full name.
	Key       string // Its key: pass it to the agent.
}

const longestTask = 43_200 // minutes

// Call spawns it.
func (in AgentSpawn) Call(c *alcove.Call, cfg Config) (out spawned, err error) {
	slug, s, err := connectedSite(c, in.SiteSlug)
	if err != nil {
		return out, err
	}
	agent, key, err := newAgent(c, cfg, slug, in.ExpiresInMinutes)
	if err != nil {
		return out, err
	}
	expires, err := alcove.ParseTime(key.ExpiresAt)
	if err != nil {
		return out, err
	}
	t := task{Description: in.TaskDescription, AgentType: in.AgentType, Status: running, Branch: c.Branch, SpawnedBy: c.Caller, Key: key.ID, SpawnedAt: c.Time(), ExpiresAt: expires}
	if err := t.save(c, slug, agent); err != nil {
		return out, err
	}
	k, err := readCatalogue(c, slug)
	if err != nil {
		return out, err
	}
	if err := k.copyCut(own(slug, agent)); err != nil {
		return out, err
	}
	s.Spawned++
	if err := s.save(c, slug); err != nil {
		return out, err
	}
	out = spawned{agent, own(slug, agent), key.ExpiresAt, k.tools(), key.Agent, key.Key}
	return out, emit(c, "agent_spawned", changes{Site: slug, Agent: agent})
}

// newAgent is the slug of another agent with its key, if there may be one more.
func newAgent(c *alcove.Call, cfg Config, slug string, minutes int) (agent string, key alcove.IdentityDelegateResponse, err error) {
	there, count := map[string]bool{}, 0
	for item, err := range tasks.In(home(slug)).All(c, taskPrefix) {
		if err != nil {
			return "", key, err
		}
		there[item.Key] = true
		if item.Value.Status == running && !item.Value.expired(c.Time()) {
			count++
		}
	}
	if count >= cfg.SpawnMax {
		return "", key, alcove.Errorf(alcove.Exhausted, "the site %s has %d temporary agents, which is the limit (spawn_max): complete one", slug, count)
	}
	if minutes == 0 {
		minutes = longestTask
	}
	first := taskPrefix + strconv.FormatInt(int64(c.Time())/1e6, 10)
	for n := range mostInASecond {
		if agent = first; n > 0 {
			agent += "-" + digest(first, strconv.Itoa(n))[:2]
		}
		if there[agent] {
			continue
		}
		key, err = c.IdentityDelegate(alcove.IdentityDelegateRequest{
			Name: slug + "." + agent, Namespaces: []string{own(slug, agent)}, Rights: []string{"read", "write", "family:sites"}, ExpiresS: 60 * minutes,
		})
		if alcove.CodeOf(err) != alcove.Conflict { // with an agent that another call has just spawned
			return agent, key, err
		}
	}
	return "", key, alcove.Errorf(alcove.Exhausted, "too many temporary agents began in one second: try again")
}

// mostInASecond bounds the agents that one caller spawns for a site in a second.
const mostInASecond = 64

// copyCut tells an agent the actions of the tools whose names were cut.
func (k catalogue) copyCut(at string) error {
	for _, e := range k.pinned() {
		if isCut(e.Tool) {
			if err := entries.In(at).Put(k.c, short+e.Tool, entry{Action: e.Action, Tool: e.Tool}); err != nil {
				return err
			}
		}
	}
	return nil
}
