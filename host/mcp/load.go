package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
)

const (
	loadName      = "memory_load_family"
	smartLoadName = "memory_smart_load" // another name of it
	longestIntent = 4 << 10             // bytes
)

func loadTool() tool {
	return tool{
		name:        loadName,
		description: "Add a family of tools: by name, or by intent: what you want to do, in plain words. Gives the tools, to be called at once.",
		docs: "The answer has the family's tools with the schemas of their arguments. Call them like any other tool; if your client does not know them, call them with memory_operation. " +
			"With intent, the families that fit are listed with the words that they were found by, and the best is loaded if it is clearly the best. " +
			"unload takes a family out of your list again. Answers to memory_smart_load too.",
		input: `{
			"type": "object",
			"properties": {
				"family": {"type": "string", "description": "The family's name, as memory_capabilities lists it."},
				"intent": {"type": "string", "description": "What you want to do, in plain words, when you know no name."},
				"unload": {"type": "boolean", "description": "Take the family out of your list instead."}
			}
		}`,
		output: `{
			"type": "object",
			"properties": {
				"family": {"type": "string", "description": "The family that was loaded or unloaded."},
				"loaded": {"type": "array", "items": {"type": "string"}, "description": "The families that are in your list now."},
				"tools": {"type": "array", "items": {"type": "object"}, "description": "The family's tools: name, description, inputSchema."},
				"suggestions": {"type": "array", "items": {"type": "object"}, "description": "With intent: the families that fit, best first, and why."},
				"note": {"type": "string"}
			}
		}`,
		hints: hints{readOnly: true, idempotent: true},
		run:   loadFamily,
	}
}

// loaded is what memory_load_family answers.
type loaded struct {
	Family      string      `json:"family,omitempty"`
	Loaded      []string    `json:"loaded"`
	Tools       []*toolRow  `json:"tools,omitempty"`
	Suggestions []suggested `json:"suggestions,omitempty"`
	Note        string      `json:"note,omitempty"`
}

// suggested is a suggestion as clients see it.
type suggested struct {
	Family      string   `json:"family"`
	Description string   `json:"description"`
	Why         string   `json:"why"`
	Matched     []string `json:"matched"`
	Score       float64  `json:"score"`
	Fault       string   `json:"fault,omitempty"`
}

func loadFamily(ctx context.Context, c *call) (answer, error) {
	a := c.arguments
	name, intent, unload := a.text("family"), a.text("intent"), a.flag("unload")
	if name == "" && intent == "" && a.err() == nil {
		a.missing("family", "the name of a family; or intent, what you want to do")
	}
	if len(intent) > longestIntent {
		a.fault("intent", fmt.Sprintf("intent is longer than %d bytes: say it in fewer words", longestIntent))
	}
	if err := a.err(); err != nil {
		return answer{}, err
	}
	shelf := c.server.shelf.catalogue()
	switch {
	case name != "" && unload:
		return c.unload(ctx, shelf, name)
	case name != "":
		f := shelf.byName[name]
		if f == nil {
			return answer{}, shelf.noFamily(name)
		}
		return c.load(ctx, f, nil)
	case unload:
		return answer{}, invalid(map[string]any{"parameters": []string{"family"}}, "%s needs family: the name of the family to unload", loadName)
	}
	list := shelf.suggest(intent)
	if chosen := best(list); chosen != nil {
		return c.load(ctx, chosen.family, list)
	}
	return c.suggest(shelf, list)
}

// noFamily is the error of a name that no family has.
func (c *catalogue) noFamily(name string) error {
	text := fmt.Sprintf("there is no family %q: ", clip(name, gotLength))
	if len(c.families) == 0 {
		text += "this server has none"
	} else {
		text += "there are " + strings.Join(c.names(), ", ")
	}
	if t := c.find(name); t != nil {
		text += fmt.Sprintf("; %s is a tool of %s", t.wire.Name, t.family.Name)
	}
	return &memory.Error{Code: memory.NotFound, Message: text, Details: map[string]any{"family": clip(name, gotLength), "families": c.names()}}
}

