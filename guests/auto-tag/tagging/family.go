// Package tagging serves the family auto-tag: it gives memories tags, a type and an importance by what is in them.
package tagging

import (
	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Config is the family's configuration.
type Config struct {
	MaxTags       int // that a memory is brought to; 0: no tags
	SetType       bool
	DefaultType   string // where the text shows none; empty: none is set
	SetImportance bool
	Mentions      bool   // names, dates and numbers are noted in the metadata
	LLMEndpoint   string // empty: no language model is asked
}

// tagger serves requests. It keeps nothing of them.
type tagger struct{ suggest *suggest.Suggester }

// Family is auto-tag.
func Family() *alcove.Family {
	f := alcove.New()
	t := &tagger{suggest.New()}
	f.OnStore(t.store)
	reflected.Tool(f, "memory_auto_tag", t.tagOne)
	reflected.Tool(f, "memory_retag", t.retag)
	reflected.Tool(f, "memory_suggest_tags", t.suggestTags)
	reflected.Tool(f, "memory_merge_tags", t.mergeTags)
	reflected.Job(f, jobRetag, t.retagBatch)
	reflected.Job(f, jobLearn, t.learn)
	return f
}

// config reads the configuration. It is read at every store, hence without reflection.
func config(c *alcove.Call) (cfg Config, err error) {
	s := scan.New(c.Config)
	for key := range s.Fields() {
		switch key {
		case "max_tags":
			cfg.MaxTags = int(s.Int())
		case "set_type":
			cfg.SetType = s.Bool()
		case "default_type":
			cfg.DefaultType = s.String()
		case "set_importance":
			cfg.SetImportance = s.Bool()
		case "mentions":
			cfg.Mentions = s.Bool()
		case "llm_endpoint":
			cfg.LLMEndpoint = s.String()
		default:
			s.Skip()
		}
	}
	if err := s.End(); err != nil {
		return cfg, alcove.Errorf(alcove.InvalidArgument, "read the configuration: %v", err)
	}
	return cfg, nil
}
