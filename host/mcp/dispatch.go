package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/memory"
)

// familyTarget is the one tool that the protocol library knows for all tools of families. Its name is none that a client
// could call: names are looked up before the library sees them.
const familyTarget = "a family's tool"

type targetKey struct{} // of the context: the *target of a call

// target is what a name stands for.
type target struct {
	core   *tool       // nil: it is a family's
	family *familyTool // nil: it is a core tool
}

// resolve finds the tool that a name stands for, in any spelling: memory.store is memory_store.
func (s *Server) resolve(name string) (target, bool) {
	if core := s.tools.find(name); core != nil {
		return target{core: core}, true
	}
	if t := s.shelf.catalogue().find(name); t != nil {
		return target{family: t}, true
	}
	return target{}, false
}

func (s *Server) has(name string) bool {
	_, ok := s.resolve(name)
	return ok
}

// unknown is what a client is told that calls a tool which does not exist.
func (s *Server) unknown(name string, readOnly bool) string {
	text := s.tools.unknown(name, readOnly)
	if names := s.shelf.catalogue().names(); len(names) > 0 {
		text += "; memory_load_family shows those of the families " + quoted(names)
	}
	return text
}

// aim makes the protocol library call what a name stands for.
func aim(ctx context.Context, _ any, request *protocol.CallToolRequest) {
	at, ok := ctx.Value(targetKey{}).(*target)
	switch {
	case !ok:
	case at.family != nil:
		request.Params.Name = familyTarget
	default:
		request.Params.Name = at.core.name
	}
}

// callTarget serves the calls of families' tools.
func (s *Server) callTarget(ctx context.Context, request protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	at, ok := ctx.Value(targetKey{}).(*target)
	if !ok || at.family == nil {
		return nil, errors.New("a family's tool was called without its name")
	}
	return s.finish(ctx, at.family.Name, func() (answer, error) {
		c, err := s.newCall(ctx, at.family.Name, request)
		if err != nil {
			return answer{}, err
		}
		a, err := s.callFamily(ctx, at.family, c)
		if err == nil {
			c.show(ctx, at.family.family)
		}
		return a, err
	})
}

// finish runs a call and makes its outcome one that the protocol knows. It survives panics.
func (s *Server) finish(ctx context.Context, name string, run func() (answer, error)) (*protocol.CallToolResult, error) {
	a, err := s.survive(run)
	if err == nil {
		var result *protocol.CallToolResult
		if result, err = a.result(); err == nil {
			return result, nil
		}
	}
	return s.failure(ctx, name, err).result(), nil
}

func (s *Server) survive(run func() (answer, error)) (a answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return run()
}

// failure is an error as clients see it. What is the server's fault is logged.
func (s *Server) failure(ctx context.Context, name string, err error) failure {
	f, internal := failureOf(err)
	if internal {
		s.options.Logger.ErrorContext(ctx, "tool failed", "tool", name, "error", err)
	}
	return f
}

// callFamily calls a tool of a family.
func (s *Server) callFamily(ctx context.Context, t *familyTool, c *call) (answer, error) {
	if !t.permitted(c.readOnly) {
		return answer{}, s.tools.denied(t.Name + " would write")
	}
	if t.family.Fault != "" {
		return answer{}, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf(
			"%s cannot be used now, because its family %s is at fault: %s. Do without it, or tell the user", t.Name, t.family.Name, t.family.Fault)}
	}
	place, err := t.place(c)
	if err != nil {
		return answer{}, err
	}
	given, err := t.fit(c.arguments)
	if err != nil {
		return answer{}, err
	}
	progress, done := s.progress(ctx)
	defer done()
	result, err := s.shelf.families.Call(ctx, FamilyCall{
		Tool: t.Name, Arguments: given, Branch: place.Branch, Namespace: place.Namespace, Agent: c.agent, RequestID: c.requestID,
		ReadOnly: c.readOnly, DryRun: c.dryRun, Progress: progress,
	})
	if err != nil {
		return answer{}, err
	}
	return t.answer(result), nil
}

// place is where a call goes. A family's tool takes branch and namespace as core tools do, unless it has parameters of
// those names, which mean what the family says.
func (t *familyTool) place(c *call) (memory.Place, error) {
	own := propertiesOf(t.Input)
	branch, namespace := c.seat.at()
	at := memory.Place{Branch: cmp.Or(c.branch, branch), Namespace: cmp.Or(c.namespace, namespace)}
	for name, field := range map[string]*string{"branch": &at.Branch, "namespace": &at.Namespace} {
		if _, itsOwn := own[name]; !itsOwn {
			*field = cmp.Or(c.arguments.text(name), *field)
			delete(c.arguments.members, name)
		}
	}
	return at, c.arguments.err()
}

// answer is what a tool answered, for the protocol: structured content must be an object.
func (t *familyTool) answer(r FamilyResult) answer {
	output := r.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	a := answer{structured: output, plain: output, note: strings.Join(notesOf(r), "\n"), family: &r}
	if output[0] != '{' || len(t.Output) > 0 && !saysObject(t.Output) {
		a.structured = map[string]json.RawMessage{"result": output}
	}
	return a
}

// notesOf is what a caller should know beside the answer.
func notesOf(r FamilyResult) []string {
	notes := slices.Clone(r.Notes)
	if told := func(note string) bool { return strings.Contains(note, r.Proposal) }; r.Proposal != "" && !slices.ContainsFunc(notes, told) {
		notes = append(notes, fmt.Sprintf("Nothing is changed yet: what it proposes is on the branch %q. memory_branch action=diff compare=%q shows it, "+
			"action=merge source=%q accepts it, action=delete name=%q drops it.", r.Proposal, r.Proposal, r.Proposal, r.Proposal))
	}
	return notes
}

// show puts a family into the list of a client that called one of its tools: those who list again will find them.
func (c *call) show(ctx context.Context, f *family) {
	if c.seat.stateless || c.seat.has(f.Name) {
		return
	}
	c.seat.load(f.Name, true)
	c.server.tellList(ctx, c.seat)
}
