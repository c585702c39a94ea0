package lifecycle

import (
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// young are the days in which nothing is forgotten that nothing supersedes, and in which nothing is that was restored.
const young = 30

// judge tells what speaks for forgetting a memory.
type judge struct {
	cfg        Config
	now        alcove.Time
	superseded map[alcove.ID]bool
	waiting    map[string]bool // keys of memories whose change is proposed already
}

// newJudge gathers what the active memories of a namespace supersede.
func newJudge(c *alcove.Call, cfg Config, namespace string) (*judge, error) {
	j := &judge{cfg: cfg, now: c.Time(), superseded: map[alcove.ID]bool{}}
	filter := &alcove.MemoryFilter{States: []string{active}, Fields: []alcove.FieldTest{{Field: "supersedes"}}}
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: namespace, Filter: filter, Limit: page}) {
		if err != nil {
			return nil, err
		}
		for _, key := range m.Supersedes {
			j.superseded[alcove.ID{Namespace: m.Namespace, Key: key}] = true
			if id := alcove.ParseID(key); id.Namespace != "" {
				j.superseded[id] = true
			}
		}
	}
	return j, nil
}

// The states of memories.
const (
	active   = "active"
	archived = "archived"
	merged   = "merged"
	pruned   = "pruned"
)

// page is how many memories are read at once.
const page = 500

// verdict is what speaks for forgetting a memory.
type verdict struct {
	score.Forgotten
	Score float64
	Idle  float64 // days without use
	Kept  bool    // it is not to be forgotten, whatever its score
}

// of judges a memory, which was listed with its counters and the time of its creation.
func (j *judge) of(m *alcove.Memory) verdict {
	created := instant(m.Created)
	v := verdict{Forgotten: score.Forgotten{
		Superseded: j.superseded[m.ID()], Contradicted: contradicted(m), Days: days(j.now, created), Importance: j.importance(m),
	}}
	used := max(created, instant(note(m).RestoredAt))
	if m.Counters != nil {
		v.Accesses = int64(m.Counters.Accesses)
		used = max(used, instant(m.Counters.LastAccess))
	}
	v.Idle = days(j.now, used)
	v.Relevance = score.Relevance(j.cfg.rate(m.Type), v.Idle, number(m, "emotionalWeight"))
	v.Score = v.Forgotten.Score(score.Weights(j.cfg.Weights))
	v.Kept = kept(m) || v.Days < young && !v.Superseded || days(j.now, instant(note(m).RestoredAt)) < young && note(m).RestoredAt != ""
	return v
}

// forgotten reports whether a memory is to be archived.
func (j *judge) forgotten(v verdict) bool { return !v.Kept && v.Score > j.cfg.ForgetThreshold }

func (j *judge) importance(m *alcove.Memory) float64 {
	if m.Importance != nil {
		return *m.Importance
	}
	return j.cfg.Importance.Of(m.Type)
}

// kept reports whether a memory is one that is never forgotten: pinned, a rule, or a turn of a conversation.
func kept(m *alcove.Memory) bool {
	_, turn := m.Metadata["session"]
	return pinned(m) || m.Type == "steering_rule" || turn
}

func pinned(m *alcove.Memory) bool { return string(m.Metadata["pinned"]) == "true" }

// contradicted reports whether the memory names others that contradict it.
func contradicted(m *alcove.Memory) bool {
	raw := m.Metadata["contradicts"]
	if len(raw) == 0 || string(raw) == "null" {
		return false
	}
	s := scan.New(raw)
	n := 0
	for range s.Many() {
		s.Skip()
		n++
	}
	return s.End() != nil || n > 0
}

// number is a number in the metadata; 0 where there is none.
func number(m *alcove.Memory, name string) float64 {
	raw := m.Metadata[name]
	if len(raw) == 0 {
		return 0
	}
	s := scan.New(raw)
	v := s.Number()
	if s.End() != nil {
		return 0
	}
	return v
}

func instant(text string) alcove.Time {
	t, err := alcove.ParseTime(text)
	if err != nil {
		return 0
	}
	return t
}

func days(now, then alcove.Time) float64 { return max(now.Sub(then).Days(), 0) }

// The reasons of a score.
const (
	reasonSuperseded   = "superseded"
	reasonUnread       = "unread"
	reasonUnimportant  = "unimportant"
	reasonContradicted = "contradicted"
	reasonDecayed      = "decayed"
)

// reasons names what adds to the score. Decayed is what is less relevant than half.
func (v *verdict) reasons() (list []string) {
	for _, r := range []struct {
		name string
		is   bool
	}{
		{reasonSuperseded, v.Superseded}, {reasonUnread, v.Unread()}, {reasonUnimportant, v.Unimportant()}, {reasonContradicted, v.Contradicted},
		{reasonDecayed, v.Relevance < .5},
	} {
		if r.is {
			list = append(list, r.name)
		}
	}
	return list
}
