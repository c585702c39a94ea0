package consolidation

import alcove "github.com/alcove-memory/alcove/sdk/go"

// FindDuplicates lists memories that say the same. Nothing changes. keep is the memory that says most, of those the most important, most
// used, newest.
//
//alcove:description Notes that are there twice: memories that say the same, and which one to keep.
//alcove:title Find duplicates
//alcove:tool read-only
type FindDuplicates struct{ find }

type duplicates struct {
	Read   int
	Total  int
	Groups []mergedGroup
}

// Call finds them.
func (in FindDuplicates) Call(c *alcove.Call, cfg Config) (duplicates, error) {
	r, err := in.part(c, cfg, partDuplicates)
	if err != nil {
		return duplicates{}, err
	}
	return duplicates{r.Read, r.Totals.Groups, r.Merged[:min(len(r.Merged), in.K)]}, nil
}
