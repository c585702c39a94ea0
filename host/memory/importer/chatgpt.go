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

// chatGPT is a conversation: a tree of messages, of which the last viewed branch is imported.
type chatGPT struct {
	ID             string  `json:"id"`
	ConversationID string  `json:"conversation_id"`
	Title          string  `json:"title"`
	UpdateTime     float64 `json:"update_time"`
	CurrentNode    string  `json:"current_node"`
	Mapping        map[string]struct {
		Parent   string          `json:"parent"`
		Children []string        `json:"children"`
		Message  *chatGPTMessage `json:"message"`
	} `json:"mapping"`
}

type chatGPTMessage struct {
	CreateTime float64 `json:"create_time"`
	Recipient  string  `json:"recipient"`
	Author     struct {
		Role string `json:"role"`
	} `json:"author"`
	Content struct {
		Type         string            `json:"content_type"`
		Parts        []json.RawMessage `json:"parts"`
		Text         string            `json:"text"`
		Profile      string            `json:"user_profile"`
		Instructions string            `json:"user_instructions"`
	} `json:"content"`
	Metadata struct {
		Attachments []struct {
			Name string `json:"name"`
		} `json:"attachments"`
		Custom struct {
			Profile      string `json:"about_user_message"`
			Instructions string `json:"about_model_message"`
		} `json:"user_context_message_data"`
	} `json:"metadata"`
}

func readChatGPT(in Input, yield Yield) error {
	var custom customization
	err := in.eachPart(func(in Input, _ []byte) error {
		return elements(in, []string{"conversations"}, func(c chatGPT) error { return c.each(&custom, yield) })
	})
	if err != nil {
		return err
	}
	return custom.each(yield)
}

// each yields what the user and the assistant said to each other.
func (c chatGPT) each(custom *customization, yield Yield) error {
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
		custom.learn(message, seconds(c.UpdateTime))
		text := message.text()
		if text == "" {
			continue
		}
		t := turn{source: "chatgpt", session: id, title: c.Title, seq: seq, speaker: message.Author.Role, text: text,
			at: seconds(message.CreateTime), attached: message.attached()}
		if err := yield(t.memory()); err != nil {
			return err
		}
		seq++
	}
	return nil
}

// text is what a message says; empty if it is not from one of the two to the other, as the call of a tool.
func (m *chatGPTMessage) text() string {
	if m.Author.Role != "user" && m.Author.Role != "assistant" || m.Recipient != "" && m.Recipient != "all" || m.customizes() {
		return ""
	}
	if text := joinParts(m.Content.Parts, m.Content.Text); text != "" {
		return text
	}
	return strings.Join(m.attached(), "\n")
}

// attached are the names of images and other files.
func (m *chatGPTMessage) attached() (names []string) {
	for _, a := range m.Metadata.Attachments {
		if a.Name != "" {
			names = append(names, a.Name)
		}
	}
	return names
}

func (m *chatGPTMessage) customizes() bool { return m.Content.Type == "user_editable_context" }

// customization is what a user told ChatGPT for all conversations, which each of them repeats: the newest counts.
type customization struct {
	profile, instructions string
	at                    time.Time
}

func (c *customization) learn(m *chatGPTMessage, at time.Time) {
	if !m.customizes() || at.Before(c.at) {
		return
	}
	own := m.Metadata.Custom
	if own.Profile == "" && own.Instructions == "" {
		own.Profile, own.Instructions = m.Content.Profile, m.Content.Instructions
	}
	if own.Profile != "" || own.Instructions != "" {
		*c = customization{own.Profile, own.Instructions, at}
	}
}

func (c customization) each(yield Yield) error {
	for _, m := range []struct{ name, text string }{{"profile", c.profile}, {"instructions", c.instructions}} {
		if m.text == "" {
			continue
		}
		p := portable.Memory{Key: key("chatgpt", m.name), Value: encode(m.text), Type: m.name, Tags: []string{"chatgpt"}}
		if !c.at.IsZero() {
			p.Created = &c.at
		}
		if err := yield(p); err != nil {
			return err
		}
	}
	return nil
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
