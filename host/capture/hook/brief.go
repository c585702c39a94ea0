package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Shares of a brief's tokens that its first parts may take. What they leave is for those that follow.
const (
	handoffShare = 0.3
	rulesShare   = 0.6
)

// Bounds on what is read for a brief.
const (
	mostImportant = 50 // of which some may not be told
	mostRules     = 20
	mostDecisions = 10
	mostChanged   = 10
	mostRecent    = 5
)

// recentDays is how far back a brief goes where the client was never before.
const recentDays = 30

// ruleTypes are the types of memories that tell the agent how to work.
func ruleTypes() []string {
	return []string{"steering_rule", "rule", "preference", "standard", "correction"}
}

// brief returns what an agent should know of the project when it begins.
func (s session) brief(ctx context.Context) (*contextText, error) {
	last := s.Journal.since(s.message.Session)
	if !s.message.Compacted || last.IsZero() {
		last = s.Journal.LastSeen(s.message.Client, s.namespace)
	}
	s.Journal.Forget("")
	rules, err := s.rules(ctx)
	if err != nil {
		return nil, err
	}
	decisions, err := s.search(ctx, map[string]any{"order": "newest", "type": []string{"decision"}, "k": mostDecisions})
	if err != nil {
		return nil, err
	}
	title, changes, err := s.changes(ctx, last)
	if err != nil {
		return nil, err
	}
	budget := orElse(s.Options.Brief, defaultBrief)
	b := brief{s, newContextText(budget, s.header("Brief"))}
	b.since = last
	for _, h := range s.handoffs(ctx) {
		if b.left-tokens(h.line) >= int((1-handoffShare)*float64(budget)) {
			b.addLine(h.line, h.id)
		}
	}
	b.part("Rules and pinned", int((1-rulesShare)*float64(budget)), rules)
	b.part("Decisions, newest first", 0, decisions)
	b.part(title, 0, changes)
	return b.contextText, nil
}

// brief is a brief in the making.
type brief struct {
	session
	*contextText
}

// part adds memories under a title, while the brief has more than reserve tokens left.
func (b brief) part(title string, reserve int, list []found) {
	begun := false
	for _, f := range list {
		if !b.isInjectable(f) || slices.Contains(b.ids, f.id()) {
			continue
		}
		line := f.line()
		if !begun {
			line = title + ":\n" + line
		}
		if b.left-tokens(line) >= reserve && b.addLine(line, f.id()) {
			begun = true
		}
	}
}

// handoff is work that waits for the agent.
type handoff struct{ id, line string }

// handoffs returns the work that was handed to the agent, and the checkpoint that it has not closed. There is none without the family of
// sessions, or the right to call it; or if it is not loaded in half of the time that is left.
func (s session) handoffs(ctx context.Context) (list []handoff) {
	if end, limited := ctx.Deadline(); limited {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	var waiting struct {
		Handoffs []struct{ HandoffID, FromAgent, ContextSummary string }
	}
	if s.read(ctx, "memory_get_handoffs", map[string]any{"limit": 3}, &waiting) == nil {
		for _, h := range waiting.Handoffs {
			list = append(list, handoff{h.HandoffID, fmt.Sprintf("- Handed over by %s: %s (memory_get_handoffs)\n", h.FromAgent, short(h.ContextSummary))})
		}
	}
	var c struct {
		CheckpointID, Summary string
		AgeDays               int
		Unclean               bool
	}
	if s.read(ctx, "memory_wake", map[string]any{}, &c) == nil && c.Unclean {
		list = append(list, handoff{c.CheckpointID, fmt.Sprintf("- Open checkpoint, %d days old: %s (memory_wake)\n", c.AgeDays, short(c.Summary))})
	}
	return list
}

// short is a text in one line, cut as a memory's is.
func short(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > mostCharacters {
		line = append(line[:mostCharacters-1], '…')
	}
	return string(line)
}

// read calls a tool of a family in the session's project.
func (s session) read(ctx context.Context, tool string, arguments map[string]any, to any) error {
	raw, err := s.Ask(ctx, "memory_operation", map[string]any{
		"method": tool, "params": arguments, "options": map[string]any{"namespace": s.namespaces()[0]},
	})
	if err != nil {
		return err
	}
	var answer struct{ Result json.RawMessage }
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	return json.Unmarshal(answer.Result, to)
}

// rules returns pinned memories and those that tell how to work, the most important first.
func (s session) rules(ctx context.Context) ([]found, error) {
	important, err := s.search(ctx, map[string]any{"order": "importance", "k": mostImportant})
	if err != nil {
		return nil, err
	}
	ruling, err := s.search(ctx, map[string]any{"order": "importance", "type": ruleTypes(), "k": mostRules})
	if err != nil {
		return nil, err
	}
	return append(slices.DeleteFunc(important, func(f found) bool { return !f.Metadata.Pinned }), ruling...), nil
}

// changes returns what was written since the client was last here, and its title; where it never was, the newest memories.
func (s session) changes(ctx context.Context, last time.Time) (title string, list []found, err error) {
	title, k := "Changed since this client was last here", mostChanged
	if last.IsZero() {
		title, k, last = "Newest", mostRecent, s.Clock().AddDate(0, 0, -recentDays)
	}
	list, err = s.search(ctx, map[string]any{"order": "updated", "since": last.UTC().Format(time.RFC3339), "k": mostImportant})
	list = slices.DeleteFunc(list, func(f found) bool { return !s.isInjectable(f) })
	return title, list[:min(k, len(list))], err
}
