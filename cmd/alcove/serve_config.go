package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alcove-memory/alcove/host/operator/configfile"
)

// findConfig names the configuration file of a hub, if none is named.
func (a *app) findConfig(f *serveFlags) error {
	if f.config != "" {
		return nil
	}
	dir, err := a.dir()
	if err == nil {
		f.config = hubConfig(dir)
	}
	return err
}

// flagsOfFile gives the flags of alcove serve the values that a configuration file has for them. What the command line or the environment says
// wins.
func (a *app) flagsOfFile(c *cobra.Command, f *serveFlags) error {
	path := f.config
	if path == "" {
		return nil
	}
	file, _, err := a.readConfigFile(path)
	if err != nil {
		return err
	}
	f.issuerRules = file.Issuer
	named := file.Named()
	for _, name := range slices.Sorted(maps.Keys(named)) {
		flag := c.Flags().Lookup(name)
		if flag.Changed || a.inEnvironment(flag) {
			continue
		}
		if err := c.Flags().Set(name, named[name].Text); err != nil {
			return &usageError{fmt.Errorf("%s: line %d: %w", path, named[name].Line, err)}
		}
	}
	if err := c.ValidateFlagGroups(); err != nil {
		return &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return nil
}

// inEnvironment reports whether the environment has a value for a flag.
func (a *app) inEnvironment(flag *pflag.Flag) bool {
	variable := "ALCOVE_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
	return a.env(variable) != "" && (strings.Contains(flag.Usage, variable) || strings.HasPrefix(flag.Name, "embedder-"))
}

// checkServer refuses what the section server of a file has and alcove serve does not take.
func (a *app) checkServer(f *configfile.File) error {
	if len(f.Server) == 0 {
		return nil
	}
	known := map[string]*pflag.Flag{}
	a.serveCommand().Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "auto" && flag.Name != "config" {
			known[strings.ReplaceAll(flag.Name, "-", "_")] = flag
		}
	})
	for _, name := range slices.Sorted(maps.Keys(f.Server)) {
		v := f.Server[name]
		if known[name] == nil {
			return &configfile.LineError{Line: v.Line, Err: fmt.Errorf("unknown member %.80q of server: it can be %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))}
		}
		if err := known[name].Value.Set(v.Text); err != nil {
			return &configfile.LineError{Line: v.Line, Err: fmt.Errorf("%s: %w", name, err)}
		}
	}
	return nil
}
