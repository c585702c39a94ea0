// Package core has the core tools: storing, finding, branching and looking back, and calling all other tools.
package core

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Options say what the core tools work on.
type Options struct {
	Space    *memory.Space
	Version  string       // of the program, to tell callers
	Writable func() error // tells why nothing can be written; nil: it always can
}

// kit is what the core tools have in common.
type kit struct{ Options }

// Specs lists the core tools in the order in which they are advertised. A new tool is a file of its own and a line here,
// the last.
func Specs(o Options) []tool.Spec {
	k := &kit{o}
	return []tool.Spec{
		k.storeTool(),
		k.recallTool(),
		k.searchTool(),
		k.forgetTool(),
		k.logTool(),
		k.branchTool(),
		k.historyTool(),
		k.statusTool(),
		k.capabilitiesTool(),
		k.loadTool(),
		k.operationTool(),
	}
}

func (k *kit) handler(run func(context.Context, *call) (tool.Answer, error)) tool.Handler {
	return func(ctx context.Context, c *tool.Call) (tool.Answer, error) { return run(ctx, &call{c, k}) }
}

// call is a call of a core tool.
type call struct {
	*tool.Call
	kit *kit
}

// access is the space as the caller may use it.
func (c *call) access() *memory.Access { return c.kit.Space.As(c.Caller) }

// memories are what a call reads and writes: a *memory.Access, or a *memory.Staged within a family's call.
type memories interface {
	Store(ctx context.Context, p memory.Location, items []memory.Item, w memory.Write) ([]memory.Stored, error)
	Forget(ctx context.Context, p memory.Location, keys []string, w memory.Write) ([]string, error)
	SetState(ctx context.Context, p memory.Location, keys []string, state memory.State, w memory.Write) ([]string, error)
	Get(ctx context.Context, p memory.Location, keys []string) ([]*memory.Memory, error)
	Recall(ctx context.Context, p memory.Location, key string, at memory.AsOf) (*memory.Memory, error)
	Search(ctx context.Context, q memory.Search) (memory.Found, error)
	History(ctx context.Context, p memory.Location, key string, at memory.AsOf, limit int) ([]memory.Memory, uint64, error)
}

// memories are those of the space, or of the stage that the call is part of.
func (c *call) memories() memories {
	if c.Stage != nil {
		return c.Stage
	}
	return c.access()
}

// location is where the call reads or writes.
func (c *call) location() memory.Location {
	p := c.Location()
	return memory.Location{Branch: c.branch(), Namespace: cmp.Or(c.Arguments.Text("namespace"), p.Namespace)}
}

// branch is the branch that the call reads or writes.
func (c *call) branch() string { return cmp.Or(c.Arguments.Text("branch"), c.Location().Branch) }

// namespaces are those that the call is limited to; nil: it is not limited.
func (c *call) namespaces() []string {
	if given := c.Arguments.Texts("namespace"); given != nil || c.Namespace == "" {
		return given
	}
	return []string{c.Namespace}
}

// rehearsed is the answer of a dry run: what the call would do.
func rehearsed(would map[string]any) tool.Answer {
	r := map[string]any{"dry_run": true, "would": would}
	return tool.Answer{Structured: r, Plain: r}
}

// same says which of some parameters a call that follows this one must repeat.
func (c *call) same(names ...string) string {
	var given []string
	for _, name := range names {
		_, ok := c.Arguments.Get(name)
		if ok || name == "branch" && c.Branch != "" || name == "namespace" && c.Namespace != "" {
			given = append(given, name)
		}
	}
	if len(given) == 0 {
		return ""
	}
	return " and the same " + strings.Join(given, " and ")
}

// also is a note for the member that an answer has for it: what is said, and what else the caller should know.
func (c *call) also(said ...string) string {
	said = slices.DeleteFunc(append(said, c.TakeNotes()...), func(note string) bool { return note == "" })
	return strings.Join(said, " ")
}

// Names lists the names of the core tools, and their other names.
func Names() []string {
	var list []string
	for _, s := range Specs(Options{}) {
		list = append(append(list, s.Name), s.Aliases...)
	}
	return list
}

// Exported is a tool in the form in which language models' own interfaces take them.
type Exported struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"` // with a description for each parameter
}

// Export lists the core tools for use without MCP: give a model these, and send what it calls to the server.
func Export() []Exported {
	var list []Exported
	for _, s := range Specs(Options{}) {
		list = append(list, Exported{s.Name, s.Description + "\n\n" + s.Docs, json.RawMessage(strings.TrimSpace(string(s.Input)))})
	}
	return list
}
