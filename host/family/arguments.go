package family

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// Callable is the set of tools that families can call.
type Callable interface {
	// Name resolves the spelling of a tool's name, or an alias; without a match it returns the spelling.
	Name(spelling string) string
	// Prepare converts arguments to what a family's tool expects, by the spelling of the call.
	Prepare(spelling string, arguments json.RawMessage) (Prepared, error)
	// Core lists the core tools that families can call.
	Core() []abi.ForeignTool
	// Offered lists the tools that lists show to a caller with some rights: the core's, then those of the families.
	Offered(rights memory.Rights) []abi.ForeignTool
	// CallCore calls a core tool, and returns its result and notes for the caller.
	CallCore(ctx context.Context, c CoreCall) (result json.RawMessage, notes []string, err error)
}

// CoreCall is a family's call of a core tool.
type CoreCall struct {
	Tool      string
	Arguments json.RawMessage
	Caller    memory.Caller  // with the family's rights for it
	Stage     *memory.Staged // for that caller
	Branch    string
	Namespace string // the default when the arguments name none
	DryRun    bool
}

// Prepared holds the arguments of a call, ready for the tool.
type Prepared struct {
	Arguments json.RawMessage
	Checked   json.RawMessage // the input schema they were validated against; nil: not checked
	Notes     []string        // such as parameters unknown to the tool
}

// SetCallable makes tools callable by families. Until then families call each other's tools by exact name, and arguments
// are only checked.
func (f *Families) SetCallable(c Callable) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.callable = c
}

func (f *Families) callableTools() Callable {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.callable
}

// Name implements ops.Tools.
func (r toolsOf) Name(spelling string) string {
	if c := r.families.callableTools(); c != nil {
		return c.Name(spelling)
	}
	return spelling
}

// IsCore implements ops.Tools.
func (r toolsOf) IsCore(name string) bool {
	c := r.families.callableTools()
	return c != nil && slices.ContainsFunc(c.Core(), func(t abi.ForeignTool) bool { return t.Name == name })
}

// CallCore implements ops.Tools.
func (r toolsOf) CallCore(ctx context.Context, tool string, arguments json.RawMessage, rights memory.Rights) (json.RawMessage, error) {
	caller := r.Caller
	caller.Rights = caller.Rights.Within(rights)
	result, notes, err := r.families.callableTools().CallCore(ctx, CoreCall{
		Tool: tool, Arguments: arguments, Caller: caller, Stage: r.Stage.For(caller), Branch: r.Stage.Branch(), Namespace: r.Namespace, DryRun: r.DryRun,
	})
	r.logNotes(tool, notes)
	return result, err
}

// prepare reads the arguments for a call of another family's tool. Notes go to the log: the
// caller is a program.
func (r *request) prepare(tool string, arguments json.RawMessage) (Prepared, error) {
	c := r.families.callableTools()
	if c == nil {
		return Prepared{Arguments: arguments}, nil
	}
	p, err := c.Prepare(tool, arguments)
	r.logNotes(tool, p.Notes)
	return p, err
}

func (r *request) logNotes(tool string, notes []string) {
	for _, note := range notes {
		r.families.o.Logger.Warn("a family's call of a tool was answered with a note", "family", r.family.name, "tool", tool, "note", note)
	}
}
