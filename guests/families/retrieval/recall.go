package retrieval

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// recalls are what searches returned, and which of it was used.
var recalls = alcove.Records[Recall]{Name: "recall", Per: "branch", Expires: "90d"}

// prefixRecall is that of the ids of recalls.
const prefixRecall = "rec:"

// Recall is what a search returned.
//
//alcove:camel
type Recall struct {
	Query   string
	FactIDs []alcove.ID `json:"factIds"`
	Agent   string
	Used    []alcove.ID
	Unused  []alcove.ID
	alcove.Lifecycle
}

// RecordRecall remembers what a search returned, so that memory_record_recall_usage can say what was used. memory_recall with a query does so
// by itself.
//
//alcove:description Remember what a search returned, for feedback.
//alcove:title Record a recall
//alcove:camel
type RecordRecall struct {
	FactIDs []alcove.ID `alcove:"name=factIds,required,max=1000"`
	Query   string      `alcove:"required"`
}

// Recorded is a recorded recall.
//
//alcove:camel
type Recorded struct {
	RecallID     string
	TrackedFacts int
}

// Call records it.
func (in RecordRecall) Call(c *alcove.Call) (out Recorded, err error) {
	r := Recall{Query: in.Query, Agent: c.Caller}
	for _, ids := range byNamespace(c, in.FactIDs) {
		r.FactIDs = append(r.FactIDs, ids...)
	}
	out = Recorded{c.NewID(prefixRecall), len(r.FactIDs)}
	if err := recalls.Put(c, out.RecallID, r); err != nil {
		return out, err
	}
	return out, announce(c, "recall_recorded", map[string]any{"recallId": out.RecallID, "facts": out.TrackedFacts})
}

// announce emits an event of the call's scope.
func announce(c *alcove.Call, kind string, changes map[string]any) error {
	payload := map[string]any{"agentId": c.Caller, "scopeId": c.Namespace, "changes": changes}
	if id, ok := changes["factId"]; ok {
		payload["factId"] = id
	}
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Payload: alcove.JSON(payload)})
}
