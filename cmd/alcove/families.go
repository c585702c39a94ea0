package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) familyListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List families, a line each, with their grants and faults", Args: noArguments,
		Long: "List families, a line each: its tools, how many of the capabilities that it requests are granted, and the hooks that are on. Below are faults,\n" +
			"and what waits for your decision. alcove family info NAME shows one in full, --json all of them.",
		Example: `  alcove family list
  alcove family list --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := asked(c.Context(), a, operator.Operator.Families)
			if err != nil {
				return err
			}
			uses, err := asked(c.Context(), a, operator.Operator.FamilyUses)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(withUses(list, uses))
			}
			if len(list) == 0 {
				return a.printf("there are no families: this program carries none; install one with alcove family install\n")
			}
			return a.printFamilies(list)
		},
	}
}

// printFamilies prints a line for each family, and below what is wrong with it or waits for an operator.
func (a *app) printFamilies(list []operator.Family) error {
	names, versions := 0, 0
	for _, f := range list {
		names, versions = max(names, len(f.Manifest.Name)), max(versions, len(f.Manifest.Version))
	}
	for _, f := range list {
		name := a.bold(f.Manifest.Name).String() + strings.Repeat(" ", names-len(f.Manifest.Name))
		if err := a.printf("%s  %-*s  %-9s  %s\n", terminal.Lines(name), versions, f.Manifest.Version, f.Source, powersOf(f)); err != nil {
			return err
		}
		if f.Fault != "" {
			a.printf("  cannot be used: %s\n", f.Fault)
		}
		if err := errors.Join(a.printGuard(f), a.printNews(f)); err != nil {
			return err
		}
	}
	return a.notef("alcove family info NAME shows one in full\n")
}

// powersOf says in a few words what a family offers and may do.
func powersOf(f operator.Family) string {
	if f.Grant.Disabled {
		return "disabled"
	}
	said := fmt.Sprintf("%d tools, %d of %d capabilities", len(f.Manifest.Tools), len(f.Grant.Capabilities), len(f.Manifest.Capabilities))
	var hooks []string
	for _, h := range hooksOf(f.Manifest.Hooks) {
		if _, on := f.Grant.Hooks[h]; on {
			hooks = append(hooks, string(h))
		}
	}
	if len(hooks) > 0 {
		said += ", hooks " + strings.Join(hooks, " ")
	}
	return said
}

func (a *app) familyInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "info NAME", Short: "Show the manifest, grant, configuration, limits and usage of a family", Args: arguments(1, 1),
		Example: `  alcove family info auto-tag
  alcove family info auto-tag --json`,
		RunE: func(c *cobra.Command, args []string) error {
			info, err := answeredBy(c.Context(), a, operator.Operator.FamilyInfo, operator.FamilyName{Family: args[0]})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(info)
			}
			return a.printInfo(info)
		},
	}
}

// printInfo prints all about a family.
func (a *app) printInfo(f operator.FamilyInfo) error {
	if err := a.printFamily(f.Described); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(f.Config)) {
		a.printf("  config %s = %s\n", key, string(f.Config[key]))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Limits)) {
		l, set := f.Limits[name], ""
		if l.Set {
			set = fmt.Sprintf(", set by an operator; default %d", l.Default)
			if l.Default == 0 {
				set = ", a budget set by an operator"
			}
		}
		a.printf("  limit %s = %d%s\n", name, l.Value, set)
	}
	if len(f.Grant.Methods) > 0 {
		a.printf("  http_methods %s, set by an operator\n", strings.Join(f.Grant.Methods, ", "))
	}
	for _, s := range f.Use.Spent {
		a.printf("  spent %s\n", s)
	}
	return a.printUse(&f.Use)
}

// usedFamily is a family with what it keeps.
type usedFamily struct {
	operator.Family
	Use *operator.FamilyUse `json:"use,omitempty"` // nil: it came meanwhile
}

func withUses(list []operator.Family, uses []operator.FamilyUse) []usedFamily {
	all := make([]usedFamily, len(list))
	for i, f := range list {
		all[i].Family = f
		if at := slices.IndexFunc(uses, func(u operator.FamilyUse) bool { return u.Family == f.Manifest.Name }); at >= 0 {
			all[i].Use = &uses[at]
		}
	}
	return all
}

// printUse prints a family's use of storage, if any.
func (a *app) printUse(u *operator.FamilyUse) error {
	if u != nil && u.Cut != nil {
		a.printf("  was not told of %s\n", u.Cut)
	}
	if u == nil || u.Records+u.Jobs == 0 {
		return nil
	}
	return a.printf("  keeps records %d of %d, record_bytes %d of %d; jobs %d of %d, job_bytes %d of %d\n",
		u.Records, u.Quotas[abi.QuotaRecords], u.Use.Bytes, u.Quotas[abi.QuotaRecordBytes], u.Jobs, u.Quotas[abi.QuotaJobs], u.JobBytes, u.Quotas[abi.QuotaJobBytes])
}

func (a *app) printFamily(f operator.Family) error {
	a.printf("%s %s (%s): %s\n", a.bold(f.Manifest.Name), f.Manifest.Version, f.Source, f.Manifest.Description)
	if f.Fault == "" {
		a.printf("  sha256 %s\n", f.Digest)
		for _, t := range f.Manifest.Tools {
			a.printf("  tool %s: %s\n", namesOf(t), t.Description)
		}
	}
	return a.printPowers(f)
}

// printPowers prints what a family may do, and what is wrong with it.
func (a *app) printPowers(f operator.Family) error {
	if f.Fault != "" {
		a.printf("  cannot be used: %s\n", f.Fault)
		return errors.Join(a.printGuard(f), a.printNews(f))
	}
	for _, asked := range f.Manifest.Capabilities {
		a.printf("  %-11s %s %s%s: %s\n", grantedWord(f, asked.Name), asked.Name, strings.Join(scopeOf(f, asked), ", "), duringOf(f, asked.Name), asked.Reason)
	}
	for _, h := range hooksOf(f.Manifest.Hooks) {
		if h != abi.HookStore || f.Guard == nil {
			a.printf("  hook %s: %s\n", h, hookState(f, h))
		}
	}
	if len(f.Lacking) > 0 {
		a.printf("  hooks fail where they need %s, which is not granted: alcove family grant %s %s\n", strings.Join(f.Lacking, " or "), f.Manifest.Name, strings.Join(capabilitiesIn(f.Lacking), " "))
	}
	return errors.Join(a.printGuard(f), a.printNews(f))
}

// capabilitiesIn are the names of capabilities that are lacking, without the part in which they are.
func capabilitiesIn(lacking []string) (list []string) {
	for _, l := range lacking {
		name, _, _ := strings.Cut(l, " ")
		list = append(list, name)
	}
	return list
}

// hookState is whether a hook is on, and what happens when it fails.
func hookState(f operator.Family, h abi.Hook) string {
	on, granted := f.Grant.Hooks[h]
	if !granted {
		return "off"
	}
	state := strings.TrimSpace("on " + string(on.OnFailure))
	if asked := f.Manifest.Hooks.Store; h == abi.HookStore && asked != nil && len(asked.Collections) > 0 {
		state += ", about " + strings.Join(asked.Collections, ", ")
	}
	if on.Generations > 0 {
		state = fmt.Sprintf("on, for %d generations of answers", on.Generations)
	}
	if advice := f.Manifest.Hooks.Store; h == abi.HookStore && advice != nil && advice.OnFailure != "" && advice.OnFailure != on.OnFailure {
		state += ", in place of " + string(advice.OnFailure) + ", which its manifest says"
	}
	return state
}

// printGuard says which version serves the store hook in place of the present one.
func (a *app) printGuard(f operator.Family) error {
	switch g := f.Guard; {
	case g == nil:
		return nil
	case g.Missing != "":
		return a.printf("  hook store: nothing is stored, because version %s (sha256 %s) serves it, and %s\n", g.Version, g.Digest, g.Missing)
	default:
		return a.printf("  hook store: on refuse, served by version %s (sha256 %s), which was approved for it\n", g.Version, g.Digest)
	}
}

// printNews prints the grants that an update dropped or newly requests, with the command that grants them.
func (a *app) printNews(f operator.Family) error {
	if u := f.Update; u != nil {
		a.printf("  granted to version %s, and not to this one: %s\n", u.Version, strings.Join(u.Dropped, ", "))
	}
	if len(f.NewlyAsked) > 0 {
		a.printf("  newly asked for, and not granted: %s\n", strings.Join(f.NewlyAsked, ", "))
	}
	if e := f.Ended; e != nil {
		a.printf("  version %s (sha256 %s) serves the store hook no longer\n", e.Version, e.Digest)
	}
	if f.GrantCommand == "" {
		return nil
	}
	return a.printf("  to grant it: %s\n", f.GrantCommand)
}

func grantedWord(f operator.Family, c abi.Capability) string {
	for _, g := range f.Grant.Capabilities {
		if g.Name == c {
			return "granted"
		}
	}
	return "not granted"
}

// scopeOf is the scope of a granted or requested capability.
func scopeOf(f operator.Family, asked abi.Request) []string {
	for _, g := range f.Grant.Capabilities {
		if g.Name == asked.Name {
			return g.Scope
		}
	}
	return asked.Scope
}

// duringOf names the part of a family's work in which a capability holds; empty: all.
func duringOf(f operator.Family, c abi.Capability) string {
	for _, g := range f.Grant.Capabilities {
		if g.Name == c && g.During != "" {
			return fmt.Sprintf(" (%s alone)", g.During)
		}
	}
	return ""
}

func hooksOf(h abi.Hooks) []abi.Hook {
	var list []abi.Hook
	for name, there := range map[abi.Hook]bool{abi.HookStore: h.Store != nil, abi.HookStored: h.Stored != nil, abi.HookMerged: h.Merged != nil, abi.HookSessionEnd: h.SessionEnd != nil, abi.HookRank: h.Rank != nil,
		abi.HookEmbed: h.Embed != nil, abi.HookJob: len(h.Jobs) > 0} {
		if there {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// showGrant prints what a family may do after a change of that.
func (a *app) showGrant(f operator.Family) error {
	if a.asJSON {
		return a.printJSON(f)
	}
	a.printf("%s %s (%s) now:\n", a.bold(f.Manifest.Name), f.Manifest.Version, f.Source)
	return a.printPowers(f)
}

// showFamily prints what became of a family.
func (a *app) showFamily(f operator.Family) error {
	if a.asJSON {
		return a.printJSON(f)
	}
	return a.printFamily(f)
}

func (a *app) familyInstallCommand() *cobra.Command {
	var from sourceFlags
	var dryRun *bool
	c := &cobra.Command{
		Use: "install M.wasm", Short: "Install a family without any grants", Args: arguments(1, 1),
		Long: `Install a family. A new family has no capabilities until you grant them.

