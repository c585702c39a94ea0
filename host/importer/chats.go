package importer

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

// turn is one message of a conversation.
type turn struct {
	source, session, title string
	seq                    int
	speaker, text          string
	at                     time.Time
	attached               []string // names of files
}

func (t turn) memory() portable.Memory {
	m := portable.Memory{
		Key: key(t.source, t.session, fmt.Sprintf("%05d", t.seq)), Value: encode(t.text), Type: "message", Tags: []string{t.source},
		Metadata: meta("session", t.session, "title", t.title, "speaker", t.speaker, "attachments", t.attached),
	}
	if m.Metadata == nil {
		m.Metadata = map[string]json.RawMessage{}
	}
	m.Metadata["seq"] = encode(t.seq)
	if !t.at.IsZero() {
		m.Metadata["ts"] = encode(t.at.Unix())
		m.Created = &t.at
	}
	return m
}

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
		for name, value := range m.Metadata {
			if p.Metadata == nil {
				p.Metadata = map[string]json.RawMessage{}
			}
			if _, taken := p.Metadata[name]; !taken {
				p.Metadata[name] = value
			}
		}
		return yield(p)
	})
}
