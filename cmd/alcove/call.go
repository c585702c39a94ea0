package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/client"
)

func (a *app) callCommand() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:   "call METHOD [JSON]",
		Short: "Call any tool with arguments as JSON (- reads them from standard input)",
		Example: `  alcove call memory_store '{"key": "editor", "value": "vim"}'
  alcove call status
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
		var r client.Result
		var err error
		if tool := toolName(args[0]); dryRun {
			r, err = a.ask(c.Context(), "memory_operation", fields{"method": tool, "params": raw, "options": fields{"dry_run": true}})
		} else {
			r, err = a.ask(c.Context(), tool, raw)
		}
		if err != nil {
			return err
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
	c.Flags().BoolVar(&dryRun, "dry-run", false, "write and send nothing; report the effects that the call would have")
	return a.scoped(c)
}

// toolName is the full name of a tool: status is short for memory_status. Tools of families have no short names.
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
	return &cobra.Command{
		Use:   "tools",
		Short: "List the tools; --json prints them in the form that model APIs take (input_schema)",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			tools := host.Tools()
			if a.asJSON {
				return a.printJSON(tools)
			}
			for _, t := range tools {
				if err := a.printf("%s  %s\n", a.bold(t.Name), terminal.Indented(t.Description)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