Installing another version of a family drops its grants. The output lists the
dropped grants and the command that restores those that still apply; use
alcove family update to keep them. An approved store hook on refuse stays in
force: the approved version serves it until you grant the hook to the new one.
A family that cannot be used is not installed.

M.wasm is a file, an https address or an OCI reference:

  notes.wasm                                   a file
  https://example.org/notes.wasm#sha256=…      the digest is required
  oci://registry.example.org/notes:1@sha256:…  a tag alone is resolved once

An OCI registry supplies the detached signature, too. Once a key is trusted,
modules must be signed by trusted keys: see alcove family trust.`,
		Example: `  alcove family install notes.wasm
  alcove family install https://example.org/notes.wasm#sha256=…
  alcove family install oci://registry.example.org/notes:1@sha256:…
  alcove family grant notes --all`,
		RunE: func(c *cobra.Command, args []string) error {
			installation, err := a.readInstallation(c.Context(), args[0], from)
			if err != nil {
				return err
			}
			if err := a.announce(c.Context(), operator.LockProposal{Install: &installation}); err != nil || *dryRun {
				return err
			}
			f, err := answeredBy(c.Context(), a, operator.Operator.InstallFamily, operator.InstallRequest(installation))
			if err != nil {
				return err
			}
			return a.showFamily(f)
		},
	}
	from.flags(c)
	dryRun = dryRunFlag(c)
	return c
}

func (a *app) familyUpdateCommand() *cobra.Command {
	var from sourceFlags
	var dryRun *bool
	c := &cobra.Command{
		Use: "update NAME [M.wasm]", Short: "Update an installed family and keep its grants", Args: arguments(1, 2),
		Long: `Update an installed family to another version. Capabilities, hooks and limits
