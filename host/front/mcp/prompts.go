package mcp

import (
	"context"
	"fmt"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool"
)

const longestArgument = 8 << 10 // bytes of an argument of a prompt

// prompt is a request that a user makes by name. Its text names the tools to call, with their arguments as JSON.
type prompt struct {
	name, title, description string
	arguments                []argument
	tools                    []string // that the text names
	text                     func(given func(name, otherwise string) string) string
}

// argument is an argument of a prompt.
type argument struct {
	name, description string
	required          bool
}

func namespaceArgument() argument {
	return argument{name: "namespace", description: "Where; the session's namespace when left out."}
}

// knownPrompts lists the prompts, by name.
func knownPrompts() []prompt {
	return []prompt{
		{
			name: "brief", title: "Brief", description: "What memory knows that matters now.",
			arguments: []argument{{name: "topic", description: "What the work is about."}, namespaceArgument()},
			tools:     []string{"memory_search"},
			text: func(given func(string, string) string) string {
				about := ""
				if given("topic", "") != "" {
					about = "What concerns the work: " + toolCallText("memory_search", "query", given("topic", ""), "namespace", given("namespace", "")) + ". "
				}
				return "Brief me from memory. " + about +
					"What matters most: " + toolCallText("memory_search", "order", "importance", "k", 10, "namespace", given("namespace", "")) + ". " +
					"What is new: " + toolCallText("memory_search", "order", "newest", "k", 10, "namespace", given("namespace", "")) + ". " +
					"Say in at most ten sentences what is decided, what is open, and what I asked to be kept in mind. Name the keys."
			},
		}, {
			name: "hand-off", title: "Hand off", description: "Pass the work on to another agent, with what it must know.",
			arguments: []argument{{name: "agent", description: "Who takes over.", required: true}, {name: "summary", description: "What to pass on; this conversation when left out."}, namespaceArgument()},
			tools:     []string{"memory_record_handoff", "memory_store"},
			text: func(given func(string, string) string) string {
				return "Hand the work over. Store first what the other agent needs and memory lacks, with memory_store. Then call " +
					toolCallText("memory_operation", "method", "memory_record_handoff", "params", map[string]any{
						"toAgent": given("agent", ""), "contextSummary": given("summary", "(what was done, and why)"), "openItems": []string{"(what is left to do)"},
					}, "options", options(given("namespace", ""))) +
					", with what stands in parentheses filled in. factIds may name the keys of memories. Tell me what was handed over."
			},
		}, {
			name: "recall", title: "Recall", description: "What memory knows about a topic.",
			arguments: []argument{{name: "topic", description: "What to look for, in plain words.", required: true}, namespaceArgument()},
			tools:     []string{"memory_search", "memory_recall"},
			text: func(given func(string, string) string) string {
				return "Tell me what memory knows about this. Call " + toolCallText("memory_search", "query", given("topic", ""), "namespace", given("namespace", "")) +
					", and once more in other words before you say that nothing is known. memory_recall reads the whole of a key. " +
					"Say what is known, with keys and dates, and what contradicts it."
			},
		}, {
			name: "remember", title: "Remember", description: "Keep something for later sessions.",
			arguments: []argument{{name: "text", description: "What to keep.", required: true}, {name: "key", description: "The key; one that can be guessed when left out."}, namespaceArgument()},
			tools:     []string{"memory_search", "memory_store"},
			text: func(given func(string, string) string) string {
				return "Remember this. Look first whether memory has it: " + toolCallText("memory_search", "query", given("text", ""), "k", 5, "namespace", given("namespace", "")) +
					". If it corrects a memory, store it under that key; else call " +
					toolCallText("memory_store", "key", given("key", "(a key that you would guess again)"), "value", given("text", ""), "namespace", given("namespace", "")) +
					". One fact a memory, no secrets. Tell me the key."
			},
		}, {
			name: "review", title: "Review", description: "Keep, correct or forget what is remembered.",
			arguments: []argument{{name: "topic", description: "What to review; all when left out."}, namespaceArgument()},
			tools:     []string{"memory_status", "memory_search", "memory_store", "memory_forget"},
			text: func(given func(string, string) string) string {
				list := toolCallText("memory_search", "order", "newest", "k", 20, "namespace", given("namespace", ""))
				if topic := given("topic", ""); topic != "" {
					list = toolCallText("memory_search", "query", topic, "k", 20, "namespace", given("namespace", ""))
				}
				return "Review memory with me. " + toolCallText("memory_status", "namespace", given("namespace", "")) + " says how much there is, and " + list +
					" shows it. Name what is outdated, twice there or wrong, each with its key, and propose to keep, correct or forget it. " +
					"Wait for my answer. Then correct with memory_store under the same key, and set aside with memory_forget and archive=true."
			},
		}, {
			name: "what-changed", title: "What changed", description: "What was stored, changed or forgotten since a moment.",
			arguments: []argument{{name: "since", description: "A moment such as yesterday, 3 days ago or 2026-03-01; yesterday when left out."}, namespaceArgument(), {name: "branch", description: "On which branch; the session's branch when left out."}},
			tools:     []string{"memory_history"},
			text: func(given func(string, string) string) string {
				return "Tell me what changed in memory. Call " +
					toolCallText("memory_history", "changes", true, "since", given("since", "yesterday"), "namespace", given("namespace", ""), "branch", given("branch", "")) +
					". memory_history with a key shows its versions. Group what changed by subject, and say what is new, what is different and what is gone."
			},
		},
	}
}

