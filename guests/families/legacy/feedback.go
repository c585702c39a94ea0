package legacy

import (
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// RecordFeedback records which recalled facts were used. Decisions and insights that were used gain an importance of .05, unused ones lose it,
// when a recall is judged for the first time.
//
//alcove:description Deprecated: use memory_record_recall_usage and memory_record_signal.
//alcove:tool
//alcove:title Record feedback
//alcove:camel
type RecordFeedback struct {
	RecallID      string      `alcove:"required"`
	UsedFactIDs   []alcove.ID `alcove:"name=usedFactIds,required,max=1000"`
	UnusedFactIDs []alcove.ID `alcove:"name=unusedFactIds,max=1000"`
}

// Recorded is recorded feedback.
//
//alcove:camel
type Recorded struct {
	Updated int
	notice
}

// usage is what memory_record_recall_usage answers.
//
//alcove:json
type usage struct{ Updated int }

// importanceStep is how much one judgement moves the importance of a decision or insight.
const importanceStep = .05

// Call records it.
func (in RecordFeedback) Call(c *alcove.Call) (out Recorded, err error) {
	out.notice = replacedBySuccessors("memory_record_feedback")
	var u usage
	arguments := given{"recallId": in.RecallID, "usedFactIds": []any{}}.texts("usedFactIds", asText(in.UsedFactIDs)).texts("unusedFactIds", asText(in.UnusedFactIDs))
	if err := c.CallTool("memory_record_recall_usage", map[string]any(arguments), &u); err != nil {
		return out, err
	}
	if out.Updated = u.Updated; u.Updated == 0 { // it was judged before
		return out, nil
	}
	if err := in.signal(c); err != nil {
		return out, err
	}
	for _, id := range in.UsedFactIDs {
		if err := move(c, id, importanceStep); err != nil {
			return out, err
		}
	}
	for _, id := range in.UnusedFactIDs {
		if err := move(c, id, -importanceStep); err != nil {
			return out, err
		}
	}
	return out, nil
}

// signal records how useful the recall was as a whole: the rating of each fact is in its usage.
func (in RecordFeedback) signal(c *alcove.Call) error {
	share := float64(len(in.UsedFactIDs)) / float64(len(in.UsedFactIDs)+len(in.UnusedFactIDs))
	return c.CallTool("memory_record_signal", map[string]any{"signalType": "usefulness", "value": share, "context": "recall:" + in.RecallID}, nil)
}

// move changes the importance of a decision or insight.
func move(c *alcove.Call, id alcove.ID, by float64) error {
	got, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: []string{id.Key}, Namespace: id.Namespace})
	if err != nil {
		return err
	}
	m := got.Memories[0]
	if m == nil || m.Importance == nil || m.Type != "decision" && m.Type != "insight" {
		return nil
	}
	moved := score.Rounded(min(max(*m.Importance+by, 0), 1))
	return c.CallTool("memory_update", map[string]any{"id": m.ID().String(), "importance": moved}, nil)
}
