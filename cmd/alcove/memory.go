package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
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
	given, err := a.given(argument)
	if err != nil {
		return nil, err
	}
	return jsonOrText(given)
}

// stored is the value of an argument that is stored. A note says so if it was probably meant as JSON and is stored as text.
func (a *app) stored(argument string) (json.RawMessage, error) {
	given, err := a.given(argument)
	if err != nil {
		return nil, err
	}
	if raw := bytes.TrimSpace([]byte(given)); !json.Valid(raw) && looksLikeJSON(raw) {
		a.notef("the value is not valid JSON, so it is stored as text: %v\n", json.Unmarshal(raw, new(any)))
	}
	return jsonOrText(given)
}

// given is an argument, or for - what standard input has.
func (a *app) given(argument string) (string, error) {
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

func (a *app) recallCommand() *cobra.Command {
	var asOf string
	c := &cobra.Command{
		Use:   "recall KEY",
		Short: "Print the memory under a key, now or at an earlier time",
		Example: `  alcove recall editor
  alcove recall editor --as-of "1h ago"
  alcove recall editor --as-of v17`,
		Args: arguments(1, 1),
	}
	c.Flags().StringVar(&asOf, "as-of", "", `a time, a date, "1h ago", yesterday, or v12`)
	c.RunE = func(c *cobra.Command, args []string) error {
		var m struct {
			Found bool
			Value json.RawMessage
		}
		printed, err := a.get(c.Context(), "memory_recall", fields{"key": args[0], "verbose": true}.set("as_of", asOf), &m)
		switch {
		case err != nil:
			return err
		case !m.Found:
			return notFound("there is no memory under the key %q here: alcove search finds memories by their content", args[0])
		case printed:
			return nil
		}
		return a.printf("%s\n", shown(m.Value))
	}
	return a.scoped(c)
}

func (a *app) searchCommand() *cobra.Command {
	var tags, types []string
	var asOf, since, until, mode, embedder string
	var k, offset int
	var explain bool
	c := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Search memories in plain words",
		Example: `  alcove search which editor does Ada like
  alcove search deadlines --tags work --k 3`,
		Args: arguments(1, -1),
	}
	flags := c.Flags()
	flags.IntVar(&k, "k", 10, "the number of results, at most 50")
	flags.IntVar(&offset, "offset", 0, "skip this many results")
	flags.StringSliceVar(&tags, "tags", nil, "only memories with all of these tags")
	flags.StringSliceVar(&types, "type", nil, "only memories of one of these types")
	flags.StringVar(&since, "since", "", "only memories created or changed since this time")
	flags.StringVar(&until, "until", "", "only memories created or changed before this time")
	flags.StringVar(&asOf, "as-of", "", "search the memory at this time")
	flags.StringVar(&mode, "mode", "", "the ranking: hybrid, lexical or semantic (default: hybrid if there is an embedder)")
	flags.StringVar(&embedder, "embedder", "", "the embedder to use, if there are several")
	flags.BoolVar(&explain, "explain", false, "explain each score (with --json)")
	c.RunE = func(c *cobra.Command, args []string) error {
		f := fields{"query": strings.Join(args, " "), "k": k, "verbose": true}.list("tags", tags).list("type", types).list("agent", a.writers(c)).
			set("since", since).set("until", until).set("as_of", asOf).set("mode", mode).set("embedder", embedder)
		if a.scope.namespace != "" {
			f["namespace"] = a.scope.namespace
		}
		if offset > 0 {
			f["offset"] = offset
		}
		if explain {
			f["explain"] = true
		}
		var found struct {
			Results []struct {
				Namespace, Key, Snippet string
				Agent                   string
				Score                   float64
				Value                   json.RawMessage
			}
			Total int
		}
		if printed, err := a.get(c.Context(), "memory_search", f, &found); printed || err != nil {
			return err
		}
		if len(found.Results) == 0 {
			return a.notef("nothing found\n")
		}
		for i, r := range found.Results {
			a.printf("%2d  %s%s\n    %s\n", offset+i+1, a.bold(r.Key), a.dim(fmt.Sprintf("  %s  %.2f%s", r.Namespace, r.Score, by(r.Agent))), oneLine(r.Snippet, r.Value))
		}
		return nil
	}
	return a.filtersByAgent(a.scoped(c), "memories")
}

// filtersByAgent makes --agent say whose memories a command shows. In the environment, ALCOVE_AGENT says who asks.
func (a *app) filtersByAgent(c *cobra.Command, noun string) *cobra.Command {
	flag := c.Flags().Lookup("agent")
	flag.Usage, flag.DefValue = "only "+noun+" last written by this agent", ""
	return c
}

// writers are the agents whose memories are wanted; none: those of all.
func (a *app) writers(c *cobra.Command) []string {
	if !c.Flags().Changed("agent") {
		return nil
	}
	wanted := a.scope.agent
	a.scope.agent = a.env("ALCOVE_AGENT")
	return []string{wanted}
}

// by names the author of a memory, if it has one.
func by(agent string) string {
	if agent == "" {
		return ""
	}
	return "  " + agent
}

