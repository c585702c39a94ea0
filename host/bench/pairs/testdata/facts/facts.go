// Package facts keeps typed facts.
//
// A fact is a memory with a type, from which its importance follows. Package pairs measures what a family's tool takes beside the
// core tool that does the same.
//
//alcove:family kept-facts 1.0.0
//alcove:needs memory.write * to store the facts that it is given
package facts

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

type Config struct {
	Weights map[string]float64 `alcove:"key=importance_weight_*,min=0,max=1,default=decision:0.8 error:0.7 observation:0.5"` // Importance of facts of type *
}

// StoreFact stores one idea as a typed fact.
//
//alcove:tool memory_keep_fact
type StoreFact struct {
	Key        string    `alcove:"required,min=1,max=200"`
	Content    string    `alcove:"required,min=1,max=8192"`
	FactType   string    `alcove:"default=observation,enum=decision|error|observation"`
	Tags       []string  `alcove:"many,max=16"`
	Supersedes alcove.ID // A fact that it replaces.
}

type Stored struct {
	FactID     alcove.ID
	Importance float64
}

func (in StoreFact) Call(c *alcove.Call, cfg Config) (out Stored, err error) {
	out.Importance = cfg.Weights[in.FactType]
	out.FactID, err = c.Store(in.Content).Key(in.Key).Type(in.FactType).Tags(in.Tags...).
		Importance(out.Importance).Supersedes(in.Supersedes).Put()
	return out, err
}

func Family() *alcove.Family { return alcove.New(StoreFact{}) }
