package main

import (
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) consoleCommand() *cobra.Command {
	var noOpen bool
	c := &cobra.Command{
		Use: "console", Short: "Open the web console: memories, branches, families, keys", Args: noArguments,
		Long: `Open the web console of the server in a browser, as the operator. The address contains a ticket that is valid once, for a
minute. Holders of API keys open the address without a ticket and log in with their key.`,
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := query(c.Context(), a, operator.OpenConsole)
			switch {
			case err != nil:
				return err
			case a.asJSON:
				return a.printJSON(at)
			case !noOpen && a.openInBrowser(at.Address):
				return a.printf("opened the console in the browser; if it does not appear there, alcove console --no-open prints its address\n")
			}
			if err := a.printf("%s\n", at.Address); err != nil {
				return err
			}
			return a.notef("Open this address within a minute: it works once.\n")
		},
	}
	c.Flags().BoolVar(&noOpen, "no-open", false, "print the address only")
	return c
}

// openInBrowser reports whether a program was started that opens an address in the user's browser.
func (a *app) openInBrowser(address string) bool {
	command := browserCommand(runtime.GOOS, a.env, address)
	if command == nil {
		return false
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return false
	}
	started := exec.Command(program, command[1:]...)
	if started.Start() != nil {
		return false
	}
	_ = started.Process.Release() // it ends by itself
	return true
}

// browserCommand returns the command that opens an address in the user's browser; nil: there is no screen.
func browserCommand(system string, env func(string) string, address string) []string {
	switch {
	case system == "darwin":
		return []string{"open", address}
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open", address}
	}
	return nil
}
