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
