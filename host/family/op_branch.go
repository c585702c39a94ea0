package family

import (
	"cmp"
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

func branchList(w *work, ctx context.Context, _ abi.BranchListRequest) (out abi.BranchListResponse, err error) {
	found, err := w.families.o.Space.Branches(ctx)
	if err != nil {
		return out, err
	}
	out.Branches = []abi.Branch{}
	for _, b := range found {
		if w.powers.Allows(abi.CanBranchRead, b.Name) {
			out.Branches = append(out.Branches, abi.Branch{Name: b.Name, Parent: b.Parent, ForkedAt: b.ForkedAt, Created: stampOf(b.Created), Depth: b.Depth})
		}
	}
	return out, nil
}

// differencesOf are the differences that a family may see: those of memories, and of its own records.
func (w *work) differencesOf(list []memory.Difference) []abi.Difference {
	out := []abi.Difference{}
	for _, d := range list {
		own, mine := strings.CutPrefix(d.Collection, w.family.name+"/")
		if d.Collection == "" || mine && w.powers.Allows(abi.CanRecord, own) {
			out = append(out, abi.Difference{Namespace: d.Namespace, Collection: own, Key: d.Key, Base: memoryOf(d.Base), Source: memoryOf(d.Source),
				Target: memoryOf(d.Target), Clash: string(d.Clash)})
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

func branchDiff(w *work, ctx context.Context, r abi.BranchDiffRequest) (out abi.BranchDiffResponse, err error) {
	target := w.branchOr(r.Target)
	if err := w.mayCompare(r.Source, target); err != nil {
		return out, err
	}
	namespaces, err := w.among(abi.CanMemoryRead, orAll(r.Namespaces))
	if err != nil {
		return out, err
	}
	d, err := w.families.o.Space.Diff(ctx, memory.DiffQuery{Source: r.Source, Target: target, Namespaces: namespaces, Limit: cmp.Or(r.Limit, defaultPage)})
	if err != nil {
		return out, err
	}
	return abi.BranchDiffResponse{Added: d.Added, Changed: d.Changed, Removed: d.Removed, Clashes: d.Clashes,
		Differences: w.differencesOf(d.Differences), Truncated: d.Truncated}, nil
}

func orAll(namespaces []string) []string {
	if len(namespaces) == 0 {
		return []string{"*"}
	}
	return namespaces
}

func branchFork(w *work, _ context.Context, r abi.BranchForkRequest) (out abi.BranchForkResponse, err error) {
	from := w.branchOr(r.From)
	if err := w.mayCompare(from); err != nil {
		return out, err
	}
	if err := w.powers.Check(abi.CanBranchWrite, r.Name); err != nil {
		return out, err
	}
	at, err := memory.ParseAsOf(r.AsOf, w.stage.Now())
	if err != nil {
		return out, err
	}
	w.after(fmt.Sprintf("fork %s from %s", r.Name, from), func(ctx context.Context) error {
		_, err := w.families.o.Space.Fork(ctx, from, r.Name, at, memory.Write{Agent: w.caller.Agent})
		return err
	})
	return abi.BranchForkResponse{Name: r.Name, From: from}, nil
}

func branchMerge(w *work, ctx context.Context, r abi.BranchMergeRequest) (out abi.BranchMergeResponse, err error) {
	m, err := w.mergeOf(r)
	if err != nil {
		return out, err
	}
	merged, err := w.families.o.Space.Merge(ctx, m, memory.Write{Agent: w.caller.Agent})
	if err != nil {
		return out, err
	}
	out = abi.BranchMergeResponse{Applied: w.differencesOf(merged.Applied), Clashes: w.differencesOf(merged.Clashes), Unresolved: merged.Unresolved}
	if r.Preview {
		return out, nil
	}
	out.Merged = merged.Unresolved == 0
	w.after(fmt.Sprintf("merge %s into %s", m.Source, m.Target), func(ctx context.Context) error {
		m.Preview = false
		_, err := w.families.o.Space.Merge(ctx, m, memory.Write{Agent: w.caller.Agent})
		return err
	})
	return out, nil
}

// mergeOf is the preview of a merge that the call may make, or look at.
func (w *work) mergeOf(r abi.BranchMergeRequest) (memory.Merge, error) {
	m := memory.Merge{Source: r.Source, Target: w.branchOr(r.Target), Strategy: memory.Strategy(r.Strategy), Preview: true}
	if err := w.mayCompare(m.Source, m.Target); err != nil {
		return m, err
	}
	var err error
	if m.Namespaces, err = w.among(abi.CanMemoryRead, orAll(r.Namespaces)); err != nil || r.Preview {
		return m, err
	}
	if err := w.powers.Check(abi.CanBranchWrite, m.Target); err != nil {
		return m, err
	}
	written, err := w.among(abi.CanMemoryWrite, orAll(r.Namespaces))
	if err != nil {
		return m, err
	}
	m.Namespaces = both(m.Namespaces, written)
	if m.Namespaces != nil && len(m.Namespaces) == 0 {
		return m, &abi.Error{Code: abi.CodeDenied, Message: "a merge needs memory.read and memory.write for the same namespaces"}
	}
	return m, nil
}

func branchDelete(w *work, _ context.Context, r abi.BranchDeleteRequest) (out abi.BranchDeleteResponse, err error) {
	if err := w.powers.Check(abi.CanBranchWrite, r.Name); err != nil {
		return out, err
	}
	if scope := w.powers.Scope(abi.CanMemoryWrite); len(scope) == 0 || scope[0] != "*" {
		return out, &abi.Error{Code: abi.CodeDenied, Message: "deleting a branch needs memory.write for every namespace"}
	}
	w.after("delete "+r.Name, func(ctx context.Context) error {
		return w.families.o.Space.Delete(ctx, r.Name, memory.Write{Agent: w.caller.Agent})
	})
	return out, nil
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