// toolCallText returns the call of a tool: its name, and its arguments as JSON without those that are empty.
func toolCallText(name string, pairs ...any) string {
	members := make([]string, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		value, err := tool.Encode(pairs[i+1])
		if err != nil || string(value) == `""` || string(value) == "null" {
			continue
		}
		members = append(members, string(quoted(pairs[i].(string)))+":"+string(value))
	}
	return name + " {" + strings.Join(members, ",") + "}"
}

// options returns options of memory_operation, or nil.
func options(namespace string) any {
	if namespace == "" {
		return nil
	}
	return map[string]string{"namespace": namespace}
}

// addPrompts gives the protocol library the prompts.
func (s *Server) addPrompts() {
	for _, p := range knownPrompts() {
		options := []protocol.PromptOption{protocol.WithPromptDescription(p.description), protocol.WithPromptTitle(p.title)}
		for _, a := range p.arguments {
			described := []protocol.ArgumentOption{protocol.ArgumentDescription(a.description)}
			if a.required {
				described = append(described, protocol.RequiredArgument())
			}
			options = append(options, protocol.WithArgument(a.name, described...))
		}
		s.protocol.AddPrompt(protocol.NewPrompt(p.name, options...), func(ctx context.Context, r protocol.GetPromptRequest) (*protocol.GetPromptResult, error) {
			return p.result(ctx, r.Params.Arguments), nil
		})
	}
}

// result returns a prompt with the user's arguments. What is wrong with them is told to the message's call.
func (p prompt) result(ctx context.Context, given map[string]string) *protocol.GetPromptResult {
	if err := p.check(given); err != nil {
		if c, ok := server.ClientSessionFromContext(ctx).(*readCall); ok {
			c.fail(jsonrpc.CodeInvalidParams, err.Error(), nil)
		}
		return &protocol.GetPromptResult{}
	}
	text := p.text(func(name, otherwise string) string {
		if value := strings.TrimSpace(given[name]); value != "" {
			return value
		}
		return otherwise
	})
	return &protocol.GetPromptResult{Description: p.description, Messages: []protocol.PromptMessage{protocol.NewPromptMessage(protocol.RoleUser, protocol.NewTextContent(text))}}
}

func (p prompt) check(given map[string]string) error {
	for name, value := range given {
		if len(value) > longestArgument {
			return fmt.Errorf("the argument %s of the prompt %s has %d bytes: at most %d are allowed", tool.Clip(name, gotLength), p.name, len(value), longestArgument)
		}
	}
	for _, a := range p.arguments {
		if a.required && strings.TrimSpace(given[a.name]) == "" {
			return fmt.Errorf("the prompt %s needs %s: %s", p.name, a.name, a.description)
		}
	}
	return nil
}
