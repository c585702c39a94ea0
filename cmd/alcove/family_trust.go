package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/registry/signature"
)

type trustFlags struct {
	expires, revoke, catalogue, release string
	remove, dryRun                      bool
	require                             int
}

func (a *app) familyTrustCommand() *cobra.Command {
	var f trustFlags
	c := &cobra.Command{
		Use: "trust [NAME [KEY]]", Short: "List, add and revoke trusted signing keys", Args: arguments(0, 2),
		Long: `List, add and revoke trusted signing keys. KEY is a file from alcove family
keygen, wasmsign2, ssh-keygen -t ed25519 or cosign generate-key-pair, or its text.
Once a key is trusted, only modules that are signed by trusted keys can be
installed, and a locked server runs no others. A key of cosign holds for artifacts
of registries that it signed.

Modules that are signed by an expired or revoked key stop running at once. The
exception is a module that enough other trusted keys signed, and that was not
installed with a signature by that key.`,
		Example: `  alcove family trust author author.pub --expires 2027-12-31
  alcove family trust --require 2
  alcove family trust author --revoke "the laptop was stolen"`,
	}
	flags := c.Flags()
	flags.StringVar(&f.expires, "expires", "", "expiry of the key, as a date or an RFC 3339 time")
	flags.StringVar(&f.revoke, "revoke", "", "revoke the key, for this reason")
	flags.BoolVar(&f.remove, "remove", false, "remove the key")
	flags.IntVar(&f.require, "require", 0, "number of required signatures by trusted keys")
	flags.StringVar(&f.catalogue, "catalogue", "", "required digest of the built-in families on a locked server: a digest, this or any")
	flags.StringVar(&f.release, "release", "", "required release key of the built-in families: a file, its text, this or any")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the change of alcove.lock, and change nothing")
	flags.Bool("diff", false, "show the change of alcove.lock before it is made")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := a.trustRequest(f, args, c.Flags().Changed("require"))
		if err != nil {
			return err
		}
		if r != (operator.TrustRequest{}) {
			if err := a.announce(c.Context(), operator.LockProposal{Trust: &r}); err != nil || f.dryRun {
				return err
			}
		}
		return callAndPrint(c.Context(), a, operator.TrustKeys, r, a.printTrusted)
	}
	return c
}

func (a *app) trustRequest(f trustFlags, args []string, requires bool) (operator.TrustRequest, error) {
	var r operator.TrustRequest
	if requires {
		r.Signatures = &f.require
	}
	if f.catalogue != "" {
		digest := f.catalogue
		switch digest {
		case "any":
			digest = ""
		case "this":
			digest = catalogueDigest()
		}
		r.Catalogue = &digest
	}
	if f.release != "" {
		key, err := a.releaseKey(f.release)
		if err != nil {
			return r, err
		}
		r.Release = &key
	}
	changes := 0
	for _, given := range []bool{len(args) == 2, f.revoke != "", f.remove} {
		if given {
			changes++
		}
	}
	switch {
	case changes > 1 || changes == 0 && len(args) == 1 || changes > 0 && len(args) == 0:
		return r, &usageError{errors.New("give the name of a key and, to trust it, the key; or the name with --revoke WHY or --remove")}
	case changes == 0:
		return r, nil
	}
	r.Name, r.Revoke, r.Remove = args[0], f.revoke, f.remove
	if len(args) < 2 {
		return r, nil
	}
	public, err := trustable(args[1])
	if err != nil {
		return r, err
	}
	r.Key = &operator.TrustedKey{Public: signature.FormatKey(public)}
	if f.expires != "" {
		expires, err := expiry(f.expires)
		if err != nil {
			return r, &usageError{err}
		}
		r.Key.Expires = &expires
	}
	return r, nil
}

// expiry reads a day, which is over at its end, or a moment.
func expiry(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return moment, fmt.Errorf("--expires %s: give a day, as 2027-12-31, or a moment, as 2027-12-31T12:00:00Z", text)
	}
	return moment.UTC(), nil
}

func (a *app) printTrusted(t operator.TrustedKeys) error {
	if a.asJSON {
		return a.printJSON(t)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Keys)) {
		k := t.Keys[name]
		state := ""
		if why := k.Refused(time.Now()); why != "" {
			state = "  " + why
		} else if k.Expires != nil {
			state = "  until " + k.Expires.UTC().Format(time.RFC3339)
		}
		a.printf("%s  %s%s\n", name, k.Public, state)
	}
	if len(t.Keys) == 0 {
		a.printf("no key is trusted: modules are known by their digests alone\n")
	} else {
		a.printf("a module must be signed by %d of them%s\n", max(1, t.Signatures), tooFew(t))
	}
	if t.Catalogue != "" {
		a.printf("first-party families: those with the digest %s\n", t.Catalogue)
	}
	if t.Release != "" {
		a.printf("first-party families: those that the release key %s signed\n", t.Release)
	}
	return nil
}

// tooFew says that no module can be signed as is asked for; empty: enough keys hold.
func tooFew(t operator.TrustedKeys) string {
	hold := 0
	for _, k := range t.Keys {
		if k.Refused(time.Now()) == "" {
			hold++
		}
	}
	if hold >= max(1, t.Signatures) {
		return ""
	}
	return fmt.Sprintf(", and %d can be: trust another with alcove family trust NAME KEY.pub", hold)
}
