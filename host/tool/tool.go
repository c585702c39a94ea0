// Package tool says what a tool is, keeps the tools that there are, and calls them the same way for every front end.
//
// It knows neither a protocol nor a sandbox: a front end makes a Request and renders the Answer; a Spec brings the Handler.
package tool

import (
	"context"
	"encoding/json"
)

// CoreFamily is the name that the core tools, which are always there, have among families.
const CoreFamily = "core"

// Spec is a tool: its names, what is said about it, and what it does. Core tools, the tools of families and generated tools
// are all Specs.
type Spec struct {
	Name    string   // letters, digits, _ - and .
	Aliases []string // other names that it answers to; no list shows them
	// Presets are, by alias, the values of parameters that a call by that name does not give.
	Presets map[string]map[string]json.RawMessage
	Family  string // empty: a core tool

	Title       string
	Description string // shown to models with every list: at most 50 tokens
	Docs        string // shown when more is asked for

	Input  json.RawMessage // JSON Schema of the arguments: an object; nil: any object
	Output json.RawMessage // JSON Schema of the result; nil: unknown
	// Parameters are further spellings of parameters, and what they stand for: a parameter of Input, Spread, or themselves for
	// a parameter that is accepted without being advertised. Case, _ and - make no difference.
	Parameters map[string]string
	// Lenient leaves the check of the arguments to the handler, which reads them one by one: Input then only names them.
	Lenient bool
	// Staged tools can be called within a family's call, and keep to its stage.
	Staged bool

	Annotations Annotations
	Handler     Handler
}

// Handler does what a tool is for.
type Handler func(context.Context, *Call) (Answer, error)

// Annotations are what callers may assume about a tool, for instance to decide what to ask their user about.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`    // changes nothing
	Destructive bool `json:"destructiveHint"` // may undo or overwrite what others did
	Idempotent  bool `json:"idempotentHint"`  // doing it twice is doing it once
	OpenWorld   bool `json:"openWorldHint"`   // may reach beyond this server
	// Mixed tools may write, and decide call by call: a caller who may only read can call them.
	Mixed bool `json:"-"`
}

// Permitted reports whether a caller may call the tool who may only read, or may write too.
func (a Annotations) Permitted(readOnly bool) bool { return !readOnly || a.ReadOnly || a.Mixed }

// Family is a set of tools beside the core ones.
type Family struct {
	Name        string
	Version     string
	Digest      string // SHA-256 of its module, hexadecimal
	Description string
	Docs        string
	Tools       []Spec
	Hooks       []string // that it is granted: store, stored, rank, embed, job
	Needs       []string // capabilities that it asks for and was not granted
	Loaded      bool     // it need not be started first
	Fault       string   // why it cannot be used now; empty: it can
}

// Source has families that come and go while they are used.
type Source interface {
	// Families lists the families that callers may use, by name, whether they are loaded or not.
	Families() []Family
	// Changed is closed as soon as Families gives something else.
	Changed() <-chan struct{}
	// Load makes a family ready to be called. A call does so by itself.
	Load(ctx context.Context, name string) error
}
