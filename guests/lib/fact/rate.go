package fact

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// together is how many memories are read at once.
const together = 50

// Rate counts feedback in the health of memories: each moves to its value, from 0 to 1, by the share alpha. Memories that do not exist are
// passed over. It returns the outcomes, from 0 to 1, of those that do.
func Rate(c *alcove.Call, values map[alcove.ID]float64, alpha float64) (outcomes map[alcove.ID]float64, err error) {
	outcomes = map[alcove.ID]float64{}
	for _, namespace := range namespaces(values) {
		for keys := range slices.Chunk(keysIn(values, namespace), together) {
			if err := rate(c, namespace, keys, values, alpha, outcomes); err != nil {
				return nil, err
			}
		}
	}
	return outcomes, nil
}

// rate counts the feedback about some memories of a namespace, and adds their outcomes.
func rate(c *alcove.Call, namespace string, keys []string, values map[alcove.ID]float64, alpha float64, outcomes map[alcove.ID]float64) error {
	found, err := c.MemoryGet(alcove.MemoryGetRequest{Namespace: namespace, Keys: keys, Counters: true})
	if err != nil {
		return err
	}
	same := map[float64][]string{} // keys by what is added to their health
	for i, m := range found.Memories {
		if m == nil {
			continue
		}
		id, health := alcove.ID{Namespace: namespace, Key: keys[i]}, Health(m)
		by := score.Feedback(alpha, values[id], health)
		outcomes[id] = score.Outcome(health + by)
		if by != 0 {
			same[by] = append(same[by], keys[i])
		}
	}
	for by, keys := range same {
		if _, err := c.MemoryTouch(alcove.MemoryTouchRequest{Namespace: namespace, Keys: keys, Health: by}); err != nil {
			return err
		}
	}
	return nil
}

// Health is what feedback says of a memory, from -1 to 1, if it came with its counters.
func Health(m *alcove.Memory) float64 {
	if m.Counters == nil {
		return 0
	}
	return m.Counters.Health
}

func namespaces(values map[alcove.ID]float64) (list []string) {
	for id := range values {
		if !slices.Contains(list, id.Namespace) {
			list = append(list, id.Namespace)
		}
	}
	slices.Sort(list)
	return list
}

func keysIn(values map[alcove.ID]float64, namespace string) (keys []string) {
	for id := range values {
		if id.Namespace == namespace {
			keys = append(keys, id.Key)
		}
	}
	slices.Sort(keys)
	return keys
}
