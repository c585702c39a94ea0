// Package facts serves the family facts: typed, atomic facts, which are memories with a type.
//
// A fact is one idea: a decision, an observation, a plan, an error, an insight, a correction, a steering rule, a lesson, the summary of a
// session, or a note. Its importance follows from its type, its emotion, the entities that it is about and its length, unless it is
// given. What use and feedback add is computed when the fact is read. Core search, history, branches and merges see facts like any other
// memory. As a store hook the family gives the importance to facts that the core stores; as a stored hook it adds emotion and tier, and
// announces fact_enriched.
//
//alcove:family facts 1.0.0
//alcove:description Write typed, atomic facts: what was observed, decided, learned, or went wrong.
//alcove:keywords note, jot, write down, record, remark, notice, observe, remember, keep in mind, decision, decide, reason, lesson, learn, knowledge, mistake, went wrong
//alcove:keywords insight, correction, rule, plan, preference, statement, correct a memory, edit, change text, recent, latest, newest, overview, stored, how many
//alcove:example remember that the client prefers phone calls
//alcove:example save this: the API limit is 100 a minute
//alcove:example note that the build broke because of a missing header
//alcove:example we chose SQLite, keep that with the reasons
//alcove:example store a rule that must always be followed
//alcove:example I learned that retries need jitter, keep it
//alcove:example log an error that happened and how it was fixed
//alcove:example that note is wrong, correct its text
//alcove:example change the importance or type of a stored fact
//alcove:example list all the decisions that we made
//alcove:example what was added lately?
//alcove:example give me an overview of what is known, by type
//alcove:example show all facts of type error from last week
//alcove:example I like short answers, don't forget it
//alcove:example record an insight about our users
//alcove:example keep this observation for later
//alcove:example update what we know about the deadline
//alcove:example make a note that the server room code changed
//alcove:example for the record: the supplier raised prices
//alcove:example we settled on Kubernetes, with the arguments for it
//alcove:example please don't forget that Anna is allergic to nuts
//alcove:example log what went wrong with the release and the cause
//alcove:example always use metric units, remember that as a rule
//alcove:example memorize my favourite colour
//alcove:example there is a typo in a note, fix the wording
//alcove:example amend an earlier note but keep the rest
//alcove:example reword something I stored
//alcove:example mark that fact as more important
//alcove:example what are our most recent entries?
//alcove:example how much do you know, and about what?
//alcove:example which decisions were taken this month?
//alcove:example list open plans
//alcove:example list the lessons learned
//alcove:example statistics of what is stored by kind and subject
//alcove:example take down what I just found out
//alcove:example keep a record of this finding
//alcove:example here is something about me you should know
//alcove:example what have you noted most recently?
//alcove:example write down that the cache was the culprit
//alcove:example we decided to use Vue for the dashboard, write it down
//alcove:example please note that the port has changed
//alcove:example I noticed that the test is flaky, note it
//alcove:example record that the pump failed because of a valve
//alcove:example my sister's birthday is the third of March, keep it
//alcove:example Paul wants his reports as bullet points from now on
//alcove:example for next time: the migration needs a superuser
//alcove:example don't ever push to main on a Friday, that's a standing rule
//alcove:example we dropped GraphQL because the clients could not cache it
//alcove:example the customer called and wants to move the launch to June, jot it down
//alcove:example I found out that the printer driver leaks memory
//alcove:example the root cause was a missing index on orders
//alcove:example put on file that the contract with Hansen ends in December
//alcove:example I'm vegetarian, so stop proposing steak places
//alcove:example please keep hold of this piece of information
//alcove:example store the following as one idea
//alcove:example here's a fact worth keeping
//alcove:example commit this to your long-term knowledge
//alcove:example lesson from today: never trust the clock of the test machine
//alcove:example take a note: the staging password rotates every month
//alcove:example we went with option B after weighing cost against speed
//alcove:example the board approved the budget, and here is why
//alcove:example I messed up the deploy by skipping the dry run, remember the mistake
//alcove:example the user corrected me: the meeting is on the second floor
//alcove:example she prefers tea
//alcove:example he hates being called before nine
//alcove:example add to your knowledge that the API returns dates in UTC
//alcove:example retain what the doctor told me about the dosage
//alcove:example note to self for good: back up before upgrading
//alcove:example log this bug and what fixed it
//alcove:example I realised that most support tickets come from one tenant
//alcove:example our plan for the next quarter is to rewrite the importer
//alcove:example save a plan for the house move
//alcove:example capture an insight from the interviews
//alcove:example this rule holds for everybody: no secrets in commit messages
//alcove:example change the confidence of that statement to low
//alcove:example the port I gave you is out of date, it is 8443 now, amend the entry
//alcove:example replace the text of note 12 and leave its tags alone
//alcove:example set the importance of that memory to nine
//alcove:example pin this so it counts as essential
//alcove:example add a summary to an existing fact
//alcove:example attach my emotions to the memory: I was frustrated
//alcove:example mark it as personal
//alcove:example correct the year in what you stored about the merger
//alcove:example fix a spelling mistake in my last entry
//alcove:example the fact about the supplier should be of type decision
//alcove:example move that entry into another collection
//alcove:example list errors logged in November
//alcove:example all insights with importance above 0.8
//alcove:example show the steering rules we have
//alcove:example what corrections did the user make so far?
//alcove:example facts created by the build agent, newest first
//alcove:example which plans are still on record?
//alcove:example give me every observation from the first week of May
//alcove:example what was the last thing you wrote down?
//alcove:example the five newest entries please
//alcove:example show me what came in this morning
//alcove:example anything fresh in the memory?
//alcove:example summary of the whole memory: number of entries and topics
//alcove:example what kinds of things do you have stored?
//alcove:example how big is your knowledge, and what are the main subjects?
//alcove:example count the facts by type
//alcove:example page through everything that is stored
//alcove:example what do you have in store about all subjects, in short?
//alcove:example tell me what you've got in there overall
//alcove:example an inventory of what's been saved
//alcove:example memorise: wifi code at the cabin is on the fridge
//alcove:example the new hire starts on Monday, write that in
//alcove:example I decided against the electric car because of the range
//alcove:example the reason why we postponed the audit should be kept
//alcove:example it turned out that the sensor was mounted upside down, put that on record
//alcove:example from now on answer me in German
//alcove:example you should know that I have two kids
//alcove:example this is important: the safe closes at six
//alcove:license Apache-2.0
//alcove:needs memory.read * to list facts, and read those that it changes
//alcove:needs memory.write * to store facts
//alcove:needs feed.emit * to announce facts
//alcove:needs feed.kind fact_created,fact_updated,fact_enriched to announce them under these names
//alcove:needs llm * to classify facts by a language model, only with classify_with_llm
//alcove:limits memory_pages=1024
package facts

import (
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	// Importance of memories of type * that have none
	//
	//alcove:default decision:0.8 error:0.7 insight:0.75 correction:0.7 steering_rule:0.85 learning:0.65
	//alcove:default session_summary:0.6 plan:0.6 observation:0.5 note:0.4 other:0.5
	Importance score.ByType `alcove:"key=importance_weight_*,shared,category=importance_weights,min=0,max=1"`

	MaxFactBytes    int  `alcove:"shared,category=facts,default=8192,min=256,max=1048576"` // The longest content of a fact, in bytes
	ClassifyWithLLM bool `alcove:"shared,category=facts"`                                  // Whether a language model decides on emotion and tier
}

// Family is facts.
func Family() *alcove.Family {
	return alcove.New(StoreFact{}, Update{}, QueryFacts{}, Remember{}, Learn{}, Decide{}, Recent{}, Digest{}, Hooks{})
}
