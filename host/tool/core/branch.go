package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const branchName = "memory_branch"

func (k *kit) branchTool() tool.Spec {
	aliases, presets, spellings := oldBranchNames()
	return tool.Spec{
		Name:        branchName,
		Aliases:     aliases,
		Presets:     presets,
		Spellings:   spellings,
		Description: "Try changes in isolation: fork, switch, diff (compare), merge (source), delete.",
		Docs: "create makes an empty branch, fork one that starts from what source (default: the current branch) holds, or held at as_of. " +
			"switch moves the session to branch name, or to a namespace; every tool also takes branch= for one call. list shows all branches. " +
			"diff shows what the branch compare has that the current one has not. merge brings source into the current branch (or target); preview only shows what it would do. " +
			"strategy says how a merge settles what both sides changed: strict writes nothing and lists the clashes (default); source or target takes that side, newest the later one, fields merges JSON objects field by field. " +
			"verbose shows versions and times, too. resolutions settle single clashes first: [{key, take: source|target|delete|value, value}]. delete frees the name; what other branches inherited stays theirs. It refuses while the branch has changes that its parent lacks, and says how many; force deletes them, too. " +
			"restore brings the deleted branch name back, under the name as if given; list with deleted shows those that can be restored: the last hundred, unless retention drops them. " +
			"branch says what counts as current in this call. namespace limits diff and merge.",
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {
				"action": {"type": "string", "enum": ["create", "switch", "list", "fork", "merge", "diff", "delete", "restore"]},
				"name": {"type": "string", "description": "create, fork, delete, switch, restore: the branch."},
				"source": {"type": "string", "description": "merge: the branch to bring in. fork: the branch to start from, the current one when left out."},
				"target": {"type": "string", "description": "merge: the branch to change, the current one when left out."},
				"compare": {"type": "string", "description": "diff: the branch to compare with the current one."},
				"strategy": {"type": "string", "enum": ["strict", "source", "target", "newest", "fields"], "description": "merge: how to settle what both sides changed; strict when left out."},
				"resolutions": {"type": "array", "items": {"type": "object"}, "description": "merge: how to settle single clashes: {key, namespace, take: source, target, delete or value, value}."},
				"preview": {"type": "boolean", "description": "merge: only say what it would do."},
				"force": {"type": "boolean", "x-advanced": true, "description": "delete: with its unmerged changes."},
				"as": {"type": "string", "x-advanced": true, "description": "restore: another name, if that of the branch is taken."},
				"deleted": {"type": "boolean", "x-advanced": true, "description": "list: deleted branches that can be restored."},
				"as_of": {"type": "string", "description": "fork: start from this past moment, such as 1h ago or v12."},
				"namespace": {"type": "string", "description": "switch: the session's namespace. diff, merge: only this namespace, or these."},
				"branch": {"type": "string", "description": "What counts as the current branch in this call."},
				` + verboseProperty + `
			},
			"required": ["action"]
		}`),
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"current": {"type": "string", "description": "The session's branch after the call."},
				"branches": {"type": "array", "items": {"type": "object"}, "description": "list: all branches."},
				"differences": {"type": "array", "items": {"type": "object"}, "description": "diff, merge: key, change, clash, and what source and target have; namespace where it is not the call's."},
				"merged": {"type": "boolean", "description": "merge: whether it was written."}
			}
		}`),
		Annotations: tool.Annotations{Mixed: true, Destructive: true},
		Lenient:     true,
		Handler:     k.handler(branch),
	}
}

// actions returns the actions of memory_branch, each marked if it writes.
func actions() []action {
	return []action{
		{"create", true, createBranch},
		{"switch", false, switchBranch},
		{"list", false, listBranches},
		{"fork", true, forkBranch},
		{"merge", true, mergeBranch},
		{"diff", false, diffBranch},
		{"delete", true, deleteBranch},
		{"restore", true, restoreBranch},
	}
}

type action struct {
	name   string
	writes bool
	run    func(context.Context, *branchCall) (tool.Answer, error)
}

func branch(ctx context.Context, c *call) (tool.Answer, error) {
	var words []string
	for _, a := range actions() {
		words = append(words, a.name)
	}
	word := c.Arguments.Choice("action", words...)
	if word == "" && c.Arguments.Err() == nil {
		c.Arguments.Missing("action", "one of "+strings.Join(words, ", "))
	}
	b := decodeBranch(c, word)
	if err := c.Arguments.Err(); err != nil {
		return tool.Answer{}, err
	}
	chosen := actions()[slices.Index(words, word)]
	if chosen.writes && c.ReadOnly() && !b.preview {
		return tool.Answer{}, c.Registry().Denied("memory_branch can only list, diff, switch and preview merges here")
	}
	if err := b.checkAsOf(chosen); err != nil {
		return tool.Answer{}, err
	}
	return chosen.run(ctx, b)
}