// browseFlags are the flags of commands that list memories or events.
type browseFlags struct {
	order, after, since, until, asOf, state string
	chain                                   string // a log of another space
	tags, types                             []string
	k                                       int
}

// add adds the flags. noun is what is listed.
func (b *browseFlags) add(c *cobra.Command, noun, usual string) {
	flags := c.Flags()
	flags.IntVar(&b.k, "k", 20, "the number of results, at most 50")
	flags.StringVar(&b.order, "order", usual, "newest, oldest, updated, key, importance, accesses or accessed")
	flags.StringVar(&b.after, "after", "", afterUsage)
	flags.StringSliceVar(&b.types, "type", nil, "only "+noun+" of one of these types")
	flags.StringVar(&b.since, "since", "", "only "+noun+" created or changed since this time")
	flags.StringVar(&b.until, "until", "", "only "+noun+" created or changed before this time")
	flags.StringVar(&b.asOf, "as-of", "", "list the memories at this time")
}

// browseFlagNames returns the names of the flags that add adds.
func browseFlagNames() []string {
	return []string{"k", "order", "after", "type", "since", "until", "as-of"}
}

// list prints a page.
func (a *app) list(c *cobra.Command, b *browseFlags, events bool) error {
	f := fields{"order": b.order, "k": b.k, "verbose": true}.set("after", b.after).set("since", b.since).set("until", b.until).
		set("as_of", b.asOf).set("state", b.state).list("tags", b.tags).list("type", b.types).list("agent", a.writers(c))
	if events {
		f.set("chain", b.chain)["events"] = true
	}
	if a.scope.namespace != "" {
		f["namespace"] = a.scope.namespace
	}
	var found struct {
		Results []struct {
			Key, Event, Namespace string
			Sequence              uint64
			Timestamp             time.Time
			Created               string
			Agent                 string
			Value, Data           json.RawMessage
			Snippet               string
		}
		Total int
		Next  string
	}
	if printed, err := a.get(c.Context(), "memory_search", f, &found); printed || err != nil {
		return err
	}
	for _, r := range found.Results {
		name, value := r.Key, r.Value
		if events {
			name, value = fmt.Sprintf("#%d %s", r.Sequence, r.Event), r.Data
		}
		if value != nil {
			r.Snippet = "" // it has no more than the value
		}
		when := clock(r.Timestamp)
		if created, err := time.Parse(createdLayout, r.Created); err == nil && (b.order == "newest" || b.order == "oldest") {
			when = created.Local().Format(createdLayout) // which is what the list goes by
		}
		a.printf("%s  %s%s\n    %s\n", a.dim(when), a.bold(name), a.dim("  "+r.Namespace+by(r.Agent)), oneLine(r.Snippet, value))
	}
	if len(found.Results) == 0 {
		return a.notef("there is nothing to list\n")
	}
	if found.Next != "" {
		return a.notef("%d in all; the next page: --after %s\n", found.Total, found.Next)
	}
	return nil
}

// createdLayout is how answers give the moment at which a memory was first written, if it was written again since.
const createdLayout = "2006-01-02 15:04"

func (a *app) listMemoriesCommand() *cobra.Command {
	var b browseFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List memories: latest write first, or by key, importance or accesses",
		Example: `  alcove list
  alcove list --agent planner --since yesterday
  alcove list --order importance --tags work --k 5`,
		Args: noArguments,
	}
	b.add(c, "memories", "updated")
	c.Flags().StringSliceVar(&b.tags, "tags", nil, "only memories with all of these tags")
	c.Flags().StringVar(&b.state, "state", "", "active (default), archived, merged or pruned")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.list(c, &b, false) }
	return a.filtersByAgent(a.scoped(c), "memories")
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

