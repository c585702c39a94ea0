package mcp

import (
	"context"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const mostCompletions = 100 // as the protocol allows

// completer completes arguments of prompts and of resources.
type completer struct{ server *Server }

// CompletePromptArgument implements server.PromptCompletionProvider.
func (c completer) CompletePromptArgument(ctx context.Context, name string, a protocol.CompleteArgument, with protocol.CompleteContext) (*protocol.Completion, error) {
	c.server.offerPrompts()
	if p, known := c.server.familyPrompts.find(name); known {
		return c.server.completed(ctx, p.Complete, p.Tool, a, with)
	}
	return c.complete(ctx, a, with)
}

// CompleteResourceArgument implements server.ResourceCompletionProvider.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, a protocol.CompleteArgument, with protocol.CompleteContext) (*protocol.Completion, error) {
	if a.Name == "name" && strings.HasPrefix(uri, scheme+branchHost) {
		a.Name = "branch"
	}
	for _, r := range offers(c).all(c.server.rights(SessionOf(ctx))) {
		if r.URI == uri {
			return c.server.completed(ctx, r.Complete, r.Tool, a, with)
		}
	}
	return c.complete(ctx, a, with)
}

// complete returns the names that begin with what was typed. A client that may not read them has none.
func (c completer) complete(ctx context.Context, a protocol.CompleteArgument, with protocol.CompleteContext) (*protocol.Completion, error) {
	space := c.server.options.Space
	if space == nil || len(a.Value) > longestArgument {
		return &protocol.Completion{}, nil
	}
	session := SessionOf(ctx)
	access := space.As(c.server.who(ctx, session))
	state, _ := c.server.state(ctx)
	branch, namespace := state.At()
	if given := with.Arguments["branch"]; given != "" {
		branch = given
	}
	if given := with.Arguments["namespace"]; given != "" {
		namespace = given
	}
	var names []string
	var err error
	switch a.Name {
	case "namespace":
		names, err = namespacesOf(ctx, access, branch)
	case "key":
		names, err = keysOf(ctx, access, memory.Location{Branch: branch, Namespace: namespace}, a.Value)
	case "branch":
		names, err = branchesOf(ctx, access)
	case "since":
		names = []string{"1 hour ago", "yesterday", "3 days ago", "7 days ago"}
	case "id":
		names = []string{currentID}
	}
	if err != nil && tool.FailureOf(err).Code == memory.Internal {
		return nil, err
	}
	return completion(names, a.Value), nil
}

// completion returns the names with a prefix, as many as the protocol allows.
func completion(names []string, prefix string) *protocol.Completion {
	c := &protocol.Completion{Values: []string{}}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if c.Total++; len(c.Values) < mostCompletions {
			c.Values = append(c.Values, name)
		}
	}
	c.HasMore = c.Total > len(c.Values)
	return c
}

func namespacesOf(ctx context.Context, access *memory.Access, branch string) (names []string, err error) {
	counted, err := access.Namespaces(ctx, branch)
	for _, n := range counted {
		names = append(names, n.Name)
	}
	return names, err
}

// keysOf lists keys with a prefix: one more than a completion shows.
func keysOf(ctx context.Context, access *memory.Access, at memory.Location, prefix string) (names []string, err error) {
	list, _, err := access.List(ctx, at, prefix, "", memory.AsOf{}, mostCompletions+1)
	for _, m := range list {
		names = append(names, m.Key)
	}
	return names, err
}

func branchesOf(ctx context.Context, access *memory.Access) (names []string, err error) {
	list, err := access.Branches(ctx)
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names, err
}

// completed completes an argument by a tool of a family; or, without one, with the values that the answering tool's schema lists.
func (s *Server) completed(ctx context.Context, by, answering string, a protocol.CompleteArgument, with protocol.CompleteContext) (*protocol.Completion, error) {
	if len(a.Value) > longestArgument {
		return &protocol.Completion{}, nil
	}
	if by == "" {
		t, found := s.registry.FindFor(s.rights(SessionOf(ctx)), answering)
		if !found {
			return &protocol.Completion{}, nil
		}
		return completion(enumOf(t, a.Name), a.Value), nil
	}
	var found struct {
		Values []string
		Total  int
		More   bool
	}
	given := map[string]string{}
	for name, value := range with.Arguments {
		given[name] = value
	}
	if err := s.ask(ctx, by, map[string]any{"argument": a.Name, "value": a.Value, "given": given}, &found); err != nil {
		if tool.FailureOf(err).Code == memory.Internal {
			return nil, err
		}
		return &protocol.Completion{}, nil
	}
	c := &protocol.Completion{Values: found.Values[:min(len(found.Values), mostCompletions)], Total: max(found.Total, len(found.Values))}
	c.HasMore = found.More || c.Total > len(c.Values)
	return c, nil
}