// checkAsOf refuses a past moment for actions that change or compare the present. Actions that only show the session's
// branch note that they ignore it.
func (b *branchCall) checkAsOf(a action) error {
	switch {
	case b.asOf.IsNow() || a.name == "fork":
		return nil
	case a.writes || a.name == "diff":
		return tool.Invalid(map[string]any{"parameters": []string{"as_of"}},
			"memory_branch %s takes no as_of: leave it out to act on the present, or fork that moment with as_of and use the fork", a.name)
	}
	b.Note(fmt.Sprintf("memory_branch %s takes no as_of: it was ignored.", a.name))
	return nil
}

// branchCall is a call of memory_branch.
type branchCall struct {
	*call
	name, source, target, compare, as, current string

	form        form
	strategy    memory.Strategy
	resolutions []memory.Resolution
	preview     bool
	force       bool
	deleted     bool
	asOf        memory.AsOf
	namespaces  []string
}

func decodeBranch(c *call, action string) *branchCall {
	a := c.Arguments
	b := &branchCall{
		call: c, name: a.Text("name"), source: a.Text("source"), target: a.Text("target"), compare: a.Text("compare"),
		current: c.branch(), preview: a.Flag("preview"), force: a.Flag("force"), deleted: a.Flag("deleted"), as: a.Text("as"), asOf: a.AsOf("as_of", c.Now), namespaces: c.namespaces(),
		strategy: strategyOf(a),
	}
	here := c.Location().Namespace
	if len(b.namespaces) == 1 {
		here = b.namespaces[0]
	}
	b.form = c.form(memory.Location{Branch: b.current, Namespace: here})
	if action == "switch" { // the session's new namespace, not the call's
		b.namespaces = a.Texts("namespace")
	}
	for _, r := range a.Objects("resolutions") {
		r.Rename(c.Tool.Names(), "namespace", "key", "take", "value")
		b.resolutions = append(b.resolutions, decodeResolution(r))
	}
	return b
}

func strategyOf(a *request.Arguments) memory.Strategy {
	if a.Text("strategy") == lastWriterWins {
		return memory.Newest
	}
	return memory.Strategy(a.Choice("strategy", string(memory.Strict), string(memory.Source), string(memory.Target), string(memory.Newest), string(memory.Fields)))
}

func decodeResolution(a *request.Arguments) memory.Resolution {
	r := memory.Resolution{
		Namespace: a.Text("namespace"),
		Key:       a.NeedText("key", "the key to settle"),
		Take:      a.Choice("take", "source", "target", "delete", "value"),
	}
	value, given := a.Value("value")
	switch {
	case r.Take == "" && given:
		r.Take = "value"
	case r.Take == "" && a.Err() == nil:
		a.Missing("take", "source, target, delete or value")
	case r.Take == "value" && !given:
		a.Missing("value", "the value to settle on")
	}
	r.Value = value
	return r
}

// need returns a parameter that an action requires.
func (b *branchCall) need(action, parameter, given, what string) (string, error) {
	if given == "" {
		b.Arguments.Fault(parameter, fmt.Sprintf("memory_branch %s needs %s: %s", action, parameter, what))
	}
	return given, b.Arguments.Err()
}

// here returns the session's branch, even if the call names another.
func (b *branchCall) here() string {
	branch, _ := b.Session.At()
	return branch
}

// branchRow describes a branch.
type branchRow struct {
	Name     string `json:"name"`
	Parent   string `json:"parent,omitempty"`
	ForkedAt uint64 `json:"forked_at,omitempty"` // the parent's version
	Created  string `json:"created,omitempty"`
	Depth    int    `json:"depth,omitempty"`
	Deleted  string `json:"deleted,omitempty"`
}

func branchOf(b memory.Branch, f form) branchRow {
	row := branchRow{Name: b.Name, Parent: b.Parent, ForkedAt: b.ForkedAt, Deleted: stampOrNothing(b.Deleted)}
	if f.verbose {
		row.Created, row.Depth = memory.FormatTime(b.Created), b.Depth
	}
	return row
}

// made answers with a new branch. Creating one does not switch the session, which is easily overlooked.
func (b *branchCall) made(action string, m memory.Branch) tool.Answer {
	if b.DryRun {
		return rehearsed(map[string]any{"action": action, "name": m.Name})
	}
	r := struct {
		branchRow
		Current string `json:"current"`
	}{branchOf(m, b.form), b.here()}
	return tool.Answer{Structured: r, Plain: r}
}

func createBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	name, err := b.need("create", "name", b.name, "what to call the new, empty branch (fork makes one that starts from another)")
	if err != nil {
		return tool.Answer{}, err
	}
	made, err := b.access().Create(ctx, name, b.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	return b.made("create", made), nil
}

func forkBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	name, err := b.need("fork", "name", b.name, "what to call the new branch")
	if err != nil {
		return tool.Answer{}, err
	}
	made, err := b.access().Fork(ctx, cmp.Or(b.source, b.current), name, b.asOf, b.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	return b.made("fork", made), nil
}

func deleteBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	name, err := b.need("delete", "name", b.name, "the branch to delete")
	if err != nil {
		return tool.Answer{}, err
	}
	if err := b.access().Delete(ctx, memory.Deletion{Branch: name, Force: b.force}, b.Write()); err != nil {
		return tool.Answer{}, err
	}
	if b.DryRun {
		return rehearsed(map[string]any{"action": "delete", "name": name}), nil
	}
	r := struct {
		Deleted string `json:"deleted"`
		Current string `json:"current"`
		Note    string `json:"note,omitempty"`
	}{Deleted: name}
	if b.here() == name {
		b.Session.Move(memory.Default, "")
		r.Note = fmt.Sprintf("It was the session's branch: %q is now.", memory.Default)
	}
	r.Current = b.here()
	return tool.Answer{Structured: r, Plain: r}, nil
}

func restoreBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	name, err := b.need("restore", "name", b.name, "the deleted branch (list with deleted shows them)")
	if err != nil {
		return tool.Answer{}, err
	}
	made, err := b.access().Restore(ctx, name, b.as, b.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	return b.made("restore", made), nil
}

func switchBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	namespace := ""
	if len(b.namespaces) > 0 {
		namespace = b.namespaces[0]
	}
	if len(b.namespaces) > 1 {
		return tool.Answer{}, tool.Invalid(nil, "memory_branch switch takes one namespace, got %d", len(b.namespaces))
	}
	if namespace == memory.AllNamespaces {
		return tool.Answer{}, tool.Invalid(map[string]any{"parameters": []string{"namespace"}}, "namespace %q means all namespaces: this needs one, so name it", namespace)
	}
	if namespace == "" {
		if _, err := b.need("switch", "name", b.name, "the branch to work on from now on"); err != nil {
			return tool.Answer{}, err
		}
	}
	// The domain validates names of branches and namespaces.
	branch, here := b.Session.At()
	if _, err := b.access().Status(ctx, memory.Location{Branch: cmp.Or(b.name, branch), Namespace: cmp.Or(namespace, here)}); err != nil {
		return tool.Answer{}, err
	}
	if b.DryRun {
		return rehearsed(map[string]any{"action": "switch", "name": cmp.Or(b.name, branch), "namespace": cmp.Or(namespace, here)}), nil
	}
	b.Session.Move(b.name, namespace)
	return b.switched(), nil
}

func (b *branchCall) switched() tool.Answer {
	branch, namespace := b.Session.At()
	r := struct {
		Current   string `json:"current"`
		Namespace string `json:"namespace"`
		Note      string `json:"note,omitempty"`
	}{branch, namespace, ""}
	if b.Session.Stateless() {
		r.Note = fmt.Sprintf("This connection keeps nothing between calls: pass branch=%q and namespace=%q with each call.", branch, namespace)
	}
	return tool.Answer{Structured: r, Plain: r}
}

// fixedRow is a row that is never shortened, only left out.
type fixedRow struct{ branchRow }

func (fixedRow) value() json.RawMessage { return nil }
func (fixedRow) dropValue()             {}
func (fixedRow) dropDetails()           {}

func listBranches(ctx context.Context, b *branchCall) (tool.Answer, error) {
	all := b.access().Branches
	if b.deleted {
		all = b.access().Deleted
	}
	branches, err := all(ctx)
	if err != nil {
		return tool.Answer{}, err
	}
	rows := make([]fixedRow, 0, len(branches))
	for _, each := range branches {
		if b.name == "" || b.name == each.Name {
			rows = append(rows, fixedRow{branchOf(each, b.form)})
		}
	}
	kept, cut, err := shorten(rows, tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode branches: %w", err)
	}
	r := struct {
		Branches []fixedRow `json:"branches"`
		Current  string     `json:"current"`
		Note     string     `json:"note,omitempty"`
	}{kept, b.here(), ""}
	if cut.rows > 0 {
		r.Note = fmt.Sprintf("To stay within %d characters, the %s made last %s left out; any can be named all the same.",
			tool.MaxAnswer, plural(cut.rows, "branch"), verb(cut.rows))
	}
	r.Note = b.also(r.Note)
	return tool.Answer{Structured: r, Plain: kept, Notes: tool.NotesOf(r.Note), HasNotes: true}, nil
}
