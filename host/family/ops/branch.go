package ops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// branchOr returns the branch that a request means.
func (call *Call) branchOr(name string) string {
	if name == "" {
		return call.Stage.Branch()
	}
	return name
}

func branchList(call *Call, ctx context.Context, _ abi.BranchListRequest) (out abi.BranchListResponse, err error) {
	found, err := call.space().Branches(ctx)
	if err != nil {
		return out, err
	}
	out.Branches = []abi.Branch{}
	for _, b := range found {
		if call.Powers.Allows(abi.CanBranchRead, b.Name) {
			out.Branches = append(out.Branches, abi.Branch{Name: b.Name, Parent: b.Parent, ForkedAt: b.ForkedAt, Created: memory.FormatTime(b.Created), Depth: b.Depth})
		}
	}
	return out, nil
}

// comparing returns the space with the differences that are visible to a family: those of memories, and of its own records.
func (call *Call) comparing() *memory.Access {
	return call.space().Showing(func(collection string) bool {
		own, mine := strings.CutPrefix(collection, call.Manifest.Name+"/")
		return mine && call.Powers.Allows(abi.CanRecord, own)
	})
}

// differencesOf lists differences; of a value with more bytes than longest it has a short form. 0 is no limit.
func (call *Call) differencesOf(list []memory.Difference, longest int) []abi.Difference {
	out := []abi.Difference{}
	for _, d := range list {
		own := strings.TrimPrefix(d.Collection, call.Manifest.Name+"/")
		out = append(out, abi.Difference{Namespace: d.Namespace, Collection: own, Key: d.Key, Base: shortMemory(d.Base, longest), Source: shortMemory(d.Source, longest),
			Target: shortMemory(d.Target, longest), Clash: string(d.Clash)})
	}
	return out
}

// shortMemory returns a memory with short forms of the values that have more bytes than longest. 0 is no limit.
func shortMemory(m *memory.Memory, longest int) *abi.Memory {
	out := memoryOf(m)
	if out == nil || longest == 0 {
		return out
	}
	out.Value = short(out.Value, longest)
	out.Metadata = maps.Clone(out.Metadata)
	for name, value := range out.Metadata {
		out.Metadata[name] = short(value, longest)
	}
	return out
}

// short returns a value that has at most longest bytes; of another one a text with its beginning, size and digest, so that different values
// look different.
func short(value json.RawMessage, longest int) json.RawMessage {
	if len(value) <= longest {
		return value
	}
	digest := sha256.Sum256(value)
	text, err := json.Marshal(fmt.Sprintf("%s… (%d bytes, sha256 %x…)", strings.ToValidUTF8(string(value[:longest]), ""), len(value), digest[:8]))
	if err != nil {
		panic(err) // a string has JSON
	}
	return text
}

func (call *Call) mayCompare(branches ...string) error {
	for _, name := range branches {
		if err := call.Powers.Check(abi.CanBranchRead, name); err != nil {
			return err
		}
	}
	return nil
}

func branchDiff(call *Call, ctx context.Context, r abi.BranchDiffRequest) (out abi.BranchDiffResponse, err error) {
	target := call.branchOr(r.Target)
	if err := call.mayCompare(r.Source, target); err != nil {
		return out, err
	}
	namespaces, err := call.among(abi.CanMemoryRead, orAll(r.Namespaces))
	if err != nil {
		return out, err
	}
	d, err := call.comparing().Diff(ctx, memory.DiffQuery{Source: r.Source, Target: target, SourceOnly: r.SourceOnly, Namespaces: namespaces, Limit: cmp.Or(r.Limit, defaultPage)})
	if err != nil {
		return out, err
	}
	return abi.BranchDiffResponse{Added: d.Added, Changed: d.Changed, Removed: d.Removed, Clashes: d.Clashes,
		Differences: call.differencesOf(d.Differences, r.Longest), Truncated: d.Truncated, Seen: d.Seen}, nil
}

func orAll(namespaces []string) []string {
	if len(namespaces) == 0 {
		return []string{"*"}
	}
	return namespaces
}

