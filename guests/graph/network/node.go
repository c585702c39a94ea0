package network

import (
	"github.com/alcove-memory/alcove/guests/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// node is a memory or an entity that there is.
type node struct {
	ID    alcove.ID
	Kind  string // memory or entity
	Label string // the beginning of what it says, or its name
	Text  string // what a memory says
	State string // of a memory that is not active
}

const (
	kindMemory = "memory"
	kindEntity = "entity"
	kindTheme  = "theme"
)

// How much of a memory is read, and how much of it a label shows, in bytes.
const (
	mostText  = 8 << 10
	mostLabel = 120
)

// resolve is the node that a parameter names: a memory, an entity, or an entity by one of its names.
func resolve(c *alcove.Call, id alcove.ID) (*node, error) {
	m, err := c.Find(id)
	if err != nil && !outOfReach(err) {
		return nil, err
	}
	if m != nil {
		return nodeOf(m), nil
	}
	e, at, err := findEntity(c, id)
	if e == nil || err != nil {
		return nil, err
	}
	return &node{ID: at, Kind: kindEntity, Label: e.Name}, nil
}

// mustResolve is resolve that fails when there is no such node.
func mustResolve(c *alcove.Call, id alcove.ID) (*node, error) {
	n, err := resolve(c, id)
	if n == nil && err == nil {
		err = alcove.Errorf(alcove.NotFound, "there is no memory and no entity %q", id.String())
	}
	return n, err
}

func nodeOf(m *alcove.Memory) *node {
	text := words.Text(m.Value, mostText)
	n := &node{ID: m.ID(), Kind: kindMemory, Label: words.Cut(text, mostLabel), Text: text}
	if m.State != "active" {
		n.State = m.State
	}
	return n
}

// outOfReach reports whether an error says that the call may not see something.
func outOfReach(err error) bool { return alcove.CodeOf(err) == alcove.Denied }

// existing are those of some nodes that there are and that the call may see. They are read together, namespace by namespace.
func existing(c *alcove.Call, ids []alcove.ID) (map[alcove.ID]*node, error) {
	found := make(map[alcove.ID]*node, len(ids))
	byNamespace := map[string][]string{}
	var namespaces []string
	for _, id := range ids {
		if byNamespace[id.Namespace] == nil {
			namespaces = append(namespaces, id.Namespace)
		}
		byNamespace[id.Namespace] = append(byNamespace[id.Namespace], id.Key)
	}
	for _, namespace := range namespaces {
		missing, err := memoriesOf(c, namespace, byNamespace[namespace], found)
		if err != nil {
			return nil, err
		}
		if err := entitiesOf(c, namespace, missing, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func memoriesOf(c *alcove.Call, namespace string, keys []string, found map[alcove.ID]*node) (missing []string, err error) {
	memories, err := c.GetMemories(namespace, keys)
	if outOfReach(err) {
		return keys, nil
	}
	if err != nil {
		return nil, err
	}
	for i, m := range memories {
		if m == nil {
			missing = append(missing, keys[i])
			continue
		}
		found[alcove.ID{Namespace: namespace, Key: keys[i]}] = nodeOf(m)
	}
	return missing, nil
}

func entitiesOf(c *alcove.Call, namespace string, keys []string, found map[alcove.ID]*node) error {
	if len(keys) == 0 {
		return nil
	}
	list, err := entities.In(namespace).GetAll(c, keys)
	if outOfReach(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for i, e := range list {
		if e != nil && !e.Value.Archived() {
			id := alcove.ID{Namespace: namespace, Key: keys[i]}
			found[id] = &node{ID: id, Kind: kindEntity, Label: e.Value.Name}
		}
	}
	return nil
}
