package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) exportCommand() *cobra.Command {
	var q operator.Selection
	only := false
	var seal sealFlags
	c := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write all branches, history, logs and counters, or selected memories, as JSON Lines",
		Long: `Without flags, the export has everything, and alcove import reproduces the data directory from it, byte for byte.
With --memories, or a flag that selects memories, it has the memories of one branch at one time, one per line,
without history and logs; alcove import adds them to any data directory.`,
		Args: arguments(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			sealer, err := seal.sealer()
			if err != nil {
				return err
			}
			bar := a.progress("exporting", -1)
			write := sealedTo(sealer, func(w io.Writer) error {
				w = io.MultiWriter(w, bar)
				if only || q != (operator.Selection{}) {
					return receive(c.Context(), a, operator.ExportMemories, q, w)
				}
				return receive(c.Context(), a, operator.Export, operator.ExportRequest{}, w)
			})
			if len(args) == 0 || args[0] == "-" {
				return errors.Join(write(a.out.Data()), bar.Close())
			}
			return errors.Join(writeOutput(args[0], 0o600, write), bar.Close())
		},
	}
	seal.add(c)
	flags := c.Flags()
	flags.BoolVar(&only, "memories", false, "only memories, without history and logs")
	flags.StringVar(&q.Branch, "branch", "", "only memories visible on this branch")
	flags.StringVar(&q.Namespace, "namespace", "", "only this namespace")
	flags.StringVar(&q.AsOf, "as-of", "", "the state at this time, such as yesterday or v12")
	flags.StringVar(&q.Since, "since", "", "only memories written since this time")
	return c
}
