// Package autotag serves the family auto-tag.
//
// When a memory is stored, auto-tag adds the namespace's own tags that fit it, then its topic by a built-in thesaurus, nouns and names in
// it, a type (decision, error, plan…) from the way it is put, and an importance. What somebody gave stays as it is, and teaches which tags
// fit. Tags that mean the same (plurals, other endings, slips of a key) become one: each namespace has a vocabulary of its tags, which is
// learned in the background. No language model is needed; where the operator configured one and llm_endpoint names it, memory_auto_tag and
// memory_suggest_tags ask it first.
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
//alcove:example which tags would suit this paragraph?
//alcove:example propose keywords for the text about solar panels
//alcove:example give this note some labels
//alcove:example file it under the right headings
//alcove:example what topic is this about?
//alcove:example classify these ten snippets
//alcove:example sort this into work or private
//alcove:example detect whether this is a decision or an error
//alcove:example how important is this text, going by its content?
//alcove:example guess the type of the entry
//alcove:example the old notes have no tags, add some
//alcove:example go through the whole namespace and tag it
//alcove:example label everything in the background
//alcove:example how far along is the tagging job?
//alcove:example retag all notes with the new vocabulary
//alcove:example each new memory should be labelled by itself
//alcove:example switch on tagging for what I save
//alcove:example k8s and kubernetes mean the same, use one tag
//alcove:example merge the tags bug, bugs and defect
//alcove:example replace the tag frontend by ui all over
//alcove:example too many tags, reduce them
//alcove:example find tags that are near synonyms
//alcove:example clean the list of keywords
//alcove:example harmonise our labels
//alcove:example plural and singular forms of tags, join them
//alcove:example which tags exist?
//alcove:example most frequent tags
//alcove:example tag cloud
//alcove:example what tag do we normally use for invoices?
//alcove:example use our own words for the labels
//alcove:example synonyms for my search term
//alcove:example which other words should I search for?
//alcove:example widen my search for car
//alcove:example similar terms for heart attack
//alcove:example expand the query before I search
//alcove:example words that often occur together with latency
//alcove:example the search finds too little, give me related words
//alcove:example keywords that describe this log
//alcove:example assign categories
//alcove:example group by subject with labels
//alcove:example hashtags for this post in memory
//alcove:example wrong label on this note, take it off
//alcove:example this should have been tagged travel, learn it
//alcove:example correct the category of an entry
//alcove:example what would you tag this with?
//alcove:example does this belong to finance or legal?
//alcove:example make the notes findable by subject
//alcove:example index terms for this document
//alcove:example annotate the memory with topics
//alcove:example tag one memory from what it says
//alcove:example automatic keywords
//alcove:example spell our tags consistently
//alcove:example untagged notes: take care of them
//alcove:example rename the category of all the old entries
//alcove:example normalise tags
//alcove:example set type and importance from the text for notes lacking them
//alcove:example categorise the inbox of notes
//alcove:example taxonomy of our labels
//alcove:example unify labels in two languages
//alcove:example put a subject on each entry
//alcove:example related expressions for a query on flooding
//alcove:example label
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
