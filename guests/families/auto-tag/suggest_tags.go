package autotag

import (
	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// SuggestTags suggests tags for a text.
//
// Nothing is stored. known says that the namespace has the tag already. Names, dates and amounts that the text mentions are listed, too.
//
//alcove:tool read-only
//alcove:title Suggest tags
//alcove:description Suggest tags, type and importance for a text, in the words the namespace already uses.
type SuggestTags struct {
	reader
	Text      string `alcove:"required"`
	Namespace string
	K         int `alcove:"min=1,max=16"` // How many tags; max_tags of the configuration by default.
}

// Suggested is what a text would be tagged with.
type Suggested struct {
	Tags       []suggest.Candidate
	Type       string
	Importance float64 `alcove:"min=0,max=1"`
	Names      []string
	Dates      []string
	Numbers    []string
	Source     string `alcove:"enum=text|llm"`
}

// Call reads the text.
func (in SuggestTags) Call(c *alcove.Call, cfg Config) (Suggested, error) {
	if in.Text == "" {
		return Suggested{}, alcove.Errorf(alcove.InvalidArgument, "give a text")
	}
	if in.K <= 0 {
		in.K = max(cfg.MaxTags, 1)
	}
	r, source := in.read(c, cfg, in.Text)
	stats, err := in.statistics(c, or(in.Namespace, c.Namespace), in.Text, r)
	if err != nil {
		return Suggested{}, err
	}
	return Suggested{
		Tags: stats.Tags(r, nil, in.K), Type: or(r.Type, cfg.DefaultType), Importance: r.Importance,
		Names: r.Names, Dates: r.Dates, Numbers: r.Numbers, Source: source,
	}, nil
}
