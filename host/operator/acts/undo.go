package acts

import (
	"context"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
)

func (a Acts) undoFamily(ctx context.Context, r operator.UndoRequest) (operator.Undone, error) {
	u := memory.Undo{Call: r.Call, Family: r.Family, Since: r.Since, Branch: r.Branch}
	now := a.Clock()
	who := memory.Caller{Agent: operatorAgent, Operator: true, Rights: memory.FullRights()}
	if r.Apply {
		who.Call = "undo-" + now.UTC().Format("20060102T150405.000000")
	}
	done, err := a.Space.Memory.As(who).Undo(ctx, u, memory.Write{DryRun: !r.Apply})
	answer := operator.Undone{Commits: len(done.Commits), Reverted: reversals(done.Reverted), Kept: reversals(done.Kept), Already: done.Already, Left: append(outside(done.Commits), done.Left...), Versions: done.Versions}
	if len(done.Versions) > 0 {
		answer.Undo = who.Call
		a.auditUndo(r, answer)
	}
	return answer, err
}

func (a Acts) auditUndo(r operator.UndoRequest, done operator.Undone) {
	if a.Space.Audit == nil {
		return
	}
	a.Space.Audit.Add(audit.Entry{Kind: audit.Undone, Family: r.Family, Call: r.Call, Branch: r.Branch, Detail: fmt.Sprintf("%s: %d entries reverted, %d kept", done.Undo, len(done.Reverted), len(done.Kept))})
	if err := a.Space.Audit.Flush(); err != nil {
		a.Logger.Error("an undo could not be recorded", "error", err)
	}
}

func reversals(list []memory.Reversal) []operator.Reversal {
	out := make([]operator.Reversal, 0, len(list))
	for _, r := range list {
		out = append(out, operator.Reversal(r))
	}
	return out
}

// outside names what reverted calls did beyond the space.
func outside(commits []memory.CommittedBy) (left []string) {
	left = []string{}
	count, unknown := map[string]int{}, 0
	for _, c := range commits {
		if c.Caller.Account == nil {
			unknown++
			continue
		}
		e, err := audit.Restored(c.Caller.Account)
		if err != nil {
			unknown++
			continue
		}
		for op, n := range e.Ops {
			if strings.HasPrefix(op, "http.") || strings.HasPrefix(op, "llm.") || strings.HasPrefix(op, "file.") {
				count[op] += n
			}
		}
	}
	for _, op := range []string{"http.fetch", "llm.complete", "file.write"} {
		if count[op] > 0 {
			left = append(left, fmt.Sprintf("%d operations %s, which had effects outside", count[op], op))
		}
	}
	if unknown > 0 {
		left = append(left, fmt.Sprintf("what %d commits did outside, which is not known", unknown))
	}
	return left
}
