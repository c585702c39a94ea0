package importer

import (
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

// graphLine is an entity or a relation.
type graphLine struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	RelationType string   `json:"relationType"`
}

// relation is an outgoing edge of an entity.
type relation struct {
	To   string `json:"to"`
	Type string `json:"type"`
}

// relations are the outgoing edges of an entity, in order, without duplicates.
type relations struct {
	list []relation
	has  map[relation]bool
}

func (r *relations) add(x relation) {
	if r.has[x] {
		return
	}
	if r.has == nil {
		r.has = map[relation]bool{}
	}
	r.has[x] = true
	r.list = append(r.list, x)
}

// readGraph reads the file twice: relations may appear anywhere, and become links of their source entity.
func readGraph(in Input, yield Yield) error {
	out, entities, known := map[string]*relations{}, map[string]bool{}, index{}
	err := in.quietly().eachGraphLine(func(l graphLine) error {
		if l.Type == "entity" {
			entities[l.Name] = true
			return in.remember(&known, l.Name)
		}
		if out[l.From] == nil {
			out[l.From] = &relations{}
		}
		out[l.From].add(relation{l.To, l.RelationType})
		return in.remember(&known, l.From, l.To, l.RelationType)
	})
	if err != nil {
		return err
	}
	return in.eachGraphLine(func(l graphLine) error {
		if l.Type == "entity" {
			return yield(entity(l, out[l.Name]))
		}
		if entities[l.From] {
			return nil
		}
		return yield(portable.Memory{
			Key: key("relation", l.From, l.RelationType, l.To), Type: "relation",
			Value: encode(map[string]string{"from": l.From, "to": l.To, "relation": l.RelationType}),
			Links: []string{key("entity", l.From), key("entity", l.To)},
		})
	})
}

func entity(l graphLine, out *relations) portable.Memory {
	m := portable.Memory{
		Key: key("entity", l.Name), Type: l.EntityType,
		Value: encode(struct {
			Name         string   `json:"name"`
			Observations []string `json:"observations,omitempty"`
		}{l.Name, l.Observations}),
	}
	if out == nil {
		return m
	}
	m.Metadata = meta("relations", out.list)
	var links once
	for _, r := range out.list {
		links.add(key("entity", r.To))
	}
	m.Links = links.list
	return m
}

func (in Input) eachGraphLine(do func(graphLine) error) error {
	return in.lines(func(_ int, line []byte) error {
		var l graphLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		switch {
		case l.Type == "entity" && l.Name != "", l.Type == "relation" && l.From != "" && l.To != "":
			return do(l)
		}
		return fmt.Errorf("it is neither an entity with a name nor a relation with both ends")
	})
}
