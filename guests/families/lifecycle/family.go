// Package lifecycle serves the family lifecycle: it tells what memories are worth keeping, and archives, restores, promotes and expires them.
//
// Each memory has a relevance, which decays with every day without use, and a score of being forgotten: the sum of what speaks for it. The
// daily job decay archives what exceeds forget_threshold; the hourly job gc archives what has expired. Nothing is deleted: what was archived,
// merged or pruned keeps its text and history, is found with the state named, and can be restored. Pinned memories, steering rules, turns of
// conversations, and memories of the last 30 days that nothing supersedes are never forgotten. Where memory.propose is granted for jobs,
// what they find lands on a branch of proposals.
//
//alcove:family lifecycle 1.0.0
//alcove:description Decay, find stale memories, archive, restore, promote, collect the expired
//alcove:keywords old, stale, outdated, obsolete, unused, age, expire, expired, expiry, lifetime, time limit, temporary, permanent, keep for good, retention
//alcove:keywords archive, restore, bring back, recover, unarchive, clean up, clean out, tidy, purge, prune, forget, fade, decay, remove old, months, years, no longer needed
//alcove:example which notes are out of date?
//alcove:example throw away old things that nobody reads
//alcove:example put memories in the archive
//alcove:example restore something from the archive
//alcove:example let it expire tomorrow
//alcove:example this is only needed for an hour, then drop it
//alcove:example never forget this one
//alcove:example free space by removing outdated entries
//alcove:example how much is archived, and why?
//alcove:example forget everything about the cancelled trip
//alcove:example delete all memories that match a pattern
//alcove:example what is rarely used and old?
//alcove:example make this temporary note permanent
//alcove:example collect what has passed its end date
//alcove:example let unimportant memories fade away
//alcove:example mark facts as pruned
//alcove:example copy it from my own namespace up to the team's
//alcove:example get rid of ancient stuff nobody looks at
//alcove:example cleaning up: what can go?
//alcove:example which knowledge is not current any more?
//alcove:example put this note aside without deleting it
//alcove:example take the note out of the archive again
//alcove:example unarchive what I filed away
//alcove:example it should disappear on its own after a week
//alcove:example valid only until Friday, remove afterwards
//alcove:example auto-delete this in a month
//alcove:example delete everything that mentions the old office
//alcove:example keep this forever, it must not be cleaned out
//alcove:example how many memories have been archived?
//alcove:example list what was put away
//alcove:example sweep out the expired ones
//alcove:example mark these as superseded and merged into that one
//alcove:example share my private memory with the level above
//alcove:example gather notes that have not been opened in ages
//alcove:example the information is obsolete, retire it
//alcove:example get rid of what is past its date
//alcove:example which of these have not been touched since last year?
//alcove:example purge the leftovers of the old campaign
//alcove:example I don't need the notes on the cancelled conference any longer
//alcove:example put the 2019 entries into cold storage
//alcove:example file this away, we may want it later
//alcove:example shelve the memory about the prototype
//alcove:example pull that memory back out of storage
//alcove:example I archived it by accident, restore it
//alcove:example undelete the pruned fact
//alcove:example reactivate an archived entry
//alcove:example what sits in the archive at present?
//alcove:example archive counts by namespace
//alcove:example why were these archived?
//alcove:example expire this at midnight
//alcove:example only valid for six hours
//alcove:example give the note a life of seven days
//alcove:example this may vanish after the demo
//alcove:example self-destruct in two weeks
//alcove:example make it temporary
//alcove:example remove the expiry so it stays
//alcove:example it must never expire
//alcove:example turn the short-lived note into a lasting one
//alcove:example keep for ever
//alcove:example promote my finding to the parent namespace
//alcove:example lift this memory from the project level to the organisation level
//alcove:example run garbage collection on expired memories
//alcove:example clear what has run out
//alcove:example collect the dead entries
//alcove:example mass forget: every note tagged spike
//alcove:example forget all about my ex
//alcove:example erase every memory that contains the word pineapple
//alcove:example drop all observations older than six months, but show me first
//alcove:example preview what a bulk removal would take
//alcove:example archive everything of type plan from last year
//alcove:example wipe out entries that match a pattern
//alcove:example find junk that could be pruned
//alcove:example which facts are weak, old and never read?
//alcove:example suggest memories that could go
//alcove:example show candidates for cleaning with reasons
//alcove:example our memory is bloated, slim it down
//alcove:example too much old clutter in here
//alcove:example dead weight: what is never recalled?
//alcove:example the information about the old API is no longer true, retire those notes
//alcove:example these facts were folded into note 9, flag them so
//alcove:example mark three entries as merged into a newer one
//alcove:example take this out of search results but keep its history
//alcove:example hide this memory from search for good
//alcove:example let trivial memories decay over time
//alcove:example which memories are about to be forgotten?
//alcove:example how stale is our knowledge of the competitor?
//alcove:example spring cleaning of the notes
//alcove:example tidy the attic of my memory
//alcove:example weed out things nobody opened
//alcove:example what is outdated in what you know?
//alcove:example is any of this past its best?
//alcove:example set an end date for the promotion code note
//alcove:example extend the life of that memory by a month
//alcove:example this memory is for today only
//alcove:example remember it until the end of the sprint, then let go
//alcove:example permanently keep the emergency contacts
//alcove:example put the finished project's memories to rest
//alcove:example bring the archived meeting notes back to life
//alcove:example show archived things that mention Rome
//alcove:example free up room by dropping junk memories
//alcove:example how many entries lie in the archive?
//alcove:example automatic forgetting of unimportant stuff
//alcove:example copy the lesson to the team's shared level for good
//alcove:license Apache-2.0
//alcove:needs memory.read * to tell how old and how used memories are
//alcove:needs memory.write * to archive, restore, promote and expire them
//alcove:needs memory.propose * to propose what its jobs find, on a branch of its own
//alcove:needs branch.read * to propose nothing anew while its proposal waits
//alcove:needs link.read * to link with memories of other namespaces
//alcove:needs link.write * to link what was merged or promoted with where it went
//alcove:needs scope.read * to read how long a scope keeps what was archived
//alcove:needs job to age memories on a schedule
//alcove:needs feed.emit * to announce what it did
//alcove:needs feed.kind fact_archived,fact_restored,fact_merged,fact_pruned,fact_promoted,lifecycle_run to announce it by these names
//alcove:limits memory_pages=2048 wall_ms=300000 cpu_ms=60000 fuel=120000000000 host_calls=100000
package lifecycle

