package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "key", Short: "Manage the API keys of agents",
		Long: `Give agents keys. A client with a key is the agent that the key names, whatever it calls itself, and may do only what the key
allows, in the namespaces that it names. alcove mcp and all commands present the key in ALCOVE_KEY; HTTP clients send it
as Authorization: Bearer KEY. Clients without a key keep the rights of the memory's owner, unless the server runs with
--require-keys. Keys do not protect against other processes of the same user, which can read the data directory itself.`,
	}
	c.AddCommand(a.keyCreateCommand(), a.keyListCommand(), a.keyRevokeCommand(), a.keyDeleteCommand())
	return c
}

func (a *app) keyCreateCommand() *cobra.Command {
	var r operator.KeyRequest
	var rights []string
	c := &cobra.Command{
		Use: "create", Short: "Create a key and show it, once", Args: noArguments,
		Example: `  alcove key create --agent reviewer --namespaces notes,team/* --rights read
  alcove key create --agent planner --namespaces team/plan --rights read,write,branch,family:facts --expires 30d`,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, right := range rights {
				r.Rights = append(r.Rights, operator.Right(right))
			}
			issued, err := answeredBy(c.Context(), a, operator.Operator.CreateKey, r)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(issued)
			}
			a.printf("%s\n", issued.Secret)
			a.notef("The key %s of agent %s. It is not shown again: keep it where only that agent reads it.\n", issued.ID, issued.Agent)
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Agent, "agent", "", "the agent's name, which is kept with what it writes")
	flags.StringSliceVar(&r.Namespaces, "namespaces", nil, "the namespaces that it may use, such as notes,team/*; * for all")
	flags.StringSliceVar(&rights, "rights", []string{"read", "write"}, "what it may do: read, write, branch, config, scope.admin, site.admin, act_as, family:NAME (family:* for all)")
	flags.StringVar(&r.Expires, "expires", "", "when the key ends, such as 12h, 30d or 2027-01-31 (default: never)")
	c.MarkFlagRequired("agent")
	c.MarkFlagRequired("namespaces")
	return c
}

func (a *app) keyListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys, without their secrets", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := asked(c.Context(), a, operator.Operator.Keys)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for _, k := range list.Keys {
				a.printf("%s  %s  %s in %s  %s%s\n", k.ID, k.Agent, joined(k.Rights), strings.Join(k.Namespaces, ","), keyState(k, time.Now()), origin(k))
			}
			if list.Required {
				a.notef("Clients without a key are refused.\n")
			}
			return nil
		},
	}
}

func joined(rights []operator.Right) string {
	names := make([]string, len(rights))
	for i, right := range rights {
		names[i] = string(right)
	}
	return strings.Join(names, ",")
}

// origin describes who made a key; empty for an operator.
func origin(k operator.Key) string {
	switch {
	case k.By == nil:
		return ""
	case k.By.Parent == "":
		return "  made by family " + k.By.Family
	}
	return "  made by family " + k.By.Family + " for the holder of " + k.By.Parent
}

// keyState describes whether a key holds.
func keyState(k operator.Key, now time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked " + k.Revoked.Format(time.RFC3339)
	case k.Expires.IsZero():
		return "does not expire"
	case !now.Before(k.Expires):
		return "expired " + k.Expires.Format(time.RFC3339)
	}
	return "expires " + k.Expires.Format(time.RFC3339)
}

func (a *app) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End a key, and what its clients have open, at once", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changedKey(answeredBy(c.Context(), a, operator.Operator.RevokeKey, operator.KeyID{ID: args[0]}))
		},
	}
}

func (a *app) keyDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete ID", Short: "Revoke a key and remove it from the list", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changedKey(answeredBy(c.Context(), a, operator.Operator.DeleteKey, operator.KeyID{ID: args[0]}))
		},
	}
}

func (a *app) changedKey(k operator.Key, err error) error {
	if err != nil || !a.asJSON {
		return err
	}
	return a.printJSON(k)
}
