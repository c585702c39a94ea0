// Package retrieval serves the family retrieval: it searches by vector or text, and learns which results helped.
//
// A search finds active memories, facts and others. Agents say which facts they used, or rate them; each piece of feedback moves the outcome
// of the fact by the share outcome_alpha, and the outcome is part of its rank. Nothing of this writes a version of the fact. An hourly job
// compares how often recalled facts were used before and after each change of the configuration: where that fell, it announces
// config_degraded_recall with the version to roll back to.
//
//alcove:family retrieval 1.0.0
//alcove:description Search by vector or text, and record which results helped.
//alcove:keywords search, find, look up, query, phrase, words, similar, resemble, meaning, semantic, vector, embedding, nearest, topic, recall, retrieve
//alcove:keywords results, helpful, unhelpful, useful, feedback, rate, rating, thumbs up, thumbs down, used, actually, answer, quality, hit rate, failure
//alcove:example search my memories for this phrase
//alcove:example find everything that is similar to this text
//alcove:example search by vector
//alcove:example look something up by its meaning, not by its words
//alcove:example which facts mention the harbour?
//alcove:example these search results helped me, record it
//alcove:example the recalled fact was wrong for my question
//alcove:example say which of the found facts I used in the answer
//alcove:example how good are our searches, how often do they hit?
//alcove:example full-text search with filters
//alcove:example give a rating to a recalled memory
//alcove:example what do we know on this topic?
//alcove:example count a memory as used
//alcove:example withdraw my feedback on that recall
//alcove:example nearest neighbours of an embedding
//alcove:example look for anything about the outage
//alcove:example what do you know about the heating?
//alcove:example do we have something on this customer?
//alcove:example search for notes that mention invoices
//alcove:example find notes with the same meaning though other words are used
//alcove:example something like this sentence, even if differently worded
//alcove:example find the exact wording in all notes
//alcove:example that hit was useful
//alcove:example the answer from memory was wrong, flag it
//alcove:example the found note did not help
//alcove:example this memory helped me solve it
//alcove:example thumbs up for the third result
//alcove:example what you recalled was irrelevant
//alcove:example how well does recall work, in numbers?
//alcove:example I used these two facts, record that
//alcove:example query facts by text and type and date
//alcove:example dig up what was said on the subject of taxes
//alcove:example match a phrase literally
//alcove:example take back the rating I gave
//alcove:example search with a vector I computed
//alcove:example what have I told you about my allergies?
//alcove:example do you recall anything about the Henderson contract?
//alcove:example is there something stored on kernel panics?
//alcove:example bring up all that concerns the new office
//alcove:example where did we mention the port of the gateway?
//alcove:example look through the notes for the word kubelet
//alcove:example grep my memories for timeout
//alcove:example find passages like this one
//alcove:example anything comparable to this stack trace that we saw before?
//alcove:example which memories come closest to this question?
//alcove:example have we met this error in the past?
//alcove:example fetch the ten best facts on onboarding
//alcove:example search in two namespaces at once
//alcove:example only notes tagged billing that mention refunds
//alcove:example search facts of type error with the word leak from last spring
//alcove:example hybrid search for supplier delays
//alcove:example semantic lookup of heat pumps
//alcove:example find it even though I don't remember the exact words
//alcove:example what was that thing about the bridge, I only know roughly what it said
//alcove:example show memories near this embedding of mine
//alcove:example retrieve background on the patent case
//alcove:example pull up what is known regarding the vaccine study
//alcove:example what do our notes say concerning parental leave?
//alcove:example any info on the client from Madrid?
//alcove:example tell me all about the boiler incident
//alcove:example did anybody write about flaky tests?
//alcove:example I need facts on solar panels for my answer
//alcove:example locate the note with the tax number
//alcove:example which entries talk about caching?
//alcove:example the second result was spot on, keep track of that
//alcove:example that memory misled me
//alcove:example what you found was useless
//alcove:example mark the memory as helpful
//alcove:example this fact saved my day, give it five stars
//alcove:example rate that recall two out of ten
//alcove:example I relied on facts 3 and 7 and ignored the others
//alcove:example of the results you gave me I only used the first
//alcove:example report that the recalled info turned out false
//alcove:example the fact is not correct, signal that
//alcove:example the search failed me, nothing relevant came back
//alcove:example let the system know which of the found notes ended up in my reply
//alcove:example register that I opened these memories
//alcove:example bump the use count of these facts
//alcove:example these were used just now, count them
//alcove:example store which facts the query returned, so I can judge them later
//alcove:example keep track of this search and what came back for later feedback
//alcove:example how useful have recalls been this week?
//alcove:example share of recalled facts that got used
//alcove:example has the search become worse since the change of weights?
//alcove:example trend of recall quality over thirty days
//alcove:example are the things you remember for me actually helping?
//alcove:example precision of what is recalled, day by day
//alcove:example delete the rating I gave by mistake
//alcove:example remove my thumbs down again
//alcove:example cancel that feedback record
//alcove:example drop the recall entry from this morning
//alcove:example negative feedback for the last hit
//alcove:example praise the memory about the shortcut, it worked
//alcove:example I was happy with what you dug out
//alcove:example sentiment about this memory: bad
//alcove:example keyword search, no meaning, just the words
//alcove:example full text: "out of memory" within the last month
//alcove:example look up a fact about Jupiter's moons in the notes
//alcove:example is there any record of the talk with the landlord?
//alcove:example see whether we have knowledge on GDPR
//alcove:example find similar incidents
//alcove:example which of our notes would answer this question?
//alcove:example who said what about the logo, search for it
//alcove:example check memory for the recipe of the glue
//alcove:example show related knowledge for this paragraph
//alcove:example search by meaning for complaints about slow checkout
//alcove:license Apache-2.0
//alcove:needs memory.read * to search, and read the memories that feedback is about
//alcove:needs memory.count * to count use and feedback
//alcove:needs record recall,signal,alert to keep what was recalled, feedback, and what was announced
//alcove:needs job to compare recalls before and after changes of the configuration
//alcove:needs embed to search by the meaning of a query
//alcove:needs config.read * to find changes of the configuration
//alcove:needs feed.emit * to announce recalls and feedback
//alcove:needs feed.kind recall_recorded,signal_recorded,config_degraded_recall to announce them under these names
//alcove:needs tools.call memory_notify to tell who changed a setting that made recalls worse
//alcove:limits memory_pages=1024
package retrieval

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	OutcomeAlpha float64 `alcove:"shared,category=feedback,min=0,max=1,default=0.25"`                                     // How far one piece of feedback moves the outcome of a memory
	UnusedValue  float64 `alcove:"key=outcome_unused_value,shared,category=feedback,min=0,max=1,default=0.4"`             // The value of feedback for what was recalled and not used
	DropAlert    float64 `alcove:"key=recall_drop_alert,shared,category=feedback,min=0.01,max=0.9,default=0.1"`           // The fall of the share of used facts, after a change of the configuration, that is announced
	Enabled      bool    `alcove:"key=semantic_enabled,shared,category=semantic,default=true"`                            // Whether tools search by meaning
	Threshold    float64 `alcove:"key=semantic_threshold,shared,category=semantic,min=0,max=1,default=0"`                 // The least likeness of what is found by meaning alone
	Method       string  `alcove:"key=semantic_method,shared,category=semantic,enum=embedding|lexical,default=embedding"` // How likeness is computed
}

// semantic reports whether tools search by meaning.
func (cfg Config) semantic() bool { return cfg.Enabled && cfg.Method != "lexical" }

// Family is retrieval.
func Family() *alcove.Family {
	return alcove.New(VectorSearch{}, TextSearch{}, SearchFacts{}, BumpAccess{}, RecordRecall{}, RecordRecallUsage{}, RecordSignal{}, RecallQuality{},
		DeleteSignal{}, DeleteRecallFeedback{}, WatchRecall{})
}
