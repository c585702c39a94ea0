package graph

import (
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Following keeps links where memories are: those of a memory that was merged go to the one that stands for it, a memory is linked with the
// entities of its entityIds, and with auto_link with those that it mentions.
type Following struct{}

// Stored follows what was stored.
func (Following) Stored(c *alcove.Call, cfg Config, entries []alcove.Entry) error {
	declaring := map[string][]*alcove.Entry{}
	for i := range entries {
		if e := &entries[i]; !e.Deleted && e.State != "merged" {
			declaring[e.Namespace] = append(declaring[e.Namespace], e)
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(declaring)) {
		if err := about(c, declaring[namespace]); err != nil {
			return err
		}
	}
	for i := range entries {
		e := &entries[i]
		id := alcove.ID{Namespace: e.Namespace, Key: e.Key}
		var err error
		switch {
		case e.Deleted:
		case e.State == "merged":
			err = follow(c, id)
		case cfg.AutoLink && (e.State == "" || e.State == "active"):
			err = mention(c, id, words.Text(e.Value, words.Short))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow moves the links of a memory that was merged to the one that supersedes it.
func follow(c *alcove.Call, id alcove.ID) error {
	survivor, err := survivorOf(c, id)
	if survivor.IsZero() || err != nil {
		return err
	}
	for _, d := range []direction{outward, inward} {
		p := prefix(d, id)
		for item, err := range edges.In(id.Namespace).All(c, p) {
			if err != nil {
				return err
			}
			if h, ok := readHop(&item, p); ok {
				if err := move(c, id, survivor, d, &h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func move(c *alcove.Call, id, survivor alcove.ID, d direction, h *hop) error {
	before, after := triple{id, h.Other, h.Relation}, triple{survivor, h.Other, h.Relation}
	if d == inward {
		before, after = triple{h.Other, id, h.Relation}, triple{h.Other, survivor, h.Relation}
	}
	_, there, err := after.get(c)
	if err != nil {
		return err
	}
	if !there && after.from != after.to {
		if err := after.put(c, h.edge); err != nil {
			return err
		}
	}
	return before.remove(c)
}

// survivorOf is the memory that a merged one refers to and that supersedes it; zero for none.
func survivorOf(c *alcove.Call, id alcove.ID) (alcove.ID, error) {
	m, err := c.Find(id)
	if m == nil || err != nil {
		return alcove.ID{}, err
	}
	for _, link := range m.Links {
		at := alcove.ParseID(link)
		if at.Namespace == "" {
			at.Namespace = id.Namespace
		}
		other, err := c.Find(at)
		if err != nil && !outOfReach(err) {
			return alcove.ID{}, err
		}
		if other != nil && (slices.Contains(other.Supersedes, short(other.Namespace, id)) || slices.Contains(other.Supersedes, id.String())) {
			return other.ID(), nil
		}
	}
	return alcove.ID{}, nil
}

// Bounds of the names that are looked for in a text.
const (
	leastMention = 3   // letters of a name
	mostWords    = 4   // of a name
	mostTried    = 900 // names
)

// mention links a memory with the entities whose names are in its text.
func mention(c *alcove.Call, id alcove.ID, text string) error {
	tried := phrases(text)
	if len(tried) == 0 {
		return nil
	}
	owners, err := aliases.In(id.Namespace).GetAll(c, tried)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner == nil {
			continue
		}
		entity := alcove.ID{Namespace: id.Namespace, Key: owner.Value.EntityID}
		e, err := getEntity(c, entity)
		if err != nil {
			return err
		}
		l := triple{id, entity, related}
		_, there, err := l.get(c)
		if e == nil || there || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := l.put(c, edge{ValidFrom: c.Time(), ObservedBy: c.Caller, Confidence: 1}); err != nil {
			return err
		}
		if err := emitLink(c, "link_created", l); err != nil {
			return err
		}
	}
	return nil
}

// phrases are the runs of words of a text that may be names, each once.
func phrases(text string) (list []string) {
	split := words.Split(text)
	seen := map[string]bool{}
	for i := range split {
		name := ""
		for _, w := range split[i:min(i+mostWords, len(split))] {
			if name != "" {
				name += " "
			}
			name += w.Lower
			if len(name) >= leastMention && len(name) <= mostName && !seen[name] && len(list) < mostTried {
				seen[name] = true
				list = append(list, name)
			}
		}
	}
	return list
}
