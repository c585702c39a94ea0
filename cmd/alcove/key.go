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
		Long: `Manage the API keys of agents. A key sets the name of the agent, whatever name the client gives, and its rights in the
namespaces of the key. alcove mcp and all commands present the key in ALCOVE_KEY; HTTP clients send it as
Authorization: Bearer KEY. Clients without a key have the rights of the owner, unless the server runs with
--require-keys. Keys do not protect against other processes of the same user, which can read the data directory.`,
	}
	c.AddCommand(a.keyCreateCommand(), a.keyListCommand(), a.keyLimitsCommand(), a.keyRevokeCommand(), a.keyDeleteCommand())
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
			issued, err := call(c.Context(), a, operator.CreateKey, r)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(issued)
			}
			a.printf("%s\n", issued.Secret)
			return a.noteKey("The key "+issued.ID, issued.Agent, issued.Narrowed)
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Agent, "agent", "", "the agent's name, which is kept with what it writes")
	flags.StringSliceVar(&r.Namespaces, "namespaces", nil, "the namespaces that it may use, such as notes,team/*; * for all")
	flags.StringSliceVar(&rights, "rights", []string{"read", "write"}, "what it may do: read, write, branch, config, scope.admin, site.admin, act_as, family:NAME (family:* for all)")
	flags.StringVar(&r.Expires, "expires", "", "when the key ends, such as 12h, 30d or 2027-01-31 (default: never)")
	limitFlags(c, &r.Limits)
	c.MarkFlagRequired("agent")
	c.MarkFlagRequired("namespaces")
	return c
}

// noteKey says of a new key what its secret does not.
func (a *app) noteKey(key, agent string, narrowed bool) error {
	err := a.notef("%s of agent %s. It is not shown again: keep it where only that agent reads it.\n", key, agent)
	if err == nil && narrowed {
		err = a.notef("The posture is careful from now on, because others use the server: alcove posture set personal --shared has families act for them, too.\n")
	}
	return err
}

func (a *app) keyListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys, without their secrets", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := query(c.Context(), a, operator.ListKeys)
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

func joined[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = string(name)
	}
	return strings.Join(names, ",")
}

// origin describes who made a key; empty for an operator.
func origin(k operator.Key) string {
	switch {
	case k.Subject != nil:
		return "  for tokens of " + k.Subject.Issuer + " for " + k.Subject.ID
	case k.By == nil:
		return ""
	case k.By.Client != nil && k.By.Parent == "":
		return "  given to the client " + k.By.Client.Name + " by the operator"
	case k.By.Client != nil:
		return "  given to the client " + k.By.Client.Name + " by the holder of " + k.By.Parent
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
		Use: "revoke ID", Short: "Revoke a key and close the connections of its clients immediately", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changedKey("revoked", ", whose clients are disconnected", args[0], operator.RevokeKey, c)
		},
	}
}

func (a *app) keyDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete ID", Short: "Revoke a key and delete its entry", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changedKey("deleted", "", args[0], operator.DeleteKey, c)
		},
	}
}

// changedKey changes a key and says so.
func (a *app) changedKey(done, so, id string, act operator.Act[operator.KeyID, operator.Key], c *cobra.Command) error {
	k, err := call(c.Context(), a, act, operator.KeyID{ID: id})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(k)
	}
	return a.printf("%s the key %s of agent %s%s\n", done, k.ID, k.Agent, so)
}

// limitFlags adds the flags for limits of keys.
func limitFlags(c *cobra.Command, l *operator.KeyLimits) {
	flags := c.Flags()
	flags.Float64Var(&l.CallsPerSecond, "max-calls-per-second", 0, "how many calls its clients may make per second, all together (default: that of alcove key limits)")
	flags.IntVar(&l.Burst, "max-burst", 0, "how many calls at once after a pause (default: those of 5 seconds)")
	flags.IntVar(&l.Concurrent, "max-concurrent", 0, "how many calls may run at once")
	flags.Int64Var(&l.BodyBytes, "max-body-bytes", 0, "how long a request may be")
	flags.Int64Var(&l.MemoriesADay, "memories-a-day", 0, "how many memories its clients may store in a day (UTC), in all namespaces together (default: unlimited)")
	flags.Int64Var(&l.LinksADay, "links-a-day", 0, "how many links they may add in a day")
	flags.Int64Var(&l.BytesADay, "bytes-a-day", 0, "by how many bytes their memories may grow in a day")
}

func (a *app) keyLimitsCommand() *cobra.Command {
	var l operator.KeyLimits
	c := &cobra.Command{
		Use: "limits", Short: "Show or set the default limits of keys", Args: noArguments,
		Long: `Without flags, show the limits. With flags, set them for all keys that were created without limits of their own, from now on; what is not
named gets its default. A call beyond a limit does nothing, and its error names the limit and when to try again. Clients without a key
have the server's overall limits only.`,
		Example: `  alcove key limits
  alcove key limits --max-calls-per-second 50 --max-concurrent 8 --max-body-bytes 1048576`,
		RunE: func(c *cobra.Command, _ []string) error {
			if l == (operator.KeyLimits{}) {
				list, err := query(c.Context(), a, operator.ListKeys)
				if err != nil {
					return err
				}
				return a.printLimits(list.Limits)
			}
			return callAndPrint(c.Context(), a, operator.LimitKeys, l, a.printLimits)
		},
	}
	limitFlags(c, &l)
	return c
}

func (a *app) printLimits(l operator.KeyLimits) error {
	if a.asJSON {
		return a.printJSON(l)
	}
	a.printf("%g calls per second, %d at once after a pause, %d concurrent, %d bytes a request\n", l.CallsPerSecond, l.Burst, l.Concurrent, l.BodyBytes)
	for _, of := range []struct {
		most int64
		what string
	}{{l.MemoriesADay, "memories"}, {l.LinksADay, "links"}, {l.BytesADay, "bytes"}} {
		if of.most > 0 {
			a.printf("%d %s a day\n", of.most, of.what)
		}
	}
	return nil
}
