package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory/spelling"
	"github.com/alcove-memory/alcove/sdk/client"
)

func (a *app) callCommand() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:   "call METHOD [JSON]",
		Short: "Call any tool with arguments as JSON (- reads them from standard input)",
		Example: `  alcove call memory_store '{"key": "editor", "value": "vim"}'
  alcove call status
  alcove call operation '{"batch": [{"method": "recall", "params": {"key": "editor"}}, {"method": "status"}]}'
  alcove call --dry-run memory_store '{"key": "editor", "value": "vim"}'`,
		Args: arguments(1, 2),
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		raw := json.RawMessage("{}")
		if len(args) == 2 {
			value, err := a.value(args[1])
			if err != nil {
				return err
			}
			if value[0] != '{' {
				return &usageError{errors.New(`the arguments must be a JSON object, such as '{"key": "editor"}'`)}
			}
			raw = value
		}
		r, err := a.callMethod(c.Context(), args[0], raw, dryRun)
		if err != nil {
			return a.partly(r, a.didYouMean(c.Context(), args[0], err))
		}
		notes := r.Notes
		if tool := toolName(args[0]); isCore(tool) && tool != "memory_operation" && !a.asJSON { // these members may mean something else to a family
			notes = append(notes, notesIn(r.Structured)...)
		}
		if err := a.printNotes(notes); err != nil {
			return err
		}
		if r.Structured != nil {
			return a.printJSON(r.Structured)
		}
		return a.printf("%s\n", terminal.Lines(r.Text))
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "report the effects of the call, without writing or sending anything")
	return a.scoped(c)
}

// callMethod calls a tool. memory_operation finds the tools of families by names without memory_, and rehearses calls.
func (a *app) callMethod(ctx context.Context, method string, params json.RawMessage, dryRun bool) (client.ToolResult, error) {
	name := toolName(method)
	if dryRun {
		return a.ask(ctx, "memory_operation", fields{"method": name, "params": params, "options": fields{"dry_run": true}})
	}
	if strings.HasPrefix(name, "memory") {
		return a.ask(ctx, name, params)
	}
	r, err := a.ask(ctx, "memory_operation", fields{"method": name, "params": params})
	var failure *client.Error
	if errors.As(err, &failure) && failure.Details["searched_families"] != nil {
		failure.Code = client.InvalidArgument // as for tools that are called without it
	}
	if err != nil {
		return r, err
	}
	var operation struct {
		Result   json.RawMessage
		Metadata struct{ Notes []string }
	}
	if err := json.Unmarshal(r.Structured, &operation); err != nil {
		return r, fmt.Errorf("read the answer of %s: %w", method, err)
	}
	return client.ToolResult{Structured: operation.Result, Notes: operation.Metadata.Notes}, nil
}

// mostMeant bounds the tools that are said to be meant.
const mostMeant = 3

// didYouMean adds to the error of an unknown tool those that are spelled like it.
func (a *app) didYouMean(ctx context.Context, method string, failed error) error {
	var failure *client.Error
	if !errors.As(failed, &failure) || !strings.HasPrefix(failure.Message, "there is no tool ") {
		return failed
	}
	tools, err := a.exported(ctx, []string{"all"})
	if err != nil {
		return failed
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name, strings.TrimPrefix(t.Name, "memory_"))
	}
	meant := spelling.Nearest(names, method, mostMeant)
	if len(meant) == 0 {
		return failed
	}
	said := *failure
	said.Message = fmt.Sprintf("there is no tool %.80q: did you mean %s? alcove tools --family all lists them", method, strings.Join(meant, " or "))
	return &said
}

// partly prints what an operation did before it failed.
func (a *app) partly(r client.ToolResult, failed error) error {
	var operation struct{ Result, Steps json.RawMessage }
	if json.Unmarshal(r.Structured, &operation) != nil || operation.Result == nil && operation.Steps == nil {
		return failed
	}
	return errors.Join(a.printJSON(r.Structured), failed)
}

// toolName is the full name of a core tool: status is short for memory_status.
func toolName(given string) string {
	if long := "memory_" + given; isCore(long) {
		return long
	}
	return given
}

func isCore(tool string) bool {
	for _, t := range host.Tools() {
		if t.Name == tool {
			return true
		}
	}
	return false
}

func (a *app) toolsCommand() *cobra.Command {
	var families []string
	var format string
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools; --format prints them for a model API",
		Long: `List the tools. --format prints them as JSON in the form that a model API takes as its tools, for agents without MCP: anthropic (Messages),
openai (Chat Completions), gemini (generateContent), or mcp, the answer to tools/list. --json is --format anthropic. POST /operation runs
what the model calls.`,
		Example: "  alcove tools --format openai > tools.json\n  alcove tools --format gemini --family facts,graph",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			tools, err := a.exported(c.Context(), families)
			if err != nil {
				return err
			}
			if format != "" {
				list, err := formatted(tools, format)
				if err != nil {
					return err
				}
				return a.printJSON(list)
			}
			return printEach(a, tools, func(t host.ExportedTool) error {
				return a.printf("%s  %s\n", a.bold(t.Name), terminal.Indented(t.Description))
			})
		},
	}
	c.Flags().StringVar(&format, "format", "", "print them as JSON in the `FORMAT` of a model API: anthropic, openai, gemini or mcp")
	c.Flags().StringSliceVar(&families, "family", nil, "list the tools of these families instead, as the server has them; all for the core's and those of every family")
	return c
}

// exported are the core tools, or those of some families.
func (a *app) exported(ctx context.Context, families []string) (tools []host.ExportedTool, err error) {
	if len(families) == 0 {
		return host.Tools(), nil
	}
	q := fields{"families": families}
	if slices.Contains(families, "all") {
		q = fields{}
	}
	for {
		r, err := a.ask(ctx, "memory_export_tools", q)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools []host.ExportedTool `json:"tools"`
			Next  string              `json:"next_cursor"`
		}
		if err := json.Unmarshal(r.Structured, &page); err != nil {
			return nil, fmt.Errorf("read the tools: %w", err)
		}
		tools = append(tools, page.Tools...)
		if q["cursor"] = page.Next; page.Next == "" {
			return tools, nil
		}
	}
}
