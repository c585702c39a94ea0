package acts

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
)

// longestMove is the maximum length of the id of a move, in bytes.
const longestMove = 64

// Records that a move leaves where they are, but has name the other namespace: waiting jobs find subscriptions by their namespace, and
// seals are of events of the log, which stays. Messages have numbers in a log of their agent, and logs of two namespaces are not merged.
var (
	stayingRecords = []string{"events/subscription", "events/delivery_failure", "governance/seal"}
	wholeFamilies  = []string{"messages"}
)

func (a Acts) moveMemories(ctx context.Context, r operator.MoveRequest) (operator.MovedMemories, error) {
	if r.ID == "" || len(r.ID) > longestMove {
		return operator.MovedMemories{}, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the id of a move has %d bytes: it has 1 to %d", len(r.ID), longestMove)}
	}
	who := memory.Caller{Agent: operatorAgent, Operator: true, Rights: memory.FullRights(), Call: r.ID}
	done, err := a.Space.Memory.As(who).Move(ctx, memory.Move{From: r.From, To: r.To, Strategy: r.Strategy,
		Stays: stayingRecords, Whole: wholeFamilies}, memory.Write{DryRun: r.DryRun})
	answer := operator.MovedMemories{Memories: done.Memories, Same: done.Same, Clashes: done.Clashes,
		Records: done.Records, Differ: done.Differ, Left: done.Left, Commits: done.Commits}
	for _, c := range done.Clashing {
		answer.Clashing = append(answer.Clashing, operator.Clashing(c))
	}
	if err == nil && !r.DryRun {
		a.Logger.Info("moved memories", "from", r.From, "to", r.To, "memories", done.Memories, "records", done.Records, "commits", done.Commits, "call", r.ID)
	}
	return answer, err
}
