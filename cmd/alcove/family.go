package main

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

// compileModule is the command that the sandbox starts by itself, and that nobody else needs.
const compileModule = "compile-module"

func (a *app) familyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "family",
		Short: "Manage tool families: WebAssembly modules that add tools",
		Long: `A family is a WebAssembly module that adds tools. It runs in a sandbox, and its
manifest requests capabilities. An operator grants them; alcove.lock records
each grant with the digest of the module.`,
	}
	c.AddCommand(a.familyListCommand(), a.familyInfoCommand(), a.familyInstallCommand(), a.familyUpdateCommand(), a.familyRollbackCommand(), a.familyRemoveCommand(), a.familyGrantCommand(), a.familyRevokeCommand(),
		a.familyConfigCommand(), a.familyJobsCommand(), a.familyLogsCommand(), a.familyStatsCommand(), a.familyTraceCommand(), a.familyInspectCommand(), a.familyPackCommand(), a.familyNewCommand(), a.familyGenCommand(), a.familyMeterCommand(), a.familyCallCommand(),
		a.familyVerifyCommand(), a.familyWarmCommand(), a.familyTestCommand(), a.whyDeniedCommand(), a.familyUndoCommand(),
		a.familyPushCommand(), a.familyPublishCommand(), a.familyIndexCommand(), a.familySearchCommand(), a.familyPullCommand(), a.familyKeygenCommand(), a.familySignCommand(), a.familySBOMCommand(), a.familyBundleCommand(), a.familyAttachCommand(), a.familyAttachmentsCommand(), a.familyProvenanceCommand(), a.familyTrustCommand(), a.familyDiffCommand(), a.familyDevCommand(), a.familyCheckCommand())
	return c
}

func (a *app) familyConfigCommand() *cobra.Command {
	return &cobra.Command{
		Use: "config NAME [KEY=JSON …]", Short: "Show or change the configuration of a family", Args: arguments(1, 64),
		Long: `Show or change the configuration of a family. KEY=null restores the default.`,
		Example: `  alcove family config auto-tag
  alcove family config ranking weights.importance=0.3
  alcove family config ranking weights.importance=null`,
		RunE: func(c *cobra.Command, args []string) error {
			r := operator.ConfigureRequest{Family: args[0], Values: map[string]json.RawMessage{}}
			for _, given := range args[1:] {
				key, value, err := keyValue(given)
				if err != nil {
					return err
				}
				r.Values[key] = value
			}
			config, err := call(c.Context(), a, operator.ConfigureFamily, r)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(config)
			}
			for _, key := range slices.Sorted(maps.Keys(config)) {
				a.printf("%s = %s\n", key, string(config[key]))
			}
			return nil
		},
	}
}
