package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Apply a configuration file, or change single settings of families",
		Long: `alcove config plan, apply and export configure the whole server from a file: quotas, keys, endpoints, settings and more. The other commands
read and change single settings that families share.`}
	c.AddCommand(a.configPlanCommand(), a.configApplyCommand(), a.configExportCommand(), a.configGetCommand(), a.configListCommand(), a.configSetCommand(), a.configHistoryCommand(), a.configRollbackCommand(), a.configUndoCommand())
	return c
}

// appliesTo adds flags for whom settings are to apply to.
func appliesTo(c *cobra.Command, q *operator.SettingQuery) {
	c.Flags().StringVar(&q.Namespace, "namespace", "", "as they apply in this namespace")
	c.Flags().StringVar(&q.Agent, "agent", "", "as they apply to this agent")
	c.Flags().StringVar(&q.Family, "family", "", "as they apply to this family, with its own")
}

// scopeFlag adds the flag of a scope.
func scopeFlag(c *cobra.Command, in *string, standard string) {
	c.Flags().StringVar(in, "in", standard, "the scope: system, namespace:NAME, agent:NAME or family:NAME")
}

// settingScope reads a scope as --in has it.
func settingScope(text string) (operator.SettingScope, error) {
	s, err := configfile.ScopeOf(text)
	if err != nil {
		return s, &usageError{fmt.Errorf("--in: %w", err)}
	}
	return s, nil
}

// keyValue reads KEY=JSON. A word that is no JSON is a string.
func keyValue(given string) (key string, value json.RawMessage, err error) {
	key, text, ok := strings.Cut(given, "=")
	if !ok {
		return "", nil, &usageError{fmt.Errorf("%.80s: give KEY=JSON", given)}
	}
	if json.Valid([]byte(text)) {
		return key, json.RawMessage(text), nil
	}
	value, err = json.Marshal(text)
	return key, value, err
}

func (a *app) configGetCommand() *cobra.Command {
	var q operator.SettingQuery
	c := &cobra.Command{
		Use: "get KEY …", Short: "Show settings and the sources of their values", Args: arguments(1, 64),
		Example: "  alcove config get forget_threshold --namespace work",
		RunE: func(c *cobra.Command, args []string) error {
			q.Keys = args
			list, err := call(c.Context(), a, operator.ListSettings, q)
			if err != nil {
				return err
			}
			return printEach(a, list, a.printSetting)
		},
	}
	appliesTo(c, &q)
	return c
}

// printSetting prints all about a setting.
func (a *app) printSetting(s operator.Setting) error {
	a.printf("%s = %s (%s)\n", a.bold(s.Key), string(s.Value), s.Source)
	if s.Description != "" {
		a.printf("  %s\n", s.Description)
	}
	if s.UpdatedAt != "" {
		a.printf("  version %d by %s, %s\n", s.Version, s.UpdatedBy, s.UpdatedAt)
	}
	for _, unused := range s.Unused {
		a.printf("  not used: %s\n", unused)
	}
	return a.printf("  default %s, allowed %s, declared by %s\n", string(s.Default), string(s.Schema), strings.Join(s.Families, ", "))
}

func (a *app) configListCommand() *cobra.Command {
	var q operator.SettingQuery
	var in string
	c := &cobra.Command{
		Use: "list", Short: "List settings, or those that are set in a scope", Args: noArguments,
		Example: `  alcove config list --category importance_weights
  alcove config list --in namespace:work`,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if in != "" {
				if q.In, err = settingScope(in); err != nil {
					return err
				}
			}
			list, err := call(c.Context(), a, operator.ListSettings, q)
			if err != nil {
				return err
			}
			return printEach(a, list, func(s operator.Setting) error { return a.printf("%s = %s (%s)\n", s.Key, string(s.Value), s.Source) })
		},
	}
	appliesTo(c, &q)
	scopeFlag(c, &in, "")
	c.Flags().StringVar(&q.Category, "category", "", "only those of this category")
	c.Flags().StringVar(&q.Prefix, "prefix", "", "only keys that begin with this")
	c.MarkFlagsMutuallyExclusive("in", "namespace")
	c.MarkFlagsMutuallyExclusive("in", "agent")
	c.MarkFlagsMutuallyExclusive("in", "family")
	return c
}

