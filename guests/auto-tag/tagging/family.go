// Package tagging serves the family auto-tag: it gives memories tags, a type and an importance by what is in them.
package tagging

import (
	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Config is the family's configuration.
type Config struct {
	MaxTags       int    `json:"max_tags"` // that a memory is brought to; 0: no tags
	SetType       bool   `json:"set_type"`
	DefaultType   string `json:"default_type"` // where the text shows none; empty: none is set
	SetImportance bool   `json:"set_importance"`
	Mentions      bool   `json:"mentions"`     // names, dates and numbers are noted in the metadata
	LLMEndpoint   string `json:"llm_endpoint"` // empty: no language model is asked
}

// tagger serves requests. It keeps nothing of them.
type tagger struct{ suggest *suggest.Suggester }

// Family is auto-tag.
func Family() *alcove.Family {
	f := alcove.New()
	t := &tagger{suggest.New()}
	f.OnStore(t.store)
	alcove.Tool(f, "memory_auto_tag", t.tagOne)
	alcove.Tool(f, "memory_retag", t.retag)
	alcove.Tool(f, "memory_suggest_tags", t.suggestTags)
	alcove.Tool(f, "memory_merge_tags", t.mergeTags)
	alcove.Job(f, jobRetag, t.retagBatch)
	alcove.Job(f, jobLearn, t.learn)
	f.Meet(Config{}, mark{}, vocabularyAnswer{}, vocabularyAsked{}, word{}, overview{})
	return f
}

func config(c *alcove.Call) (Config, error) {
	var cfg Config
	err := c.ReadConfig(&cfg)
	return cfg, err
}
