package main

import (
	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

func (a *app) repairCommand() *cobra.Command {
	dry := false
	c := &cobra.Command{
		Use:   "repair",
		Short: "Rebuild a damaged database from its readable records; the old file is kept",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := a.ownDir()
			if err != nil {
				return err
			}
			directory, err := a.directory(dir)
			if err != nil {
				return err
			}
			if has, err := directory.HasStore(); !has || err != nil {
				return notFound("there is no store in %s", dir)
			}
			r, err := directory.Repair(c.Context(), datadir.RepairOptions{DryRun: dry})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(r)
			}
			if dry {
				return a.printDamage(r)
			}
			return a.printRepaired(r)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only report the damage")
	return c
}

func (a *app) printDamage(r datadir.Repaired) error {
	if err := a.printFaults(r.Faults); err != nil || len(r.Faults) == 0 {
		return err
	}
	return a.printf("%s: alcove repair repairs them\n", counted(len(r.Faults), "fault"))
}

func (a *app) printFaults(faults []string) error {
	for _, f := range faults {
		if err := a.printf("%s %s\n", a.out.Style(terminal.Red, "BAD "), f); err != nil {
			return err
		}
	}
	if len(faults) == 0 {
		return a.printf("nothing is damaged\n")
	}
	return nil
}

func (a *app) printRepaired(r datadir.Repaired) error {
	if err := a.printFaults(r.Faults); err != nil || len(r.Faults) == 0 {
		return err
	}
	for _, x := range r.Aside {
		if err := a.printf("set aside: branch %d, %s: %s\n", x.Branch, x.Key, x.Why); err != nil {
			return err
		}
	}
	return a.printf("%s recovered, %s set aside; the old file and a report are in %s\n", counted(r.Entries, "version"), counted(len(r.Aside), "record"), r.Folder)
}
