// Package consolidation serves the family consolidation: it merges memories that say the same, and points out those that
// contradict each other or belong together.
//
// Compares the active memories of a namespace with each other. Of those that say the same one is kept: it supersedes the others, which
// get the state merged and a link to it. Memories that contradict each other and clusters of related ones are reported. Where the operator did
// not grant direct writing, all of it lands on a branch of proposals, to be merged or dropped. Turns of conversations are left as they are.
// What is merged is not deleted: its state can be set back. What is forgotten is archived by the family lifecycle.
//
//alcove:family consolidation 1.0.0
//alcove:description Merges memories that say the same, and points out contradictions and clusters
//alcove:keywords duplicate, duplicates, merge, combine, same thing, identical, near-identical, overlapping, redundant, repeated, twice, deduplicate
//alcove:keywords contradict, contradiction, conflict, conflicting, disagree, inconsistent, resolve, both be true, cluster, condense, summarize several, into one
//alcove:example are there two entries that say the same?
//alcove:example remove repeated notes and keep one of each
//alcove:example fold similar memories together
//alcove:example did I write this down before, in other words?
//alcove:example check for a duplicate before I save this
//alcove:example does this statement conflict with something known?
//alcove:example find facts that cannot both be true
//alcove:example which of my notes are inconsistent with one another?
//alcove:example boil these many notes down to a few
//alcove:example group memories that are about the same thing
//alcove:example one note says five and another says six, find such cases
//alcove:example clean up redundancy in what we know
//alcove:example compress the pile of similar observations
//alcove:example spot statements that disagree with the new one
//alcove:example we have stored this several times, clean that up
//alcove:example is this already in memory, perhaps worded differently?
//alcove:example the same fact is there twice
//alcove:example these claims cannot both hold
//alcove:example does the new information clash with the old?
//alcove:example turn ten notes about one matter into a single one
//alcove:example which statements are at odds?
//alcove:example is there a conflict about the delivery date?
//alcove:example find near copies
//alcove:example distil these observations into one summary note
//alcove:example what did we note that is contradictory?
//alcove:example these two notes say the same thing, make them one
//alcove:example have we got this down already?
//alcove:example don't store it twice, check first
//alcove:example is there a note that says this already?
//alcove:example which notes repeat each other?
//alcove:example list doubles
//alcove:example same information saved by two agents
//alcove:example melt these three notes into one
//alcove:example join the overlapping notes on shipping
//alcove:example dedupe the namespace
//alcove:example near-identical entries on the printer
//alcove:example keep one and drop the copies
//alcove:example redundant facts
//alcove:example the user told us this five times
//alcove:example what is the nearest note to this text, and should I merge?
//alcove:example find pairs that contradict
//alcove:example note 4 says Monday, note 9 says Tuesday
//alcove:example does this fact oppose what we had before?
//alcove:example are these two statements compatible?
//alcove:example can both of these be right?
//alcove:example I think A and B exclude each other, check
//alcove:example inconsistencies about the budget
//alcove:example conflicting addresses for the same client
//alcove:example where does our knowledge disagree with itself?
//alcove:example spot disagreements between agents' notes
//alcove:example is anything in memory at odds with the new policy?
//alcove:example why do these two conflict?
//alcove:example which of the two contradictory notes is true?
//alcove:example clear up contradictions
//alcove:example reconcile the two versions
//alcove:example condense many small notes about the move
//alcove:example boil down the logs of this month
//alcove:example turn the scattered remarks on onboarding into a coherent one
//alcove:example summarise clusters of similar memories
//alcove:example bundle what belongs to the same matter
//alcove:example clusters of related notes
//alcove:example compact the memory by merging what is similar
//alcove:example reduce repetition
//alcove:example we have the same fact in other words
//alcove:example unite entries with the same content
//alcove:example paraphrases of the same thing, merge them
//alcove:example propose merges for me to look at
//alcove:example report on duplicates and contradictions
//alcove:example run the nightly merging now
//alcove:example consolidate the project's memories
//alcove:example similar facts should become one
//alcove:example undo a wrong merge of two notes
//alcove:example was this merged into something?
//alcove:example does the claim that the port is 80 clash with another?
//alcove:example new info: the office is in Graz, does that contradict something?
//alcove:example check the facts for consistency
//alcove:example sanity check of our knowledge: no contradictions
//alcove:example two truths about the same thing
//alcove:example overlapping observations about the pump
//alcove:example am I repeating myself in the notes?
//alcove:example which entries are copies of this one?
//alcove:example this looks familiar, is it a duplicate?
//alcove:example merge candidates
//alcove:example fuse both notes and keep the more recent wording
//alcove:example weed out repeats
//alcove:example pull together what is spread over twenty notes
//alcove:license Apache-2.0
//alcove:needs memory.read * to compare memories with each other
//alcove:needs memory.propose * to propose merges, on a branch of its own
//alcove:needs memory.write * to do so directly, where that is granted
//alcove:needs record consolidation-reports to keep the reports of its jobs
//alcove:needs job to run in the background and on a schedule
//alcove:needs embed to find what says the same in other words
//alcove:needs llm * to write digests of clusters, only where llm_endpoint names a model
//alcove:limits memory_pages=2048 wall_ms=300000 cpu_ms=60000 fuel=120000000000 host_calls=100000
package consolidation

import (
	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	Enabled        bool     // Whether the scheduled job does something
	Namespaces     []string `alcove:"max=100"`                                                                       // Namespaces of the scheduled job, * for all; empty for the one that it is called in
	Contradictions string   `alcove:"enum=report|newest,default=report"`                                             // report only reports them; newest archives the older one
	MinFacts       int      `alcove:"key=consolidation_min_facts,shared,category=thresholds,min=2,max=20,default=3"` // How many related memories are a cluster
	MergeClusters  bool     // Whether clusters become one digest that supersedes them
	LLMEndpoint    string   // The operator's name of the language model that writes digests; empty for none
}

// Family is consolidation.
func Family() *alcove.Family { return familyOf(mostMemories) }

// familyOf is consolidation of so many memories at once.
func familyOf(most int) *alcove.Family {
	at := extent{comparer: compare.New(), most: most}
	return alcove.New(Consolidate{extent: at}, FindDuplicates{find{extent: at}}, FindContradictions{find{extent: at}}, CheckDuplicate{extent: at}, DetectContradiction{extent: at}, Consolidation{extent: at})
}
