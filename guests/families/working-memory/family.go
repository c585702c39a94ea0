// Package workingmemory serves the family working-memory: the few thoughts in focus, and the boundaries that empty it.
//
// Each agent has a buffer of about seven thoughts, each with an attention from 0 to 1. When it is full, or on request, the weakest become
// memories. A boundary is where the topic, the mood or the pace of a conversation changes; acting on one links the thoughts of the
// finished topic, or moves thoughts to long-term memory. Nothing that was in focus is lost: whatever leaves the buffer is a memory whose
// importance is its attention.
//
//alcove:family working-memory 1.0.0
//alcove:description A seven-item attention buffer and the boundaries that empty it
//alcove:keywords focus, attention, mind, thoughts, thinking, right now, currently, short-term, buffer, hold, juggle, capacity, overload, load, active
//alcove:keywords topic changed, switched, boundary, break, pause, mood, pace, conversation shifts, concentrate, important right now, weaken, fade
//alcove:example keep this in mind while I work on the task
//alcove:example what am I thinking of at the moment?
//alcove:example hold a few items in short-term memory
//alcove:example did the conversation just move to another subject?
//alcove:example detect that the user changed the topic
//alcove:example drop the least important thought from my focus
//alcove:example how loaded is my attention?
//alcove:example let attention fade for things I did not touch
//alcove:example move what is in focus to long-term memory
//alcove:example note a thought in my scratchpad for a moment
//alcove:example the mood of the dialogue changed, deal with it
//alcove:example I am switching tasks, set aside what I had in mind
//alcove:example strengthen a thought that came up again
//alcove:example there was a long pause, what happens to my buffer?
//alcove:example bear this in mind for the next minutes
//alcove:example hold on to this thought for a moment
//alcove:example hang on to a number while I calculate
//alcove:example what is on my mind now?
//alcove:example what am I concentrating on?
//alcove:example short notes to self for the current step
//alcove:example too much in my head at once
//alcove:example am I overloaded?
//alcove:example has the subject of the talk shifted?
//alcove:example are we still on the same topic?
//alcove:example forget about the side thought, it is not in focus
//alcove:example free my head, store what I held
//alcove:example boost the thought that matters most now
//alcove:example which of my current thoughts is strongest?
//alcove:example wipe the scratchpad
//alcove:example we are done with this subject, file its thoughts
//alcove:example keep the error code in your head while we debug
//alcove:example don't lose sight of the deadline while I explain
//alcove:example I want to juggle these three ideas for a bit
//alcove:example put the number 4711 at the back of my mind
//alcove:example focus on the login bug now
//alcove:example add this to what I'm currently thinking about
//alcove:example what are you thinking about just now?
//alcove:example which ideas are at the top of my mind?
//alcove:example what have I got in focus?
//alcove:example list my active thoughts, strongest first
//alcove:example contents of the attention buffer
//alcove:example is there room for another thought?
//alcove:example how many of the seven slots are taken?
//alcove:example my head is full
//alcove:example too many things at once, drop the weakest
//alcove:example I can't concentrate, clear my mind
//alcove:example let what I am not using fade from attention
//alcove:example make everything in focus a little weaker
//alcove:example dim the thoughts I have not come back to
//alcove:example lower the attention of all current items
//alcove:example push the weak thoughts into long-term memory
//alcove:example unload my short-term memory into permanent notes
//alcove:example store away what I no longer need in focus
//alcove:example empty the scratchpad and keep what mattered
//alcove:example save the thoughts I'm about to lose
//alcove:example that idea came up again, reinforce it
//alcove:example strengthen the focus on the budget question
//alcove:example hold this for five minutes
//alcove:example temporarily keep the coordinates while I compute
//alcove:example mental note for the next step only
//alcove:example jot it on my mental whiteboard
//alcove:example remember this just for this step, not for good
//alcove:example did we just change the subject?
//alcove:example is this message about something else than before?
//alcove:example has the user moved on to another topic?
//alcove:example was that a shift of mood?
//alcove:example the user sounds angry all of a sudden, react to that
//alcove:example the pace of the talk picked up
//alcove:example there was silence for half an hour, does that count as a break?
//alcove:example notice when the conversation turns to something new
//alcove:example where does one episode end and the next begin?
//alcove:example topic switch: put away the thoughts on the old one
//alcove:example we are moving on to the budget, process what was before
//alcove:example close this train of thought
//alcove:example chapter closed, link its thoughts together
//alcove:example I jump to another task, what do I do with my current thoughts?
//alcove:example act on the change of subject
//alcove:example segment the conversation
//alcove:example how often did the topic change today?
//alcove:example statistics on context switches
//alcove:example cognitive load right now
//alcove:example am I close to my attention limit?
//alcove:example how busy is my mind?
//alcove:example status of attention and boundaries
//alcove:example stop thinking about the colour scheme
//alcove:example remove the side issue from focus
//alcove:example I was distracted, what did I have in mind?
//alcove:example refocus
//alcove:example keep these intermediate results at hand while I go on
//alcove:example working set of this step
//alcove:example stash the partial result for a second
//alcove:example which thought will be dropped next?
//alcove:example bring the thought about latency back to the foreground
//alcove:example give the main idea more attention
//alcove:license Apache-2.0
//alcove:needs memory.write * to store the thoughts that leave the buffer
//alcove:needs link.write * to link the thoughts of a finished topic
//alcove:needs record wm,focus to keep the buffer and the state of the conversation of each agent
//alcove:needs embed to compare topics by meaning
//alcove:needs feed.emit * to announce consolidations and boundaries
//alcove:needs feed.kind wm_consolidated,boundary_detected to announce them by these names
//alcove:limits memory_pages=512 wall_ms=30000 cpu_ms=10000 fuel=20000000000
package workingmemory

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	Capacity           int     `alcove:"key=wm_capacity,shared,category=working_memory,min=5,max=9,default=7"`         // How many thoughts the buffer holds
	KeepRatio          float64 `alcove:"key=wm_keep_ratio,shared,category=working_memory,min=0.1,max=1,default=0.6"`   // Share of the capacity that stays after a consolidation
	DueRatio           float64 `alcove:"key=wm_due_ratio,shared,category=working_memory,min=0.1,max=1,default=0.8"`    // Share of the capacity from which a consolidation is due
	IntervalS          float64 `alcove:"key=wm_interval_s,shared,category=working_memory,min=5,max=86400,default=300"` // Seconds after which a consolidation is due
	BoundaryGapS       float64 `alcove:"shared,category=boundaries,min=5,max=86400,default=300"`                       // Pause in seconds that is a boundary
	BoundarySimilarity float64 `alcove:"shared,category=boundaries,min=0,max=1,default=0.3"`                           // Similarity of topics below which there is a boundary
	BoundaryEmotion    float64 `alcove:"shared,category=boundaries,min=0,max=3,default=0.5"`                           // Change of mood that is a boundary
}

// Family is working-memory.
func Family() *alcove.Family {
	return alcove.New(WmAdd{}, WmStatus{}, WmDecay{}, WmConsolidate{}, DetectBoundary{}, ProcessBoundary{}, CognitiveStatus{})
}
