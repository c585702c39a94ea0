package governance

import (
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
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

// find reads a change that waits, and its place.
func find(c *alcove.Call, id alcove.ID) (at alcove.ID, p pending, version uint64, err error) {
	at = alcove.ID{Namespace: or(id.Namespace, c.Namespace), Key: id.Key}
	if strings.HasPrefix(at.Key, "proposals/") {
		found, err := c.RecordGet(alcove.RecordGetRequest{Collection: pendings.Name, Namespace: at.Namespace, Keys: []string{at.Key}})
		if err != nil {
			return at, p, 0, err
		}
		if len(found.Records) > 0 && found.Records[0] != nil {
			item, err := pendings.Item(found.Records[0])
			if err != nil || item.Value.State == waiting {
				return at, item.Value, item.Version, err
			}
		}
	}
	return at, p, 0, alcove.Errorf(alcove.NotFound, "no change %s waits for approval", at.String())
}

// mayDecide returns why the caller may not decide about a change.
func mayDecide(c *alcove.Call, who alcove.CallerGetResponse, at alcove.ID, p pending, r rule) error {
	switch {
	case c.Operator:
		return nil
	case c.Caller == "" || who.Principal == p.By:
		return alcove.Errorf(alcove.Denied, "nobody decides about their own change, nor do their delegates")
	case p.By == "" && r.approver != human:
		return alcove.Errorf(alcove.Denied, "it is not known whose change it is: a human decides, with alcove approval")
	case !r.may(c):
		return alcove.Errorf(alcove.Denied, "the approver of %s is %s: a human decides at the command line, with alcove approval", at.Namespace, r.approver)
	}
	return mayWrite(c, c.Caller, "", at.Namespace)
}

// mayWrite returns an error if an agent has no right to write a namespace any more, or had an API key that does not hold any more.
func mayWrite(c *alcove.Call, agent, key, namespace string) error {
	request := alcove.CallerCanRequest{Action: "write", Namespace: namespace, Key: key}
	if agent != c.Caller {
		request.Agent = agent
	}
	can, err := c.CallerCan(request)
	if err == nil && !can.Allowed {
		err = alcove.Errorf(alcove.Denied, "%s may not write %s", agent, namespace)
	}
	return err
}

// keep stages a decided change, unless somebody decided meanwhile.
func keep(c *alcove.Call, at alcove.ID, p pending, version uint64) error {
	item, err := scan.Encode(&p)
	if err != nil {
		return err
	}
	_, err = c.RecordPut(alcove.RecordPutRequest{Collection: pendings.Name, Namespace: at.Namespace, Items: []alcove.RecordItem{{Key: at.Key, Value: item, IfVersion: &version}}})
	return err
}

// remember keeps a decision for later changes.
func remember(c *alcove.Call, who alcove.CallerGetResponse, at alcove.ID, p pending, how string, approve bool) error {
	if how == "once" {
		return nil
	}
	d := decision{Approve: approve, By: or(c.Caller, "operator"), Space: who.Space}
	if !c.Operator {
		d.Agent, d.Key = who.Principal, who.Key
	}
	if how == "session" {
		if d.Session = p.Session; d.Session == "" {
			return alcove.Errorf(alcove.InvalidArgument, "the change was made without a session: remember once or forever")
		}
	}
	return decisions.In(at.Namespace).Put(c, decisionKey(p.Op, p.By, d.Session), d)
}
