package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) familyJobsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "jobs [NAME]", Short: "List, run, retry or cancel background jobs of families", Args: arguments(0, 1),
		Long: "List background jobs of families, or of one, with their states, and when those with a schedule run next.",
		Example: `  alcove family jobs
  alcove family jobs timeline
  alcove family jobs run timeline digest
  alcove family jobs retry 20260301120000.000-7f3a
  alcove family jobs cancel 20260301120000.000-7f3a`,
		RunE: func(c *cobra.Command, args []string) error {
			list, err := query(c.Context(), a, operator.ListFamilyJobs)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				list = slices.DeleteFunc(list, func(j operator.FamilyJob) bool { return j.Family != args[0] })
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			if len(args) > 0 && len(list) == 0 {
				return a.printf("no job of family %s ran, waits or is due; those with a schedule run once its hook job is on: alcove family info %[1]s\n", terminal.Line(args[0]))
			}
			for _, j := range list {
				if j.State == operator.JobScheduled {
					a.printf("%s  %-10s %s %s\n", j.Due.UTC().Format("2006-01-02 15:04:05"), j.State, j.Family, j.Name)
					continue
				}
				a.printf("%s  %-10s %s %s", j.ID, j.State, j.Family, j.Name)
				if j.State == operator.JobQueued {
					a.printf("  from %s", j.Due.UTC().Format("2006-01-02 15:04:05"))
				}
				if j.Progress != nil {
					a.printf("  %v of %v %s", j.Progress.Done, j.Progress.Total, j.Progress.Message)
				}
				if j.Error != "" {
					a.printf("  attempt %d: %s", j.Attempts, j.Error)
				}
				if j.Proposal != "" {
					a.printf("  proposed on %s", j.Proposal)
				}
				a.printf("\n")
			}
			return nil
		},
	}
	c.AddCommand(a.familyJobsRunCommand(), a.familyJobsRetryCommand(), a.familyJobsCancelCommand())
	return c
}

func (a *app) familyJobsRunCommand() *cobra.Command {
	return &cobra.Command{
		Use: "run NAME JOB", Short: "Run a job with a schedule now", Args: arguments(2, 2),
		Long:    "Queue a job with a schedule now, wherever its schedule would. Its next interval begins now.",
		Example: "  alcove family jobs run timeline digest",
		RunE: func(c *cobra.Command, args []string) error {
			if err := command(c.Context(), a, operator.RunFamilyJob, operator.FamilyJobName{Family: args[0], Job: args[1]}); err != nil {
				return err
			}
			return a.printf("job %s of family %s runs now: alcove family jobs shows it\n", terminal.Line(args[1]), terminal.Line(args[0]))
		},
	}
}

func (a *app) familyJobsRetryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "retry ID", Short: "Queue a failed or cancelled job again", Args: arguments(1, 1),
		Long:    "Queue a failed or cancelled job again. A job that sent something outside is not retried: look there first.",
		Example: "  alcove family jobs retry 20260301120000.000-7f3a",
		RunE: func(c *cobra.Command, args []string) error {
			if err := command(c.Context(), a, operator.RetryFamilyJob, operator.FamilyJobID{ID: args[0]}); err != nil {
				return err
			}
			return a.printf("job %s is queued again: alcove family jobs shows it\n", terminal.Line(args[0]))
		},
	}
}

func (a *app) familyJobsCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "Cancel a job that waits or runs", Args: arguments(1, 1),
		Example: "  alcove family jobs cancel 20260301120000.000-7f3a",
		RunE: func(c *cobra.Command, args []string) error {
			if err := command(c.Context(), a, operator.CancelFamilyJob, operator.FamilyJobID{ID: args[0]}); err != nil {
				return err
			}
			return a.printf("job %s is cancelled\n", terminal.Line(args[0]))
		},
	}
}
