package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// predecessor is a system that an agent comes from. Alcove takes the place of its server in a client's configuration, under the same name, so that
// prompts and permissions that name its tools, such as mcp__engram__memory_store_fact, stay as they are.
type predecessor struct {
	name      string // of the system, and of its server in a configuration
	families  string // whose tools are listed from the start
	profile   string
	agent     string // the variable with the agent's name
	namespace string // the variable with the namespace
	tells     string
}

func predecessors() []predecessor {
	return []predecessor{
		{name: "engram", families: "facts,retrieval,graph,agents,sessions,messages", agent: "ENGRAM_AGENT_ID",
			tells: "The workflow tools of Engram still answer, and say what replaces them: alcove migrate-calls FILE rewrites prompts."},
		{name: "ai-memory", families: "facts,lifecycle,graph", agent: "AI_MEMORY_AGENT_ID",
			tells: "memory_load_family and memory_smart_load load further families."},
		{name: "katra", profile: "operation", namespace: "KATRA_NAMESPACE",
			tells: "The one tool is memory_operation; katra_operation is another name of it. POST /operation and /stream are at the same port, with a token."},
		{name: "strata", families: "",
			tells: "strata_store and all other names of Strata are accepted. --families developer lists the granular tools."},
		{name: "ora", families: "sites",
			tells: "alcove site add sets a site up; ora.site.list and the other names of ORA are accepted."},
	}
}

func predecessorNames() []string {
	var names []string
	for _, o := range predecessors() {
		names = append(names, o.name)
	}
	return names
}

// from has a connection take the place of another system's server.
func (a *app) from(c connection, system string) (connection, string, error) {
	all := predecessors()
	i := slices.IndexFunc(all, func(o predecessor) bool { return o.name == system })
	if i < 0 {
		return c, "", &usageError{fmt.Errorf("unknown system %q: use %s", system, strings.Join(predecessorNames(), ", "))}
	}
	o := all[i]
	c.name, c.query = o.name, url.Values{}
	for _, option := range []struct{ flag, value, query string }{
		{"--profile", o.profile, "profile"}, {"--families", o.families, "families"}, {"--agent", a.set(o.agent), ""}, {"--namespace", a.set(o.namespace), ""},
	} {
		if option.value == "" {
			continue
		}
		c.options = append(c.options, option.flag, option.value)
		if option.query != "" {
			c.query.Set(option.query, option.value)
		}
	}
	return c, o.tells, nil
}

// set is a variable of the environment; "" without a name.
func (a *app) set(variable string) string {
	if variable == "" {
		return ""
	}
	return a.env(variable)
}
