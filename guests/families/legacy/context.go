package legacy

import alcove "github.com/alcove-memory/alcove/sdk/go"

// GetContext gathers what is known about a topic. Facts are in it as far as they fit the token budget, best first; a plan has a tenth more, an
// incident a fifth less. The notifications in it are marked as read.
//
//alcove:description Deprecated: use memory_search_facts, memory_search_entities, memory_search_themes, memory_get_handoffs and memory_get_notifications.
//alcove:tool
//alcove:title Get context
//alcove:camel
type GetContext struct {
	Topic           string `alcove:"required,min=1"`
	Profile         string `alcove:"default=default,enum=default|planning|incident|handoff"`
	TokenBudget     int    `alcove:"default=4000,min=100,max=32000"`
	MaxFacts        int    `alcove:"advanced,default=20,min=1,max=50"`
	IncludeEntities bool   `alcove:"advanced,default=true"`
	IncludeThemes   bool   `alcove:"advanced,default=true"`

	ScopeIDs []string `alcove:"name=scopeIds,alias=namespaces"` // Scopes to search; all if left out.
}

// Context is what is known.
//
//alcove:camel
type Context struct {
	Facts         []alcove.Raw
	Entities      []alcove.Raw
	Themes        []alcove.Raw
	Handoffs      []alcove.Raw
	Notifications []alcove.Raw
	Summary       string
	UsedTokens    int // Of the facts.
	notice
}

// How much one part of a context has.
const (
	mostEntities      = 10
	mostThemes        = 20
	mostHandoffs      = 5
	mostNotifications = 10
)

// found is what the searches find.
//
//alcove:json
type found struct {
	Facts, Entities, Themes, Handoffs, Notifications []alcove.Raw
}

// Call gathers it.
func (in GetContext) Call(c *alcove.Call) (out Context, err error) {
	out.notice = replacedBySuccessors("memory_get_context")
	facts, err := ask(c, "memory_search_facts", given{"topic": in.Topic, "limit": in.MaxFacts}.texts("scopeIds", in.ScopeIDs))
	if err != nil {
		return out, err
	}
	budget := in.budget()
	if out.Facts, out.UsedTokens, err = within(c, facts.Facts, budget); err != nil {
		return out, err
	}
	if err := in.beside(c, &out); err != nil {
		return out, err
	}
	out.Summary = summaryOf(in, &out, budget)
	return out, readNotifications(c, out.Notifications)
}

// beside gathers what belongs to the facts.
func (in GetContext) beside(c *alcove.Call, out *Context) error {
	var f found
	var err error
	if in.IncludeEntities {
		if f, err = ask(c, "memory_search_entities", given{"query": in.Topic, "limit": mostEntities}.texts("scopeIds", in.ScopeIDs)); err != nil {
			return err
		}
		out.Entities = f.Entities
	}
	if in.IncludeThemes {
		if f, err = ask(c, "memory_search_themes", given{"query": in.Topic, "limit": mostThemes}.texts("scopeIds", in.ScopeIDs)); err != nil {
			return err
		}
		out.Themes = f.Themes
	}
	if f, err = ask(c, "memory_get_handoffs", given{"limit": mostHandoffs}.text("agentId", c.Caller)); err != nil {
		return err
	}
	out.Handoffs = f.Handoffs
	f, err = ask(c, "memory_get_notifications", given{"limit": mostNotifications}.text("agentId", c.Caller))
	out.Notifications = f.Notifications
	return err
}

func ask(c *alcove.Call, tool string, arguments given) (f found, err error) {
	err = c.CallTool(tool, map[string]any(arguments), &f)
	return f, err
}

// budget is the token budget of the profile.
func (in GetContext) budget() int {
	switch in.Profile {
	case "planning":
		return in.TokenBudget * 11 / 10
	case "incident":
		return in.TokenBudget * 8 / 10
	}
	return in.TokenBudget
}

// content is the part of a fact that counts for the budget.
//
//alcove:json
type content struct{ Content alcove.Raw }

// within keeps the first facts that fit the budget. The first is kept in any case.
func within(c *alcove.Call, facts []alcove.Raw, budget int) (kept []alcove.Raw, used int, err error) {
	if len(facts) == 0 {
		return nil, 0, nil
	}
	texts := make([]string, len(facts))
	for i, f := range facts {
		if texts[i], err = textOf(f); err != nil {
			return nil, 0, err
		}
	}
	counted, err := c.TextTokens(alcove.TextTokensRequest{Texts: texts})
	if err != nil {
		return nil, 0, err
	}
	for i, n := range counted.Counts {
		if i == 0 || used+n <= budget {
			kept, used = append(kept, facts[i]), used+n
		}
	}
	return kept, used, nil
}

// readNotifications marks notifications as read.
func readNotifications(c *alcove.Call, list []alcove.Raw) error {
	var ids []string
	for _, raw := range list {
		n, err := readNotification(raw)
		if err != nil {
			return err
		}
		ids = append(ids, n.NotificationID)
	}
	if len(ids) == 0 {
		return nil
	}
	return c.CallTool("memory_mark_notifications_read", map[string]any(given{}.texts("notificationIds", ids)), nil)
}