func (a *app) logCommand() *cobra.Command {
	var b browseFlags
	var list, chains bool
	c := &cobra.Command{
		Use: "log EVENT DATA", Short: "Append an event to the immutable log: DATA is JSON or text; - reads standard input",
		Long: "Append an event to the immutable log: DATA is JSON or text; - reads standard input.\n\nWith --list, the command lists the events of the log instead.\n\nA sync also copies the logs of other spaces, which stay separate. --chains lists those of the namespace and verifies each chain; --chain lists the events of one.",
		Example: `  alcove log deployed '{"version": "1.4"}'
  alcove log --list --type deployed
  alcove log --chains
  alcove log --chain hub --agent laptop --since yesterday`,
		Args: func(c *cobra.Command, args []string) error {
			if list || chains || b.chain != "" {
				return noArguments(c, args)
			}
			return arguments(2, 2)(c, args)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the events instead, newest first, filtered by the other flags")
	c.Flags().BoolVar(&chains, "chains", false, "list and verify the logs of other spaces instead")
	c.Flags().StringVar(&b.chain, "chain", "", "list the events of this log of another space: its id, or the name of its remote")
	c.MarkFlagsMutuallyExclusive("chains", "chain")
	c.MarkFlagsMutuallyExclusive("chains", "list")
	b.add(c, "events", "newest")
	c.RunE = func(c *cobra.Command, args []string) error {
		if chains {
			return a.listChains(c.Context())
		}
		if list || b.chain != "" {
			return a.list(c, &b, true)
		}
		for _, name := range browseFlagNames() {
			if c.Flags().Changed(name) {
				return &usageError{fmt.Errorf("--%s is for --list: give both, or neither", name)}
			}
		}
		data, err := a.stored(args[1])
		if err != nil {
			return err
		}
		var event struct {
			Sequence  uint64
			Timestamp time.Time
		}
		if printed, err := a.get(c.Context(), "memory_log", fields{"event": args[0], "data": data}, &event); printed || err != nil {
			return err
		}
		return a.printf("logged %s as #%d at %s\n", args[0], event.Sequence, clock(event.Timestamp))
	}
	return a.scoped(c)
}

// listChains prints the logs of other spaces.
func (a *app) listChains(ctx context.Context) error {
	f := fields{"events": true, "chain": "*"}
	if a.scope.namespace != "" {
		f["namespace"] = a.scope.namespace
	}
	var found struct {
		Results []struct {
			Chain, Remote, Fault string
			Agents               []string
			Events, Unchecked    int
			From, Until          time.Time
		}
	}
	if printed, err := a.get(ctx, "memory_search", f, &found); printed || err != nil {
		return err
	}
	for _, r := range found.Results {
		state := "whole"
		switch {
		case r.Fault != "":
			state = "BROKEN: " + r.Fault
		case r.Unchecked > 0:
			state = fmt.Sprintf("intact as far as it was checked: %d events were not checked", r.Unchecked)
		}
		a.printf("%s  %s%s\n    %s from %s to %s, %s\n", r.Chain, a.bold(r.Remote), a.dim(by(strings.Join(r.Agents, ", "))), counted(r.Events, "event"), clock(r.From), clock(r.Until), state)
	}
	return nil
}

func (a *app) historyCommand() *cobra.Command {
	var limit int
	var asOf string
	c := &cobra.Command{
		Use: "history [KEY]", Short: "List the versions of a memory, newest first; without KEY, show the age of the oldest version", Args: arguments(0, 1),
	}
	c.Flags().IntVar(&limit, "limit", 0, "the number of versions")
	c.Flags().StringVar(&asOf, "as-of", "", "only versions up to this time")
	c.RunE = func(c *cobra.Command, args []string) error {
		f := fields{"verbose": true}.set("as_of", asOf)
		if limit > 0 {
			f["limit"] = limit
		}
		if len(args) == 1 {
			f["key"] = args[0]
		}
		var h struct {
			Versions, Elsewhere []historyRow
			Branch              string
			Oldest, Latest      *time.Time
		}
		if printed, err := a.get(c.Context(), "memory_history", f, &h); printed || err != nil {
			return err
		}
		if len(args) == 0 {
			return a.printExtent(h.Branch, h.Oldest, h.Latest)
		}
		rows := append(h.Versions, h.Elsewhere...)
		if len(h.Elsewhere) > 0 { // clocks of several machines order them; what is true now stays first
			slices.SortStableFunc(rows[min(1, len(h.Versions)):], func(a, b historyRow) int { return b.written().Compare(a.written()) })
		}
		for _, v := range rows {
			a.printHistoryRow(v)
		}
		if len(rows) == 0 {
			return notFound("there is no memory under the key %q here", args[0])
		}
		return nil
	}
	return a.scoped(c)
}

// historyRow is a version in a history.
type historyRow struct {
	Version   uint64 // 0: as_of does not show it
	Timestamp time.Time
	Origin    *struct {
		Space     string
		Version   uint64
		Timestamp time.Time
	}
	Deleted bool
	Purged  string
	Agent   string
	Value   json.RawMessage
}

// written is when a version was written, wherever that was.
func (r historyRow) written() time.Time {
	if r.Origin != nil {
		return r.Origin.Timestamp
	}
	return r.Timestamp
}

func (a *app) printHistoryRow(r historyRow) {
	what, version, from := terminal.Line(oneLine("", r.Value)), "-", ""
	switch {
	case r.Deleted:
		what = a.dim("(forgotten)")
	case r.Purged != "" && r.Version == 0:
		what = a.dim("(purged)")
	}
	if r.Version > 0 {
		version = fmt.Sprintf("v%d", r.Version)
	}
	if r.Origin != nil {
		from = fmt.Sprintf(" from %s v%d", terminal.Line(r.Origin.Space[:min(len(r.Origin.Space), 8)]), r.Origin.Version)
	}
	a.printf("%-6s %s%s%s  %s\n", version, a.dim(clock(r.written())), a.dim(by(r.Agent)), a.dim(from), what)
}

func (a *app) printExtent(branch string, oldest, latest *time.Time) error {
	if oldest == nil || latest == nil || oldest.IsZero() {
		return a.printf("branch %s is empty\n", branch)
	}
	return a.printf("branch %s: from %s to %s\n", branch, clock(*oldest), clock(*latest))
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