func branchFork(call *Call, _ context.Context, r abi.BranchForkRequest) (out abi.BranchForkResponse, err error) {
	from := call.branchOr(r.From)
	if err := call.mayCompare(from); err != nil {
		return out, err
	}
	if err := call.Powers.Check(abi.CanBranchWrite, r.Name); err != nil {
		return out, err
	}
	at, err := call.asOf(r.AsOf)
	if err != nil {
		return out, err
	}
	call.after(fmt.Sprintf("fork %s from %s", r.Name, from), func(ctx context.Context) error {
		fork := call.space().Fork
		if r.ReadOnly {
			fork = call.space().Pin
		}
		_, err := fork(ctx, from, r.Name, at, memory.Write{})
		return err
	}, r.Required)
	return abi.BranchForkResponse{Name: r.Name, From: from}, nil
}

func branchMerge(call *Call, ctx context.Context, r abi.BranchMergeRequest) (out abi.BranchMergeResponse, err error) {
	m, err := call.mergeOf(r)
	if err != nil {
		return out, err
	}
	merged, err := call.comparing().Merge(ctx, m, memory.Write{DryRun: true})
	if err != nil {
		return out, err
	}
	out = abi.BranchMergeResponse{Applied: call.differencesOf(merged.Applied, 0), Clashes: call.differencesOf(merged.Clashes, 0), Unresolved: merged.Unresolved, Seen: merged.Seen}
	if r.Preview {
		return out, nil
	}
	if merged.Unseen != nil {
		return out, merged.Unseen
	}
	out.Merged = merged.Unresolved == 0
	call.after(fmt.Sprintf("merge %s into %s", m.Source, m.Target), func(ctx context.Context) error {
		done, err := call.comparing().Merge(ctx, m, memory.Write{})
		if err == nil && done.Unresolved > 0 {
			return clashing(done.Clashing, call.differencesOf(done.Clashes, 0))
		}
		return err
	}, r.Required)
	return out, nil
}

// clashing is the error of a merge that others made impossible since it was previewed.
func clashing(count int, list []abi.Difference) error {
	var keys []string
	for _, d := range list[:min(len(list), 10)] {
		keys = append(keys, fmt.Sprintf("%.128q", d.Key))
	}
	return &abi.Error{Code: abi.CodeConflict, Message: fmt.Sprintf("both branches changed %d keys, so nothing was merged: %s", count, strings.Join(keys, ", "))}
}

// mergeOf returns a merge that the call may make, or preview.
func (call *Call) mergeOf(r abi.BranchMergeRequest) (memory.Merge, error) {
	m := memory.Merge{Source: r.Source, Target: call.branchOr(r.Target), Strategy: memory.Strategy(r.Strategy), Seen: r.Seen}
	if err := call.mayCompare(m.Source, m.Target); err != nil {
		return m, err
	}
	var err error
	if m.Namespaces, err = call.among(abi.CanMemoryRead, orAll(r.Namespaces)); err != nil || r.Preview {
		return m, err
	}
	if err := call.Powers.Check(abi.CanBranchWrite, m.Target); err != nil {
		return m, err
	}
	written, err := call.among(abi.CanMemoryWrite, orAll(r.Namespaces))
	if err != nil {
		return m, err
	}
	m.Namespaces = both(m.Namespaces, written)
	if m.Namespaces != nil && len(m.Namespaces) == 0 {
		return m, &abi.Error{Code: abi.CodeDenied, Message: "a merge needs memory.read and memory.write for the same namespaces"}
	}
	return m, nil
}

func branchDelete(call *Call, _ context.Context, r abi.BranchDeleteRequest) (out abi.BranchDeleteResponse, err error) {
	if err := call.Powers.Check(abi.CanBranchWrite, r.Name); err != nil {
		return out, err
	}
	if scope := call.Powers.Scope(abi.CanMemoryWrite); len(scope) == 0 || scope[0] != "*" {
		return out, &abi.Error{Code: abi.CodeDenied, Message: "deleting a branch needs memory.write for every namespace"}
	}
	call.After("delete "+r.Name, func(ctx context.Context) error {
		return call.space().Delete(ctx, memory.Deletion{Branch: r.Name, Force: r.Force, Final: r.Force}, memory.Write{})
	})
	return out, nil
}