// load loads a family and answers with its tools.
func (c *call) load(ctx context.Context, f *family, why []suggestion) (answer, error) {
	if f.Fault != "" {
		return answer{}, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("the family %s cannot be used now: %s", f.Name, f.Fault)}
	}
	if err := c.server.shelf.families.Load(ctx, f.Name); err != nil {
		return answer{}, err
	}
	c.show(ctx, f)
	r := loaded{Family: f.Name, Loaded: c.loaded(), Suggestions: suggestedOf(why)}
	for _, t := range f.offered(c.readOnly) {
		r.Tools = append(r.Tools, t.row(false))
	}
	rows, cut, err := fit(r.Tools, maxAnswer)
	if err != nil {
		return answer{}, fmt.Errorf("encode the tools of %s: %w", f.Name, err)
	}
	r.Tools = rows
	r.Note = c.loadNote(f, cut)
	return answer{structured: r, plain: r}, nil
}

// loadNote says how to call the tools of a family, and which are missing.
func (c *call) loadNote(f *family, cut cut) string {
	said := []string{}
	if len(f.offered(c.readOnly)) > 0 {
		said = append(said, "Call these by name. If your client does not know them, use memory_operation with method and params.")
	}
	if hidden := len(f.tools) - len(f.offered(c.readOnly)); hidden > 0 && c.readOnly {
		said = append(said, fmt.Sprintf("Nothing can be written here, so %s left out.", were(hidden, "tool")))
	} else if hidden > 0 {
		said = append(said, fmt.Sprintf("memory_capabilities says why %s left out.", were(hidden, "tool")))
	}
	if !cut.nothing() {
		said = append(said, fmt.Sprintf("To stay within %d characters schemas were left out; they are enforced all the same, and errors say what is wrong.", maxAnswer))
	}
	if c.seat.stateless && !c.session.lists(f, c.seat) {
		said = append(said, "Your list of tools stays as it is, since this connection keeps nothing between calls.")
	}
	return strings.Join(said, " ")
}

func (c *call) unload(ctx context.Context, shelf *catalogue, name string) (answer, error) {
	if shelf.byName[name] == nil && !c.seat.has(name) {
		return answer{}, shelf.noFamily(name)
	}
	r := loaded{Family: name}
	switch {
	case c.session.all():
		r.Note = fmt.Sprintf("The profile %s lists the tools of all families: nothing was taken out.", c.session.Profile)
	case c.seat.stateless:
		r.Note = "This connection keeps nothing between calls: there was nothing to take out."
	case !c.seat.has(name):
		r.Note = "It was not loaded."
	}
	c.seat.load(name, false)
	c.server.tellList(ctx, c.seat)
	r.Loaded = c.loaded()
	return answer{structured: r, plain: r}, nil
}

// suggest answers with families when none is clearly meant.
func (c *call) suggest(shelf *catalogue, list []suggestion) (answer, error) {
	r := loaded{Loaded: c.loaded(), Suggestions: suggestedOf(list)}
	switch {
	case len(shelf.families) == 0:
		r.Note = "This server has no families."
	case len(list) == 0:
		r.Note = "No family is described with these words. There are " + strings.Join(shelf.names(), ", ") + ": memory_capabilities describes them."
	default:
		r.Note = "None of them is clearly the best: load one by its name."
	}
	return answer{structured: r, plain: r}, nil
}

// loaded lists the families that are loaded for the client.
func (c *call) loaded() []string {
	list := []string{}
	for _, f := range c.server.shelf.catalogue().families {
		if (c.session.all() || c.seat.has(f.Name)) && f.Fault == "" {
			list = append(list, f.Name)
		}
	}
	return list
}

func suggestedOf(list []suggestion) []suggested {
	var rows []suggested
	for _, s := range list {
		rows = append(rows, suggested{
			Family: s.family.Name, Description: s.family.Description, Matched: s.matched, Score: rounded(s.score), Fault: s.family.Fault,
			Why: fmt.Sprintf("described with %s of your intent: %s", plural(len(s.matched), "word"), strings.Join(s.matched, ", ")),
		})
	}
	return rows
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

// row describes a tool of a family, with the schema of its arguments: as lists show it, or whole and with all that is
// known of it.
func (t *familyTool) row(whole bool) *toolRow {
	r := &toolRow{Name: t.wire.Name, Description: t.Description, InputSchema: t.wire.RawInputSchema, Fault: t.fault}
	if whole {
		r.Title, r.Docs, r.InputSchema, r.OutputSchema, r.Annotations = t.Title, t.Docs, t.Input, t.outputSchema(), t.hints().annotation()
	}
	if t.fault != "" {
		r.Name, r.InputSchema, r.OutputSchema = t.Name, nil, nil // they may be what is wrong
	}
	return r
}
