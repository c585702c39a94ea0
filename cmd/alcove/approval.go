package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) approvalCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "approval", Short: "Approve or reject changes that wait for a person",
		Long: `List, approve and reject changes that the rules of the family governance hold for approval. These commands decide as the
operator, which no agent can do where a rule requires a person. An ID is NAMESPACE#BRANCH, as in the list.`,
	}
	c.AddCommand(a.approvalListCommand(), a.approvalDecision("approve", "Merge a change"), a.approvalDecision("reject", "Drop a change"))
	return c
}

// decided calls a tool of governance as the operator.
func (a *app) decided(c *cobra.Command, tool string, arguments map[string]any, namespace string) (operator.ToolAnswer, error) {
	data, err := json.Marshal(arguments)
	if err != nil {
		return operator.ToolAnswer{}, err
	}
	return call(c.Context(), a, operator.CallTool, operator.ToolCall{Tool: tool, Arguments: data, Namespace: namespace})
}

func (a *app) approvalListCommand() *cobra.Command {
	var namespace, status string
	c := &cobra.Command{
		Use: "list", Short: "List the pending changes of a namespace", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			answer, err := a.decided(c, "memory_pending_list", map[string]any{"status": status}, namespace)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(answer.Result)
			}
			var page struct {
				Pending []struct {
					ID, Op, By, At, Branch string
					Keys                   []string
					Changes                []pendingChange
					More                   int
				}
			}
			if err := json.Unmarshal(answer.Result, &page); err != nil {
				return err
			}
			for _, p := range page.Pending {
				a.printf("%s  %s %s by %s  %s\n", p.ID, p.Op, strings.Join(p.Keys, ", "), p.By, p.At)
				for _, change := range p.Changes {
					a.printf("    %s\n", change)
				}
				if p.More > 0 {
					a.printf("    %d more: alcove branch diff %s\n", p.More, p.Branch)
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&namespace, "in", "default", "the namespace")
	c.Flags().StringVar(&status, "status", "pending", "pending, approved or rejected")
	return c
}

// pendingChange is a memory that an approval changes.
type pendingChange struct {
	Key, Change, Clash string
	Before, After      json.RawMessage
	Also               []string
}

func (p pendingChange) String() string {
	text := fmt.Sprintf("%s %q", p.Change, p.Key)
	switch {
	case p.Before != nil && p.After != nil && bytes.Equal(p.Before, p.After):
	case p.Before != nil && p.After != nil:
		text += fmt.Sprintf(": %s → %s", p.Before, p.After)
	default:
		text += fmt.Sprintf(": %s%s", p.Before, p.After)
	}
	for _, other := range p.Also {
		text += "; " + other
	}
	if p.Clash != "" {
		text += "; cannot be merged: " + p.Clash
	}
	return text
}

func (a *app) approvalDecision(verb, short string) *cobra.Command {
	given := map[string]any{}
	var reason, remember string
	c := &cobra.Command{
		Use: verb + " ID", Short: short, Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			given["id"], given["remember"] = args[0], remember
			if reason != "" {
				given["reason"] = reason
			}
			answer, err := a.decided(c, "memory_pending_"+verb, given, "")
			if err != nil {
				return err
			}
			for _, note := range answer.Notes {
				a.notef("%s\n", note)
			}
			if a.asJSON {
				return a.printJSON(answer.Result)
			}
			return nil
		},
	}
	c.Flags().StringVar(&remember, "remember", "once", "what becomes of later changes of this kind by the same agent: once (asked again), session or forever")
	if verb == "reject" {
		c.Flags().StringVar(&reason, "reason", "", "why, for the agent")
	}
	return c
}
