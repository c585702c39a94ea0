package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/regular"
)

func (a *app) endpointCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "endpoint", Short: "Manage the external servers that can be granted to families",
		Long: `Register external servers: language models (openai: any server with the API of OpenAI, or ollama) and others (http).
A family can use one once it is granted llm or http for its name. Keys come from an environment variable or a file.`,
	}
	c.AddCommand(a.endpointAddCommand(), a.endpointListCommand(), a.endpointRemoveCommand())
	return c
}

func (a *app) endpointAddCommand() *cobra.Command {
	var e operator.Endpoint
	c := &cobra.Command{
		Use: "add NAME URL", Short: "Add an external server", Args: arguments(2, 2),
		Example: `  alcove endpoint add local http://127.0.0.1:11434 --kind ollama --model llama3.2
  alcove family grant auto-tag llm=local`,
	}
	flags := c.Flags()
	flags.StringVar(&e.Kind, "kind", "openai", "openai, ollama or http")
	flags.StringVar(&e.Model, "model", "", "the model, of openai and ollama")
	flags.StringVar(&e.KeyEnv, "key-env", "", "the server's environment variable with the key")
	flags.StringVar(&e.KeyFile, "key-file", "", "the file with the key")
	flags.BoolVar(&e.Private, "private", false, "let the host name in URL resolve to addresses of private networks and of this machine; numeric addresses and localhost need no flag")
	flags.StringVar((*string)(&e.Auth), "auth", "", "bearer to send the key, or hmac to sign requests with it (http alone; default: bearer)")
	dryRun := dryRunFlag(c)
	flags.Int64Var(&e.AnswerBytes, "answer-bytes", 0, "the largest answer (default and maximum: 2 MiB)")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		e.URL = args[1]
		if e.KeyFile, err = presentKeyFile(e.KeyFile); err != nil {
			return err
		}
		return a.setEndpoint(c.Context(), operator.EndpointRequest{Name: args[0], Endpoint: &e}, *dryRun)
	}
	return c
}

// presentKeyFile returns the absolute path of a file with a key, which the server reads, wherever it runs. It must be there.
func presentKeyFile(path string) (string, error) {
	if err := checkKeyFile(path); err != nil || path == "" {
		return path, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the file of the key: %w", err)
	}
	if _, err := os.Stat(absolute); err != nil {
		return "", &usageError{fmt.Errorf("--key-file: %w: put the key there first", err)}
	}
	return absolute, nil
}

// checkKeyFile refuses what no key can be read from. A file that is not there may come later.
func checkKeyFile(path string) error {
	if path == "" {
		return nil
	}
	f, err := regular.Open(path)
	if errors.Is(err, regular.ErrNot) {
		return &usageError{fmt.Errorf("--key-file: %w: give the path of a file", err)}
	}
	if err != nil {
		return nil
	}
	return f.Close()
}

func (a *app) endpointListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the external servers", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := query(c.Context(), a, operator.ListEndpoints)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for _, name := range slices.Sorted(maps.Keys(list)) {
				e := list[name]
				a.printf("%s  %s %s %s\n", name, e.Kind, e.URL, e.Model)
			}
			return nil
		},
	}
}

func (a *app) endpointRemoveCommand() *cobra.Command {
	c := &cobra.Command{Use: "remove NAME", Short: "Remove an external server", Args: arguments(1, 1)}
	dryRun := dryRunFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.setEndpoint(c.Context(), operator.EndpointRequest{Name: args[0]}, *dryRun)
	}
	return c
}

func (a *app) setEndpoint(ctx context.Context, r operator.EndpointRequest, dryRun bool) error {
	if err := a.announce(ctx, operator.LockProposal{Endpoint: &r}); err != nil || dryRun {
		return err
	}
	return command(ctx, a, operator.SetEndpoint, r)
}