import (
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	// What is left of a memory of type * after a day without use
	//
	//alcove:default decision:0.998 error:0.995 correction:0.995 insight:0.997 steering_rule:0.999 learning:0.996
	//alcove:default session_summary:0.99 plan:0.995 observation:0.99 other:0.99
	Decay map[string]float64 `alcove:"key=decay_rate_*,shared,category=decay_rates,min=0.9,max=1"`

	// Importance of memories of type * that have none
	//
	//alcove:default decision:0.8 error:0.7 insight:0.75 correction:0.7 steering_rule:0.85 learning:0.65
	//alcove:default session_summary:0.6 plan:0.6 observation:0.5 note:0.4 other:0.5
	Importance score.ByType `alcove:"key=importance_weight_*,shared,category=importance_weights,min=0,max=1"`

	Weights              Weights `alcove:"key=forget_weight_*,shared,category=forget_weights"`
	ForgetThreshold      float64 `alcove:"shared,category=thresholds,min=0,max=1,default=0.7"`    // Memories whose score of being forgotten exceeds it are archived
	PruneAgeDays         float64 `alcove:"shared,category=thresholds,min=1,max=3650,default=90"`  // Days after which a memory may be stale
	PruneMaxImportance   float64 `alcove:"shared,category=thresholds,min=0,max=1,default=0.3"`    // The highest importance of stale memories
	PruneMaxAccessCount  int64   `alcove:"shared,category=thresholds,min=0,default=3"`            // The highest count of accesses of stale memories
	PromoteAfterAccesses int     `alcove:"shared,category=lifecycle,min=1,max=1000000,default=5"` // Accesses after which a memory of tier mid is kept without a time
	AutoForget           bool    `alcove:"shared,category=lifecycle,default=true"`                // Whether the daily job archives what is forgotten
}

// Weights are score.Weights as they are configured.
type Weights struct {
	Superseded   float64 `alcove:"min=0,max=1,default=0.3"` // How much it counts that another memory supersedes it
	Unread       float64 `alcove:"min=0,max=1,default=0.2"` // How much it counts that it was recalled at most once in more than 30 days
	Unimportant  float64 `alcove:"min=0,max=1,default=0.2"` // How much an importance below 0.3 counts
	Contradicted float64 `alcove:"min=0,max=1,default=0.1"` // How much it counts that another memory contradicts it
	Decayed      float64 `alcove:"min=0,max=1,default=0.2"` // How much it counts that its relevance decayed
}

func (cfg Config) rate(kind string) float64 {
	if rate, ok := cfg.Decay[kind]; ok {
		return rate
	}
	return cfg.Decay["other"]
}

// Family is lifecycle.
func Family() *alcove.Family {
	return alcove.New(
		ListStaleFacts{}, MarkFactsMerged{}, MarkFactsPruned{}, ArchiveFact{}, ArchiveList{}, ArchiveRestore{}, ArchiveStats{},
		ForgetMatching{}, GC{}, Promote{}, SetTTL{}, Decay{}, Collect{}, Retention{},
	)
}
