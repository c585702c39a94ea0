package retrieval

import alcove "github.com/alcove-memory/alcove/sdk/go"

// DeleteRecallFeedback deletes what was recorded of a recall. It is archived, or with hard deleted; its history stays, and so does what it did
// to facts.
//
//alcove:description Delete one recall's feedback.
//alcove:tool destructive
//alcove:title Delete a recall
//alcove:camel
type DeleteRecallFeedback struct {
	RecallID alcove.ID `alcove:"required"`
	Hard     bool
}

// Call deletes it.
func (in DeleteRecallFeedback) Call(c *alcove.Call) (alcove.Removed, error) {
	return recalls.In(in.RecallID.Namespace).Remove(c, in.RecallID.Key, alcove.Removal(in.Hard))
}
