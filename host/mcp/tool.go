package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/memory"
)

// tool is a tool: what is said about it, and what it does. A new one is a file of its own and a line in tools.
type tool struct {
	name        string
	description string // what models are always shown: at most 50 tokens
	docs        string // what they are shown when they ask for more
	input       string // JSON Schema of the arguments, with a description for each
	output      string // JSON Schema of the structured result
	hints       hints
	run         func(context.Context, *call) (answer, error)
}

// hints are what clients may assume about a tool, for instance to decide what to ask their user about.
type hints struct {
	readOnly    bool // changes nothing
	destructive bool // may undo or overwrite what others did
	idempotent  bool // doing it twice is doing it once
	openWorld   bool // may reach beyond this server
	// mixed says that some of what it does only reads; that is allowed in read-only mode.
	mixed bool
}

// tools lists the tools in the order in which they are advertised. New ones come last.
func tools() toolset {
	return toolset{
		storeTool(),
		recallTool(),
		searchTool(),
		forgetTool(),
		logTool(),
		branchTool(),
		historyTool(),
		statusTool(),
		capabilitiesTool(),
		loadTool(),
		operationTool(),
	}
}

// offered reports whether a client that may only read is offered the tool.
func (t tool) offered(readOnly bool) bool { return !readOnly || t.hints.readOnly || t.hints.mixed }

// advertised is the tool as it goes over the wire: without the prose that only people read, and without the schema of
// its result, which models are not shown; memory_capabilities has both.
func (t tool) advertised() (protocol.Tool, error) {
	input, err := trimSchema(json.RawMessage(t.input))
	if err != nil {
		return protocol.Tool{}, fmt.Errorf("input of %s: %w", t.name, err)
	}
	return protocol.Tool{Name: t.name, Description: t.description, RawInputSchema: input, Annotations: t.hints.annotation()}, nil
}

// annotation is hints as the protocol has them: all four, because clients assume the worst of those that are not given.
func (h hints) annotation() protocol.ToolAnnotation {
	return protocol.ToolAnnotation{
		ReadOnlyHint:    &h.readOnly,
		DestructiveHint: &h.destructive,
		IdempotentHint:  &h.idempotent,
		OpenWorldHint:   &h.openWorld,
	}
}

// ExportedTool is a tool in the form in which language models' own interfaces take them.
type ExportedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"` // with a description for each parameter
}

// Export lists the tools for use without MCP: give a model these, and send what it calls to the server.
func Export() []ExportedTool {
	var list []ExportedTool
	for _, t := range tools() {
		list = append(list, ExportedTool{t.name, t.description + "\n\n" + t.docs, json.RawMessage(strings.TrimSpace(t.input))})
	}
	return list
}

// call is one use of a tool.
type call struct {
	server    *Server
	space     *memory.Space
	tools     toolset
	arguments *arguments
	now       time.Time
	session   Session
	seat      *seat
	readOnly  bool
	version   string // of the program
	agent     string
	requestID string
	// What memory_operation asks for beside the arguments.
	branch, namespace string // empty: the seat's
	dryRun            bool   // write nothing

	notices *notices
}

// notices are what the server says beside an answer, such as which hook was skipped and why.
type notices struct {
	mu   sync.Mutex
	list []string
}

func (n *notices) add(note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, note)
}

// take gives what was said since it was asked last.
func (n *notices) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = nil
	return list
}

// write says who writes.
func (c *call) write() memory.Write {
	return memory.Write{Agent: c.agent, RequestID: c.requestID, Note: c.notices.add}
}

// place is where the call reads or writes: where its arguments say, or else where the client is.
func (c *call) place() memory.Place {
	branch, namespace := c.seat.at()
	return memory.Place{
		Branch:    cmp.Or(c.arguments.text("branch"), branch),
		Namespace: cmp.Or(c.arguments.text("namespace"), namespace),
	}
}

// toolset is the tools of a server, in the order in which they are advertised.
type toolset []tool

// names lists those that a client is offered, to tell it of.
func (s toolset) names(readOnly bool) string {
	var list []string
	for _, t := range s {
		if t.offered(readOnly) {
			list = append(list, t.name)
		}
	}
	return strings.Join(list, ", ")
}

func (s toolset) has(name string) bool {
	return slices.ContainsFunc(s, func(t tool) bool { return t.name == name })
}

// find looks a tool up by any spelling of its name; nil when there is none.
func (s toolset) find(name string) *tool {
	name = flat(name)
	if name == smartLoadName {
		name = loadName
	}
	i := slices.IndexFunc(s, func(t tool) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return &s[i]
}

// denied refuses a client that may only read.
func (s toolset) denied(what string) error {
	return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf(
		"%s, and this memory can only be read: use %s; the server's operator can allow writing", what, s.names(true))}
}

// unknown is what a client is told that calls a tool which does not exist.
func (s toolset) unknown(name string, readOnly bool) string {
	text := fmt.Sprintf("there is no tool %q: the tools are %s", clip(name, gotLength), s.names(readOnly))
	if meant := "memory_" + strings.TrimPrefix(name, "memory."); s.has(meant) {
		text += fmt.Sprintf("; %q is the one you mean", meant)
	}
	return text
}
