package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/release/product"
	"github.com/alcove-memory/alcove/registry/checksums"
	"github.com/alcove-memory/alcove/registry/signature"
)

func (a *app) versionCommand() *cobra.Command {
	var check bool
	var key string
	c := &cobra.Command{
		Use: "version [FOLDER]", Short: "Print the version; --check FOLDER verifies a downloaded release", Args: arguments(0, 1),
		Long: `Print the version. Alcove asks nobody whether there is a newer one: --check says how to find out, and with the folder of a download
compares its files with SHA256SUMS there, which must be signed by the release key of this program, or by --key.`,
		Example: "  alcove version --check\n  alcove version --check ~/Downloads",
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case !check && len(args) > 0:
				return &usageError{fmt.Errorf("version takes %q with --check only", args[0])}
			case check && len(args) > 0:
				return a.verifyDownload(args[0], key)
			case check:
				return a.printUpdateHint()
			}
			return a.printProgram()
		},
	}
	c.Flags().BoolVar(&check, "check", false, "say how to check for newer versions, or verify the downloaded files in FOLDER; nothing is sent")
	c.Flags().StringVar(&key, "key", "", "the public key of releases, as text or a file (default: that of this program)")
	return c
}

func (a *app) printProgram() error {
	f, err := a.carried()
	if a.asJSON {
		return errors.Join(a.printJSON(map[string]any{"version": versionText(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "families": f}), err)
	}
	a.printf("alcove %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return errors.Join(a.printf("families: %s\n", f), err)
}

// printUpdateHint prints how to find newer versions: the program itself asks nobody.
func (a *app) printUpdateHint() error {
	releases := product.Homepage + "/releases"
	if a.asJSON {
		return a.printJSON(fields{"version": versionText(), "online": false, "releases": releases})
	}
	return a.printf(`this is %s; no command checks for newer versions, so no request was sent
newer versions are at %s, and in the package manager that installed this one:
  apt list --upgradable · dnf check-update alcove · brew outdated · scoop status · winget upgrade · npm outdated -g
alcove version --check FOLDER verifies a download; after an update, alcove stop has the next call start the new program
`, versionText(), releases)
}

func (a *app) verifyDownload(folder, given string) error {
	key, err := a.keyOfDownload(given)
	if err != nil {
		return err
	}
	r, err := checksums.Verify(os.DirFS(folder), key)
	if err != nil {
		return fmt.Errorf("verify the release in %s: %w", folder, err)
	}
	if a.asJSON {
		return a.printJSON(fields{"key": key, "files": r.Files})
	}
	err = a.printf("signed by %s:\n", key)
	for _, name := range r.Files {
		err = errors.Join(err, a.printf("  %s\n", name))
	}
	return err
}

// keyOfDownload is the public key that must have signed a download; empty: that of the release that this program is.
func (a *app) keyOfDownload(given string) (string, error) {
	if given == "" {
		key, err := a.releaseKey("this")
		if err != nil {
			return "", fmt.Errorf("find the key of releases: %w: give it with --key", err)
		}
		return key, nil
	}
	public, err := publicKey(given)
	if err != nil {
		return "", err
	}
	return signature.FormatPublic(public), nil
}

func versionText() string { return cmp.Or(version, strings.TrimSpace(ownVersion)) }
