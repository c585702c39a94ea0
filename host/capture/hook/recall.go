package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/capture"
)

// longestQuery is how much of a long prompt is looked for: half at its beginning, half at its end. In characters.
const longestQuery = 600

// candidates is how many hits are examined, of which some may not be told.
const candidates = 10

// recall returns the memories that a prompt is about and that the session was not told; nil: there are none.
func (s session) recall(ctx context.Context) (*contextText, error) {
	query := clipped(s.message.Prompt)
	count := words(query)
	if count < leastTerms {
		return nil, nil
	}
	hits, err := s.search(ctx, map[string]any{"query": query, "k": candidates, "explain": true})
	if err != nil {
		return nil, err
	}
	told := s.Journal.Delivered(s.message.Session)
	t := newContextText(orElse(s.Options.Recall, defaultRecall), s.header("Possibly relevant"))
	for _, f := range hits {
		if len(t.ids) < mostRecalled && s.isInjectable(f) && f.about(count) && !told[digest(f.id())] {
			t.add(f)
		}
	}
	return t, nil
}

// clipped is the part of a prompt that is looked for, as plain words: a prompt is no query with operators.
func clipped(prompt string) string {
	text := []rune(prompt)
	if len(text) > longestQuery {
		text = append(append(text[:longestQuery/2:longestQuery/2], ' '), text[len(text)-longestQuery/2:]...)
	}
	return strings.NewReplacer(`"`, " ", "*", " ", "~", " ", " -", " ").Replace(string(text))
}

// search searches the session's namespaces, without captured turns, which would crowd out all else.
func (s session) search(ctx context.Context, arguments map[string]any) ([]found, error) {
	arguments["namespace"] = s.namespaces()
	arguments["fields"] = []string{"namespace"}
	arguments["no_tags"] = []string{capture.Captured}
	raw, err := s.Ask(ctx, "memory_search", arguments)
	if err != nil {
		return nil, err
	}
	var answer struct{ Results []found }
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("read the answer of memory_search: %w", err)
	}
	return answer.Results, nil
}

func orElse(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}

// contextText is a text with memories, within a budget of tokens.
type contextText struct {
	header string
	left   int       // tokens
	since  time.Time // of a brief: from when on it tells of changes
	lines  strings.Builder
	ids    []string
}

func newContextText(budget int, header string) *contextText {
	return &contextText{header: header, left: budget - tokens(header)}
}

// add adds a memory, if it fits.
func (t *contextText) add(f found) bool {
	return t.addLine(f.line(), f.id())
}

func (t *contextText) addLine(line, id string) bool {
	need := tokens(line)
	if need > t.left {
		return false
	}
	t.left -= need
	t.lines.WriteString(line)
	if id != "" {
		t.ids = append(t.ids, id)
	}
	return true
}

// text is empty if no memory was added.
func (t *contextText) text() string {
	if len(t.ids) == 0 {
		return ""
	}
	return t.header + t.lines.String()
}
