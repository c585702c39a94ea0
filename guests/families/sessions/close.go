package sessions

import (
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// CloseSession ends a session, and keeps a summary.
//
// The summary is a memory of the type session_summary: how many facts the agent stored since the session began, three decisions, three
// insights, and what the caller says. The checkpoints of the session are clean from then on.
//
//alcove:camel
//alcove:title Close a session
//alcove:description Wrap up: work is done for today; keep a summary.
//alcove:tool idempotent
type CloseSession struct {
	SessionID alcove.ID `alcove:"required,alias=id"`
	Summary   string
}

//alcove:camel
type ended struct {
	SessionID     alcove.ID
	SummaryFactID alcove.ID
}

// Call closes it.
func (in CloseSession) Call(c *alcove.Call) (out ended, err error) {
	s, id, err := getSession(c, in.SessionID)
	if err != nil {
		return out, err
	}
	if _, err := acting(c, s.AgentID); err != nil {
		return out, err
	}
	out.SessionID, out.SummaryFactID = id, s.SummaryFactID
	if s.Status == closed {
		return out, nil
	}
	s.Status, s.Summary = closed, in.Summary
	if s.Ended == 0 {
		s.Ended = c.Time()
	}
	text, err := summary(c, id.Namespace, &s)
	if err != nil {
		return out, err
	}
	d := c.Store(text).In(id.Namespace).Type("session_summary").Tags("session_summary", "handoff").Metadata("sessionId", id.String())
	if in.Summary != "" {
		d.Metadata(fact.Summary, in.Summary)
	}
	if out.SummaryFactID, err = d.Put(); err != nil {
		return out, err
	}
	s.SummaryFactID = out.SummaryFactID
	if err := sessions.In(id.Namespace).Put(c, id.Key, s); err != nil {
		return out, err
	}
	return out, emit(c, "session_ended", changes{SessionID: id, Status: closed})
}

// What a summary quotes.
const (
	mostQuoted = 3
	quoteLimit = 120 // characters
)

// summary says what came of a session.
func summary(c *alcove.Call, namespace string, s *session) (string, error) {
	r := alcove.MemoryListRequest{Namespace: namespace, Filter: written(s), Count: "only"}
	counted, err := c.MemoryList(r)
	if err != nil {
		return "", err
	}
	total := 0
	if counted.Total != nil {
		total = *counted.Total
	}
	b := &strings.Builder{}
	b.WriteString("Session of " + or(s.AgentID, "an agent") + ", " + s.Start.String() + " to " + s.Ended.String() + ": " + strconv.Itoa(total) + " facts.")
	for _, quoted := range []struct{ title, kind string }{{"Decisions", "decision"}, {"Insights", "insight"}} {
		r.Filter, r.Count, r.Order, r.Limit = written(s), "", "importance", mostQuoted
		r.Filter.Types = []string{quoted.kind}
		list, err := c.MemoryList(r)
		if err != nil {
			return "", err
		}
		for i := range list.Memories {
			if i == 0 {
				b.WriteString("\n" + quoted.title + ":")
			}
			b.WriteString("\n- " + clip(words.Text(list.Memories[i].Value, words.Short), quoteLimit))
		}
	}
	if s.Summary != "" {
		b.WriteString("\n" + s.Summary)
	}
	return b.String(), nil
}

// written is the condition on facts that the agent of a session stored since it began.
func written(s *session) *alcove.MemoryFilter {
	f := facts(nil)
	f.CreatedSince = s.Start.String()
	if s.AgentID != "" {
		f.Writers = []string{s.AgentID}
	}
	return f
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// clip cuts a text to some characters, on one line.
func clip(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}
