package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) familyListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List families with their grants and faults", Args: noArguments,
		Long: "List families, a line each: its tools, how many of the capabilities that it requests are granted, and the hooks that are on. Below are faults,\n" +
			"and what waits for your decision. alcove family info NAME shows one in full, --json all of them.",
		Example: `  alcove family list
  alcove family list --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := query(c.Context(), a, operator.ListFamilies)
			if err != nil {
				return err
			}
			uses, err := query(c.Context(), a, operator.ListFamilyUses)
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
		if err := errors.Join(a.printGuard(f), a.printNewRequests(f)); err != nil {
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
	said := fmt.Sprintf("%s, %d of %d capabilities", counted(len(f.Manifest.Tools), "tool"), len(f.Grant.Capabilities), len(f.Manifest.Capabilities))
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
			info, err := call(c.Context(), a, operator.DescribeFamily, operator.FamilyName{Family: args[0]})
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
		a.printf("  was not notified of %s\n", u.Cut)
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
		if len(f.Grant.Signers) > 0 {
			a.printf("  signed by %s\n", strings.Join(f.Grant.Signers, ", "))
		}
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
		return errors.Join(a.printGuard(f), a.printNewRequests(f))
	}
	for _, asked := range f.Manifest.Capabilities {
		a.printf("  %-11s %s%s: %s\n", grantedWord(f, asked.Name), powerOf(asked.Name, scopeOf(f, asked)), duringOf(f, asked.Name), asked.Reason)
	}
	for _, h := range hooksOf(f.Manifest.Hooks) {
		if h != abi.HookStore || f.Guard == nil {
			a.printf("  hook %s: %s\n", h, hookState(f, h))
		}
	}
	if len(f.ByPosture) > 0 {
		a.printf("  by the posture of the directory: %s (alcove posture)\n", strings.Join(f.ByPosture, ", "))
	}
	if len(f.Lacking) > 0 {
		a.printf("  hooks fail where they need %s, which is not granted: %s\n", strings.Join(f.Lacking, " or "), f.LackingCommand)
	}
	return errors.Join(a.printGuard(f), a.printNewRequests(f))
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

// printNewRequests prints the grants that an update dropped or newly requests, with the command that grants them.
func (a *app) printNewRequests(f operator.Family) error {
	switch u := f.Update; {
	case u != nil && u.Version == f.Manifest.Version:
		a.printf("  granted to another build of version %s (sha256 %s), and not to this one (sha256 %s): %s\n", u.Version, u.Digest, f.Digest, strings.Join(u.Dropped, ", "))
	case u != nil:
		a.printf("  granted to version %s, and not to this one: %s\n", u.Version, strings.Join(u.Dropped, ", "))
	}
	if len(f.NewlyAsked) > 0 {
		a.printf("  newly requested, and not granted: %s\n", strings.Join(f.NewlyAsked, ", "))
	}
	if e := f.Ended; e != nil {
		a.printf("  version %s (sha256 %s) serves the store hook no longer\n", e.Version, e.Digest)
	}
	if f.GrantCommand == "" {
		return nil
	}
	return a.printf("  to grant it: %s\n", f.GrantCommand)
}

// powerOf is a capability with its scope, if it has one.
func powerOf(c abi.Capability, scope []string) string {
	return strings.TrimSpace(string(c) + " " + strings.Join(scope, ", "))
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
