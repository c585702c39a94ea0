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
