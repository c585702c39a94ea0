package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) printLoaded(dir string, v operator.Verified) error {
	if a.asJSON {
		return a.printJSON(v)
	}
	return a.printf("%s has %s on %s, and %s with intact chains\n", dir, counted(v.Versions, "version"), counted(v.Branches, "branch"), counted(v.Events, "event"))
}

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read all data and report damage; changes nothing", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			v, err := a.verify(c.Context())
			if err != nil {
				return err
			}
			if err := a.printVerified(v); err != nil {
				return err
			}
			if n := len(v.Findings); n > 0 {
				return fmt.Errorf("%s found", counted(n, "problem"))
			}
			return nil
		},
	}
}

// verify looks at the file first, while no server has it open: one that is damaged could end the server.
func (a *app) verify(ctx context.Context) (v operator.Verified, err error) {
	dir, err := a.ownDir()
	if err != nil {
		return v, err
	}
	directory, err := a.directory(dir)
	if err != nil {
		return v, err
	}
	if v.Findings, err = directory.Examine(); len(v.Findings) > 0 || err != nil {
		return v, err
	}
	return query(ctx, a, operator.Verify)
}

func (a *app) printVerified(v operator.Verified) error {
	if a.asJSON {
		return a.printJSON(v)
	}
	for _, f := range v.Findings {
		if err := a.printf("%s %s\n     %s\n", a.out.Style(terminal.Red, "BAD "), f.What, f.Do); err != nil {
			return err
		}
	}
	return a.printf("%s on %s and the chains of %d events were read; %s found\n", counted(v.Versions, "version"), counted(v.Branches, "branch"), v.Events, counted(len(v.Findings), "problem"))
}

func (a *app) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Rewrite the database without its free space; writes wait until it is done", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			done, err := query(c.Context(), a, operator.Compact)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(done)
			}
			return a.printf("%d bytes became %d\n", done.Before, done.After)
		},
	}
}

func (a *app) flushCommand() *cobra.Command {
	return &cobra.Command{
		Use: "flush", Short: "Write pending access counts to disk; everything else is durable once acknowledged", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.asOperator(c.Context(), func(o operator.Server) error {
				return operator.Command(c.Context(), o, operator.Flush, operator.None{})
			})
		},
	}
}

func (a *app) durabilityCommand() *cobra.Command {
	return &cobra.Command{
		Use: "durability", Short: "Show the writes made durable since the server started, and the size of the file", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := query(c.Context(), a, operator.GetDurability)
			if err != nil {
				return err
			}
			data, err := json.Marshal(d)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(json.RawMessage(data))
			}
			return a.printFields(data)
		},
	}
}

func (a *app) retentionCommand() *cobra.Command {
	c := &cobra.Command{Use: "retention", Short: "Show, set or apply the retention policy"}
	set := &cobra.Command{
		Use:   "set AGE",
		Short: "Keep versions for AGE, such as 90d or 48h; forever keeps all, default removes the rule; applied every hour",
		Args:  arguments(1, 1),
	}
	var to retentionOf
	to.flags(set)
	set.RunE = func(c *cobra.Command, args []string) error {
		r, err := a.retentionAs(c, &to, args)
		if err != nil {
			return err
		}
		if r, err = call(c.Context(), a, operator.SetRetention, r); err != nil {
			return err
		}
		return a.printRetention(r)
	}
	show := &cobra.Command{Use: "show", Short: "Show the policy", Args: noArguments, RunE: func(c *cobra.Command, _ []string) error {
		r, err := query(c.Context(), a, operator.GetRetention)
		if err != nil {
			return err
		}
		return a.printRetention(r)
	}}
	run := &cobra.Command{Use: "run", Short: "Apply the policy now", Args: noArguments, RunE: func(c *cobra.Command, _ []string) error {
		done, err := query(c.Context(), a, operator.Retain)
		if err != nil {
			return err
		}
		if err := a.printRetained(done); err != nil {
			return err
		}
		if n := len(done.Failed); n > 0 {
			return fmt.Errorf("%s could not be applied; the others were", counted(n, "rule"))
		}
		return nil
	}}
	c.AddCommand(show, set, a.retentionPreviewCommand(), run)
	return c
}

func (a *app) retentionPreviewCommand() *cobra.Command {
	var to retentionOf
	c := &cobra.Command{
		Use: "preview [AGE]", Short: "Show what the policy would remove now; with AGE, what a policy with these flags would remove", Args: arguments(0, 1),
		Example: `  alcove retention preview
  alcove retention preview 90d --versions 5`,
	}
	to.flags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := a.retentionAs(c, &to, args)
		if err != nil {
			return err
		}
		return callAndPrint(c.Context(), a, operator.PreviewRetention, r, a.printRetentionPreview)
	}
	return c
}

func (a *app) printRetentionPreview(p operator.RetentionPreview) error {
	if a.asJSON {
		return a.printJSON(p)
	}
	for _, t := range p.Trimmed {
		most := ""
		if t.More {
			most = " or more"
		}
		if err := a.printf("%-20s loses %s%s, of %d memories, and can be read from %s on\n", t.Branch, counted(t.Versions, "version"), most, t.Memories, clock(t.From)); err != nil {
			return err
		}
	}
	for _, name := range p.Deleted {
		if err := a.printf("%-20s is deleted, and could no longer be restored\n", name); err != nil {
			return err
		}
	}
	if err := a.printRetentionFailures(p.Failed); err != nil {
		return err
	}
	return a.notef("Nothing was removed: alcove retention run applies the policy that is set.\n")
}

