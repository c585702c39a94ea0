package sessions

import (
	"slices"
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// checkpoints are moments that work can be resumed from.
var checkpoints = alcove.Records[checkpoint]{Name: "checkpoint", Indexes: [][]string{{"agentId", "at"}, {"at"}}}

// checkpoint is a version of a branch, and the facts that mattered then.
//
//alcove:camel
type checkpoint struct {
	AgentID   string
	SessionID string // the key of its session
	Name      string `json:"name,omitzero"`
	Summary   string `json:"summary,omitzero"`
	Topic     string `json:"topic,omitzero"`
	Version   uint64
	Branch    string
	Facts     []keptFact
	At        alcove.Time
}

// keptFact is a fact, and the version of it that the checkpoint has.
//
//alcove:camel
type keptFact struct {
	Key     string
	Version uint64
}

// mostKept is how many facts a checkpoint has.
const mostKept = 100

// SaveCheckpoint marks a moment to resume from.
//
// It keeps a version of the memory and which facts mattered: those that a search for the topic finds, or else the most important ones. It
// belongs to the caller's open session; one begins where there is none.
//
//alcove:camel
//alcove:title Save a checkpoint
//alcove:description Mark this moment so you can resume from it.
type SaveCheckpoint struct {
	Name    string
	Summary string
	Topic   string // What the facts to keep are about.
}

//alcove:camel
type saved struct {
	CheckpointID alcove.ID
	SessionID    alcove.ID
	Version      uint64 // As as_of, v and this number.
	Branch       string
	FactCount    int
}

// Call saves it.
func (in SaveCheckpoint) Call(c *alcove.Call, cfg Config) (out saved, err error) {
	now, err := c.VersionAt(alcove.VersionAtRequest{AsOf: "now"})
	if err != nil {
		return out, err
	}
	k := checkpoint{AgentID: c.Caller, Name: in.Name, Summary: in.Summary, Topic: in.Topic, Version: now.Version, Branch: c.Branch, At: c.Time()}
	found, err := k.find(c, cfg)
	if err != nil {
		return out, err
	}
	for _, f := range found {
		k.Facts = append(k.Facts, keptFact{f.key, f.version})
	}
	if k.SessionID, err = touch(c, cfg); err != nil {
		return out, err
	}
	out = saved{c.ID(c.NewID(prefixCheckpoint)), c.ID(k.SessionID), k.Version, k.Branch, len(k.Facts)}
	if err := checkpoints.Put(c, out.CheckpointID.Key, k); err != nil {
		return out, err
	}
	return out, emit(c, "checkpoint_saved", changes{CheckpointID: out.CheckpointID, SessionID: out.SessionID})
}

// asOf is a version as requests take it.
func asOf(version uint64) string { return "v" + strconv.FormatUint(version, 10) }

// find finds the facts that matter at the checkpoint's version.
func (k *checkpoint) find(c *alcove.Call, cfg Config) (list []candidate, err error) {
	memories, err := k.matching(c, cfg)
	if err != nil {
		return nil, err
	}
	for i := range memories {
		f := judged(cfg, &memories[i])
		if f.tier != background && !slices.ContainsFunc(list, func(g candidate) bool { return g.key == f.key }) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, candidate.compare)
	return list[:min(len(list), mostKept)], nil
}

// judged is a memory as a candidate.
func judged(cfg Config, m *alcove.Memory) candidate {
	v := importance(cfg, m)
	return candidate{tierOf(m.Type, v), v, m.Version, m.Key}
}

// matching lists the facts about the topic; without one, those that may have a tier.
func (k *checkpoint) matching(c *alcove.Call, cfg Config) (list []alcove.Memory, err error) {
	if k.Topic != "" {
		found, err := c.MemorySearch(alcove.MemorySearchRequest{Query: k.Topic, K: mostHits, AsOf: asOf(k.Version)})
		for i := range found.Hits {
			if m := found.Hits[i].Memory; len(m.Metadata[turned]) == 0 {
				list = append(list, m)
			}
		}
		return list, err
	}
	important, typed, unset := facts(nil), facts([]string{"decision", "steering_rule"}), facts(nil)
	important.MinImportance = new(potentialFrom)
	unset.Fields = append(unset.Fields, alcove.FieldTest{Field: "importance", Exists: new(bool)})
	for _, r := range []alcove.MemoryListRequest{{Filter: important, Order: "importance"}, {Filter: typed, Order: "importance"}, {Filter: unset, Order: "updated"}} {
		r.Limit, r.AsOf = mostKept, asOf(k.Version)
		page, err := c.MemoryList(r)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Memories...)
	}
	return list, nil
}

// lastCheckpoint returns the caller's newest checkpoint; the key is empty when there is none.
func lastCheckpoint(c *alcove.Call) (key string, k checkpoint, err error) {
	list, err := c.RecordList(alcove.RecordListRequest{Collection: checkpoints.Name, Filters: []alcove.RecordFilter{equal("agentId", c.Caller)}, Order: "at", Descending: true, Limit: 1})
	if err != nil || len(list.Records) == 0 {
		return "", k, err
	}
	item, err := checkpoints.Item(&list.Records[0])
	return item.Key, item.Value, err
}

// unclean reports whether the session of a checkpoint was never closed.
func unclean(c *alcove.Call, k *checkpoint) (bool, error) {
	s, ok, err := sessions.Get(c, k.SessionID)
	return !ok || s.Status != closed, err
}
