package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A way is how a scripted client gets from what a user says to the call of a tool.
type way struct {
	name    string
	profile string
	// walk returns the turns before the call in which the model is shown the tool's schema, and the tokens of the answers to them.
	walk func(i intent) (turns, tokens int, err error)
}

// turns is the table of what it takes to call the right tool. A turn is one answer of the model with a call; the last one calls the tool.
func (s *server) turns(sets []intentSet) (string, error) {
	all, _, err := s.list("deferred")
	if err != nil {
		return "", err
	}
	core, _, err := s.list("agent")
	if err != nil {
		return "", err
	}
	rankings, err := rankingsOf(all)
	if err != nil {
		return "", err
	}
	ways := []way{
		{"all tools are shown", "full", func(intent) (int, int, error) { return 0, 0, nil }},
		{"the core is shown, the client searches by BM25", "agent", func(i intent) (int, int, error) { return s.search(i, core, all, rankings[1].rank) }},
		{"the core is shown, families are loaded by intent", "agent", func(i intent) (int, int, error) { return s.load(i, core, all) }},
		{"`memory_operation` alone, families are loaded by intent through it", "operation", func(i intent) (int, int, error) { return s.load(i, nil, all) }},
	}
	var b strings.Builder
	b.WriteString("| a client to which | tokens shown at the start | turns, mean of 120 | at most 2 turns | tokens of answers on the way, mean |\n|---|---|---|---|---|\n")
	for _, w := range ways {
		row, err := s.walked(w, sets)
		if err != nil {
			return "", err
		}
		b.WriteString(row)
	}
	return b.String(), nil
}

func (s *server) walked(w way, sets []intentSet) (string, error) {
	tools, _, err := s.list(w.profile)
	if err != nil {
		return "", err
	}
	shown := 0
	for _, t := range tools {
		shown += s.tokensOf(t)
	}
	turns, tokens, quick, n := 0, 0, 0, 0
	for _, set := range sets {
		for _, i := range set.list {
			before, more, err := w.walk(i)
			if err != nil {
				return "", fmt.Errorf("%q: %w", i.text, err)
			}
			n, turns, tokens = n+1, turns+before+1, tokens+more
			if before+1 <= 2 {
				quick++
			}
		}
	}
	return fmt.Sprintf("| %s | %s | %.2f | %d | %d |\n", w.name, thousands(shown), float64(turns)/float64(n), quick, tokens/n), nil
}

func has(tools []listed, i intent) bool {
	return slices.ContainsFunc(tools, func(t listed) bool { return slices.Contains(i.tools, t.Name) })
}

// search is a client's own: it shows the five best, and then the next five.
func (s *server) search(i intent, core, all []listed, rank ranking) (turns, tokens int, err error) {
	if has(core, i) {
		return 0, 0, nil
	}
	at := rank.place(i, all)
	turns = 1 + at/among
	if at >= 4*among { // after four pages the model asks the server
		more, cost, err := s.load(i, core, all)
		return 4 + more, cost, err
	}
	for _, t := range all[:min(turns*among, len(all))] { // about as long as those found
		tokens += s.tokensOf(t)
	}
	return turns, tokens, nil
}

// load asks memory_load_family: by intent, then by the name of a suggestion, and at last by that which memory_capabilities tells.
func (s *server) load(i intent, core, all []listed) (turns, tokens int, err error) {
	if has(core, i) {
		return 0, 0, nil
	}
	answer, text, err := s.called("memory_load_family", map[string]string{"intent": i.text})
	if err != nil {
		return 0, 0, err
	}
	turns, tokens = 1, s.count.Count(text)
	if has(answer.Tools, i) || core == nil && isCore(i, all) {
		return turns, tokens, nil
	}
	family, err := s.familyOf(i)
	if err != nil {
		return 0, 0, err
	}
	if !slices.ContainsFunc(answer.Suggestions, func(f struct{ Family string }) bool { return f.Family == family }) {
		_, text, err := s.called("memory_capabilities", map[string]string{})
		if err != nil {
			return 0, 0, err
		}
		turns, tokens = turns+1, tokens+s.count.Count(text)
	}
	_, text, err = s.called("memory_load_family", map[string]string{"family": family})
	return turns + 1, tokens + s.count.Count(text), err
}

// isCore reports whether a tool of the core does it, whose name the description of memory_operation or the instructions tell.
func isCore(i intent, all []listed) bool {
	return slices.ContainsFunc(all[:11], func(t listed) bool { return slices.Contains(i.tools, t.Name) })
}

// loaded is what memory_load_family answers.
type loaded struct {
	Family      string
	Tools       []listed
	Suggestions []struct{ Family string }
	Families    []struct {
		Name  string
		Tools []string
	}
}

func (s *server) called(tool string, arguments map[string]string) (answer loaded, text string, err error) {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return answer, "", err
	}
	raw, err := s.ask("agent", "tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s,`, tool, encoded))
	if err != nil {
		return answer, "", err
	}
	var read struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &read); err != nil || read.IsError || len(read.Content) == 0 {
		return answer, "", fmt.Errorf("%s answered %.300s (%v)", tool, raw, err)
	}
	text = read.Content[0].Text
	return answer, text, json.Unmarshal([]byte(text), &answer)
}

// familyOf is the family of an intent's first tool.
func (s *server) familyOf(i intent) (string, error) {
	answer, _, err := s.called("memory_capabilities", map[string]string{})
	if err != nil {
		return "", err
	}
	for _, f := range answer.Families {
		if slices.ContainsFunc(f.Tools, func(name string) bool { return slices.Contains(i.tools, name) }) {
			return f.Name, nil
		}
	}
	return "", fmt.Errorf("no family has %s", strings.Join(i.tools, " or "))
}
