package core

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const loadName = "memory_load_family"

func (k *kit) loadTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        loadName,
		Aliases:     []string{"memory_smart_load"},
		Description: "Load tools that you need: a family by name, or by intent: what you want to do, in plain words. Call them at once.",
		Docs: "The answer has the family's tools with the schemas of their arguments. Call them like any other tool; if your client does not know them, call them with memory_operation. " +
			"With intent, the families that fit are listed, four at most, each with a score from 0 to 1 and the words that it was found by, and the best is loaded if it is clearly the best; if nothing fits, the note says so. " +
			"unload takes a family out of your list again. Answers to memory_smart_load too.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"family": {"type": "string", "description": "The family that was loaded or unloaded."},
				"loaded": {"type": "array", "items": {"type": "string"}, "description": "The families that are in your list now."},
				"tools": {"type": "array", "items": {"type": "object"}, "description": "The family's tools: name, description, inputSchema."},
				"suggestions": {"type": "array", "items": {"type": "object"}, "description": "With intent: the families that fit, best first, and why."},
				"note": {"type": "string"}
			}
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
	}, loadFamily)
}

type loadRequest struct {
	Family string    `json:"family" alcove:"alias=name" doc:"The family's name, as memory_capabilities lists it."`
	Intent string    `json:"intent" doc:"What you want to do, in plain words, when you know no name."`
	Unload unloading `json:"unload" schema:"'type':'boolean'" doc:"Take the family out of your list instead."`
}

// Check implements request.Checker.
func (r *loadRequest) Check(a *request.Arguments) {
	if r.Family == "" && r.Intent == "" && r.Unload.family == "" && a.Err() == nil {
		a.Missing("family", "the name of a family; or intent, what you want to do")
	}
	if len(r.Intent) > search.LongestQuery {
		a.Fault("intent", fmt.Sprintf("intent is longer than %d bytes: say it in fewer words", search.LongestQuery))
	}
}

// unloading is a flag, or what may be the name of the family to unload, as models guess.
type unloading struct {
	flag   bool
	family string
}

// ReadArgument implements request.Form.
func (u *unloading) ReadArgument(raw json.RawMessage, _ time.Time) error {
	var isText bool
	if u.flag, isText = request.Flag(raw); !isText {
		if u.family, isText = request.Text(raw); !isText {
			return request.Expected("true or false")
		}
	}
	return nil
}

// loadAnswer is the answer of memory_load_family, if it gives no tools.
type loadAnswer struct {
	Family      string            `json:"family,omitempty"`
	Loaded      []string          `json:"loaded"`
	Suggestions []suggestedFamily `json:"suggestions,omitempty"`
	Note        string            `json:"note,omitempty"`
}

// suggestedFamily is a suggestion as shown to clients.
type suggestedFamily struct {
	Family      string   `json:"family"`
	Description string   `json:"description"`
	Why         string   `json:"why"`
	Matched     []string `json:"matched"`
	Score       float64  `json:"score"`
	Fault       string   `json:"fault,omitempty"`
}

func loadFamily(ctx context.Context, c *call, r loadRequest) (tool.Answer, error) {
	all := c.Registry().Snapshot()
	there := all.For(c.Caller.Rights)
	name, unload := r.Family, r.Unload.flag
	if named := r.Unload.family; named != "" {
		if name != "" || there.Set(named) == nil && !c.Session.Has(named) {
			c.Arguments.Wrong("unload", "true or false")
			return tool.Answer{}, c.Arguments.Err()
		}
		name, unload = named, true
	}
	switch {
	case name != "" && unload:
		return c.unload(there, name)
	case name != "":
		f := there.Set(name)
		if f == nil {
			return tool.Answer{}, there.NoFamily(name)
		}
		return c.load(ctx, f, nil)
	case unload:
		return tool.Answer{}, tool.Invalid(map[string]any{"parameters": []string{"family"}}, "%s needs family: the name of the family to unload", loadName)
	}
	list := c.kit.intents(all).suggest(there.Sets, r.Intent)
	if chosen := best(list); chosen != nil {
		return c.load(ctx, chosen.family, list)
	}
	return c.suggest(there, list)
}

// load loads a family and answers with its tools.
func (c *call) load(ctx context.Context, f *tool.Set, why []suggestion) (tool.Answer, error) {
	if f.Fault != "" {
		return tool.Answer{}, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("the family %s cannot be used now: %s", f.Name, f.Fault)}
	}
	if err := c.Registry().Load(ctx, f.Name); err != nil {
		return tool.Answer{}, err
	}
	if !c.Session.Stateless() {
		c.Session.Load(f.Name)
	}
	var rows []*toolRow
	for _, t := range f.Offered(c.ReadOnly()) {
		rows = append(rows, rowOf(t, false))
	}
	_, encoded, cut, err := shortenEncoded(rows, tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode the tools of %s: %w", f.Name, err)
	}
	o := jsontext.NewObject(nil)
	o.Text("family", f.Name)
	o.Any("loaded", c.loaded())
	if len(encoded) > 0 {
		o.List("tools", encoded)
	}
	if len(why) > 0 {
		o.Any("suggestions", suggestedOf(why))
	}
	o.Text("note", c.also(c.loadNote(f, cut)))
	whole, err := o.End()
	return tool.Answer{Structured: tool.Encoded(whole), Plain: tool.Encoded(whole)}, err
}