that the new version still requests stay granted. New requests are listed, and
not granted. An approved store hook on refuse stays in force: the approved
version serves it until you grant the hook to the new one.

The module is checked and compiled first. After an error, the installed version
stays in use. To return to the previous version, use alcove family rollback.

What the new version may do beyond the installed one is shown as by family diff;
with --dry-run it stops there.

Without M.wasm, the tag that the family was installed from is resolved again.`,
		Example: `  alcove family update notes notes-2.wasm
  alcove family update notes
  alcove family rollback notes`,
		RunE: func(c *cobra.Command, args []string) error {
			source := args[len(args)-1]
			if len(args) == 1 {
				var err error
				if source, err = a.followed(c.Context(), args[0]); err != nil {
					return err
				}
			}
			installation, err := a.readInstallation(c.Context(), source, from)
			if err != nil {
				return err
			}
			a.noteDifferences(c.Context(), args[0], installation.Module)
			r := operator.UpdateRequest{Family: args[0], Installation: installation}
			if err := a.announce(c.Context(), operator.LockProposal{Update: &r}); err != nil || *dryRun {
				return err
			}
			f, err := answeredBy(c.Context(), a, operator.Operator.UpdateFamily, r)
			if err != nil {
				return err
			}
			return a.showFamily(f)
		},
	}
	from.flags(c)
	dryRun = dryRunFlag(c)
	return c
}

func (a *app) familyRollbackCommand() *cobra.Command {
	var dryRun *bool
	c := &cobra.Command{
		Use: "rollback NAME", Short: "Restore the previous version of a family and its grants", Args: arguments(1, 1),
		Example: `  alcove family rollback notes
  alcove family rollback notes --dry-run`,
		Long: `Restore the previous version of an installed family, with its grants. The data
