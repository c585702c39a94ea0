// Package sessions serves the family sessions: what an agent works on from its start to its end, and what the next one goes on with.
//
// A session has conversations, whose turns are memories, and checkpoints, which are versions of the memory: memory_wake reads the facts of
// a checkpoint as they were then, whatever happened since, and the older it is, the fewer. A session is closed by memory_close_session,
// which stores a summary; one whose client went away, or did nothing for session_idle_minutes, is abandoned, and its checkpoints are
// unclean. Handoffs pass work to another agent. memory_pack_context fills a budget, counted in tokens of cl100k_base, with facts about a
// topic.
//
//alcove:family sessions 1.0.0
//alcove:description Work sessions, conversations, handoffs to another agent, checkpoints to resume from, context that fits a token budget
//alcove:keywords session, sessions, conversation, conversations, handoff, hand over, shift, unfinished, leave off, left off, continue, resume, where were we, last time, pick up
//alcove:keywords checkpoint, save progress, context, token budget, fit, wake, start work, end of day, wrap up, summary of the session, transcript
//alcove:example begin working, and load what I need to know
//alcove:example finish work for today and summarise it
//alcove:example leave a note for whoever takes over
//alcove:example take over the work that somebody else left
//alcove:example save my progress in case I crash
//alcove:example continue from the last checkpoint
//alcove:example start a conversation and add its turns
//alcove:example what was said in the previous conversation?
//alcove:example put together the relevant context in at most 1000 tokens
//alcove:example pack background knowledge for my prompt within a budget
//alcove:example what was I doing before the break?
//alcove:example replay what happened in a session
//alcove:example remove an old conversation
//alcove:example brief me on the state of my work
//alcove:example my shift is over, hand things over
//alcove:example bring me up to speed after a restart
//alcove:example start my day and show what is open
//alcove:example log off with a short recap
//alcove:example wrap up and sum up what was done
//alcove:example pass this job to the next agent with all it must know
//alcove:example hand the ticket over with its background
//alcove:example what did my predecessor leave for me?
//alcove:example any handoffs waiting for me?
//alcove:example bookmark the present state so I can go on later
//alcove:example snapshot of my work to return to
//alcove:example pick the work up again after a crash
//alcove:example where was I?
//alcove:example what had I been working on?
//alcove:example the most relevant knowledge squeezed into 3000 tokens
//alcove:example assemble background for the prompt without exceeding the window
//alcove:example compact briefing on the topic for the model
//alcove:example keep the turns of this chat
//alcove:example what did the user and I talk about on Tuesday?
//alcove:example go through an earlier session step by step
//alcove:example delete the session of last week
//alcove:example resume from where I stopped yesterday
//alcove:example I am leaving, close the session
//alcove:example good morning, what is on my plate?
//alcove:example what did we discuss the other day?
//alcove:example transfer this task to the tester with all the context
//alcove:example let's get going, what do I have to know?
//alcove:example I just booted, catch me up
//alcove:example kick off a work session on the parser
//alcove:example new day, new session
//alcove:example open a session for the migration
//alcove:example what was left open from the last run?
//alcove:example did the last session end cleanly?
//alcove:example any unfinished business from the previous agent?
//alcove:example I'm handing over to the night shift
//alcove:example the next agent should continue from here, tell it what I did
//alcove:example pass the baton to the tester with my notes
//alcove:example leave instructions for my successor
//alcove:example prepare a handover with open questions
//alcove:example assign the rest of the job to another agent, with background
//alcove:example is anything waiting that was handed to me?
//alcove:example pick up the job that the planner passed to me
//alcove:example accept the handoff
//alcove:example save where I am
//alcove:example make a restore point of my work
//alcove:example checkpoint before I try something risky
//alcove:example in case my context gets wiped, save the state
//alcove:example I am about to be compacted, keep what matters
//alcove:example remember my position so that I can continue after the restart
//alcove:example return to the state at noon
//alcove:example restart from the saved point
//alcove:example I woke up with no memory, what was going on?
//alcove:example restore my working state after the crash
//alcove:example what was the plan before I was interrupted?
//alcove:example continue the task from Friday
//alcove:example resume
//alcove:example carry on with what I had begun
//alcove:example how far did I get yesterday?
//alcove:example that's all for today, summarise and close
//alcove:example end the session with a summary of three lines
//alcove:example finish up and store what we achieved
//alcove:example I'm signing off
//alcove:example closing time, sum up the results
//alcove:example begin a new conversation thread with the customer
//alcove:example add this reply to the thread
//alcove:example append the user's turn to the dialogue
//alcove:example log what the user said and what I answered
//alcove:example start a chat record with two participants
//alcove:example record this exchange turn by turn
//alcove:example show the dialogue that this memory came from
//alcove:example in which conversation did that fact come up?
//alcove:example replay the discussion behind that decision
//alcove:example what exactly did the client say in the call last week?
//alcove:example reread our chat about the garden
//alcove:example give me the transcript of the earlier talk
//alcove:example delete the chat from Tuesday
//alcove:example throw away the session I opened by mistake
//alcove:example remove the thread with the recruiter
//alcove:example fill 4000 tokens with what matters for this task
//alcove:example the essentials about the project, no more than 500 tokens
//alcove:example build me a prompt context on the topic within the window
//alcove:example choose the most important facts that fit into my context
//alcove:example condensed background for the model on the customer case
//alcove:example what do I need to know for this task, in a page?
//alcove:example brief the new model instance
//alcove:example get up to date quickly
//alcove:example recap of the previous session
//alcove:example which sessions are still open?
//alcove:example what did we get done last time?
//alcove:example we were in the middle of something, what was it?
//alcove:example the reviewer should take this over, give it the whole background
//alcove:example hand off to Max
//alcove:example wrap it up, I have to go
//alcove:example take stock at the end of the day and close
//alcove:example set a marker here to come back to
//alcove:example go back to my bookmark
//alcove:example come back to the work I parked
//alcove:license Apache-2.0
//alcove:needs memory.read * to find the facts of a topic, a session or a checkpoint
//alcove:needs memory.write * to store summaries of sessions and turns of conversations
//alcove:needs record session,conversation,item,handoff,checkpoint to keep sessions, conversations, handoffs and checkpoints
//alcove:needs session.read to tell whether the client of a session is still there
//alcove:needs job to end sessions without activity
//alcove:needs feed.emit * to announce sessions, handoffs and checkpoints
//alcove:needs feed.kind session_started,session_ended,handoff_recorded,checkpoint_saved to announce them by these names
//alcove:needs tools.call memory_namespace_get_standard to show the standards of the namespace at the start of a session
//alcove:limits memory_pages=1024
package sessions

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

	Budget       int     `alcove:"key=context_budget_tokens,shared,category=sessions,min=100,max=32000,default=4000"` // Tokens of a context whose budget is not given
	CompactRatio float64 `alcove:"shared,category=sessions,min=0.1,max=1,default=0.7"`                                // Share of the budget from which summaries stand for facts
	OffloadRatio float64 `alcove:"shared,category=sessions,min=1,max=10,default=2"`                                   // Multiple of the budget from which unimportant facts are dropped
	IdleMinutes  int     `alcove:"key=session_idle_minutes,shared,category=sessions,min=5,max=1440,default=30"`       // Minutes without activity after which a session is abandoned
}

// Family is sessions.
func Family() *alcove.Family {
	return alcove.New(
		SessionStart{}, CloseSession{}, CreateConversation{}, AddToConversation{}, RecordHandoff{}, GetHandoffs{}, SaveCheckpoint{}, ListCheckpoints{}, Wake{},
		PackContext{}, Replay{}, DeleteSession{}, DeleteConversation{}, Idle{}, Hooks{},
	)
}
