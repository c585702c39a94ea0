package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const branchName = "memory_branch"

func (k *kit) branchTool() tool.Spec {
	aliases, presets, spellings := oldBranchNames()
	return declared(k, tool.Spec{
		Name:        branchName,
		Aliases:     aliases,
		Presets:     presets,
		Spellings:   spellings,
		Description: "Branch to try changes or experiments: fork, switch, diff (compare), merge, delete.",
		Docs: "create makes an empty branch, fork one that starts from what source (default: the current branch) holds, or held at as_of. " +
			"switch moves the session to branch name, or to a namespace; every tool also takes branch= for one call. list shows all branches. " +
			"diff shows what the branch compare has that the current one has not. merge brings source into the current branch (or target); preview only shows what it would do. " +
			"diff and preview list 50 differences at a time, and all are counted: next of one page is after of the following one. " +
			"strategy says how a merge settles what both sides changed: strict writes nothing and lists the clashes (default); source or target takes that side, newest the later one, fields merges JSON objects field by field. " +
			"verbose shows versions and times, too. resolutions settle single clashes first: [{key, take: source|target|delete|value, value}]. delete frees the name; what other branches inherited stays theirs. It refuses while the branch has changes that its parent lacks, and says how many; force deletes them, too. " +
			"restore brings the deleted branch name back, under the name as if given; list with deleted shows those that can be restored: the last hundred, unless retention drops them. " +
			"branch says what counts as current in this call. namespace limits diff and merge.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"current": {"type": "string", "description": "The session's branch after the call."},
				"branches": {"type": "array", "items": {"type": "object"}, "description": "list: all branches."},
				"differences": {"type": "array", "items": {"type": "object"}, "description": "diff, merge: key, change, clash, and what source and target have; namespace where it is not the call's."},
				"next": {"type": "string", "description": "diff, merge: after of the next page."},
				"merged": {"type": "boolean", "description": "merge: whether it was written."}
			}
		}`),
		Annotations: tool.Annotations{Mixed: true, Destructive: true},
	}, branch)
}

type branchRequest struct {
	Action      string          `json:"action" alcove:"show=enum" need:"one of {words}"`
	Name        string          `json:"name" doc:"create, fork, delete, switch, restore: the branch."`
	Source      string          `json:"source" doc:"merge: the branch to bring in. fork: the branch to start from, the current one when left out."`
	Target      string          `json:"target" doc:"merge: the branch to change, the current one when left out."`
	Compare     string          `json:"compare" doc:"diff: the branch to compare with the current one."`
	Strategy    memory.Strategy `json:"strategy" alcove:"show=enum" doc:"merge: how to settle what both sides changed; strict when left out."`
	Resolutions []resolution    `json:"resolutions" doc:"merge: how to settle single clashes: {key, namespace, take: source, target, delete or value, value}."`
	Preview     bool            `json:"preview" doc:"merge: only say what it would do."`
	Seen        version         `json:"seen" schema:"'type':'integer'" alcove:"advanced" doc:"merge: of a proposal to which several calls added, the seen of the diff that was looked at; nothing is merged if there is more by now."`
	Force       bool            `json:"force" alcove:"advanced" doc:"delete: with its unmerged changes."`
	As          string          `json:"as" alcove:"advanced" doc:"restore: another name, if that of the branch is taken."`
	Deleted     bool            `json:"deleted" alcove:"advanced" doc:"list: deleted branches that can be restored."`
	Merges      bool            `json:"merges" alcove:"advanced" doc:"list: with the newest merges between branches."`
	After       string          `json:"after" alcove:"advanced,alias=cursor" doc:"diff, merge with preview: next of the page before, to list on."`
	AsOf        asOf            `json:"as_of" doc:"fork: start from this past moment, such as 1h ago or v12."`
	Namespace   []string        `json:"namespace" schema:"'type':'string'" doc:"switch: the session's namespace. diff, merge: only this namespace, or these."`
	Branch      string          `json:"branch" doc:"What counts as the current branch in this call."`
	verbosity
}

// Limits implements request.Limited.
func (branchRequest) Limits() request.Limits {
	strategies := request.Words(memory.Strict, memory.Source, memory.Target, memory.Newest, memory.Fields)
	return request.Limits{
		"action": {Words: actionNames()}, "strategy": {Words: strategies, Synonyms: map[string]string{lastWriterWins: string(memory.Newest)}},
	}
}

// Check implements request.Checker.
func (r *branchRequest) Check(a *request.Arguments) {
	checkNamespaces(a, r.Namespace)
	if r.After != "" && r.Action != "diff" && !(r.Action == "merge" && r.Preview) {
		a.Fault("after", "memory_branch takes after only with diff, and with merge and preview: leave it out")
	}
}

type resolution struct {
	Namespace string          `json:"namespace"`
	Key       string          `json:"key" need:"the key to settle"`
	Take      string          `json:"take"`
	Value     json.RawMessage `json:"value"`
}

// Limits implements request.Limited.
func (resolution) Limits() request.Limits {
	return request.Limits{"take": {Words: []string{"source", "target", "delete", "value"}}}
}

// Check implements request.Checker.
func (r *resolution) Check(a *request.Arguments) {
	switch {
	case r.Take == "" && r.Value != nil:
		r.Take = "value"
	case r.Take == "" && a.Err() == nil:
		a.Missing("take", "source, target, delete or value")
	case r.Take == "value" && r.Value == nil:
		a.Missing("value", "the value to settle on")
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

func actionNames() (names []string) {
	for _, a := range actions() {
		names = append(names, a.name)
	}
	return names
}

func branch(ctx context.Context, c *call, r branchRequest) (tool.Answer, error) {
	b := c.branchCall(r)
	chosen := actions()[slices.Index(actionNames(), r.Action)]
	if chosen.writes && c.ReadOnly() && !r.Preview {
		return tool.Answer{}, c.Registry().Denied(c.Caller.Rights, "memory_branch can only list, diff, switch and preview merges here")
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
	case b.request.AsOf.AsOf.IsNow() || a.name == "fork":
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
	request    branchRequest
	current    string
	form       form
	namespaces []string
}

func (c *call) branchCall(r branchRequest) *branchCall {
	b := &branchCall{call: c, request: r, current: c.location("", r.Branch).Branch, namespaces: c.namespaces(r.Namespace)}
	here := c.Location().Namespace
	if len(b.namespaces) == 1 {
		here = b.namespaces[0]
	}
	b.form = c.form(memory.Location{Branch: b.current, Namespace: here}, shown{Verbose: r.Verbose})
	return b
}

// resolved returns how to settle single clashes.
func (r *branchRequest) resolved() (list []memory.Resolution) {
	for _, each := range r.Resolutions {
		list = append(list, memory.Resolution(each))
	}
	return list
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
	name, err := b.need("create", "name", b.request.Name, "what to call the new, empty branch (fork makes one that starts from another)")
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
	name, err := b.need("fork", "name", b.request.Name, "what to call the new branch")
	if err != nil {
		return tool.Answer{}, err
	}
	made, err := b.access().Fork(ctx, cmp.Or(b.request.Source, b.current), name, b.request.AsOf.AsOf, b.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	return b.made("fork", made), nil
}

func deleteBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	name, err := b.need("delete", "name", b.request.Name, "the branch to delete")
	if err != nil {
		return tool.Answer{}, err
	}
	if err := b.access().Delete(ctx, memory.Deletion{Branch: name, Force: b.request.Force}, b.Write()); err != nil {
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
	name, err := b.need("restore", "name", b.request.Name, "the deleted branch (list with deleted shows them)")
	if err != nil {
		return tool.Answer{}, err
	}
	made, err := b.access().Restore(ctx, name, b.request.As, b.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	return b.made("restore", made), nil
}

func switchBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	namespace := "" // the session's new one, not the call's
	if len(b.request.Namespace) > 0 {
		namespace = b.request.Namespace[0]
	}
	if len(b.request.Namespace) > 1 {
		return tool.Answer{}, tool.Invalid(nil, "memory_branch switch takes one namespace, got %d", len(b.request.Namespace))
	}
	if namespace == memory.AllNamespaces {
		return tool.Answer{}, tool.Invalid(map[string]any{"parameters": []string{"namespace"}}, "namespace %q means all namespaces: this needs one, so name it", namespace)
	}
	if namespace == "" {
		if _, err := b.need("switch", "name", b.request.Name, "the branch to work on from now on"); err != nil {
			return tool.Answer{}, err
		}
	}
	// The domain validates names of branches and namespaces.
	branch, here := b.Session.At()
	if _, err := b.access().Status(ctx, memory.Location{Branch: cmp.Or(b.request.Name, branch), Namespace: cmp.Or(namespace, here)}); err != nil {
		return tool.Answer{}, err
	}
	if b.DryRun {
		return rehearsed(map[string]any{"action": "switch", "name": cmp.Or(b.request.Name, branch), "namespace": cmp.Or(namespace, here)}), nil
	}
	b.Session.Move(b.request.Name, namespace)
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

// mergeRow is a merge between two branches.
type mergeRow struct {
	Source        string `json:"source"`
	Target        string `json:"target"`
	SourceVersion uint64 `json:"source_version"` // up to which the target has what the source had
	Version       uint64 `json:"version"`
	Timestamp     string `json:"timestamp"`
}

// mostMerges bounds the merges of a list.
const mostMerges = 200

// merges lists the newest merges between branches, if the call asks for them.
func (b *branchCall) merges(ctx context.Context) ([]mergeRow, error) {
	if !b.request.Merges {
		return nil, nil
	}
	merged, err := b.access().Merges(ctx, mostMerges)
	rows := make([]mergeRow, len(merged))
	for i, m := range merged {
		rows[i] = mergeRow{m.Source, m.Target, m.SourceVersion, m.Version, memory.FormatTime(m.Timestamp)}
	}
	return rows, err
}

func listBranches(ctx context.Context, b *branchCall) (tool.Answer, error) {
	all := b.access().Branches
	if b.request.Deleted {
		all = b.access().Deleted
	}
	branches, err := all(ctx)
	if err != nil {
		return tool.Answer{}, err
	}
	rows := make([]fixedRow, 0, len(branches))
	for _, each := range branches {
		if b.request.Name == "" || b.request.Name == each.Name {
			rows = append(rows, fixedRow{branchOf(each, b.form)})
		}
	}
	kept, cut, err := shorten(rows, tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode branches: %w", err)
	}
	merges, err := b.merges(ctx)
	if err != nil {
		return tool.Answer{}, err
	}
	r := struct {
		Branches []fixedRow `json:"branches"`
		Merges   []mergeRow `json:"merges,omitempty"`
		Current  string     `json:"current"`
		Note     string     `json:"note,omitempty"`
	}{kept, merges, b.here(), ""}
	if cut.rows > 0 {
		r.Note = fmt.Sprintf("To stay within %d characters, the %s made last %s left out; any can be named all the same.",
			tool.MaxAnswer, plural(cut.rows, "branch"), verb(cut.rows))
	}
	r.Note = b.also(r.Note)
	return tool.Answer{Structured: r, Plain: kept, Notes: tool.NotesOf(r.Note), HasNotes: true}, nil
}