func (a *app) configSetCommand() *cobra.Command {
	var r operator.SettingChanges
	var in string
	var priority int
	c := &cobra.Command{
		Use: "set KEY=JSON …", Short: "Change settings, all or none; KEY=null unsets one", Args: arguments(1, 64),
		Example: `  alcove config set ranking_weight_semantic=0.5 ranking_weight_lexical=0.1 --reason "meaning counts more"
  alcove config set forget_threshold=0.9 --in namespace:work`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if r.Scope, err = settingScope(in); err != nil {
				return err
			}
			for _, given := range args {
				key, value, err := keyValue(given)
				if err != nil {
					return err
				}
				change := operator.SettingChange{Key: key, Value: value}
				if c.Flags().Changed("priority") {
					change.Priority = &priority
				}
				r.Changes = append(r.Changes, change)
			}
			return callAndPrint(c.Context(), a, operator.ChangeSettings, r, a.printChanged)
		},
	}
	scopeFlag(c, &in, "system")
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for the history")
	c.Flags().IntVar(&priority, "priority", 0, "if several scopes have a value, the highest priority wins, then the nearest scope (default 100)")
	return c
}

func (a *app) printChanged(list []operator.SettingChanged) error {
	return printEach(a, list, func(c operator.SettingChanged) error {
		return a.printf("%s = %s, was %s (version %d)\n", c.Key, orUnset(c.After), orUnset(c.Before), c.Version)
	})
}

func orUnset(value json.RawMessage) string {
	if len(value) == 0 {
		return "unset"
	}
	return string(value)
}

func (a *app) configHistoryCommand() *cobra.Command {
	var k operator.SettingKey
	var in string
	c := &cobra.Command{
		Use: "history KEY", Short: "Show the changes of a setting with their authors, times and former values", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if k.Scope, err = settingScope(in); err != nil {
				return err
			}
			k.Key = args[0]
			h, err := call(c.Context(), a, operator.GetSettingHistory, k)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(h)
			}
			for _, v := range h.Versions {
				if err := a.printVersion(v); err != nil {
					return err
				}
			}
			return nil
		},
	}
	scopeFlag(c, &in, "system")
	c.Flags().IntVar(&k.Limit, "limit", 0, "how many changes, at most 1000 (default 100)")
	c.Flags().Uint64Var(&k.Before, "before", 0, "only this version and older ones")
	return c
}

func (a *app) printVersion(v operator.SettingVersion) error {
	a.printf("%d  %s  %s, was %s  by %s", v.Version, clock(v.At), orUnset(v.After), orUnset(v.Before), v.Agent)
	if v.Family != "" {
		a.printf(" through %s", v.Family)
	}
	if v.RolledBackTo != nil {
		a.printf(", back to version %d", *v.RolledBackTo)
	}
	a.printf(", change %s", v.Change)
	if v.Reason != "" {
		a.printf(": %s", v.Reason)
	}
	return a.printf("\n")
}

func (a *app) configRollbackCommand() *cobra.Command {
	var k operator.SettingKey
	var in string
	c := &cobra.Command{
		Use: "rollback KEY VERSION", Short: "Restore the value that a setting had at a version; 0 unsets it", Args: arguments(2, 2),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if k.Scope, err = settingScope(in); err != nil {
				return err
			}
			to, err := strconv.ParseUint(args[1], 10, 64)
			if err != nil {
				return &usageError{fmt.Errorf("%.40s is not a version: alcove config history %s lists them", args[1], args[0])}
			}
			k.Key, k.To = args[0], &to
			done, err := call(c.Context(), a, operator.RollBackSetting, k)
			if err != nil {
				return err
			}
			return a.printChanged([]operator.SettingChanged{done})
		},
	}
	scopeFlag(c, &in, "system")
	c.Flags().StringVar(&k.Reason, "reason", "", "why, for the history")
	return c
}

func (a *app) configUndoCommand() *cobra.Command {
	var u operator.SettingUndo
	var in string
	c := &cobra.Command{
		Use: "undo CHANGE", Short: "Undo a change of settings, unless one of them was changed since", Args: arguments(1, 1),
		Example: `  alcove config undo ranking_weight_lexical@3 --reason "recalls became worse"`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if u.Scope, err = settingScope(in); err != nil {
				return err
			}
			u.Change = args[0]
			return callAndPrint(c.Context(), a, operator.UndoSettings, u, a.printChanged)
		},
	}
	scopeFlag(c, &in, "system")
	c.Flags().StringVar(&u.Reason, "reason", "", "why, for the history")
	return c
}
