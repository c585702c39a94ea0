package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) operatorCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "operator", Short: "Manage the people who operate the server from other machines",
		Long: `Make, list and revoke keys of operators, for a server that serves them with alcove serve --admin-listen. The user of the data directory needs
none. Roles: a viewer sees how the server is, its families, grants and audit log, and nothing that agents know; an approver also decides
about families and changes that wait, and undoes; an admin does everything.`,
	}
	c.AddCommand(a.operatorCreateCommand(), a.operatorListCommand(), a.operatorRevokeCommand())
	return c
}

func (a *app) operatorCreateCommand() *cobra.Command {
	var r operator.OperatorRequest
	var role string
	c := &cobra.Command{
		Use: "create NAME", Short: "Create the key of an operator", Args: arguments(1, 1),
		Long:    "Create the key of an operator. It is printed once.",
		Example: "  alcove operator create ann --role approver --expires 90d",
		RunE: func(c *cobra.Command, args []string) error {
			parsed, err := operator.ParseRole(role)
			if err != nil {
				return &usageError{err}
			}
			r.Name, r.Role = args[0], parsed
			made, err := call(c.Context(), a, operator.CreateOperator, r)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(made)
			}
			a.notef("The key of %s, as %s; it is not shown again:\n", terminal.Line(made.Name), made.Role)
			return a.printf("%s\n", made.Secret)
		},
	}
	c.Flags().StringVar(&role, "role", "", "viewer, approver or admin")
	c.Flags().StringVar(&r.Expires, "expires", "", "when the key expires: a time from now, a date, or an instant (default: never)")
	_ = c.MarkFlagRequired("role")
	return c
}

func (a *app) operatorListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List operators with their roles", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := query(c.Context(), a, operator.ListOperators)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for _, o := range list {
				until := ""
				if !o.Expires.IsZero() {
					until = "  until " + o.Expires.UTC().Format(time.RFC3339)
				}
				if err := a.printf("%s  %s  since %s%s\n", terminal.Line(o.Name), terminal.Line(o.Role), o.Created.UTC().Format(time.RFC3339), until); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (a *app) operatorRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Revoke the key of an operator", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			gone, err := call(c.Context(), a, operator.RevokeOperator, operator.OperatorName{Name: args[0]})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(gone)
			}
			return a.printf("%s is no longer an operator\n", terminal.Line(gone.Name))
		},
	}
}