// retentionAs is the policy as it would be with a rule that a command describes; without an age it is as it is.
func (a *app) retentionAs(c *cobra.Command, to *retentionOf, args []string) (r operator.Retention, err error) {
	keep := int64(0)
	if len(args) > 0 {
		if to.away = args[0] == "default" && to.branch+to.namespace != ""; !to.away {
			keep, err = parseAge(args[0])
		}
	} else if c.Flags().Changed("branch") || c.Flags().Changed("namespace") || c.Flags().Changed("versions") {
		err = &usageError{fmt.Errorf("give an age, such as 90d or forever")}
	}
	if err != nil {
		return r, err
	}
	if r, err = query(c.Context(), a, operator.GetRetention); err == nil && len(args) > 0 {
		to.change(&r, keep, c.Flags().Changed("versions"))
	}
	return r, err
}

// flags describe what of a policy is set.
func (to *retentionOf) flags(c *cobra.Command) {
	c.Flags().StringVar(&to.branch, "branch", "", "for this branch only")
	c.Flags().StringVar(&to.namespace, "namespace", "", "for histories in this namespace, which may keep more than their branch")
	c.Flags().IntVar(&to.versions, "versions", 0, "the newest versions that each history keeps, whatever their age")
	c.MarkFlagsMutuallyExclusive("branch", "namespace")
	c.MarkFlagsMutuallyExclusive("branch", "versions")
}

func (a *app) printRetained(done operator.Retained) error {
	if a.asJSON {
		return a.printJSON(done)
	}
	for _, name := range slices.Sorted(maps.Keys(done.Trimmed)) {
		if err := a.printf("%-20s can be read from %s on\n", name, clock(done.Trimmed[name])); err != nil {
			return err
		}
	}
	for _, name := range done.Kept {
		if err := a.printf("%-20s has no versions older than its rule keeps\n", name); err != nil {
			return err
		}
	}
	if err := a.printRetentionFailures(done.Failed); err != nil {
		return err
	}
	return a.notef("trimmed %s\n", counted(len(done.Trimmed), "branch"))
}

func (a *app) printRetentionFailures(list []operator.RetentionFailure) error {
	for _, f := range list {
		what := cmp.Or(f.Branch, f.Namespace, "the server's own")
		if f.Namespace != "" {
			what = "histories of " + f.Namespace
		}
		if err := a.printf("%-20s %s %s\n", what, a.out.Style(terminal.Red, "FAILED"), f.Error); err != nil {
			return err
		}
	}
	return nil
}

// retentionOf says what of a policy is set.
type retentionOf struct {
	branch, namespace string
	versions          int
	away              bool // the branch or namespace is to have no rule of its own
}

// change sets an age, and how many versions are kept where that was said.
func (to retentionOf) change(r *operator.Retention, keep int64, counted bool) {
	switch {
	case to.away:
		delete(r.Namespaces, to.namespace)
		delete(r.Branches, to.branch)
	case to.namespace != "":
		if r.Namespaces == nil {
			r.Namespaces = map[string]operator.NamespaceRetention{}
		}
		r.Namespaces[to.namespace] = operator.NamespaceRetention{Keep: keep, Forever: keep == 0, Versions: to.versions}
	case to.branch != "":
		if r.Branches == nil {
			r.Branches = map[string]int64{}
		}
		r.Branches[to.branch] = keep
	default:
		r.Keep = keep
	}
	if counted && to.namespace == "" {
		r.Versions = to.versions
	}
}

func (a *app) printRetention(r operator.Retention) error {
	if a.asJSON {
		return a.printJSON(r)
	}
	if err := a.printf("%-20s %s\n", "all branches", age(r.Keep)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Branches)) {
		if err := a.printf("%-20s %s\n", name, age(r.Branches[name])); err != nil {
			return err
		}
	}
	if r.Versions > 0 {
		if err := a.printf("%-20s %s of each memory at least\n", "histories", counted(r.Versions, "version")); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Namespaces)) {
		n := r.Namespaces[name]
		keeps := "no versions by age"
		if n.Forever || n.Keep > 0 {
			keeps = age(n.Keep)
		}
		if err := a.printf("%-20s %s, and %s of each memory at least\n", "histories of "+name, keeps, counted(n.Versions, "version")); err != nil {
			return err
		}
	}
	return nil
}

func age(seconds int64) string {
	if seconds == 0 {
		return "for ever"
	}
	return (time.Duration(seconds) * time.Second).String()
}

// parseAge reads 90d, 48h, 30m or forever, in seconds.
func parseAge(text string) (int64, error) {
	if text == "forever" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 32); err == nil && n > 0 {
			return n * 24 * 3600, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return 0, &usageError{fmt.Errorf("%q is not an age: use 90d, 48h, 30m or forever", text)}
	}
	return int64(d / time.Second), nil
}
