// Package core implements the core tools: storing, finding, branching and looking back, and calling all other tools.
package core

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/recalls"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

// Options configures the core tools.
type Options struct {
	Space    *memory.Space
	Version  string       // of the program, shown to callers
	Writable func() error // returns why writing is impossible; nil: always possible
	Locked   func() bool  // reports whether the data directory is locked; nil: it is not
	// Following tells how far a copy of another memory is; empty, or nil: this is none.
	Following func() string
	// Meaning returns how searches by meaning are configured for an agent's searches of a namespace; empty: of several. Nil: as is usual.
	Meaning func(ctx context.Context, namespace, agent string) (Meaning, error)
	// Vectors compares intents with what families are described with. Nil: by words alone.
	Vectors Vectors
}

// kit is shared by the core tools.
type kit struct {
	Options
	recalls   *recalls.Recalls
	described atomic.Pointer[intents] // of the newest snapshot that was asked for; nil: none was
}

// Specs returns the core tools in the order advertised. A new tool is a file of its own and a line here, at the end.
func Specs(o Options) []tool.Spec {
	k := &kit{Options: o, recalls: recalls.New(recalls.Options{Space: o.Space})}
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
		operation.Spec(),
		k.eventsTool(),
	}
}

// call is a call of a core tool.
type call struct {
	*tool.Call
	kit *kit
}

// access returns the space with the caller's rights.
func (c *call) access() *memory.Access { return c.kit.Space.As(c.Caller) }

// memories is the store of a call: a *memory.Access, or a *memory.Staged within a family's call.
type memories interface {
	Store(ctx context.Context, p memory.Location, items []memory.Item, w memory.Write) ([]memory.Stored, error)
	Forget(ctx context.Context, p memory.Location, keys []string, w memory.Write) ([]string, error)
	SetState(ctx context.Context, p memory.Location, keys []string, state memory.State, w memory.Write) ([]string, error)
	Get(ctx context.Context, p memory.Location, keys []string) ([]*memory.Memory, error)
	Recall(ctx context.Context, p memory.Location, key string, at memory.AsOf) (*memory.Memory, error)
	Search(ctx context.Context, q memory.Search) (memory.Found, error)
	History(ctx context.Context, p memory.Location, key string, at memory.AsOf, limit int) ([]memory.Memory, uint64, error)
}

// memories returns the space, or the stage that the call is part of.
func (c *call) memories() memories {
	if c.Stage != nil {
		return c.Stage
	}
	return c.access()
}

// rehearsed returns the answer of a dry run: what the call would do.
func rehearsed(would map[string]any) tool.Answer {
	r := map[string]any{"dry_run": true, "would": would}
	return tool.Answer{Structured: r, Plain: r}
}

// same names the parameters that a follow-up call must repeat.
func (c *call) same(names ...string) string {
	var given []string
	for _, name := range names {
		if c.Arguments.Has(name) || name == "branch" && c.Branch != "" || name == "namespace" && c.Namespace != "" {
			given = append(given, name)
		}
	}
	if len(given) == 0 {
		return ""
	}
	return " and the same " + strings.Join(given, " and ")
}

// also returns the text of an answer's note: said, followed by the call's notes.
func (c *call) also(said ...string) string {
	said = slices.DeleteFunc(append(said, c.TakeNotes()...), func(note string) bool { return note == "" })
	return strings.Join(said, " ")
}

// Names returns the names and aliases of the core tools.
func Names() []string {
	var list []string
	for _, s := range Specs(Options{}) {
		list = append(append(list, s.Name), s.Aliases...)
	}
	return list
}

// Export returns the core tools that lists show, in the form that model APIs accept.
func Export() []tool.Exported {
	var list []tool.Exported
	for _, s := range Specs(Options{}) {
		if !s.Unlisted {
			list = append(list, s.Export())
		}
	}
	return list
}
