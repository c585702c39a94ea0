package sessions

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// SessionStart begins a session.
//
// The answer has the pinned steering rules and the most important others, the newest memories, the standards of the namespace, and the handoffs that wait for the caller. unclean says that the
// caller's last checkpoint was never followed by a close: memory_wake goes on from it.
//
//alcove:camel
//alcove:title Begin a session
//alcove:description Begin work: recent memories, standards, waiting handoffs.
type SessionStart struct {
	ContextSummary string    // What the work is about.
	ParentSession  alcove.ID // A session that this one goes on with.
	Limit          int       `alcove:"default=10,min=1,max=50"`
}

//alcove:camel
type started struct {
	SessionID    alcove.ID
	Rules        []shown `json:"rules,omitzero"`
	Memories     []shown
	Standards    []alcove.Raw
	Handoffs     []waiting
	Unclean      bool
	CheckpointID alcove.ID `json:"checkpointId,omitzero"` // The last one, if unclean.
}

// shown is a memory in a listing.
//
//alcove:camel
type shown struct {
	FactID     alcove.ID
	Content    string
	Type       string `json:"type,omitzero"`
	Importance float64
	Timestamp  string
}

// mostShown is how much of a recent memory is shown, in bytes.
const mostShown = 1000

// shownHandoffs is how many handoffs the start of a session shows.
const shownHandoffs = 5

// Call begins it.
func (in SessionStart) Call(c *alcove.Call, cfg Config) (out started, err error) {
	who, err := c.CallerGet()
	if err != nil {
		return out, err
	}
	s := session{Host: who.Session, Context: in.ContextSummary}
	if !in.ParentSession.IsZero() {
		s.Parent = at(c, in.ParentSession).String()
	}
	list, err := c.MemoryList(alcove.MemoryListRequest{Filter: facts(nil), Order: "newest", Limit: in.Limit})
	if err != nil {
		return out, err
	}
	rules, err := rulesOf(c, false)
	if err != nil {
		return out, err
	}
	out.Rules, out.Memories = shownOf(cfg, rules), shownOf(cfg, without(list.Memories, rules))
	if out.Handoffs, _, err = handoffsFor(c, c.Caller, shownHandoffs); err != nil {
		return out, err
	}
	key, last, err := lastCheckpoint(c)
	if err != nil {
		return out, err
	}
	if key != "" {
		if out.Unclean, err = unclean(c, &last); err != nil {
			return out, err
		}
	}
	if out.Unclean {
		out.CheckpointID = c.ID(key)
	}
	out.Standards = standards(c)
	out.SessionID, err = begin(c, cfg, s)
	return out, err
}

// shownOf are memories as a listing has them.
func shownOf(cfg Config, memories []alcove.Memory) (list []shown) {
	for i := range memories {
		m := &memories[i]
		list = append(list, shown{m.ID(), words.Cut(m.Text(), mostShown), m.Type, importance(cfg, m), m.Timestamp})
	}
	return list
}

// without are the memories that are not among others.
func without(memories, others []alcove.Memory) []alcove.Memory {
	return slices.DeleteFunc(memories, func(m alcove.Memory) bool {
		return slices.ContainsFunc(others, func(o alcove.Memory) bool { return o.ID() == m.ID() })
	})
}

// Of the rules of a namespace those that are pinned always come, and others as far as there is room.
const (
	steering   = "steering_rule"
	mostPinned = 50
	mostRules  = 20
)

// rulesOf are the steering rules of the namespace: those that are pinned, and unless these are asked for alone the most important others.
func rulesOf(c *alcove.Call, pinned bool) (list []alcove.Memory, err error) {
	filter := facts([]string{steering})
	filter.Fields = append(filter.Fields, alcove.FieldTest{Field: "metadata." + fact.Pinned, Equals: alcove.Raw("true")})
	first, err := c.MemoryList(alcove.MemoryListRequest{Filter: filter, Order: "newest", Limit: mostPinned})
	if list = first.Memories; pinned || err != nil {
		return list, err
	}
	others, err := c.MemoryList(alcove.MemoryListRequest{Filter: facts([]string{steering}), Order: "importance", Limit: mostRules})
	more := without(others.Memories, list)
	return append(list, more[:min(len(more), max(mostRules-len(list), 0))]...), err
}

// turned is the metadata that a turn of a conversation has, and a fact has not.
const turned = "session"

// facts is the condition on memories that are active and no turns of conversations; of some types, or of all.
func facts(types []string) *alcove.MemoryFilter {
	return &alcove.MemoryFilter{Types: types, States: []string{"active"}, Fields: []alcove.FieldTest{{Field: "metadata." + turned, Exists: new(bool)}}}
}

// importance is that of a memory, or of its type.
func importance(cfg Config, m *alcove.Memory) float64 {
	if m.Importance != nil {
		return *m.Importance
	}
	return cfg.Importance.Of(m.Type)
}

//alcove:json
type standing struct{ Standards []alcove.Raw }

// standards are the rules of the namespace, where the family governance is there.
func standards(c *alcove.Call) []alcove.Raw {
	answer, err := c.ToolsCall(alcove.ToolsCallRequest{Tool: "memory_namespace_get_standard", Arguments: alcove.JSON(map[string]any{"namespace": c.Namespace, "inherit": true})})
	var s standing
	if err == nil {
		err = scan.Decode(answer.Result, &s)
	}
	if err != nil && alcove.CodeOf(err) != alcove.NotFound && alcove.CodeOf(err) != alcove.Denied {
		c.Log("the standards of %s are not shown: %v", c.Namespace, err)
	}
	return s.Standards
}
