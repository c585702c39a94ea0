package governance

import alcove "github.com/alcove-memory/alcove/sdk/go"

// QuotaStatus tells what agents stored in namespaces with a quota.
//
// The host enforces quotas; the operator sets them with alcove quota. Memories and links are counted by the day, in UTC. Without the right
// scope.admin a caller sees its own use alone.
//
//alcove:title Quotas
//alcove:description Use against limits.
//alcove:tool read-only
type QuotaStatus struct {
	AgentID string
}

type quotaStatus struct{ Quotas []quota }

type quota struct {
	Namespace    string
	AgentID      string
	Day          string
	Memories     int
	MostMemories int // 0: no limit.
	Links        int
	MostLinks    int
	Bytes        int
	MostBytes    int
}

// Call lists them.
func (in QuotaStatus) Call(c *alcove.Call) (out quotaStatus, err error) {
	list, err := c.QuotaList(alcove.QuotaListRequest{Agent: in.AgentID})
	for _, q := range list.Quotas {
		out.Quotas = append(out.Quotas, quota{q.Namespace, q.Agent, q.Day, q.Memories, q.MostMemories, q.Links, q.MostLinks, q.Bytes, q.MostBytes})
	}
	return out, err
}
