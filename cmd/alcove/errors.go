package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/sdk/client"
)

// usageError says that the command line is wrong.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// notFound is an error of the class not found.
func notFound(format string, args ...any) error {
	return &client.Error{Code: client.NotFound, Message: fmt.Sprintf(format, args...)}
}

// exitCodes are the exit codes of the errors that have one; others exit with 1.
func exitCodes() map[string]int {
	return map[string]int{
		"invalid_argument": 2, "not_found": 3, "denied": 4, "conflict": 5, "exhausted": 6, "unavailable": 7, "timeout": 8, "internal": 9, "pending": 10,
	}
}

// classOf is the code of a client's error as other errors have it.
func classOf(code client.Code) string {
	return strings.ToLower(strings.TrimPrefix(string(code), "E_"))
}

// exitCode is the exit code for an error.
func exitCode(err error) int {
	var usage *usageError
	var failure *client.Error
	var act *admin.Error
	var refused *owner.Refusal
	var owned *owner.OwnedError
	var outcome *outcomeError
	var module *sandbox.Refusal
	var exposed *owner.ExposedError
	var uncompiled *sandbox.CompileError
	var pending *pendingError
	code := ""
	switch {
	case err == nil:
		return 0
	case errors.As(err, &pending):
		code = "pending"
	case errors.As(err, &usage):
		code = "invalid_argument"
	case errors.As(err, &failure):
		code = classOf(failure.Code)
	case errors.As(err, &act):
		code = act.Code
	case errors.As(err, &refused):
		code = refused.Code
	case errors.As(err, &outcome):
		code = outcome.code()
	case errors.As(err, &module), errors.As(err, &exposed):
		code = "denied"
	case errors.As(err, &owned), errors.As(err, &uncompiled), errors.Is(err, owner.ErrNone):
		code = "unavailable"
	}
	if n := exitCodes()[code]; n != 0 {
		return n
	}
	return 1
}

// arguments checks how many arguments there are.
func arguments(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return &usageError{fmt.Errorf("%d of %d arguments given: usage: %s", len(args), least, c.UseLine())}
		case most >= 0 && len(args) > most:
			return &usageError{fmt.Errorf("unexpected argument %q: usage: %s", args[most], c.UseLine())}
		}
		return nil
	}
}

func noArguments(c *cobra.Command, args []string) error { return arguments(0, 0)(c, args) }

// refuseUnknown makes commands that only have others refuse what is none of them. Without arguments, they print their help.
func refuseUnknown(c *cobra.Command) {
	for _, below := range c.Commands() {
		refuseUnknown(below)
	}
	if !c.HasSubCommands() || c.Runnable() {
		return
	}
	c.Args, c.DisableFlagsInUseLine = cobra.ArbitraryArgs, true
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknownCommand(c, args[0])
	}
}

// unknownCommand says what may have been meant.
func unknownCommand(c *cobra.Command, name string) error {
	c.SuggestionsMinimumDistance = 1 // letters; of short words, two would make another word
	if len(name) > 4 {
		c.SuggestionsMinimumDistance = 2
	}
	meant := c.SuggestionsFor(name)
	if len(meant) == 0 {
		return &usageError{fmt.Errorf("there is no command %q: see %s --help", name, c.CommandPath())}
	}
	for i := range meant {
		meant[i] = c.CommandPath() + " " + meant[i]
	}
	return &usageError{fmt.Errorf("there is no command %q: did you mean %s?", name, strings.Join(meant, " or "))}
}
