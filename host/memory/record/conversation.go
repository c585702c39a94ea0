package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/moment"
	"github.com/alcove-memory/alcove/host/search"
)

// Turn is what a memory is in a conversation, by its metadata: session (a text or a number) and seq (a whole number)
// make it a turn; speaker, caption, ts (a moment) and role may say more. A role stands for a speaker who has no name.
func Turn(metadata map[string]json.RawMessage) *search.Turn {
	session, ok := plainText(metadata["session"])
	if !ok || session == "" {
		return nil
	}
	seq, _ := plainText(metadata["seq"])
	position, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		return nil
	}
	t := search.Turn{Session: session, Position: position}
	t.Speaker, _ = plainText(metadata["speaker"])
	role, _ := plainText(metadata["role"])
	t.Role = cmp.Or(roleOf(role), roleOf(t.Speaker))
	t.Speaker = cmp.Or(t.Speaker, role)
	t.Caption, _ = plainText(metadata["caption"])
	said, _ := plainText(metadata["ts"])
	t.Said, _ = moment.Parse(said, time.Time{})
	return &t
}

// roleOf recognises who talks in a chat with an assistant.
func roleOf(speaker string) search.Role {
	switch strings.ToLower(speaker) {
	case "user", "human":
		return search.User
	case "assistant", "agent", "ai", "bot", "chatbot", "model", "tool":
		return search.Assistant
	}
	return search.Person
}

// plainText is a JSON text, or a number as it is written.
func plainText(raw json.RawMessage) (string, bool) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return "", false
	}
	if raw[0] != '"' {
		var number json.Number
		err := json.Unmarshal(raw, &number)
		return number.String(), err == nil
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return strings.TrimSpace(text), err == nil
}
