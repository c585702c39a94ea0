package governance

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// PendingList lists changes of the namespace that wait for approval, or were decided.
//
// Each names who wrote it, when, what its approval changes now, and the votes so far. Long values are shortened: recall with the branch gives
// them whole. memory_pending_approve and memory_pending_reject take its id.
//
//alcove:title Changes that wait for approval
//alcove:description Changes waiting for approval.
//alcove:tool read-only
type PendingList struct {
	Status string `alcove:"default=pending,enum=pending|approved|rejected"`
	Limit  int    `alcove:"default=100,min=1,max=1000"`
	Cursor string
}

type pendingPage struct {
	Pending    []shownPending
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"`
}

type shownPending struct {
	ID       alcove.ID // For memory_pending_approve and memory_pending_reject.
	Op       string
	Keys     []string
	Changes  []shownChange `json:"changes,omitzero"` // What an approval merges.
	More     int           `json:"more,omitzero"`    // Changed memories that Changes leaves out.
	By       string
	Branch   string // Compare it with memory_branch.
	At       string
	Reason   string   `json:"reason,omitzero"`
	Votes    []string `json:"votes,omitzero"`
	Approver string   `json:"approver,omitzero"`
}

// Call lists them, those without a branch left out.
func (in PendingList) Call(c *alcove.Call, cfg Config) (out pendingPage, err error) {
	b, err := cfg.book()
	if err != nil {
		return out, err
	}
	branches, err := c.BranchList()
	if err != nil {
		return out, err
	}
	who, err := c.CallerGet()
	if err != nil {
		return out, err
	}
	list, err := c.RecordList(alcove.RecordListRequest{Collection: pendings.Name, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return out, err
	}
	voters, previews := newElectorate(c, c.Namespace, who), previewer{c, mostPreview}
	for i := range list.Records {
		item, err := pendings.Item(&list.Records[i])
		if err != nil {
			return out, err
		}
		p := item.Value
		there := slices.ContainsFunc(branches.Branches, func(b alcove.Branch) bool { return b.Name == item.ID.Key })
		if p.State != in.Status || !there && p.State == waiting {
			continue
		}
		shown := shownPending{Op: p.Op, Keys: p.Keys, By: p.By, At: p.At, Reason: p.Reason}
		if p.State == waiting {
			if shown.Changes, shown.More, err = previews.of(item.ID.Key, p); err != nil {
				return out, err
			}
			err = p.dropVotes(voters)
		} else if p.Space != who.Space {
			p.Votes = nil
		}
		if err != nil {
			return out, err
		}
		shown.ID, shown.Branch = alcove.ID{Namespace: c.Namespace, Key: item.ID.Key}, item.ID.Key
		shown.Votes, shown.Approver = p.Votes, b.of(c.Namespace, p.Op).approver
		out.Pending = append(out.Pending, shown)
	}
	out.NextCursor, out.Truncated = list.Next, list.Next != ""
	return out, nil
}
