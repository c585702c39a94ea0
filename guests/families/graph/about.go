package graph

import (
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// mostDeclared is how many entities of a memory's entityIds it is linked with.
const mostDeclared = 64

// about links memories with the entities that their entityIds name, and ends the links with those that they name no more. All are in one
// namespace, and their links are read together.
func about(c *alcove.Call, entries []*alcove.Entry) error {
	ids := make([]alcove.ID, len(entries))
	for i, e := range entries {
		ids[i] = alcove.ID{Namespace: e.Namespace, Key: e.Key}
	}
	w := &walk{c: c, budget: 100_000, anyone: true, relations: []string{related}}
	links, err := w.links(ids, whole, outward)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if err := declare(c, ids[i], fact.Texts(e.Metadata[fact.EntityIDs]), links[i]); err != nil {
			return err
		}
	}
	return nil
}

// declare has a memory linked with the entities that it names, and with no others by this.
func declare(c *alcove.Call, id alcove.ID, names []string, links []hop) error {
	targets, err := targetsOf(c, id, names)
	if err != nil {
		return err
	}
	for i := range links {
		h := &links[i]
		if at := slices.Index(targets, h.Other); at >= 0 {
			if targets = slices.Delete(targets, at, at+1); h.Declared && h.ended(c.Time()) { // the memory names it again
				targets = append(targets, h.Other)
			}
		} else if h.Declared {
			if err := (triple{id, h.Other, related}).end(c, h.edge); err != nil {
				return err
			}
		}
	}
	for _, target := range targets {
		l := triple{id, target, related}
		if err := l.put(c, edge{ValidFrom: c.Time(), ObservedBy: c.Caller, Confidence: 1, Declared: true}); err != nil {
			return err
		}
		if err := emitLink(c, "link_created", l); err != nil {
			return err
		}
	}
	return nil
}

// targetsOf are the entities that a memory names, each once. One that is not registered is linked by what it is called.
func targetsOf(c *alcove.Call, id alcove.ID, names []string) (list []alcove.ID, err error) {
	for _, name := range names[:min(len(names), mostDeclared)] {
		wanted := alcove.ParseID(name)
		if wanted.Namespace == "" {
			wanted.Namespace = id.Namespace
		}
		if wanted.Key = strings.TrimSpace(wanted.Key); wanted.Key == "" {
			continue
		}
		_, target, err := findEntity(c, wanted)
		if err != nil {
			return nil, err
		}
		if target != id && !slices.Contains(list, target) {
			list = append(list, target)
		}
	}
	return list, nil
}

// adopt moves the links that lead to the names of an entity, from before it was registered, to the entity.
func adopt(c *alcove.Call, id alcove.ID, e *entity) error {
	var names []alcove.ID
	for _, name := range slices.Concat([]string{e.Name}, e.Aliases, e.names()) {
		if at := (alcove.ID{Namespace: id.Namespace, Key: name}); at != id && !slices.Contains(names, at) {
			names = append(names, at)
		}
	}
	taken, err := present(c, names)
	if err != nil {
		return err
	}
	w := &walk{c: c, budget: 100_000, anyone: true}
	links, err := w.links(names, whole, inward)
	if err != nil {
		return err
	}
	for i, name := range names {
		if taken[i] {
			continue
		}
		for j := range links[i] {
			if err := move(c, name, id, inward, &links[i][j]); err != nil {
				return err
			}
		}
	}
	return nil
}
