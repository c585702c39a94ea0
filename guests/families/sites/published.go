package sites

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// published serves the tools of connected sites.
func published(c *alcove.Call, tool string, arguments alcove.Raw) (alcove.Raw, error) {
	var cfg Config
	if err := c.ReadConfig(cfg.CodeSettings); err != nil {
		return nil, err
	}
	slug, action, ok := cut(tool, '.')
	if !ok {
		return nil, alcove.Errorf(alcove.NotFound, "this family has no tool %q", tool)
	}
	at, err := storeOf(c, slug)
	if err != nil {
		return nil, err
	}
	if name, ok := after(action, "memory."); ok {
		return memoryTool(c, cfg, at, name, arguments)
	}
	if isCut(tool) {
		e, ok, err := entries.In(at).Get(c, short+tool)
		if err != nil || !ok {
			return nil, alcove.Errorf(alcove.NotFound, "the tool %s has no action", tool)
		}
		action = e.Action
	}
	if len(arguments) == 0 {
		arguments = alcove.Raw("{}")
	}
	data, err := act(c, cfg, slug, action, arguments)
	if err != nil {
		return nil, noted(c, slug, err)
	}
	if len(data) > 0 && data[0] == '{' {
		return data, nil
	}
	return object(func(w *scan.Writer) {
		w.Key("result")
		w.Raw(data)
	})
}

// storeOf is the namespace of the agent that calls, which may write it: that of a temporary agent, or that of the site's keeper. Who has
// no right to write any has none to call the site.
func storeOf(c *alcove.Call, slug string) (at string, err error) {
	at = home(slug)
	if name, ok := after(lastOf(c.Caller), slug+"."); ok && isTask(name) {
		own := own(slug, name)
		allowed, err := may(c, "write", own)
		if err != nil {
			return "", err
		}
		if allowed {
			t, ok, err := tasks.In(own).Get(c, itself)
			switch {
			case err != nil:
				return "", err
			case ok && (t.Status != running || t.expired(c.Time())):
				return "", alcove.Errorf(alcove.Denied, "the task of %s has ended", name)
			case ok:
				return own, nil
			}
		}
	}
	allowed, err := may(c, "write", at)
	if err == nil && !allowed {
		err = alcove.Errorf(alcove.Denied, "the site %s is not one that the caller may use: that needs the right to write the namespace %s", slug, at)
	}
	return at, err
}

// lastOf is the last part of an agent's name.
func lastOf(agent string) string {
	for i := len(agent) - 1; i >= 0; i-- {
		if agent[i] == '/' {
			return agent[i+1:]
		}
	}
	return agent
}

func memoryTool(c *alcove.Call, cfg Config, at, name string, arguments alcove.Raw) (alcove.Raw, error) {
	var a given
	if err := c.ReadArguments(arguments, a.CodeJSON); err != nil {
		return nil, err
	}
	switch name {
	case "store":
		return remember{a.Content, a.Type, a.Importance}.fill().do(c, at)
	case "recall":
		if a.Limit <= 0 {
			a.Limit = usualRecalled
		}
		return recall{a.Query, a.Type, int(min(a.Limit, mostRecalled))}.do(c, cfg, at)
	case "forget":
		return forget(c, at, a.ID)
	case "update":
		return revise{a.ID, a.Content, a.Supersedes, a.Importance}.do(c, at)
	}
	return nil, alcove.Errorf(alcove.NotFound, "a site's memory has no tool %q", name)
}

// fill fills in what was not given.
func (in remember) fill() remember {
	if in.Type == "" {
		in.Type = "fact"
	}
	if in.Importance == 0 {
		in.Importance = usual
	}
	return in
}

// given are the arguments of all tools of a site's memory.
//
//alcove:json
type given struct {
	ID, Content, Type, Query, Supersedes string
	Importance, Limit                    float64
}
