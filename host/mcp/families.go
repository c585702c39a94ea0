package mcp

import (
	"context"
	"encoding/json"
)

// Families are tools beyond the core, in sets that come and go while clients are served. Errors that are meant for the
// caller are *memory.Error.
type Families interface {
	// All lists the families that clients may use, by name, whether they are loaded or not.
	All() []Family
	// Changed is closed as soon as All gives something else.
	Changed() <-chan struct{}
	// Load makes a family ready to be called. Call does so by itself.
	Load(ctx context.Context, name string) error
	// Call calls a tool of a family, as its manifest names it.
	Call(ctx context.Context, c FamilyCall) (FamilyResult, error)
}

// Family is a set of tools.
type Family struct {
	Name        string
	Version     string
	Digest      string // SHA-256 of its module, hexadecimal
	Description string
	Docs        string
	Tools       []FamilyTool
	Hooks       []string // that it is granted: store, stored, rank, embed, job
	Needs       []string // capabilities that it asks for and was not granted
	Loaded      bool
	Fault       string // why it cannot be used now; empty: it can
}

// FamilyTool is a tool of a family.
type FamilyTool struct {
	Name        string // unique among all families; letters, digits, _ - and .
	Description string
	Docs        string
	Input       json.RawMessage // JSON Schema of an object
	Output      json.RawMessage // nil: not said
	Title       string
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// FamilyCall is a call of a family's tool by a client.
type FamilyCall struct {
	Tool      string
	Arguments json.RawMessage // an object that fits the tool's Input
	Branch    string
	Namespace string
	Agent     string
	RequestID string
	ReadOnly  bool // the caller may not write
	DryRun    bool // what the tool would write is thrown away
	// Progress tells how far the call has come; total is 0 when that is not known. Nil: nobody asks.
	Progress func(done, total float64, message string)
}

// FamilyResult is what a tool answered.
type FamilyResult struct {
	Output   json.RawMessage // any JSON value
	Version  uint64          // of the commit that has what it wrote; 0: it wrote nothing
	Proposal string          // the branch that has what it proposes; empty: none
	Notes    []string        // what the caller should know beside, for instance which hook was skipped and why
}