of the family does not change. A second rollback undoes the first.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.announce(c.Context(), operator.LockProposal{Rollback: args[0]}); err != nil || *dryRun {
				return err
			}
			f, err := answeredBy(c.Context(), a, operator.Operator.RollbackFamily, operator.FamilyName{Family: args[0]})
			if err != nil {
				return err
			}
			return a.showFamily(f)
		},
	}
	dryRun = dryRunFlag(c)
	return c
}

func (a *app) familyRemoveCommand() *cobra.Command {
	var dryRun *bool
	c := &cobra.Command{
		Use: "remove NAME", Short: "Remove an installed family and its grants, but not its data", Args: arguments(1, 1),
		Example: `  alcove family remove notes`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.announce(c.Context(), operator.LockProposal{Remove: args[0]}); err != nil || *dryRun {
				return err
			}
			r, err := answeredBy(c.Context(), a, operator.Operator.RemoveFamily, operator.FamilyName{Family: args[0]})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(r)
			}
			a.printf("removed %s %s (sha256 %s)\n", r.Family, r.Version, r.Digest)
			if r.Guard != nil {
				return a.printf("  memories are stored without its store hook now, which version %s (sha256 %s) served\n", r.Guard.Version, r.Guard.Digest)
			}
			return nil
		},
	}
	dryRun = dryRunFlag(c)
	return c
}

type grantFlags struct {
	all, disable, enable bool
	dryRun               bool
	hooks                []string
	digest               string
	limits               map[string]string
	methods              []string
}

