package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

func readClaude(in Input, yield Yield) error {
	return in.eachPart(func(in Input, start []byte) error {
		read := claudeKind(start)
		if read == nil {
			read = claudeConversations
		}
		return read(in, yield)
	})
}

// claudeKind returns what reads a file of an export of Claude's, told by its beginning; nil: it is none.
func claudeKind(start []byte) func(Input, Yield) error {
	has := func(name string) bool { return strings.Contains(string(start), `"`+name+`"`) }
	switch {
	case has("chat_messages"):
		return claudeConversations
	case has("conversations_memory") || has("project_memories"):
		return claudeMemories
	case has("prompt_template"):
		return claudeProjects
	}
	return nil
}

// claudeConversation is a conversation of conversations.json.
type claudeConversation struct {
	UUID     string          `json:"uuid"`
	Name     string          `json:"name"`
	Messages []claudeMessage `json:"chat_messages"`
}

type claudeMessage struct {
	Sender    string `json:"sender"`
	Text      string `json:"text"`
	CreatedAt moment `json:"created_at"`
	Content   []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Attachments []struct {
		Name string `json:"file_name"`
		Text string `json:"extracted_content"`
	} `json:"attachments"`
	Files []struct {
		Name string `json:"file_name"`
	} `json:"files"`
}

func claudeConversations(in Input, yield Yield) error {
	return elements(in, []string{"conversations"}, func(c claudeConversation) error {
		if c.UUID == "" {
			return fmt.Errorf("the conversation %q has no uuid", c.Name)
		}
		for seq, m := range c.Messages {
			if err := c.each(seq, m, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

// each yields a message, and the texts that are attached to it.
func (c claudeConversation) each(seq int, m claudeMessage, yield Yield) error {
	t := turn{source: "claude", session: c.UUID, title: c.Name, seq: seq, speaker: m.Sender, at: m.CreatedAt.Time, attached: m.attached()}
	if t.text = cmp.Or(m.said(), strings.Join(t.attached, "\n")); t.text == "" {
		return nil
	}
	if err := yield(t.memory()); err != nil {
		return err
	}
	for i, a := range m.Attachments {
		attached := portable.Memory{Key: key(t.memory().Key, fmt.Sprint(i)), Type: "attachment", Tags: []string{"claude"}, Created: m.CreatedAt.at(),
			Metadata: meta("session", c.UUID, "title", c.Name, "file", a.Name), Links: []string{t.memory().Key}}
		if err := eachPiece(attached, a.Text, yield); err != nil {
			return err
		}
	}
	return nil
}

func (m claudeMessage) said() string {
	if m.Text != "" {
		return m.Text
	}
	var texts []string
	for _, part := range m.Content {
		if part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// attached are the names of files.
func (m claudeMessage) attached() []string {
	var names once
	for _, a := range m.Attachments {
		names.add(a.Name)
	}
	for _, f := range m.Files {
		names.add(f.Name)
	}
	return slices.DeleteFunc(names.list, func(name string) bool { return name == "" })
}

// eachPiece yields a memory with a text as its value, or, of a long one, a memory for each piece.
func eachPiece(m portable.Memory, text string, yield Yield) error {
	for name, piece := m.Key, 1; text != ""; piece++ {
		end := min(len(text), maxText)
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		if m.Value = encode(text[:end]); piece > 1 {
			m.Key = key(name, fmt.Sprint("part ", piece))
		}
		if err := yield(m); err != nil {
			return err
		}
		text = text[end:]
	}
	return nil
}

// claudeProject is a project of projects.json.
type claudeProject struct {
	UUID         string `json:"uuid"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	Instructions string `json:"prompt_template"`
	Starter      bool   `json:"is_starter_project"` // it came with the account
	CreatedAt    moment `json:"created_at"`
	Docs         []struct {
		UUID      string `json:"uuid"`
		Name      string `json:"filename"`
		Text      string `json:"content"`
		CreatedAt moment `json:"created_at"`
	} `json:"docs"`
}

func claudeProjects(in Input, yield Yield) error {
	return elements(in, []string{"projects"}, func(p claudeProject) error {
		if p.UUID == "" {
			return fmt.Errorf("the project %q has no uuid", p.Name)
		}
		if p.Starter {
			return nil
		}
		own := key("claude", "project", p.UUID)
		err := yield(portable.Memory{Key: own, Type: "project", Tags: []string{"claude"}, Created: p.CreatedAt.at(), Value: encode(struct {
			Name         string `json:"name"`
			Description  string `json:"description,omitempty"`
			Instructions string `json:"instructions,omitempty"`
		}{p.Name, p.Description, p.Instructions})})
		if err != nil {
			return err
		}
		for i, d := range p.Docs {
			doc := portable.Memory{Key: key(own, cmp.Or(d.UUID, fmt.Sprint(i))), Type: "document", Tags: []string{"claude"}, Created: d.CreatedAt.at(),
				Metadata: meta("project", p.Name, "file", d.Name), Links: []string{own}}
			if err := eachPiece(doc, d.Text, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

// claudeMemory is what Claude remembers of an account, in memories.json.
type claudeMemory struct {
	Account  string            `json:"account_uuid"`
	General  string            `json:"conversations_memory"`
	Projects map[string]string `json:"project_memories"` // by the project's uuid
}

func claudeMemories(in Input, yield Yield) error {
	return elements(in, []string{"memories"}, func(c claudeMemory) error {
		m := portable.Memory{Key: key("claude", "memory"), Type: "profile", Tags: []string{"claude"}, Metadata: meta("account", c.Account)}
		if err := eachPiece(m, c.General, yield); err != nil {
			return err
		}
		for _, uuid := range slices.Sorted(maps.Keys(c.Projects)) {
			project := key("claude", "project", uuid)
			m := portable.Memory{Key: key(project, "memory"), Type: "profile", Tags: []string{"claude"}, Links: []string{project}}
			if err := eachPiece(m, c.Projects[uuid], yield); err != nil {
				return err
			}
		}
		return nil
	})
}
