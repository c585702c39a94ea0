package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// inputLimit is how much of standard input is read for a value, in bytes. The server's own limit is
// lower and says so.
const inputLimit = 16 << 20

// fields are the arguments of a tool call; those that were not given are left out.
type fields map[string]any

func (f fields) set(name, value string) fields {
	if value != "" {
		f[name] = value
	}
	return f
}

func (f fields) list(name string, values []string) fields {
	if len(values) > 0 {
		f[name] = values
	}
	return f
}

func (a *app) storeCommand() *cobra.Command {
	var tags, supersedes, links []string
	var kind, metadata, expires string
	var importance float64
	var ifVersion int64
	c := &cobra.Command{
		Use:   "store [KEY] VALUE",
		Short: "Store a memory: VALUE is JSON or text; - reads standard input; without KEY, Alcove derives one",
		Example: `  alcove store editor "prefers vim" --tags preference
  alcove store "Ann is on leave until 9 April"
  alcove store build/limits '{"minutes": 15}'
  git diff | alcove store last-diff -`,
		Args: arguments(1, 2),
	}
	flags := c.Flags()
	flags.StringSliceVar(&tags, "tags", nil, "tags, separated by commas")
	flags.StringVar(&kind, "type", "", "the type, for example preference or decision")
	flags.Float64Var(&importance, "importance", 0, "from 0 to 1")
	flags.StringVar(&metadata, "metadata", "", "a JSON object kept with the value")
	flags.StringVar(&expires, "expires", "", `when the memory expires, for example "in 2h" or 2030-01-31`)
	flags.StringSliceVar(&supersedes, "supersedes", nil, "keys that this memory replaces")
	flags.StringSliceVar(&links, "links", nil, "keys of related memories")
	flags.Int64Var(&ifVersion, "if-version", 0, "store only if the key has this version; 0: only if the key is new")
	c.RunE = func(c *cobra.Command, args []string) error {
		value, err := a.stored(args[len(args)-1])
		if err != nil {
			return err
		}
		f := fields{"value": value}.list("tags", tags).set("type", kind).set("expires", expires).
			list("supersedes", supersedes).list("links", links)
		if len(args) == 2 {
			f["key"] = args[0]
		}
		if c.Flags().Changed("importance") {
			f["importance"] = importance
		}
		if c.Flags().Changed("if-version") {
			f["if_version"] = ifVersion
		}
		if metadata != "" {
			if !json.Valid([]byte(metadata)) {
				return &usageError{errors.New(`--metadata is not JSON: give an object such as '{"source":"mail"}'`)}
			}
			f["metadata"] = json.RawMessage(metadata)
		}
		var stored struct {
			Key       string
			Version   uint64
			Timestamp time.Time
			Replaced  *struct{ Version uint64 }
		}
		if printed, err := a.get(c.Context(), "memory_store", f, &stored); printed || err != nil {
			return err
		}
		former := ""
		if stored.Replaced != nil {
			former = fmt.Sprintf(" in place of v%d", stored.Replaced.Version)
		}
		if a.proposal != "" {
			return a.printf("proposed %s as v%d on branch %s: it is not stored%s until that is merged\n", stored.Key, stored.Version, a.proposal, a.onBranch())
		}
		return a.printf("stored %s as v%d%s%s at %s\n", stored.Key, stored.Version, former, a.onBranch(), clock(stored.Timestamp))
	}
	return a.scoped(c)
}

// onBranch names the branch that a command wrote on, if branch switch or a flag chose another than the usual one.
func (a *app) onBranch() string {
	branch, err := a.branch()
	if err != nil || branch == "" || branch == "default" {
		return ""
	}
	return " on branch " + branch
}

// value is the value of an argument: JSON if it is valid, otherwise text; - reads standard input.
func (a *app) value(argument string) (json.RawMessage, error) {
	given, err := a.readArgument(argument)
	if err != nil {
		return nil, err
	}
	return jsonOrText(given)
}