func (a *app) familyGrantCommand() *cobra.Command {
	var f grantFlags
	c := &cobra.Command{
		Use:   "grant NAME [CAPABILITY[@calls|@jobs][=SCOPE,…] …]",
		Short: "Grant capabilities and hooks to a family",
		Long: `Grant capabilities and hooks that the manifest of a family requests.

A capability without a scope gets the scope of the manifest. A capability that
writes can be granted for part of the work: @calls for tool calls, @jobs for
jobs and the hooks stored and merged. With memory.write@calls and
memory.propose, tool calls write and jobs propose.

--hook turns a hook on. The hook store takes what happens if the family fails:

  skip    store without the hook
  defer   store now, and ask the family later
  refuse  store nothing

The default is the value in the manifest; a hook on refuse stays on refuse. The
hooks stored and merged take a number from 1 to 8: how many times hooks may
answer each other. The default is the number in the manifest, or 1.

A grant applies to one version of the module; --digest verifies which. Grants to
families that the program carries apply to later releases, too.`,
		Example: `  alcove family grant auto-tag --hook store
  alcove family grant ranking --hook rank
  alcove family grant notes memory.read=work,home record=notes
  alcove family grant lifecycle memory.write@calls memory.propose
  alcove family grant redactor --all --hook store=refuse`,
		Args: arguments(1, 64),
	}
	flags := c.Flags()
	flags.BoolVar(&f.all, "all", false, "everything that the manifest requests, except hooks")
	flags.StringSliceVar(&f.hooks, "hook", nil, "hooks to turn on, as store=defer, stored=3 or rank")
	flags.StringVar(&f.digest, "digest", "", "refuse if the family has another digest")
	flags.StringToStringVar(&f.limits, "limit", nil, "limits, quotas and budgets, as wall_ms=100; NAME=default resets one")
	flags.StringSliceVar(&f.methods, "http-methods", nil, "HTTP methods for endpoints, as GET,HEAD; * for all")
	flags.BoolVar(&f.disable, "disable", false, "refuse all calls of the family")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the change of alcove.lock, and change nothing")
	flags.Bool("diff", false, "show the change of alcove.lock before it is made")
	flags.BoolVar(&f.enable, "enable", false, "allow calls of the family again")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := f.request(args)
		if err != nil {
			return err
		}
		a.notef("%s\n", grantInWords(r))
		if err := a.announce(c.Context(), operator.LockProposal{Grant: &r}); err != nil || f.dryRun {
			return err
		}
		answer, err := answeredBy(c.Context(), a, operator.Operator.GrantFamily, r)
		if err != nil {
			return err
		}
		return a.showGrant(answer)
	}
	return c
}

// grantInWords says what a request asks for.
func grantInWords(r operator.GrantRequest) string {
	var said []string
	if r.All {
		said = append(said, "everything that its manifest requests, except hooks")
	}
	for _, c := range r.Capabilities {
		one := string(c.Name)
		if c.During != "" {
			one += " in " + string(c.During) + " alone"
		}
		if c.Scope != nil {
			one += " of " + strings.Join(c.Scope, ", ")
		}
		said = append(said, one)
	}
	for _, h := range slices.Sorted(maps.Keys(r.Hooks)) {
		said = append(said, strings.TrimSpace("the hook "+string(h)+" "+string(r.Hooks[h].OnFailure)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		said = append(said, fmt.Sprintf("%s up to %d", name, r.Limits[name]))
	}
	for _, name := range r.ResetLimits {
		said = append(said, "the usual limit of "+name)
	}
	if len(r.Methods) > 0 {
		said = append(said, "the HTTP methods "+strings.Join(r.Methods, ", "))
	}
	switch {
	case r.Disable != nil && *r.Disable:
		return "family " + r.Family + " is disabled: its calls are refused"
	case r.Disable != nil:
		said = append(said, "calls again")
	}
	if len(said) == 0 {
		return "family " + r.Family + " keeps what it was granted"
	}
	return "to be granted to family " + r.Family + ": " + strings.Join(said, "; ")
}

func (f grantFlags) request(args []string) (operator.GrantRequest, error) {
	r := operator.GrantRequest{Family: args[0], All: f.all, Digest: f.digest, Methods: f.methods, Limits: map[string]int64{}, Hooks: map[abi.Hook]operator.HookOn{}}
	if f.disable && f.enable {
		return r, &usageError{errors.New("use --disable or --enable, not both")}
	}
	if f.disable || f.enable {
		r.Disable = &f.disable
	}
	for _, given := range args[1:] {
		name, scope, scoped := strings.Cut(given, "=")
		name, during, partly := strings.Cut(name, "@")
		capability := operator.Capability{Name: abi.Capability(name), During: operator.Work(during)}
		if partly && capability.During != operator.Calls && capability.During != operator.Jobs {
			return r, &usageError{fmt.Errorf("%s: give @%s or @%s, or neither", given, operator.Calls, operator.Jobs)}
		}
		if scoped {
			capability.Scope = strings.Split(scope, ",")
		}
		r.Capabilities = append(r.Capabilities, capability)
	}
	for _, name := range slices.Sorted(maps.Keys(f.limits)) {
		if f.limits[name] == "default" {
			r.ResetLimits = append(r.ResetLimits, name)
			continue
		}
		n, err := strconv.ParseInt(f.limits[name], 10, 64)
		if err != nil {
			return r, &usageError{fmt.Errorf("--limit %s=%s: give a number, or default", name, f.limits[name])}
		}
		r.Limits[name] = n
	}
	for _, given := range f.hooks {
		name, value, _ := strings.Cut(given, "=")
		if n, err := strconv.Atoi(value); err == nil {
			r.Hooks[abi.Hook(name)] = operator.HookOn{Generations: n}
			continue
		}
		r.Hooks[abi.Hook(name)] = operator.HookOn{OnFailure: abi.OnFailure(value)}
	}
	return r, nil
}

func (a *app) familyRevokeCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "revoke NAME [CAPABILITY or HOOK …]", Short: "Revoke capabilities and hooks of a family", Args: arguments(1, 64),
		Example: `  alcove family revoke notes memory.write
  alcove family revoke notes --all`,
	}
	c.Flags().BoolVar(&all, "all", false, "all capabilities and hooks")
	dryRun := dryRunFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		r := operator.GrantRequest{Family: args[0], Revoke: args[1:]}
		if all {
			r.Revoke = []string{"*"}
		}
		if len(r.Revoke) == 0 {
			return &usageError{errors.New("name the capabilities or hooks to revoke, or use --all")}
		}
		if err := a.announce(c.Context(), operator.LockProposal{Grant: &r}); err != nil || *dryRun {
			return err
		}
		answer, err := answeredBy(c.Context(), a, operator.Operator.GrantFamily, r)
		if err != nil {
			return err
		}
		return a.showGrant(answer)
	}
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
			config, err := answeredBy(c.Context(), a, operator.Operator.ConfigureFamily, r)
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

