package retrieval

import alcove "github.com/alcove-memory/alcove/sdk/go"

// DeleteSignal deletes a signal. It is archived, or with hard deleted; its history stays, and so does what it did to the fact.
//
//alcove:description Delete one signal.
//alcove:tool destructive
//alcove:title Delete a signal
//alcove:camel
type DeleteSignal struct {
	SignalID alcove.ID `alcove:"required"`
	Hard     bool
}

// Call deletes it.
func (in DeleteSignal) Call(c *alcove.Call) (alcove.Removed, error) {
	return signals.In(in.SignalID.Namespace).Remove(c, in.SignalID.Key, alcove.Removal(in.Hard))
}