// stored is the value of an argument that is stored. A note says so if it was probably meant as JSON and is stored as text.
func (a *app) stored(argument string) (json.RawMessage, error) {
	given, err := a.readArgument(argument)
	if err != nil {
		return nil, err
	}
	if raw := bytes.TrimSpace([]byte(given)); !json.Valid(raw) && looksLikeJSON(raw) {
		a.notef("the value is not valid JSON, so it is stored as text: %v\n", json.Unmarshal(raw, new(any)))
	}
	return jsonOrText(given)
}

// readArgument returns an argument, or for - what standard input has.
func (a *app) readArgument(argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	data, err := io.ReadAll(io.LimitReader(a.in, inputLimit+1))
	if err != nil {
		return "", fmt.Errorf("read the value from standard input: %w", err)
	}
	if len(data) > inputLimit {
		return "", &usageError{fmt.Errorf("standard input is longer than %d bytes: store parts under several keys", inputLimit)}
	}
	return string(data), nil
}

func jsonOrText(given string) (json.RawMessage, error) {
	if raw := bytes.TrimSpace([]byte(given)); json.Valid(raw) {
		return raw, nil
	}
	return text(given)
}

// looksLikeJSON reports whether a value was probably meant as a JSON object or list: text in brackets rarely has a quote or a digit next.
func looksLikeJSON(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return false
	}
	inside := bytes.TrimSpace(raw[1:])
	return len(inside) == 0 || bytes.ContainsAny(inside[:1], `"{}[]-0123456789`)
}

// text is a string as JSON, with all its characters as they are.
func text(s string) (json.RawMessage, error) {
	if !utf8.ValidString(s) {
		return nil, &usageError{errors.New("the value is not valid UTF-8: give text in UTF-8")}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return nil, fmt.Errorf("put the text into JSON: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

func (a *app) forgetCommand() *cobra.Command {
	var archive bool
	c := &cobra.Command{
		Use: "forget KEY...", Short: "Delete or archive memories; their history is kept", Args: arguments(1, -1),
	}
	c.Flags().BoolVar(&archive, "archive", false, "archive the memories instead; searches skip archived ones")
	c.RunE = func(c *cobra.Command, args []string) error {
		f, done := fields{"key": args}, "forgotten"
		if archive {
			f["archive"], done = true, "archived"
		}
		var answer struct{ Count int }
		printed, err := a.get(c.Context(), "memory_forget", f, &answer)
		switch {
		case err != nil:
			return err
		case answer.Count == 0:
			return notFound("nothing was %s: there is no memory under %s%s", done, strings.Join(args, ", "), a.onBranch())
		case printed:
			return nil
		}
		if a.proposal != "" {
			return a.printf("proposed on branch %s: %d would be %s%s once that is merged\n", a.proposal, answer.Count, done, a.onBranch())
		}
		return a.printf("%d %s%s\n", answer.Count, done, a.onBranch())
	}
	return a.scoped(c)
}

func (a *app) namespacesCommand() *cobra.Command {
	c := &cobra.Command{Use: "namespaces", Short: "List the namespaces, with the number of memories in each", Args: noArguments}
	c.RunE = func(c *cobra.Command, _ []string) error {
		var answer struct {
			Namespaces []struct {
				Name     string `json:"name"`
				Memories int    `json:"memories"`
			}
			More int `json:"namespaces_more"`
		}
		r, err := a.ask(c.Context(), "memory_status", fields{"namespaces": true})
		if err != nil {
			return err
		}
		if err := json.Unmarshal(r.Structured, &answer); err != nil {
			return fmt.Errorf("read the namespaces: %w", err)
		}
		if a.asJSON {
			return a.printJSON(answer.Namespaces)
		}
		for _, n := range answer.Namespaces {
			if err := a.printf("%7d  %s\n", n.Memories, a.bold(n.Name)); err != nil {
				return err
			}
		}
		switch {
		case len(answer.Namespaces) == 0:
			return a.notef("there are no memories yet%s\n", a.onBranch())
		case answer.More > 0:
			return a.notef("%d more are not shown\n", answer.More)
		}
		return nil
	}
	return a.scoped(c)
}
