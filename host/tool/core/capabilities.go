package core

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/tool"
)

func (k *kit) capabilitiesTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_capabilities",
		Description: "What else memory can do: families of tools; of one family, its tools. include_schema: how to call them.",
		Docs: "Without family: a line for each family, whether its tools are in your list, where it takes part by itself (hooks), and what it would need and was not granted. " +
			"The core tools are the family core. include_schema gives the schemas of arguments as lists show them; verbose gives them whole, with those of results, and all documentation.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"families": {"type": "array", "items": {"type": "object"}, "description": "name, description, tools, loaded, hooks, missing, fault."},
				"tools": {"type": "array", "items": {"type": "object"}, "description": "name, family, description and what was asked for."},
				"note": {"type": "string"}
			},
			"required": ["families"]
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
	}, capabilities)
}

// question is a request to memory_capabilities.
type question struct {
	Family  string `json:"family" alcove:"alias=name" doc:"Only this family; core for the tools that are always there."`
	Schemas bool   `json:"include_schema" doc:"With the schemas of the tools' arguments."`
	Verbose bool   `json:"verbose" doc:"With documentation, and schemas as their authors wrote them."`
}

// familyRow describes a family.
type familyRow struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tools       []string `json:"tools"`
	Loaded      bool     `json:"loaded"` // for the client
	Hooks       []string `json:"hooks,omitempty"`
	Missing     []string `json:"missing,omitempty"` // capabilities not granted
	Fault       string   `json:"fault,omitempty"`
	Version     string   `json:"version,omitempty"`
	Digest      string   `json:"digest,omitempty"`
	Running     *bool    `json:"running,omitempty"` // it is already started
	Docs        string   `json:"docs,omitempty"`
	Omitted     bool     `json:"details_omitted,omitempty"`
}

func (r *familyRow) value() json.RawMessage { return nil }
func (r *familyRow) dropValue()             {}
func (r *familyRow) dropDetails()           { r.Docs, r.Tools, r.Omitted = "", nil, true }

func capabilities(_ context.Context, c *call, q question) (tool.Answer, error) {
	there := c.Registry().Snapshot().For(c.Caller.Rights)
	if q.Family != "" && q.Family != tool.CoreFamily && there.Set(q.Family) == nil {
		return tool.Answer{}, there.NoFamily(q.Family)
	}
	var families []*familyRow
	var described []*toolRow
	if q.Family == "" || q.Family == tool.CoreFamily {
		row, rows := c.describeCore(q)
		families, described = append(families, row), append(described, rows...)
	}
	for _, f := range there.Sets {
		if q.Family == "" || q.Family == f.Name {
			row, rows := c.describe(f, q)
			families, described = append(families, row), append(described, rows...)
		}
	}
	return overview(c, q, families, described)
}

// overview returns an answer of descriptions, shortened to the limit of answers.
func overview(c *call, q question, families []*familyRow, described []*toolRow) (tool.Answer, error) {
	kept, encoded, cutFamilies, err := shortenEncoded(families, tool.MaxAnswer/2)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode families: %w", err)
	}
	rest := tool.MaxAnswer - noteCharacters
	for _, row := range encoded {
		rest -= utf8.RuneCount(row) + 1
	}
	rows, cutTools, err := shorten(described, rest)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode tools: %w", err)
	}
	r := struct {
		Families []*familyRow `json:"families"`
		Tools    []*toolRow   `json:"tools,omitempty"`
		Note     string       `json:"note,omitempty"`
	}{kept, rows, ""}
	var said []string
	if !cutFamilies.nothing() || !cutTools.nothing() {
		said = append(said, fmt.Sprintf("To stay within %d characters, details were left out: ask for one family at a time.", tool.MaxAnswer))
	}
	if missing := c.notInstalled(); len(missing) > 0 && q.Family == "" {
		said = append(said, fmt.Sprintf("This client is set up to use %s, which %s not there.", tool.Quoted(missing), verbNow(len(missing))))
	}
	r.Note = c.also(said...)
	return tool.Answer{Structured: r, Plain: r, Notes: tool.NotesOf(r.Note), HasNotes: true}, nil
}

func verbNow(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// notInstalled lists the families that the client's session loads but that do not exist.
func (c *call) notInstalled() []string {
	there := c.Registry().Snapshot().For(c.Caller.Rights)
	return slices.DeleteFunc(c.Session.Loaded(), func(name string) bool { return there.Set(name) != nil })
}

func (c *call) describeCore(q question) (*familyRow, []*toolRow) {
	row := &familyRow{Name: tool.CoreFamily, Description: "What is always there: storing, finding, branching and looking back.", Loaded: true}
	var rows []*toolRow
	for _, t := range c.Registry().Core() {
		if !t.Annotations.Permitted(c.ReadOnly()) {
			continue
		}
		row.Tools = append(row.Tools, t.Name)
		if q.Schemas || q.Verbose || q.Family != "" {
			rows = append(rows, coreRow(t, q))
		}
	}
	if q.Verbose {
		row.Version = c.kit.Version
	}
	return row, rows
}

func (c *call) describe(f *tool.Set, q question) (*familyRow, []*toolRow) {
	row := &familyRow{Name: f.Name, Description: f.Description, Tools: []string{}, Loaded: slices.Contains(c.loaded(), f.Name),
		Hooks: f.Hooks, Missing: f.Needs, Fault: f.Fault}
	if q.Verbose {
		row.Version, row.Digest, row.Docs, row.Running = f.Version, f.Digest, f.Docs, &f.Loaded
	}
	var rows []*toolRow
	for _, t := range f.Tools {
		if !t.Annotations.Permitted(c.ReadOnly()) {
			continue
		}
		described := rowOf(t, q.Verbose)
		row.Tools = append(row.Tools, described.Name)
		if !q.Schemas && !q.Verbose {
			described.InputSchema = nil
		}
		if q.Family == "" {
			described.Family = f.Name
		}
		if q.Schemas || q.Verbose || q.Family != "" {
			rows = append(rows, described)
		}
	}
	return row, rows
}

// coreRow describes a core tool.
func coreRow(t *tool.Tool, q question) *toolRow {
	r := &toolRow{Name: t.Name, Description: t.Description}
	if q.Family == "" {
		r.Family = tool.CoreFamily
	}
	if q.Schemas {
		r.InputSchema = t.Advertised
	}
	if q.Verbose {
		r.Docs, r.InputSchema, r.OutputSchema, r.Annotations = t.Docs, t.Input, t.Output, t.Annotations
	}
	return r
}
