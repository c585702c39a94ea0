package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const mostMessages = 64 // of a prompt of a family

// familyPrompts are the prompts of families that the protocol library has been given: it finds prompts by exact name.
type familyPrompts struct {
	mu    sync.Mutex
	of    *tool.Snapshot // whose they are
	known map[string]tool.Prompt
}

// find returns a prompt of a family, of which the first by name has it.
func (p *familyPrompts) find(name string) (tool.Prompt, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.known[name]
	return found, ok
}

// offerPrompts gives the protocol library the prompts of the families as they are now.
func (s *Server) offerPrompts() {
	p, now := &s.familyPrompts, s.registry.Snapshot()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == now {
		return
	}
	before := p.known
	p.of, p.known = now, map[string]tool.Prompt{}
	for _, f := range now.Sets {
		for _, offered := range f.Prompts {
			_, twice := p.known[offered.Name]
			t := now.Find(offered.Tool)
			if f.Fault != "" || twice || t == nil || slices.ContainsFunc(knownPrompts(), func(own prompt) bool { return own.name == offered.Name }) {
				continue
			}
			offered.Description = cmp.Or(offered.Description, t.Description)
			p.known[offered.Name] = offered
			s.protocol.AddPrompt(promptOf(offered, t), func(ctx context.Context, r protocol.GetPromptRequest) (*protocol.GetPromptResult, error) {
				return s.promptBy(ctx, offered, r)
			})
		}
	}
	for name := range before {
		if _, still := p.known[name]; !still {
			s.protocol.DeletePrompts(name)
		}
	}
}

// promptOf returns a prompt as lists show it: its arguments are those of its tool.
func promptOf(p tool.Prompt, t *tool.Tool) protocol.Prompt {
	options := []protocol.PromptOption{protocol.WithPromptDescription(p.Description), protocol.WithPromptTitle(cmp.Or(p.Title, t.Title))}
	for _, parameter := range parametersOf(t) {
		described := []protocol.ArgumentOption{protocol.ArgumentDescription(parameter.Description)}
		if parameter.required {
			described = append(described, protocol.RequiredArgument())
		}
		options = append(options, protocol.WithArgument(parameter.name, described...))
	}
	return protocol.NewPrompt(p.Name, options...)
}

// promptBy has the tool of a family answer for its prompt.
func (s *Server) promptBy(ctx context.Context, p tool.Prompt, r protocol.GetPromptRequest) (*protocol.GetPromptResult, error) {
	call, _ := server.ClientSessionFromContext(ctx).(*readCall)
	if call == nil {
		return nil, fmt.Errorf("the prompt %s is got without a message", p.Name)
	}
	arguments := map[string]any{}
	for name, value := range r.Params.Arguments {
		if len(value) > longestArgument {
			call.fail(jsonrpc.CodeInvalidParams, fmt.Sprintf("the argument %s of the prompt %s has %d bytes: at most %d are allowed", tool.Clip(name, gotLength), p.Name, len(value), longestArgument), nil)
			return &protocol.GetPromptResult{}, nil
		}
		arguments[name] = value
	}
	said, _ := json.Marshal(arguments) // texts always encode
	x := exchange{server: s, purpose: "prompt " + p.Name + " " + SessionOf(ctx).Key + " " + string(said), answered: r.Params.MultiRoundTripParams}
	client, err := x.client(ctx)
	if err != nil {
		call.fail(jsonrpc.CodeInvalidParams, err.Error(), nil)
		return &protocol.GetPromptResult{}, nil
	}
	var given struct {
		Description string
		Messages    []struct {
			Role    protocol.Role
			Content content
		}
	}
	err = s.askAs(ctx, client, p.Tool, arguments, &given)
	if q, wrong := x.questions(ctx, err); q != nil {
		return q.PromptResult(), nil
	} else if wrong != nil {
		err = wrong
	}
	if lacks, is := missingCapability(call.message.id, err); is {
		call.failure = &lacks
		return &protocol.GetPromptResult{}, nil
	}
	if err == nil && len(given.Messages) > mostMessages {
		err = &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("the prompt has %d messages: at most %d are allowed", len(given.Messages), mostMessages)}
	}
	result := &protocol.GetPromptResult{Description: cmp.Or(given.Description, p.Description)}
	for _, m := range given.Messages {
		shown, wrong := m.Content.wire()
		err = cmp.Or(err, wrong)
		result.Messages = append(result.Messages, protocol.NewPromptMessage(m.Role, shown))
	}
	if err != nil {
		call.context = ctx
		call.failed(err)
		return &protocol.GetPromptResult{}, nil
	}
	return result, nil
}

// offers reports whether a client may use all tools that a prompt names.
func (s *Server) offers(ctx context.Context, given protocol.Prompt) bool {
	rights := s.rights(SessionOf(ctx))
	if p, known := s.familyPrompts.find(given.Name); known {
		t, found := s.registry.FindFor(rights, p.Tool)
		return found && t.Annotations.Permitted(rights.WritesNothing())
	}
	for _, p := range knownPrompts() {
		if p.name != given.Name {
			continue
		}
		for _, name := range p.tools {
			if t, found := s.registry.FindFor(rights, name); !found || !t.Annotations.Permitted(rights.WritesNothing()) {
				return false
			}
		}
		return rights.ReadsAnything()
	}
	return true
}

// offered leaves out the prompts that a client cannot use.
func (s *Server) offered(ctx context.Context, prompts []protocol.Prompt) []protocol.Prompt {
	kept := make([]protocol.Prompt, 0, len(prompts))
	for _, p := range prompts {
		if s.offers(ctx, p) {
			kept = append(kept, p)
		}
	}
	return kept
}
