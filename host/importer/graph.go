package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory"
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

// relation is one way out of an entity.
type relation struct {
	To   string `json:"to"`
	Type string `json:"type"`
}

// readGraph reads the file twice: relations may stand anywhere, and become links of the entity they start from.
func readGraph(_ context.Context, path string, yield Yield) error {
	out, entities := map[string][]relation{}, map[string]bool{}
	err := eachGraphLine(path, func(l graphLine) error {
		if len(out)+len(entities) > maxIndex {
			return fmt.Errorf("there are more than %d entities and relations", maxIndex)
		}
		if l.Type == "entity" {
			entities[l.Name] = true
			return nil
		}
		if r := (relation{l.To, l.RelationType}); !slices.Contains(out[l.From], r) {
			out[l.From] = append(out[l.From], r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return eachGraphLine(path, func(l graphLine) error {
		if l.Type == "entity" {
			return yield(entity(l, out[l.Name]))
		}
		if entities[l.From] {
			return nil
		}
		return yield(memory.PortableMemory{
			Key: key("relation", l.From, l.RelationType, l.To), Type: "relation",
			Value: encode(map[string]string{"from": l.From, "to": l.To, "relation": l.RelationType}),
			Links: []string{key("entity", l.From), key("entity", l.To)},
		})
	})
}

func entity(l graphLine, out []relation) memory.PortableMemory {
	m := memory.PortableMemory{
		Key: key("entity", l.Name), Type: l.EntityType, Metadata: meta("relations", out),
		Value: encode(struct {
			Name         string   `json:"name"`
			Observations []string `json:"observations,omitempty"`
		}{l.Name, l.Observations}),
	}
	for _, r := range out {
		if link := key("entity", r.To); !slices.Contains(m.Links, link) {
			m.Links = append(m.Links, link)
		}
	}
	return m
}

func eachGraphLine(path string, do func(graphLine) error) error {
	return lines(path, func(_ int, line []byte) error {
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
