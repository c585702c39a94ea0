// Package tool defines tools, registers them, and dispatches calls to them uniformly for every front end.
//
// It depends on neither a protocol nor a sandbox: a front end makes a Request and renders the Answer; a Spec provides the
// Handler.
package tool

import (
	"context"
	"encoding/json"
)

// CoreFamily is the family name of the core tools, which are always available.
const CoreFamily = "core"

// Spec specifies a tool: its names, documentation and behavior. Core tools, families' tools and generated tools are all
// Specs.
type Spec struct {
	Name    string   // letters, digits, _ - and .
	Aliases []string // other accepted names, not shown in lists
	// Presets are, by alias, default values of parameters for calls by that name.
	Presets map[string]map[string]json.RawMessage
	// Spellings maps, by alias, spellings in calls by that name to parameters of Input, or to Spread. They win over the tool's own.
	Spellings map[string]map[string]string
	Family    string // empty: a core tool

	Title       string
	Description string // shown to models with every list: at most 50 tokens
	Docs        string // shown on request

	Input  json.RawMessage // JSON Schema of the arguments: an object; nil: any object
	Output json.RawMessage // JSON Schema of the result; nil: unknown
	// Parameters maps further spellings to a parameter of Input, to Spread, or to themselves for a parameter that is accepted
	// but not advertised. Case, _ and - are ignored.
	Parameters map[string]string
	// Beside lists keys of Parameters that stand for themselves where their parameter is given by its own name: they are left unknown then,
	// not refused as given twice.
	Beside []string
	// Lenient leaves validation to the handler, whose declared request reads the arguments: Input then only names them.
	Lenient bool
	// Generated tools are made at run time: their names are not those of a manifest.
	Generated bool
	// Unlisted core tools are left out of the lists of MCP clients, except those of all tools, so that lists stay short. They can be
	// called by name, and memory_capabilities and OpenAPI documents show them. Those of families are in no list.
	Unlisted bool
	// Content tools answer for people and models: the member content of the result is a list of what they are shown.
	Content bool
	// Task says whether calls become tasks of clients that know these.
	Task Task
	// Asks tools may ask the caller's client: see Client.
	Asks bool
	// Headers tools have parameters that clients repeat in HTTP headers: their Input says so with x-mcp-header.
	Headers bool
	// With is the family with whose tools an unlisted core tool is listed after all; empty: none.
	With string
	// Staged tools can be called within a family's call, and respect its stage.
	Staged bool
	// Origin is the tool as its Source knows it; nil: a core tool.
	Origin any

	Annotations Annotations
	Handler     Handler
}

// Exported is a tool in the form that model APIs accept.
type Exported struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"` // with a description for each parameter
}

// Export returns the tool for use without MCP: pass it to a model, and its calls to the server.
func (s Spec) Export() Exported {
	description := s.Description
	if s.Docs != "" {
		description += "\n\n" + s.Docs
	}
	return Exported{flat(s.Name), description, s.modelSchema()}
}

// Handler implements a tool.
type Handler func(context.Context, *Call) (Answer, error)

// Annotations are properties that callers may assume of a tool, say to decide what their user must confirm.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`    // changes nothing
	Destructive bool `json:"destructiveHint"` // may undo or overwrite others' changes
	Idempotent  bool `json:"idempotentHint"`  // repeating a call has no further effect
	OpenWorld   bool `json:"openWorldHint"`   // may reach beyond this server
	// Mixed tools may write, and decide call by call, so read-only callers can call them.
	Mixed bool `json:"-"`
}

// Permitted reports whether a caller, read-only or not, may call the tool.
func (a Annotations) Permitted(readOnly bool) bool { return !readOnly || a.ReadOnly || a.Mixed }

// Family is a set of tools in addition to the core ones.
type Family struct {
	Name        string
	Version     string
	Digest      string // SHA-256 of its module, hexadecimal
	Description string
	Docs        string
	Keywords    []string // what users call what it does
	Examples    []string // what users say when they want it
	Deprecated  bool     // lists have its tools only once it was loaded or called
	Tools       []Spec
	Resources   []Resource
	Prompts     []Prompt
	Hooks       []string // granted: store, stored, rank, embed, job
	Needs       []string // capabilities requested but not granted
	Loaded      bool     // it is already started
	Fault       string   // why it is unusable now; empty: usable
}

// Task says whether calls of a tool become tasks of clients that know these.
type Task string

// The values of Task.
const (
	TaskIfLong     Task = ""            // once they take long
	TaskAtOnce     Task = "optional"    // at once
	TaskRequired   Task = "required"    // at once, and other clients cannot call the tool
	TaskAfterInput Task = "after_input" // once the client answered what the tool asks first
)

// Resource is what clients read by URI through a tool of a family.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	Variables                               []string // of its template, in their order; nil: it is none
	Tool                                    string   // that answers for it
	List, Complete                          string   // the tools that list its resources and complete its variables; empty: none does

	// Match returns the values of the variables in a URI that fits.
	Match func(uri string) (values map[string]string, ok bool)
}

// Prompt is a request that users make by name. A tool of a family answers with its messages, and has its arguments.
type Prompt struct {
	Name, Title, Description string
	Tool                     string
	Complete                 string // the tool that completes its arguments; empty: none does
}

// Source provides families, which may come and go while in use.
type Source interface {
	// Families lists the families that callers may use, loaded or not, sorted by name.
	Families() []Family
	// Changed returns a channel that is closed when the result of Families changes.
	Changed() <-chan struct{}
	// Load makes a family ready for calls. A call loads it by itself.
	Load(ctx context.Context, name string) error
}
