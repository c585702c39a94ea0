package retrieval

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// signals are the ratings of facts, and reports of failures.
var signals = alcove.Records[Signal]{Name: "signal", Per: "branch", Expires: "365d", Sync: "newest"}

// prefixSignal is that of the ids of signals.
const prefixSignal = "sig:"

// Signal is a rating, or a report.
//
//alcove:camel
type Signal struct {
	FactID     alcove.ID
	Agent      string
	SignalType string
	Value      float64
	Comment    string
	Context    string
	alcove.Lifecycle
}

// RecordSignal rates a fact, or reports a failure. A rating is 1 to 10, a sentiment -1 to 1, usefulness and correctness 0 to 1; a failure
// has any value, and is the worst rating. Without a fact the signal is kept, and rates nothing. outcome is that of the fact from then on.
//
//alcove:description Rate a fact or report failure.
//alcove:title Record a signal
//alcove:camel
type RecordSignal struct {
	SignalType string  `alcove:"required,enum=rating|sentiment|usefulness|correctness|failure"`
	Value      float64 `alcove:"required"`
	FactID     alcove.ID
	Comment    string
	Context    string
}

// Signalled is a recorded signal, and the outcome of the fact.
//
//alcove:camel
type Signalled struct {
	SignalID string
	Outcome  alcove.Optional[float64] // Of 0 to 1.
}

// Call records it, and rates the fact.
func (in RecordSignal) Call(c *alcove.Call, cfg Config) (out Signalled, err error) {
	v, err := in.rating()
	if err != nil {
		return out, err
	}
	s := Signal{Agent: c.Caller, SignalType: in.SignalType, Value: in.Value, Comment: in.Comment, Context: in.Context}
	changes := map[string]any{"signalType": in.SignalType, "value": in.Value}
	if !in.FactID.IsZero() {
		m, err := c.Memory(in.FactID)
		if err != nil {
			return out, err
		}
		s.FactID = m.ID()
		outcomes, err := fact.Rate(c, map[alcove.ID]float64{s.FactID: v}, cfg.OutcomeAlpha)
		if err != nil {
			return out, err
		}
		out.Outcome = alcove.Some(outcomes[s.FactID])
		changes["factId"], changes["outcome"] = s.FactID.String(), outcomes[s.FactID]
	}
	out.SignalID = c.NewID(prefixSignal)
	changes["signalId"] = out.SignalID
	if err := signals.Put(c, out.SignalID, s); err != nil {
		return out, err
	}
	return out, announce(c, "signal_recorded", changes)
}

// rating is the signal as the value of feedback, from 0 to 1.
func (in RecordSignal) rating() (float64, error) {
	low, high, value := 0., 1., in.Value
	switch in.SignalType {
	case "failure":
		return 0, nil
	case "rating":
		low, high, value = 1, 10, score.Rating(in.Value)
	case "sentiment":
		low, high, value = -1, 1, score.Sentiment(in.Value)
	}
	if in.Value >= low && in.Value <= high {
		return value, nil
	}
	return 0, alcove.Errorf(alcove.InvalidArgument, "the value of a %s is from %g to %g, not %g", in.SignalType, low, high, in.Value)
}
