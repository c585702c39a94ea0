package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/schema"
)

// longestName is how many characters of a tool's name models' interfaces take. They refuse a whole list over one that
// has more.
const longestName = 64

// catalogue is what Families said that they are at one moment, for looking up.
type catalogue struct {
	families []*family // by name
	byName   map[string]*family
	tools    map[string]*familyTool // by each spelling of their names
	outdated <-chan struct{}        // closed when there is another; nil: never
}

// family is a set of tools as clients see it.
type family struct {
	Family
	tools []*familyTool
}

// familyTool is a tool of a family.
type familyTool struct {
	FamilyTool
	family *family
	wire   protocol.Tool // as lists show it
	print  string        // changes with wire
	fault  string        // why lists do not show it; empty: they do

	compiling sync.Once
	schema    *schema.Schema // of the arguments
	wrong     error          // why there is no schema
}

// shelf holds the catalogue and replaces it when it is outdated.
type shelf struct {
	families Families // nil: none

	mu      sync.Mutex
	current *catalogue
}

// catalogue is what there is now.
func (s *shelf) catalogue() *catalogue {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && !s.current.isOutdated() {
		return s.current
	}
	if s.families == nil {
		s.current = newCatalogue(nil, nil)
		return s.current
	}
	changed := s.families.Changed() // before All, or a change in between would be missed
	s.current = newCatalogue(s.families.All(), changed)
	return s.current
}

func (c *catalogue) isOutdated() bool {
	select {
	case <-c.outdated:
		return true
	default:
		return false
	}
}

func newCatalogue(all []Family, changed <-chan struct{}) *catalogue {
	c := &catalogue{byName: map[string]*family{}, tools: map[string]*familyTool{}, outdated: changed}
	slices.SortFunc(all, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })
	core := tools()
	for _, each := range all {
		f := &family{Family: each}
		c.families = append(c.families, f)
		c.byName[each.Name] = f
		for _, t := range each.Tools {
			f.tools = append(f.tools, c.shelve(f, t, core))
		}
	}
	c.spell()
	return c
}

// spell makes tools known under the other spelling of their names too. None hides another's own name.
func (c *catalogue) spell() {
	for _, f := range c.families {
		for _, t := range f.tools {
			if t.fault != "" {
				continue
			}
			switch c.tools[t.wire.Name] {
			case t:
			case nil:
				c.tools[t.wire.Name] = t
			default:
				t.fault = "written with _ its name is that of another tool"
			}
		}
	}
}

// shelve makes a tool one that can be found. Whatever is wrong with it is its own fault, and hides no other tool.
func (c *catalogue) shelve(f *family, t FamilyTool, core toolset) *familyTool {
	ft := &familyTool{FamilyTool: t, family: f}
	wire, err := ft.advertised()
	_, twice := c.tools[t.Name]
	switch {
	case core.has(t.Name) || core.has(flat(t.Name)):
		ft.fault = "a core tool has its name"
	case twice:
		ft.fault = "a tool of another family has its name"
	case err != nil:
		ft.fault = err.Error()
	case len(wire.Name) > longestName || strings.Trim(wire.Name, nameCharacters) != "":
		ft.fault = fmt.Sprintf("its name is not 1 to %d of the letters, digits, _ and -", longestName)
	}
	ft.wire, ft.print = wire, fingerprint(wire)
	if !twice && !core.has(t.Name) {
		c.tools[t.Name] = ft
	}
	return ft
}

const nameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// flat is a name as models' interfaces take it: site.memory.store is site_memory_store.
func flat(name string) string { return strings.ReplaceAll(name, ".", "_") }

// find looks a tool up by any spelling of its name; nil when there is none.
func (c *catalogue) find(name string) *familyTool {
	if t := c.tools[name]; t != nil {
		return t
	}
	return c.tools[flat(name)]
}

// names lists the families.
func (c *catalogue) names() []string {
	names := make([]string, len(c.families))
	for i, f := range c.families {
		names[i] = f.Name
	}
	return names
}

// offered lists the tools of a family that lists show to a client.
func (f *family) offered(readOnly bool) []*familyTool {
	if f.Fault != "" {
		return nil
	}
	var list []*familyTool
	for _, t := range f.tools {
		if t.fault == "" && t.permitted(readOnly) {
			list = append(list, t)
		}
	}
	return list
}

// permitted reports whether a client that may only read may call the tool.
func (t *familyTool) permitted(readOnly bool) bool { return !readOnly || t.ReadOnly }

func (t *familyTool) hints() hints {
	return hints{readOnly: t.ReadOnly, destructive: t.Destructive, idempotent: t.Idempotent, openWorld: t.OpenWorld}
}

// advertised is the tool as it goes over the wire.
func (t *familyTool) advertised() (protocol.Tool, error) {
	input, err := argumentsSchema(t.Input)
	if err != nil {
		return protocol.Tool{Name: flat(t.Name)}, err
	}
	return protocol.Tool{
		Name: flat(t.Name), Title: t.Title, Description: t.Description, RawInputSchema: input, Annotations: t.hints().annotation(),
	}, nil
}

// outputSchema is the schema of the structured result; nil: none is known.
func (t *familyTool) outputSchema() json.RawMessage {
	if len(t.Output) == 0 || saysObject(t.Output) {
		return t.Output
	}
	wrapped, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]json.RawMessage{"result": t.Output}, "required": []string{"result"},
	})
	if err != nil {
		return nil // it is no JSON
	}
	return wrapped
}

// saysObject reports whether a schema is one of an object.
func saysObject(text json.RawMessage) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(text, &s) == nil && s.Type == "object"
}

// fingerprint tells tools apart that lists show in other words.
func fingerprint(t protocol.Tool) string {
	encoded, err := json.Marshal(t)
	if err != nil {
		return err.Error() // its schema is no JSON, and it is not listed
	}
	sum := sha256.Sum256(encoded)
	return string(sum[:])
}