func (a *app) familyJobsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "jobs", Short: "List, run or cancel background jobs of families", Args: noArguments,
		Long: "List background jobs of families with their states, and when those with a schedule run next.",
		Example: `  alcove family jobs
  alcove family jobs run timeline digest
  alcove family jobs cancel 20260301120000.000-7f3a`,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := asked(c.Context(), a, operator.Operator.FamilyJobs)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for _, j := range list {
				if j.State == operator.JobScheduled {
					a.printf("%s  %-10s %s %s\n", j.Due.UTC().Format("2006-01-02 15:04:05"), j.State, j.Family, j.Name)
					continue
				}
				a.printf("%s  %-10s %s %s", j.ID, j.State, j.Family, j.Name)
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
	c.AddCommand(a.familyJobsRunCommand(), a.familyJobsCancelCommand())
	return c
}

func (a *app) familyJobsRunCommand() *cobra.Command {
	return &cobra.Command{
		Use: "run NAME JOB", Short: "Run a job with a schedule now", Args: arguments(2, 2),
		Long:    "Queue a job with a schedule now, wherever its schedule would. Its next interval begins now.",
		Example: "  alcove family jobs run timeline digest",
		RunE: func(c *cobra.Command, args []string) error {
			if err := told(c.Context(), a, operator.Operator.RunFamilyJob, operator.FamilyJobName{Family: args[0], Job: args[1]}); err != nil {
				return err
			}
			return a.printf("job %s of family %s runs now: alcove family jobs shows it\n", terminal.Line(args[1]), terminal.Line(args[0]))
		},
	}
}

func (a *app) familyJobsCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "Cancel a job that waits or runs", Args: arguments(1, 1),
		Example: "  alcove family jobs cancel 20260301120000.000-7f3a",
		RunE: func(c *cobra.Command, args []string) error {
			if err := told(c.Context(), a, operator.Operator.CancelFamilyJob, operator.FamilyJobID{ID: args[0]}); err != nil {
				return err
			}
			return a.printf("job %s is cancelled\n", terminal.Line(args[0]))
		},
	}
}
