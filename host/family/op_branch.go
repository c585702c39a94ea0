package family

import (
	"context"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// branchOr is the branch that a request means.
func (w *work) branchOr(name string) string {
	if name == "" {
		return w.stage.Branch()
	}
	return name
}

func branchList(w *work, ctx context.Context, _ struct{}) (any, error) {
	found, err := w.families.o.Space.Branches(ctx)
	if err != nil {
		return nil, err
	}
	type branch struct {
		Name     string `json:"name"`
		Parent   string `json:"parent,omitempty"`
		ForkedAt uint64 `json:"forked_at"`
		Created  string `json:"created"`
		Depth    int    `json:"depth"`
	}
	branches := []branch{}
	for _, b := range found {
		if w.powers.Allows(abi.CanBranchRead, b.Name) {
			branches = append(branches, branch{b.Name, b.Parent, b.ForkedAt, stampOf(b.Created), b.Depth})
		}
	}
	return map[string]any{"branches": branches}, nil
}

type branchDiffRequest struct {
	Source     string   `json:"source"`
	Target     string   `json:"target"`
	Namespaces []string `json:"namespaces"`
	Limit      int      `json:"limit"`
}

type differenceJSON struct {
	Namespace string `json:"namespace"`
	// Collection is the family's own that a record is in; empty for a memory.
	Collection string       `json:"collection,omitempty"`
	Key        string       `json:"key"`
	Base       *memoryJSON  `json:"base,omitempty"`
	Source     *memoryJSON  `json:"source,omitempty"`
	Target     *memoryJSON  `json:"target,omitempty"`
	Clash      memory.Clash `json:"clash,omitempty"`
}

// differencesOf are differences as a family may see them: those of memories, and of its own records.
func (w *work) differencesOf(list []memory.Difference) []differenceJSON {
	out := []differenceJSON{}
	for _, d := range list {
		own, mine := strings.CutPrefix(d.Collection, w.family.name+"/")
		if d.Collection == "" || mine && w.powers.Allows(abi.CanRecord, own) {
			out = append(out, differenceJSON{d.Namespace, own, d.Key, memoryOf(d.Base), memoryOf(d.Source), memoryOf(d.Target), d.Clash})
		}
	}
	return out
}

func (w *work) mayCompare(branches ...string) error {
	for _, name := range branches {
		if err := w.powers.Check(abi.CanBranchRead, name); err != nil {
			return err
		}
	}
	return nil
}

func branchDiff(w *work, ctx context.Context, r branchDiffRequest) (any, error) {
	target := w.branchOr(r.Target)
	if err := w.mayCompare(r.Source, target); err != nil {
		return nil, err
	}
	namespaces, err := w.among(abi.CanMemoryRead, orAll(r.Namespaces))
	if err != nil {
		return nil, err
	}
	limit, err := page(r.Limit)
	if err != nil {
		return nil, err
	}
	d, err := w.families.o.Space.Diff(ctx, memory.DiffQuery{Source: r.Source, Target: target, Namespaces: namespaces, Limit: limit})
	if err != nil {
		return nil, err
	}
	return map[string]any{"added": d.Added, "changed": d.Changed, "removed": d.Removed, "clashes": d.Clashes,
		"differences": w.differencesOf(d.Differences), "truncated": d.Truncated}, nil
}

func orAll(namespaces []string) []string {
	if len(namespaces) == 0 {
		return []string{"*"}
	}
	return namespaces
}

type branchForkRequest struct {
	Name string `json:"name"`
	From string `json:"from"`
	AsOf string `json:"as_of"`
}

func branchFork(w *work, _ context.Context, r branchForkRequest) (any, error) {
	from := w.branchOr(r.From)
	if err := w.mayCompare(from); err != nil {
		return nil, err
	}
	if err := w.powers.Check(abi.CanBranchWrite, r.Name); err != nil {
		return nil, err
	}
	at, err := memory.ParseAsOf(r.AsOf, w.stage.Now())
	if err != nil {
		return nil, err
	}
	w.after(fmt.Sprintf("fork %s from %s", r.Name, from), func(ctx context.Context) error {
		_, err := w.families.o.Space.Fork(ctx, from, r.Name, at, memory.Write{Agent: w.caller.Agent})
		return err
	})
	return map[string]any{"name": r.Name, "from": from}, nil
}

type branchMergeRequest struct {
	Source     string          `json:"source"`
	Target     string          `json:"target"`
	Strategy   memory.Strategy `json:"strategy"`
	Namespaces []string        `json:"namespaces"`
	Preview    bool            `json:"preview"`
}

func branchMerge(w *work, ctx context.Context, r branchMergeRequest) (any, error) {
	target := w.branchOr(r.Target)
	if err := w.mayCompare(r.Source, target); err != nil {
		return nil, err
	}
	namespaces, err := w.among(abi.CanMemoryRead, orAll(r.Namespaces))
	if err != nil {
		return nil, err
	}
	m := memory.Merge{Source: r.Source, Target: target, Strategy: r.Strategy, Namespaces: namespaces, Preview: true}
	if !r.Preview {
		if err := w.powers.Check(abi.CanBranchWrite, target); err != nil {
			return nil, err
		}
		written, err := w.among(abi.CanMemoryWrite, orAll(r.Namespaces))
		if err != nil {
			return nil, err
		}
		if m.Namespaces = both(namespaces, written); m.Namespaces != nil && len(m.Namespaces) == 0 {
			return nil, &abi.Error{Code: abi.CodeDenied, Message: "a merge needs memory.read and memory.write for the same namespaces"}
		}
		w.after(fmt.Sprintf("merge %s into %s", r.Source, target), func(ctx context.Context) error {
			m.Preview = false
			_, err := w.families.o.Space.Merge(ctx, m, memory.Write{Agent: w.caller.Agent})
			return err
		})
	}
	merged, err := w.families.o.Space.Merge(ctx, m, memory.Write{Agent: w.caller.Agent})
	if err != nil {
		return nil, err
	}
	return map[string]any{"merged": !r.Preview && merged.Unresolved == 0, "applied": w.differencesOf(merged.Applied),
		"clashes": w.differencesOf(merged.Clashes), "unresolved": merged.Unresolved}, nil
}

type branchDeleteRequest struct {
	Name string `json:"name"`
}

func branchDelete(w *work, _ context.Context, r branchDeleteRequest) (any, error) {
	if err := w.powers.Check(abi.CanBranchWrite, r.Name); err != nil {
		return nil, err
	}
	if scope := w.powers.Scope(abi.CanMemoryWrite); len(scope) == 0 || scope[0] != "*" {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "deleting a branch needs memory.write for every namespace"}
	}
	w.after("delete "+r.Name, func(ctx context.Context) error {
		return w.families.o.Space.Delete(ctx, r.Name, memory.Write{Agent: w.caller.Agent})
	})
	return struct{}{}, nil
}

// after does something behind the commit; its failure is told to the caller.
func (w *work) after(what string, do func(ctx context.Context) error) {
	w.later = append(w.later, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return fmt.Errorf("could not %s: %w", what, err)
		}
		return nil
	})
}

// afterwards does what was to be done behind the commit, and gives notes on what failed. It stops there: what follows may stand
// on it.
func (w *work) afterwards(ctx context.Context) []string {
	for i, do := range w.later {
		err := do(ctx)
		if err != nil {
			return []string{fmt.Sprintf("%v; %d more were not tried", err, len(w.later)-i-1)}
		}
	}
	return nil
}

// afterwardsUnseen is afterwards where nobody waits to be told.
func (w *work) afterwardsUnseen(ctx context.Context) {
	for _, note := range w.afterwards(ctx) {
		w.families.o.Logger.Warn("a family did not do all it wanted", "family", w.family.name, "note", note)
	}
}
