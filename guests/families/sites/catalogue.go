package sites

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// entry is an action of a site, in the namespace of its keeper, by its name. Entries of tools whose names were cut are by
// short: and that name.
type entry struct {
	Action  string
	Tool    string     // the name of the tool
	Pinned  alcove.Raw `json:"pinned,omitzero"`  // the tool that callers have; empty: none
	Offered alcove.Raw `json:"offered,omitzero"` // the tool as the site has it now, if it is to be accepted
	Gone    bool       `json:"gone,omitzero"`    // the site has it no more
	Fault   string     `json:"fault,omitzero"`   // why there is no such tool
}

var entries = alcove.Records[entry]{Name: "site_schema", Per: "space"}

// short begins the keys of tools whose names were cut.
const short = "short:"

// catalogue are the entries of a site.
type catalogue struct {
	c       *alcove.Call
	slug    string
	entries map[string]*entry
	changed map[string]bool
}

func readCatalogue(c *alcove.Call, slug string) (k catalogue, err error) {
	k = catalogue{c, slug, map[string]*entry{}, map[string]bool{}}
	for item, err := range entries.In(home(slug)).All(c, "") {
		if err != nil {
			return k, err
		}
		if _, cut := after(item.Key, short); !cut {
			e := item.Value
			k.entries[item.Key] = &e
		}
	}
	return k, nil
}

// names are the actions in order.
func (k catalogue) names() []string {
	list := make([]string, 0, len(k.entries))
	for name := range k.entries {
		list = append(list, name)
	}
	sortTexts(list)
	return list
}

// difference is what a site changed since its tools were pinned, by the names of actions.
type difference struct {
	added, changed, removed []string
	pending                 []string
	news                    bool // something is pending, or removed, that was not before
}

// pin compares the catalogue with what a site offers now. Actions of a site that was never connected are pinned; afterwards what is new or
// changed is only noted, unless it is accepted and as it was noted before: nothing is accepted unseen.
func (k catalogue) pin(s schema, first, accept bool) (d difference) {
	there := map[string]bool{}
	for _, o := range s.actions {
		there[o.action] = true
		e := k.entries[o.action]
		if e == nil {
			e = &entry{Action: o.action, Tool: o.tool}
			k.entries[o.action] = e
		}
		before := *e
		d.of(e, o, first, accept)
		if before.Gone != e.Gone || string(before.Pinned) != string(e.Pinned) || string(before.Offered) != string(e.Offered) {
			k.changed[o.action] = true
			d.news = d.news || len(e.Offered) > 0
		}
	}
	for _, name := range k.names() {
		if e := k.entries[name]; !there[name] && !e.Gone {
			e.Gone, e.Offered = true, nil
			k.changed[name], d.news = true, true
			d.removed = append(d.removed, name)
		}
	}
	return d
}

// of decides about one action.
func (d *difference) of(e *entry, o offer, first, accept bool) {
	same, noted := string(e.Pinned) == string(o.json), string(e.Offered) == string(o.json)
	e.Gone = false
	switch {
	case same:
		e.Offered = nil
		return
	case len(e.Pinned) == 0:
		d.added = append(d.added, o.action)
	default:
		d.changed = append(d.changed, o.action)
	}
	if first || accept && noted {
		e.Pinned, e.Offered = o.json, nil
		return
	}
	e.Offered = o.json
	d.pending = append(d.pending, o.action)
}

// publish publishes and withdraws tools: those of changed entries, or all. A tool that the host refuses keeps why.
func (k catalogue) publish(all bool) error {
	put := map[string]entry{}
	for _, name := range k.names() {
		e := k.entries[name]
		if !all && !k.changed[name] && e.Fault == "" {
			continue
		}
		if err := k.offer(e); err != nil {
			return err
		}
		put[name] = *e
		if isCut(e.Tool) {
			put[short+e.Tool] = entry{Action: e.Action, Tool: e.Tool}
		}
	}
	return entries.In(home(k.slug)).PutAll(k.c, func(yield func(string, entry) bool) {
		for key, e := range put {
			if !yield(key, e) {
				return
			}
		}
	})
}

func (k catalogue) offer(e *entry) error {
	if e.Gone || len(e.Pinned) == 0 {
		return withdraw(k.c, e.Tool)
	}
	e.Fault = ""
	err := k.c.ToolsPublish(alcove.ToolsPublishRequest{Tool: e.Pinned})
	switch alcove.CodeOf(err) {
	case alcove.InvalidArgument, alcove.Conflict, alcove.Exhausted:
		e.Fault = plain(err.Error(), longestMessage)
		return nil
	}
	return err
}

// withdraw withdraws a tool, if there is one.
func withdraw(c *alcove.Call, tool string) error {
	err := c.ToolsWithdraw(alcove.ToolsWithdrawRequest{Name: tool})
	if alcove.CodeOf(err) == alcove.NotFound {
		return nil
	}
	return err
}

// pinned are the entries that have tools.
func (k catalogue) pinned() (list []*entry) {
	for _, name := range k.names() {
		if e := k.entries[name]; !e.Gone && len(e.Pinned) > 0 && e.Fault == "" {
			list = append(list, e)
		}
	}
	return list
}

// pending are the entries that wait for being accepted.
func (k catalogue) pending() (list []*entry) {
	for _, name := range k.names() {
		if e := k.entries[name]; len(e.Offered) > 0 {
			list = append(list, e)
		}
	}
	return list
}

// digest identifies the pinned tools.
func (k catalogue) digest() string {
	var texts []string
	for _, e := range k.pinned() {
		texts = append(texts, string(e.Pinned))
	}
	return digest(texts...)
}

// tools are the names of a site's tools, those of its memory included.
func (k catalogue) tools() (list []string) {
	for _, e := range k.pinned() {
		list = append(list, e.Tool)
	}
	return append(list, memoryTools(k.slug)...)
}

// waiting is a tool that waits for being accepted, as callers would have it.
type waiting struct {
	Tool        string
	Change      string // added or changed
	Description string
	InputSchema alcove.Raw
}

func (e *entry) waiting() (out waiting) {
	out.Tool, out.Change = e.Tool, "changed"
	if len(e.Pinned) == 0 {
		out.Change = "added"
	}
	s := scan.New(e.Offered)
	for key := range s.Fields() {
		switch key {
		case "description":
			out.Description = s.String()
		case "input_schema":
			out.InputSchema = s.Raw()
		default:
			s.Skip()
		}
	}
	return out
}
