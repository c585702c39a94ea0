package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ListCheckpoints lists the checkpoints of the namespace and branch, the newest first.
//
// With checkpointId it shows that one, with the facts that it keeps and the version of each. memory_wake resumes from one.
//
//alcove:camel
//alcove:title List checkpoints
//alcove:description Checkpoints, the newest first.
//alcove:tool read-only
type ListCheckpoints struct {
	CheckpointID string `alcove:"alias=id"`
	AgentID      string // Default: all.
	After        string // next of the page before.
	Limit        int    `alcove:"default=20,min=1,max=100"`
}

//alcove:camel
type listedCheckpoints struct {
	Checkpoints []listedCheckpoint
	Next        string `json:"next,omitzero"`
}

//alcove:camel
type listedCheckpoint struct {
	CheckpointID alcove.ID
	AgentID      string
	SessionID    alcove.ID
	Name         string `json:"name,omitzero"`
	Summary      string `json:"summary,omitzero"`
	Topic        string `json:"topic,omitzero"`
	Version      uint64
	Branch       string
	At           string
	FactCount    int
	Unclean      bool       `json:"unclean,omitzero"`
	Facts        []keptFact `json:"facts,omitzero"`
}

// Call lists them.
func (in ListCheckpoints) Call(c *alcove.Call) (out listedCheckpoints, err error) {
	if in.CheckpointID != "" {
		id, k, err := Wake{CheckpointID: in.CheckpointID}.checkpoint(c)
		if err != nil {
			return out, err
		}
		one, err := listed(c, id, &k)
		one.Facts = k.Facts
		out.Checkpoints = append(out.Checkpoints, one)
		return out, err
	}
	r := alcove.RecordListRequest{Collection: checkpoints.Name, Order: "at", Descending: true, Limit: in.Limit, After: in.After}
	if in.AgentID != "" {
		r.Filters = append(r.Filters, equal("agentId", in.AgentID))
	}
	found, err := c.RecordList(r)
	if err != nil {
		return out, err
	}
	out.Next = found.Next
	for i := range found.Records {
		item, err := checkpoints.Item(&found.Records[i])
		if err != nil {
			c.Log("%v", err)
			continue
		}
		one, err := listed(c, c.ID(item.Key), &item.Value)
		if err != nil {
			return out, err
		}
		out.Checkpoints = append(out.Checkpoints, one)
	}
	return out, nil
}

// listed is a checkpoint as lists show it.
func listed(c *alcove.Call, id alcove.ID, k *checkpoint) (listedCheckpoint, error) {
	s, known, err := sessions.In(id.Namespace).Get(c, k.SessionID)
	return listedCheckpoint{CheckpointID: id, AgentID: k.AgentID, SessionID: alcove.ID{Namespace: id.Namespace, Key: k.SessionID}, Name: k.Name, Summary: k.Summary, Topic: k.Topic,
		Version: k.Version, Branch: k.Branch, At: k.At.String(), FactCount: len(k.Facts), Unclean: !known || s.Status != closed}, err
}
