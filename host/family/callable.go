package family

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/memory"
)

// Callable is the set of tools that families can call. It decides their calls as those of clients.
type Callable interface {
	// Name resolves the spelling of a tool's name, or an alias; without a match it returns the spelling.
	Name(spelling string) string
	// Prepare finds a family's tool for a call, decides whether the caller may make it, and reads its arguments.
	Prepare(c ToolCall) (Prepared, error)
	// Read reads arguments of a tool that nobody can find.
	Read(t abi.Tool, arguments json.RawMessage) (Prepared, error)
	// Core lists the core tools that families can call.
	Core() []abi.ForeignTool
	// IsCore reports whether Core lists a tool.
	IsCore(name string) bool
	// Offered lists the tools that lists show to a caller with some rights: the core's, then those of the families.
	Offered(rights memory.Rights) []abi.ForeignTool
	// CallCore calls a core tool, and returns its result and notes for the caller.
	CallCore(ctx context.Context, c ToolCall) (result json.RawMessage, notes []string, err error)
}

// ToolCall is a family's call of a tool.
type ToolCall struct {
	Tool      string // in any spelling
	Arguments json.RawMessage
	Caller    memory.Caller  // with the family's rights for it
	Stage     *memory.Staged // for that caller
	Branch    string
	Namespace string // the default when the arguments name none
	DryRun    bool
}

// Prepared is a call that was decided.
type Prepared struct {
	Tool      *catalogue.Tool // nil: it cannot be found
	Arguments json.RawMessage
	Notes     []string // such as parameters unknown to the tool
}

// noTools is the empty set of tools.
type noTools struct{}

func (noTools) Name(spelling string) string             { return spelling }
func (noTools) Core() []abi.ForeignTool                 { return nil }
func (noTools) IsCore(string) bool                      { return false }
func (noTools) Offered(memory.Rights) []abi.ForeignTool { return nil }
func (noTools) Read(_ abi.Tool, arguments json.RawMessage) (Prepared, error) {
	return Prepared{Arguments: arguments}, nil
}

func (noTools) Prepare(c ToolCall) (Prepared, error) {
	return Prepared{}, &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no tool %.80q", c.Tool)}
}

func (n noTools) CallCore(_ context.Context, c ToolCall) (json.RawMessage, []string, error) {
	_, err := n.Prepare(c)
	return nil, nil, err
}
