package retrieval

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// BumpAccess counts facts as used now. Facts that do not exist are passed over; no version is written.
//
//alcove:description Count these facts as used now.
//alcove:title Count use
//alcove:camel
type BumpAccess struct {
	FactIDs []alcove.ID `alcove:"name=factIds,required,max=1000,alias=factId|id|ids"`
}

// Bumped is how many facts were counted.
type Bumped struct{ Updated int }

// Call counts them.
func (in BumpAccess) Call(c *alcove.Call) (out Bumped, err error) {
	for _, ids := range byNamespace(c, in.FactIDs) {
		touched, err := c.MemoryTouch(alcove.MemoryTouchRequest{Namespace: ids[0].Namespace, Keys: keysOf(ids)})
		if err != nil {
			return out, err
		}
		out.Updated += touched.Touched
	}
	return out, nil
}

// byNamespace are ids without repetitions, by their namespaces, which are in the order in which they first come.
func byNamespace(c *alcove.Call, ids []alcove.ID) (groups [][]alcove.ID) {
	for _, id := range ids {
		id = within(c, id)
		i := slices.IndexFunc(groups, func(g []alcove.ID) bool { return g[0].Namespace == id.Namespace })
		switch {
		case i < 0:
			groups = append(groups, []alcove.ID{id})
		case !slices.Contains(groups[i], id):
			groups[i] = append(groups[i], id)
		}
	}
	return groups
}

// within is an id with its namespace, which is the call's unless it names one.
func within(c *alcove.Call, id alcove.ID) alcove.ID {
	if id.Namespace == "" {
		id.Namespace = c.Namespace
	}
	return id
}

func keysOf(ids []alcove.ID) []string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = id.Key
	}
	return keys
}
