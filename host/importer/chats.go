package importer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

// turn is one message of a conversation.
type turn struct {
	source, session, title string
	seq                    int
	speaker, text          string
	at                     time.Time
}

func (t turn) memory() portable.Memory {
	m := portable.Memory{
		Key: key(t.source, t.session, fmt.Sprintf("%05d", t.seq)), Value: encode(t.text), Type: "message", Tags: []string{t.source},
		Metadata: meta("session", t.session, "title", t.title, "speaker", t.speaker),
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

// chatGPT is a conversation: a tree of messages, of which the last viewed branch is imported.
type chatGPT struct {
	ID             string `json:"id"`
	ConversationID string `json:"conversation_id"`
	Title          string `json:"title"`
	CurrentNode    string `json:"current_node"`
	Mapping        map[string]struct {
		Parent   string   `json:"parent"`
		Children []string `json:"children"`
		Message  *struct {
			CreateTime float64 `json:"create_time"`
			Author     struct {
				Role string `json:"role"`
			} `json:"author"`
			Content struct {
				Parts []json.RawMessage `json:"parts"`
				Text  string            `json:"text"`
			} `json:"content"`
		} `json:"message"`
	} `json:"mapping"`
}

func readChatGPT(in Input, yield Yield) error {
	return elements(in, []string{"conversations"}, func(c chatGPT) error {
		id := c.ConversationID
		if id == "" {
			id = c.ID
		}
		if id == "" {
			return fmt.Errorf("the conversation %q has no id", c.Title)
		}
		seq := 0
		for _, node := range c.branch() {
			message := c.Mapping[node].Message
			if message == nil {
				continue
			}
			role := message.Author.Role
			text := joinParts(message.Content.Parts, message.Content.Text)
			if text == "" || role != "user" && role != "assistant" {
				continue
			}
			t := turn{source: "chatgpt", session: id, title: c.Title, seq: seq, speaker: role, text: text, at: seconds(message.CreateTime)}
			if err := yield(t.memory()); err != nil {
				return err
			}
			seq++
		}
		return nil
	})
}

// branch returns the nodes from the root to the current one; a cycle ends it.
func (c chatGPT) branch() []string {
	node := c.CurrentNode
	if node == "" {
		node = c.lastLeaf()
	}
	var path []string
	seen := map[string]bool{}
	for node != "" && !seen[node] {
		seen[node] = true
		path = append(path, node)
		node = c.Mapping[node].Parent
	}
	slices.Reverse(path)
	return path
}

// lastLeaf returns the newest leaf, for a tree without a current node.
func (c chatGPT) lastLeaf() string {
	best, newest := "", math.Inf(-1)
	for id, n := range c.Mapping {
		if len(n.Children) > 0 || n.Message == nil {
			continue
		}
		if at := n.Message.CreateTime; at > newest || at == newest && id < best {
			best, newest = id, at
		}
	}
	return best
}

// joinParts joins the text parts; others are images and the like.
func joinParts(parts []json.RawMessage, text string) string {
	var texts []string
	for _, part := range parts {
		var s string
		if json.Unmarshal(part, &s) == nil && s != "" {
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 {
		return text
	}
	return strings.Join(texts, "\n")
}

// claude is a conversation.
type claude struct {
	UUID     string `json:"uuid"`
	Name     string `json:"name"`
	Messages []struct {
		Sender    string `json:"sender"`
		Text      string `json:"text"`
		CreatedAt string `json:"created_at"`
		Content   []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"chat_messages"`
}

func readClaude(in Input, yield Yield) error {
	return elements(in, []string{"conversations"}, func(c claude) error {
		if c.UUID == "" {
			return fmt.Errorf("the conversation %q has no uuid", c.Name)
		}
		for seq, m := range c.Messages {
			text := m.Text
			if text == "" {
				var texts []string
				for _, part := range m.Content {
					if part.Text != "" {
						texts = append(texts, part.Text)
					}
				}
				text = strings.Join(texts, "\n")
			}
			if text == "" {
				continue
			}
			at, _ := instant(m.CreatedAt) // zero if missing
			t := turn{source: "claude", session: c.UUID, title: c.Name, seq: seq, speaker: m.Sender, text: text, at: at}
			if err := yield(t.memory()); err != nil {
				return err
			}
		}
		return nil
	})
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
