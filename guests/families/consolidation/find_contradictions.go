package consolidation

import alcove "github.com/alcove-memory/alcove/sdk/go"

// FindContradictions lists pairs of memories that contradict each other. kind is negated (one says that it is so, the other that it is
// not), opposite, or other value: the same has another number, date, name or value. Nothing changes.
//
//alcove:description List pairs of memories that cannot both be true.
//alcove:title Find contradictions
//alcove:tool read-only
type FindContradictions struct{ find }

type contradictions struct {
	Read           int
	Total          int
	Contradictions []contradiction
}

// Call finds them.
func (in FindContradictions) Call(c *alcove.Call, cfg Config) (contradictions, error) {
	r, err := in.part(c, cfg, partContradicts)
	if err != nil {
		return contradictions{}, err
	}
	return contradictions{r.Read, r.Totals.Contradictions, r.Contradictions[:min(len(r.Contradictions), in.K)]}, nil
}