// loadNote returns a note on how to call a family's tools, and which are missing.
func (c *call) loadNote(f *tool.Set, cut cut) string {
	said := []string{}
	if len(f.Offered(c.ReadOnly())) > 0 {
		said = append(said, c.how(f))
	}
	if hidden := len(f.Tools) - len(f.Offered(c.ReadOnly())); hidden > 0 && c.ReadOnly() {
		said = append(said, fmt.Sprintf("Nothing can be written here, so %s left out.", were(hidden, "tool")))
	} else if hidden > 0 {
		said = append(said, fmt.Sprintf("memory_capabilities says why %s left out.", were(hidden, "tool")))
	}
	if !cut.nothing() {
		said = append(said, fmt.Sprintf("To stay within %d characters schemas were left out; they are enforced all the same, and errors say what is wrong.", tool.MaxAnswer))
	}
	return strings.Join(said, " ")
}

// how says how to call a family's tools. The list of a stateless client never changes.
func (c *call) how(f *tool.Set) string {
	switch listed := c.Session.Lists(f.Name) && (!f.Deprecated || c.Session.Has(f.Name)); {
	case c.Session.Stateless() && !listed:
		return "Your list of tools stays as it is. Go on with memory_operation: one of these names as method, and as params its arguments, as inputSchema says."
	case listed && c.Session.ListsAll():
		return "Your list has these. If your client does not know them, use memory_operation with method and params."
	}
	return "Call these by name. If your client does not know them, use memory_operation with method and params."
}

func (c *call) unload(there *tool.Snapshot, name string) (tool.Answer, error) {
	f := there.Set(name)
	if f == nil && !c.Session.Has(name) {
		return tool.Answer{}, there.NoFamily(name)
	}
	if f != nil {
		name = f.Name
	}
	r := loadAnswer{Family: name}
	switch {
	case c.Session.ListsAll() && (f == nil || !f.Deprecated):
		r.Note = fmt.Sprintf("The profile %s lists the tools of all families: nothing was taken out.", c.Session.Profile())
	case c.Session.Stateless():
		r.Note = "This connection keeps nothing between calls: there was nothing to take out."
	case !c.Session.Has(name):
		r.Note = "It was not loaded."
	}
	c.Session.Unload(name)
	r.Loaded, r.Note = c.loaded(), c.also(r.Note)
	return tool.Answer{Structured: r, Plain: r}, nil
}

// suggest answers with families if none is clearly meant.
func (c *call) suggest(there *tool.Snapshot, list []suggestion) (tool.Answer, error) {
	r := loadAnswer{Loaded: c.loaded(), Suggestions: suggestedOf(list)}
	switch {
	case len(there.Sets) == 0:
		r.Note = "This server has no families."
	case len(list) == 0:
		r.Note = "Nothing fits: no family does that, as far as their descriptions tell, so do it by other means or say it in other words. There are " + strings.Join(there.Names(), ", ") + ": memory_capabilities describes them."
	default:
		r.Note = "None of them is clearly the best: load one by its name."
	}
	r.Note = c.also(r.Note)
	return tool.Answer{Structured: r, Plain: r}, nil
}

// loaded lists the client's loaded families.
func (c *call) loaded() []string {
	list := []string{}
	for _, f := range c.Registry().Snapshot().For(c.Caller.Rights).Sets {
		if (c.Session.ListsAll() && !f.Deprecated || c.Session.Has(f.Name)) && f.Fault == "" {
			list = append(list, f.Name)
		}
	}
	return list
}

func suggestedOf(list []suggestion) []suggestedFamily {
	var rows []suggestedFamily
	for _, s := range list {
		rows = append(rows, suggestedFamily{
			Family: s.family.Name, Description: s.family.Description, Matched: s.matched, Score: rounded(s.score), Fault: s.family.Fault,
			Why: s.why(),
		})
	}
	return rows
}

// why says by what a family was found.
func (s suggestion) why() string {
	var found []string
	if len(s.matched) > 0 {
		found = append(found, fmt.Sprintf("described with %s of your intent: %s", plural(len(s.matched), "word"), strings.Join(s.matched, ", ")))
	}
	if s.meaning > 0 {
		found = append(found, fmt.Sprintf("its descriptions and examples mean something similar: %.2f of 1", s.meaning))
	}
	return strings.Join(found, "; ")
}

// toolRow describes a tool.
type toolRow struct {
	Name         string          `json:"name"`
	Family       string          `json:"family,omitempty"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	Docs         string          `json:"docs,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Omitted      bool            `json:"schema_omitted,omitempty"`
	Annotations  any             `json:"annotations,omitempty"`
	Fault        string          `json:"fault,omitempty"`
}

func (r *toolRow) value() json.RawMessage { return r.InputSchema }
func (r *toolRow) dropValue()             { r.InputSchema, r.Omitted = nil, true }
func (r *toolRow) dropDetails()           { r.Docs, r.OutputSchema, r.Annotations = "", nil, nil }

// rowOf describes a family's tool with the schema of its arguments, as shown in lists, or, if whole, complete and with all
// details.
func rowOf(t *tool.Tool, whole bool) *toolRow {
	r := &toolRow{Name: t.Spelling, Description: t.Description, InputSchema: t.Advertised, Fault: t.Fault}
	if whole {
		r.Title, r.Docs, r.InputSchema, r.OutputSchema, r.Annotations = t.Title, t.Docs, t.Input, t.OutputSchema(), t.Annotations
	}
	if t.Fault != "" {
		r.Name, r.InputSchema, r.OutputSchema = t.Name, nil, nil // they may be the fault
	}
	return r
}
