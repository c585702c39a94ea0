package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// sample is a conversation of LoCoMo (Maharana et al. 2024) with its questions.
type sample struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	Questions    []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	} `json:"qa"`
}

type turn struct {
	ID      string `json:"dia_id"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

// locomo reads a document a turn; a question's evidence is what answers it.
func locomo(path string, most int) (docs []document, queries []query, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var samples []sample
	if err := json.Unmarshal(raw, &samples); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	for _, s := range samples[:min(most, len(samples))] {
		turns, err := s.turns()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.ID, err)
		}
		docs = append(docs, turns...)
		queries = append(queries, s.queries(turns)...)
	}
	return docs, queries, nil
}

func (s sample) turns() ([]document, error) {
	var docs []document
	for session := 1; ; session++ {
		raw, ok := s.Conversation[fmt.Sprintf("session_%d", session)]
		if !ok {
			return docs, nil
		}
		var turns []turn
		var said string
		if err := json.Unmarshal(raw, &turns); err != nil {
			return nil, fmt.Errorf("session %d: %w", session, err)
		}
		if err := json.Unmarshal(s.Conversation[fmt.Sprintf("session_%d_date_time", session)], &said); err != nil {
			return nil, fmt.Errorf("session %d: %w", session, err)
		}
		at, err := time.Parse("3:04 pm on 2 January, 2006", said)
		if err != nil {
			return nil, fmt.Errorf("session %d: %w", session, err)
		}
		for _, t := range turns {
			docs = append(docs, document{ID: s.ID + "/" + t.ID, Text: t.Text, Meta: map[string]any{
				"conv": s.ID, "session": session, "seq": len(docs), "speaker": t.Speaker, "date": said,
				"iso": at.Format("2006-01-02T15:04:05"), "ts": at.Unix(), "caption": t.Caption,
			}})
		}
	}
}

// queries leaves out questions without evidence among the turns.
func (s sample) queries(turns []document) []query {
	known := map[string]bool{}
	for _, d := range turns {
		known[d.ID] = true
	}
	var list []query
	for i, q := range s.Questions {
		relevant := map[string]int{}
		for _, id := range regexp.MustCompile(`D\d+:\d+`).FindAllString(strings.Join(q.Evidence, " "), -1) {
			if id = s.ID + "/" + id; known[id] {
				relevant[id] = 1
			}
		}
		if len(relevant) > 0 {
			list = append(list, query{ID: fmt.Sprintf("%s/q%d", s.ID, i), Text: q.Question, Relevant: relevant, Meta: map[string]any{"conv": s.ID, "category": q.Category}})
		}
	}
	return list
}
