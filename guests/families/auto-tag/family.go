// Package autotag serves the family auto-tag.
//
// When a memory is stored, auto-tag adds the namespace's own tags that fit it, then phrases of nouns, names and identifiers in it, a type
// (decision, error, plan…) from the way it is put, and an importance. What somebody gave stays as it is, and teaches which tags fit. Tags
// that mean the same (plurals, other endings, slips of a key) become one: each namespace has a vocabulary of its tags, which is learned in
// the background. No language model is needed; where the operator
// configured one and llm_endpoint names it, memory_auto_tag and memory_suggest_tags ask it first.
//
//alcove:family auto-tag 1.1.0
//alcove:description Gives memories tags, a type and an importance by what is in them, and keeps tags from multiplying
//alcove:keywords tag, tags, tagging, label, labels, labelled, untagged, keyword, keywords, categorize, category, classify, automatic, automatically, vocabulary
//alcove:keywords rename, spelling of tags, synonyms, related terms, expand a query
//alcove:example find good tags for this text
//alcove:example sort my notes into categories by their topic
//alcove:example tag what I store without my having to think of it
//alcove:example which labels are in use, and how often?
//alcove:example db and database should be one and the same tag
//alcove:example rename a label in all notes that carry it
//alcove:example my tags are a mess, unify their spelling
//alcove:example work out the type and importance of these entries from their text
//alcove:example fill in missing tags on older entries
//alcove:example suggest synonyms and related words for my query
//alcove:example broaden a search term with similar terms
//alcove:example teach it that this kind of note gets the label travel
//alcove:example give these uncategorised items a subject
//alcove:example tidy up the tag vocabulary
//alcove:example what should this be filed under?
//alcove:example which category does it belong in?
//alcove:example two labels are spelled differently, unite them
//alcove:example mark my notes with subjects so that I find them again
//alcove:example apply our usual labels to the new entries
//alcove:example other words for what I am looking for
//alcove:example give my search query more related terms
//alcove:example correct the tags that were chosen
//alcove:example turn automatic labelling loose on the whole collection
//alcove:license Apache-2.0
//alcove:needs memory.read * to read what it tags, and count which tags and words there are
//alcove:needs memory.write * to tag memories that are stored already
//alcove:needs record tag-vocabulary to remember how tags are written in each namespace
//alcove:needs job to tag a namespace and learn its vocabulary in the background
//alcove:needs embed to see which texts are like those with a tag, where there is an embedder
//alcove:needs llm * to ask a language model for tags, only where llm_endpoint names one
//alcove:limits memory_pages=1024 wall_ms=120000 cpu_ms=60000 fuel=120000000000
package autotag

import (
	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	MaxTags       int    `alcove:"default=5,min=0,max=16"` // Tags that a memory is brought to; 0 for none
	SetType       bool   `alcove:"default=true"`           // Whether memories without a type get one
	DefaultType   string `alcove:"default=observation"`    // The type where the text shows none; empty for none
	SetImportance bool   `alcove:"default=true"`           // Whether memories without an importance get one
	Mentions      bool   `alcove:"default=true"`           // Whether names, dates and amounts are noted in the metadata
	LLMEndpoint   string // The operator's name of the language model to ask; empty for none
}

// reader reads texts. The parts that do embed it: it is made before the first request, and keeps nothing of any.
type reader struct{ suggest *suggest.Suggester }

// Family is auto-tag.
func Family() *alcove.Family {
	r := reader{suggest.New()}
	return alcove.New(AutoTag{reader: r}, Retag{}, SuggestTags{reader: r}, MergeTags{reader: r}, ExpandQuery{reader: r}, Tagger{r}, Learn{reader: r}, RetagBatch{reader: r})
}
