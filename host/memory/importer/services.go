package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

// mem0Memory is a memory exported by mem0.
type mem0Memory struct {
	ID         string                     `json:"id"`
	Memory     string                     `json:"memory"`
	UserID     string                     `json:"user_id"`
	AgentID    string                     `json:"agent_id"`
	RunID      string                     `json:"run_id"`
	CreatedAt  moment                     `json:"created_at"`
	UpdatedAt  moment                     `json:"updated_at"`
	Categories []string                   `json:"categories"`
	Metadata   map[string]json.RawMessage `json:"metadata"`
}

func readMem0(in Input, yield Yield) error {
	return elements(in, []string{"results", "memories"}, func(m mem0Memory) error {
		if m.ID == "" || m.Memory == "" {
			return fmt.Errorf("it has no id or no memory")
		}
		p := portable.Memory{
			Key: key("mem0", m.ID), Value: encode(m.Memory), Tags: m.Categories, Agent: m.AgentID, Created: m.CreatedAt.at(),
			Metadata: meta("user_id", m.UserID, "run_id", m.RunID, "created_at", m.CreatedAt.text, "updated_at", m.UpdatedAt.text),
		}
		p.Metadata = withOwn(p.Metadata, m.Metadata)
		return yield(p)
	})
}

// withOwn adds what a memory itself had as metadata, except under names that are taken.
func withOwn(metadata, own map[string]json.RawMessage) map[string]json.RawMessage {
	for name, value := range own {
		if metadata == nil {
			metadata = map[string]json.RawMessage{}
		}
		if _, taken := metadata[name]; !taken {
			metadata[name] = value
		}
	}
	return metadata
}

// labels are a list, or a text with commas.
type labels []string

// UnmarshalJSON reads either.
func (l *labels) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return json.Unmarshal(raw, (*[]string)(l))
	}
	for label := range strings.SplitSeq(text, ",") {
		if label = strings.TrimSpace(label); label != "" {
			*l = append(*l, label)
		}
	}
	return nil
}

// serviceMemory is a memory exported by mcp-memory-service.
type serviceMemory struct {
	Hash      string                     `json:"content_hash"`
	Content   string                     `json:"content"`
	Type      string                     `json:"memory_type"`
	Tags      labels                     `json:"tags"`
	CreatedAt moment                     `json:"created_at"`
	UpdatedAt moment                     `json:"updated_at"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
}

func readMemoryService(in Input, yield Yield) error {
	return elements(in, []string{"memories"}, func(m serviceMemory) error {
		if m.Hash == "" || m.Content == "" {
			return errors.New("it has no content_hash or no content")
		}
		return yield(portable.Memory{
			Key: key("mcp-memory-service", m.Hash), Value: encode(m.Content), Type: m.Type, Tags: m.Tags, Created: m.CreatedAt.at(),
			Metadata: withOwn(meta("created_at", m.CreatedAt.text, "updated_at", m.UpdatedAt.text), m.Metadata),
		})
	})
}

// openMemory is a memory of OpenMemory's backup, or of a page of its API.
type openMemory struct {
	ID          string                     `json:"id"`
	Content     string                     `json:"content"`
	State       string                     `json:"state"`
	App         string                     `json:"app_name"`
	CreatedAt   moment                     `json:"created_at"`
	UpdatedAt   moment                     `json:"updated_at"`
	Categories  []string                   `json:"categories"`
	CategoryIDs []string                   `json:"category_ids"`
	Metadata    map[string]json.RawMessage `json:"metadata"`
	PageData    map[string]json.RawMessage `json:"metadata_"`
}

func readOpenMemory(in Input, yield Yield) error {
	return in.eachPart(func(in Input, _ []byte) error {
		names, err := in.categories()
		if err != nil {
			return err
		}
		return elements(in, []string{"memories", "items"}, func(m openMemory) error {
			if m.ID == "" || m.Content == "" {
				return errors.New("it has no id or no content")
			}
			if m.State == "deleted" {
				return nil
			}
			p := portable.Memory{
				Key: key("openmemory", m.ID), Value: encode(m.Content), Tags: m.Categories, Created: m.CreatedAt.at(),
				Metadata: withOwn(withOwn(meta("app", m.App, "created_at", m.CreatedAt.text, "updated_at", m.UpdatedAt.text), m.Metadata), m.PageData),
			}
			for _, id := range m.CategoryIDs {
				if name := names[id]; name != "" {
					p.Tags = append(p.Tags, name)
				}
			}
			if m.State == "archived" || m.State == "paused" {
				p.State = "archived"
			}
			return yield(p)
		})
	})
}

// categories returns the names of a backup's categories by their ids.
func (in Input) categories() (map[string]string, error) {
	type category struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	names, known := map[string]string{}, index{}
	err := elements(in.quietly(), []string{"categories"}, func(c category) error {
		if c.Name == "" {
			return nil
		}
		names[c.ID] = c.Name
		return in.remember(&known, c.ID, c.Name)
	})
	if errors.Is(err, errNoArray) { // a page has none
		return names, nil
	}
	return names, err
}
