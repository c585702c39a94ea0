// Package retire says which memories are to be forgotten: by how they decay, how important they are and how they are used.
package retire

import "math"

// Policy is by what memories are judged. Ages are in days.
type Policy struct {
	ForgetThreshold float64 // memories whose score is above it are archived
	PruneAge        float64 // memories that are older, and neither important nor used, are pruned
	PruneImportance float64
	PruneAccesses   int64
	Importance      map[string]float64 // by type, of memories that have none
	Decay           map[string]float64 // by type: what is left after a day without use
}

// other is the type whose numbers stand for those of types that the policy does not know.
const other = "observation"

// Memory is what is known of a memory.
type Memory struct {
	Type       string
	Importance *float64
	Age        float64 // days since it was written
	Idle       float64 // days since it was recalled; negative: never
	Accesses   int64
	Health     float64 // -1 to 1
}

// Fate is what becomes of a memory.
type Fate string

const (
	Kept     Fate = ""
	Archived Fate = "archived"
	Pruned   Fate = "pruned"
)

// Judge says what becomes of a memory, and its score of being forgotten.
func (p Policy) Judge(m Memory) (Fate, float64) {
	score := p.Score(m)
	switch {
	case m.Age > p.PruneAge && p.importance(m) <= p.PruneImportance && m.Accesses <= p.PruneAccesses:
		return Pruned, score
	case score > p.ForgetThreshold:
		return Archived, score
	}
	return Kept, score
}

// Score is how much a memory is forgotten, 0 to 1: the share that decayed since it was last used, less for what is
// important, used often, or found useful.
func (p Policy) Score(m Memory) float64 {
	days := m.Age
	if m.Idle >= 0 {
		days = min(days, m.Idle)
	}
	decayed := 1 - math.Pow(p.of(p.Decay, m.Type), max(days, 0))
	used := 1 - 1/(1+float64(m.Accesses)/5)
	score := decayed * (1 - .5*p.importance(m)) * (1 - .4*used) * (1 - .3*m.Health)
	return min(max(score, 0), 1)
}

func (p Policy) importance(m Memory) float64 {
	if m.Importance != nil {
		return *m.Importance
	}
	return p.of(p.Importance, m.Type)
}

func (p Policy) of(list map[string]float64, kind string) float64 {
	if v, ok := list[kind]; ok {
		return v
	}
	return list[other]
}
