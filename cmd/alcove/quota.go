package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) quotaCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "quota", Short: "Limit what agents store in a namespace",
		Long: `Set how much each agent may store in a namespace: memories and links a day (in UTC), and bytes; with
--total-memories, --total-links and --total-bytes how much the namespace holds, whoever wrote it. A write that exceeds
a quota stores nothing. An agent without a key chooses its own name: where quotas matter, give agents keys with limits (alcove key create --memories-a-day).`,
	}
	c.AddCommand(a.quotaSetCommand(), a.quotaListCommand(), a.quotaRemoveCommand())
	return c
}

func (a *app) quotaSetCommand() *cobra.Command {
	var r operator.QuotaRequest
	c := &cobra.Command{
		Use: "set NAMESPACE", Short: "Set the quota of each agent in a namespace", Args: arguments(1, 1),
		Example: `  alcove quota set team/board
  alcove quota set team/board --memories 200 --links 0 --bytes 10485760
  alcove quota set tenant/acme --memories 0 --links 0 --bytes 0 --total-memories 100000 --total-bytes 1073741824`,
		RunE: func(c *cobra.Command, args []string) error {
			r.Namespace = args[0]
			return command(c.Context(), a, operator.SetQuota, r)
		},
	}
	flags := c.Flags()
	flags.Int64Var(&r.Quota.Memories, "memories", 1000, "memories a day; 0: unlimited")
	flags.Int64Var(&r.Quota.Links, "links", 5000, "links a day; 0: unlimited")
	flags.Int64Var(&r.Quota.Bytes, "bytes", 100<<20, "bytes of its memories; 0: unlimited")
	flags.Int64Var(&r.Quota.Total.Memories, "total-memories", 0, "memories in the namespace, of all agents, existing ones included; 0: unlimited")
	flags.Int64Var(&r.Quota.Total.Links, "total-links", 0, "links of these memories; 0: unlimited")
	flags.Int64Var(&r.Quota.Total.Bytes, "total-bytes", 0, "bytes of these memories; 0: unlimited")
	return c
}

func (a *app) quotaListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List quotas, and what agents stored", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := query(c.Context(), a, operator.ListQuotas)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for i, u := range list {
				if t := u.Quota.Total; t != (operator.QuotaTotal{}) && (i == 0 || list[i-1].Namespace != u.Namespace) {
					a.printf("%s  in total  memories %s  links %s  bytes %s\n", u.Namespace, of(u.Holds.Memories, t.Memories), of(u.Holds.Links, t.Links), of(u.Holds.Bytes, t.Bytes))
				}
				agent := u.Agent
				if agent == "" {
					agent = "-"
				}
				a.printf("%s  %s  memories %s  links %s  bytes %s\n", u.Namespace, agent, of(u.Spent.Memories, u.Quota.Memories), of(u.Spent.Links, u.Quota.Links), of(u.Spent.Bytes, u.Quota.Bytes))
			}
			return nil
		},
	}
}

// of formats a use beside its limit.
func of(used, limit int64) string {
	if limit == 0 {
		return fmt.Sprint(used)
	}
	return fmt.Sprintf("%d/%d", used, limit)
}

func (a *app) quotaRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAMESPACE", Short: "Remove the quota of a namespace", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return command(c.Context(), a, operator.SetQuota, operator.QuotaRequest{Namespace: args[0]})
		},
	}
}
