package graph

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
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
		_, err = missingNode(c, id)
	}
	return n, err
}

// missingNode is an error that says which entities have names like that of a node that is missing.
func missingNode(c *alcove.Call, id alcove.ID) (likenesses, error) {
	near, err := alike(c, at(c, id))
	if err != nil {
		return nil, err
	}
	e := alcove.Errorf(alcove.NotFound, "there is no memory and no entity %q", id.String())
	if names := near.names(); len(names) > 0 {
		e.Message += "; similar names: " + strings.Join(names, ", ")
	}
	return near, e
}

// correction says that a node is read as the entity whose name is spelled most like the one that was given.
//
//alcove:camel
type correction struct {
	Given    string
	EntityID alcove.ID
	Name     string
}

// resolveNear is mustResolve that takes the entity whose name is nearest, and says so. Only tools that read take it.
func resolveNear(c *alcove.Call, id alcove.ID, said *[]correction) (*node, error) {
	n, err := resolve(c, id)
	if n != nil || err != nil {
		return n, err
	}
	near, err := missingNode(c, id)
	best := near.best()
	if best == nil {
		return nil, err
	}
	*said = append(*said, correction{id.String(), best.id, best.name})
	return &node{ID: best.id, Kind: kindEntity, Label: best.entity.Name}, nil
}

func nodeOf(m *alcove.Memory) *node { return nodeFrom(m.ID(), m.State, m.Value) }

func nodeFrom(id alcove.ID, state string, value alcove.Raw) *node {
	text := words.Text(value, mostText)
	n := &node{ID: id, Kind: kindMemory, Label: words.Cut(text, mostLabel), Text: text}
	if state != "active" {
		n.State = state
	}
	return n
}

// outOfReach reports whether an error says that the call may not see something.
func outOfReach(err error) bool { return alcove.CodeOf(err) == alcove.Denied }

// existing are those of some nodes that there are and that the call may see; those that are missing are nil. They are read together,
// namespace by namespace.
func existing(c *alcove.Call, ids []alcove.ID) ([]*node, error) {
	found := make([]*node, len(ids))
	for namespace, nodes := range byNamespace(ids) {
		missing, err := memoriesOf(c, namespace, ids, nodes, found)
		if err == nil {
			err = entitiesOf(c, namespace, ids, missing, found)
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// present reports for each of some nodes whether there is one that the call may see.
func present(c *alcove.Call, ids []alcove.ID) ([]bool, error) {
	there := make([]bool, len(ids))
	entities := make([]*node, len(ids))
	for namespace, nodes := range byNamespace(ids) {
		out, err := c.States(alcove.MemoryStatesRequest{Namespace: namespace, Keys: keysOf(ids, nodes)})
		if err != nil && !outOfReach(err) {
			return nil, err
		}
		var others []int
		for i, at := range nodes {
			if there[at] = err == nil && out.States[i] != ""; !there[at] {
				others = append(others, at)
			}
		}
		if err := entitiesOf(c, namespace, ids, others, entities); err != nil {
			return nil, err
		}
	}
	for i := range there {
		there[i] = there[i] || entities[i] != nil
	}
	return there, nil
}

// keysOf are the keys of some of the ids.
func keysOf(ids []alcove.ID, which []int) []string {
	keys := make([]string, len(which))
	for i, at := range which {
		keys[i] = ids[at].Key
	}
	return keys
}

func memoriesOf(c *alcove.Call, namespace string, ids []alcove.ID, which []int, found []*node) (missing []int, err error) {
	out, err := c.States(alcove.MemoryStatesRequest{Namespace: namespace, Keys: keysOf(ids, which), Values: true})
	if outOfReach(err) {
		return which, nil
	}
	if err != nil {
		return nil, err
	}
	for i, at := range which {
		if out.States[i] == "" {
			missing = append(missing, at)
			continue
		}
		found[at] = nodeFrom(ids[at], out.States[i], out.Values[i])
	}
	return missing, nil
}

func entitiesOf(c *alcove.Call, namespace string, ids []alcove.ID, which []int, found []*node) error {
	if len(which) == 0 {
		return nil
	}
	list, err := entities.In(namespace).GetAll(c, keysOf(ids, which))
	if outOfReach(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for i, at := range which {
		if e := list[i]; e != nil && !e.Value.Archived() {
			found[at] = &node{ID: ids[at], Kind: kindEntity, Label: e.Value.Name}
		}
	}
	return nil
}
