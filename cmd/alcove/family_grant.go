package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
)

type grantFlags struct {
	all, disable, enable bool
	dryRun               bool
	posture              bool
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
	flags.BoolVar(&f.posture, "posture", false, "have a built-in family follow the posture again (alcove posture)")
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
		answer, err := call(c.Context(), a, operator.GrantFamily, r)
		if err != nil {
			return err
		}
		if err := a.showGrant(answer); err != nil || !f.all {
			return err
		}
		return a.noteHooksOff(answer)
	}
	return c
}

// noteHooksOff tells which hooks a grant of everything leaves off.
func (a *app) noteHooksOff(f operator.Family) error {
	if f.Manifest == nil {
		return nil
	}
	var off []string
	for _, h := range hooksOf(f.Manifest.Hooks) {
		if _, on := f.Grant.Hooks[h]; !on {
			off = append(off, "--hook "+string(h))
		}
	}
	if len(off) == 0 {
		return nil
	}
	return a.notef("note: --all leaves hooks as they are: alcove family grant %s %s turns them on\n", f.Manifest.Name, strings.Join(off, " "))
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
	if r.Follow {
		said = append(said, "what the posture of the directory gives it")
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
	r := operator.GrantRequest{Family: args[0], All: f.all, Digest: f.digest, Methods: f.methods, Follow: f.posture, Limits: map[string]int64{}, Hooks: map[abi.Hook]operator.HookOn{}}
	if f.disable && f.enable {
		return r, &usageError{errors.New("use --disable or --enable, not both")}
	}
	if f.disable || f.enable {
		r.Disable = &f.disable
	}
	for _, given := range args[1:] {
		capability, err := configfile.CapabilityOf(given)
		if err != nil {
			return r, &usageError{err}
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
		h, on := configfile.HookOf(given)
		r.Hooks[h] = on
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
		return callAndPrint(c.Context(), a, operator.GrantFamily, r, a.showGrant)
	}
	return c
}
