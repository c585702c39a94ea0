package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// coreFamily is what memory_capabilities calls the tools that are always there.
const coreFamily = "core"

func capabilitiesTool() tool {
	return tool{
		name:        "memory_capabilities",
		description: "Which families of tools there are and what they do; of one family, its tools. include_schema: how to call them.",
		docs: "Without family: a line for each family, whether its tools are in your list, where it takes part by itself (hooks), and what it would need and was not granted. " +
			"The core tools are the family core. include_schema gives the schemas of arguments as lists show them; verbose gives them whole, with those of results, and all documentation.",
		input: `{
			"type": "object",
			"properties": {
				"family": {"type": "string", "description": "Only this family; core for the tools that are always there."},
				"include_schema": {"type": "boolean", "description": "With the schemas of the tools' arguments."},
				"verbose": {"type": "boolean", "description": "With documentation, and schemas as their authors wrote them."}
			}
		}`,
		output: `{
			"type": "object",
			"properties": {
				"families": {"type": "array", "items": {"type": "object"}, "description": "name, description, tools, loaded, hooks, missing, fault."},
				"tools": {"type": "array", "items": {"type": "object"}, "description": "name, family, description and what was asked for."},
				"note": {"type": "string"}
			},
			"required": ["families"]
		}`,
		hints: hints{readOnly: true, idempotent: true},
		run:   capabilities,
	}
}

// familyRow describes a family.
type familyRow struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tools       []string `json:"tools"`
	Loaded      bool     `json:"loaded"` // for the client
	Hooks       []string `json:"hooks,omitempty"`
	Missing     []string `json:"missing,omitempty"` // capabilities that it was not granted
	Fault       string   `json:"fault,omitempty"`
	Version     string   `json:"version,omitempty"`
	Digest      string   `json:"digest,omitempty"`
	Running     *bool    `json:"running,omitempty"` // it need not be started first
	Docs        string   `json:"docs,omitempty"`
	Omitted     bool     `json:"details_omitted,omitempty"`
}

func (r *familyRow) value() json.RawMessage { return nil }
func (r *familyRow) dropValue()             {}
func (r *familyRow) dropDetails()           { r.Docs, r.Tools, r.Omitted = "", nil, true }

// question is what memory_capabilities is asked.
type question struct {
	family           string
	schemas, verbose bool
}

func capabilities(_ context.Context, c *call) (answer, error) {
	q := question{c.arguments.text("family"), c.arguments.flag("include_schema"), c.arguments.flag("verbose")}
	if err := c.arguments.err(); err != nil {
		return answer{}, err
	}
	shelf := c.server.shelf.catalogue()
	if q.family != "" && q.family != coreFamily && shelf.byName[q.family] == nil {
		return answer{}, shelf.noFamily(q.family)
	}
	var families []*familyRow
	var described []*toolRow
	if q.family == "" || q.family == coreFamily {
		row, rows := c.describeCore(q)
		families, described = append(families, row), append(described, rows...)
	}
	for _, f := range shelf.families {
		if q.family == "" || q.family == f.Name {
			row, rows := c.describe(f, q)
			families, described = append(families, row), append(described, rows...)
		}
	}
	return fitted(c, q, families, described)
}

// fitted makes descriptions fit into an answer.
func fitted(c *call, q question, families []*familyRow, described []*toolRow) (answer, error) {
	kept, cutFamilies, err := fit(families, maxAnswer/2)
	if err != nil {
		return answer{}, fmt.Errorf("encode families: %w", err)
	}
	rows, cutTools, err := fit(described, maxAnswer/2)
	if err != nil {
		return answer{}, fmt.Errorf("encode tools: %w", err)
	}
	r := struct {
		Families []*familyRow `json:"families"`
		Tools    []*toolRow   `json:"tools,omitempty"`
		Note     string       `json:"note,omitempty"`
	}{kept, rows, ""}
	var said []string
	if !cutFamilies.nothing() || !cutTools.nothing() {
		said = append(said, fmt.Sprintf("To stay within %d characters, details were left out: ask for one family at a time.", maxAnswer))
	}
	if missing := c.notInstalled(); len(missing) > 0 && q.family == "" {
		said = append(said, fmt.Sprintf("This client is set up to use %s, which %s not there.", quoted(missing), verbNow(len(missing))))
	}
	r.Note = strings.Join(said, " ")
	return answer{structured: r, plain: r, note: r.Note}, nil
}

func verbNow(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// notInstalled lists the families that the client's session asked for and that there are not.
func (c *call) notInstalled() []string {
	shelf := c.server.shelf.catalogue()
	return slices.DeleteFunc(c.seat.loaded(), func(name string) bool { return shelf.byName[name] != nil })
}

func (c *call) describeCore(q question) (*familyRow, []*toolRow) {
	row := &familyRow{Name: coreFamily, Description: "What is always there: storing, finding, branching and looking back.", Loaded: true}
	var rows []*toolRow
	for _, t := range c.tools {
		if !t.offered(c.readOnly) {
			continue
		}
		row.Tools = append(row.Tools, t.name)
		if q.schemas || q.verbose || q.family != "" {
			rows = append(rows, t.row(q))
		}
	}
	if q.verbose {
		row.Version = c.version
	}
	return row, rows
}

func (c *call) describe(f *family, q question) (*familyRow, []*toolRow) {
	row := &familyRow{Name: f.Name, Description: f.Description, Tools: []string{}, Loaded: slices.Contains(c.loaded(), f.Name),
		Hooks: f.Hooks, Missing: f.Needs, Fault: f.Fault}
	if q.verbose {
		row.Version, row.Digest, row.Docs, row.Running = f.Version, f.Digest, f.Docs, &f.Loaded
	}
	var rows []*toolRow
	for _, t := range f.tools {
		if !t.permitted(c.readOnly) {
			continue
		}
		described := t.row(q.verbose)
		row.Tools = append(row.Tools, described.Name)
		if !q.schemas && !q.verbose {
			described.InputSchema = nil
		}
		if q.family == "" {
			described.Family = f.Name
		}
		if q.schemas || q.verbose || q.family != "" {
			rows = append(rows, described)
		}
	}
	return row, rows
}

// row describes a core tool.
func (t tool) row(q question) *toolRow {
	r := &toolRow{Name: t.name, Description: t.description}
	if q.family == "" {
		r.Family = coreFamily
	}
	if q.schemas {
		if trimmed, err := trimSchema(json.RawMessage(t.input)); err == nil { // it is tested
			r.InputSchema = trimmed
		}
	}
	if q.verbose {
		r.Docs, r.InputSchema, r.OutputSchema, r.Annotations = t.docs, json.RawMessage(t.input), json.RawMessage(t.output), t.hints.annotation()
	}
	return r
}
