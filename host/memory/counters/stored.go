package counters

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
)

// stored is how a branch keeps the counters of a memory: what was counted here, and what other spaces counted.
type stored struct {
	Record
	Incarnation int               `json:"i,omitempty"` // of the space, which counted Record on the branch whose counters are exchanged
	Others      map[string]Record `json:"o,omitempty"` // by replica
}

// mostReplicas is how many replicas the counters of a memory are kept of: those that counted last.
const mostReplicas = 256

func decodeStored(value []byte) (s stored, err error) {
	if value == nil {
		return s, nil
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return s, fmt.Errorf("decode counters: %w", err)
	}
	return s, nil
}

func (s stored) encode() ([]byte, error) { return json.Marshal(s) }

// total is what was counted in all spaces. They add it up in one order, so that all have the same sum.
func (s stored) total() Record {
	if len(s.Others) == 0 {
		return s.counted()
	}
	all := append(slices.Collect(maps.Values(s.Others)), s.Record)
	slices.SortFunc(all, Record.compare)
	var sum Record
	for _, r := range all {
		r = r.counted()
		sum = Record{sum.Accesses + r.Accesses, max(sum.Last, r.Last), sum.Health + r.Health}
	}
	return Record{}.Plus(sum)
}

// counted is the record without the time of what was taken back.
func (r Record) counted() Record {
	if r.Accesses == 0 && r.Health == 0 {
		return Record{}
	}
	return r
}

// compare orders the states of one replica: it counts on from the greater one.
func (r Record) compare(o Record) int {
	return cmp.Or(cmp.Compare(r.Last, o.Last), cmp.Compare(r.Accesses, o.Accesses), cmp.Compare(r.Health, o.Health))
}

// forgotten takes all back that was counted so far.
func (s stored) forgotten() stored {
	others := make(map[string]Record, len(s.Others))
	for replica, r := range s.Others {
		others[replica] = r.forgotten()
	}
	return stored{s.Record.forgotten(), s.Incarnation, others}
}

func (r Record) forgotten() Record {
	if r.Accesses == 0 && r.Health == 0 {
		return r
	}
	return Record{Last: r.Last + 1}
}

// stored decodes counters that are about to be written. What an earlier incarnation of the space counted, its other copies know by its name.
func (c *Counting) stored(b *lineage.Branch, value []byte) (stored, error) {
	s, err := decodeStored(value)
	names := c.replicas()
	if err != nil || b.Name != c.o.First || s.Incarnation == len(names)-1 || len(names) == 0 {
		return s, err
	}
	now := stored{Incarnation: len(names) - 1, Others: maps.Clone(s.Others)}
	if s.Record != (Record{}) && s.Incarnation >= 0 && s.Incarnation < len(names) {
		now.join(names[s.Incarnation], s.Record)
	}
	return now, nil
}

// join takes what a replica has counted, and reports whether that was news.
func (s *stored) join(replica string, r Record) bool {
	if had, ok := s.Others[replica]; ok && r.compare(had) <= 0 {
		return false
	}
	if s.Others == nil {
		s.Others = map[string]Record{}
	}
	s.Others[replica] = r
	if len(s.Others) <= mostReplicas {
		return true
	}
	oldest := replica
	for name, o := range s.Others {
		if cmp.Or(o.compare(s.Others[oldest]), cmp.Compare(name, oldest)) < 0 {
			oldest = name
		}
	}
	delete(s.Others, oldest)
	return oldest != replica
}

func (c *Counting) replicas() []string {
	if c.o.Replicas == nil {
		return nil
	}
	return c.o.Replicas()
}
