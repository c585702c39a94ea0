// Package messages serves the family messages: a room in each namespace, direct messages, and notifications.
//
// A namespace has one room, on all branches. What somebody says there reaches all that may read the namespace, or the named recipients
// alone: others find no trace of it. A client hears with a cursor, which is the sequence of the last message that it heard, so what it did
// not receive is not lost; streams get messages as they are said. Notifications stay until they are read or expire. The server keeps the
// names of senders: they are those of the callers' keys.
//
//alcove:family messages 1.0.0
//alcove:description Talk to other agents: a room per namespace, direct notes, notifications.
//alcove:keywords message, messages, send, reply, respond, wrote, write to, chat, talk, tell, say, inform, inbox, room, mail, notify, notification, notifications, unread, mention, broadcast, announce, direct, private
//alcove:example say something to all who are in the room
//alcove:example send a note to the build agent only
//alcove:example what did the others tell me?
//alcove:example read new messages since the last time
//alcove:example who is online in the chat right now?
//alcove:example answer the planner's question
//alcove:example let everyone know that the release is out
//alcove:example ping a colleague agent that it's their turn
//alcove:example any notifications I have not seen?
//alcove:example clear my notifications
//alcove:example post a status update to the team channel
//alcove:example ask the other bots a question
//alcove:example my inbox
//alcove:example drop the other agents a line
//alcove:example tell the bots that the freeze has begun
//alcove:example warn everybody that the server goes down at noon
//alcove:example write to the colleague who did the review
//alcove:example is anyone else here at the moment?
//alcove:example who else is active right now?
//alcove:example what did the others say while I was gone?
//alcove:example any news from the other agents?
//alcove:example did anyone mention me?
//alcove:example leave a message for the night agent
//alcove:example what is new in the room?
//alcove:example send a private message
//alcove:example mark the alerts as seen
//alcove:example answer in the channel
//alcove:example I finished, let the coordinator know
//alcove:example is somebody else around?
//alcove:example inform another agent that I have finished
//alcove:example let the other bot know that my part is ready
//alcove:example shout to everybody that lunch is ready
//alcove:example tell the tester bot the build is in
//alcove:example has the planner answered me?
//alcove:example did anybody write to me?
//alcove:example read out what's new from the team of agents
//alcove:example catch up on the chatter in here
//alcove:example what was discussed in the room this morning?
//alcove:example say hi to everyone
//alcove:example post in the room: tests are green
//alcove:example ask all agents who broke the build
//alcove:example reply to Hermes that I agree
//alcove:example whisper something to the reviewer alone
//alcove:example direct message for the security agent
//alcove:example get the attention of the deploy bot
//alcove:example nudge the writer, he is late
//alcove:example let the night agent know about the outage when it comes on
//alcove:example page the on-call agent
//alcove:example alert the other workers about the schema change
//alcove:example give everyone a heads-up on the maintenance window
//alcove:example announce that version 2 is out
//alcove:example publish a bulletin for the agents in this namespace
//alcove:example coordinate with the other bots on who does what
//alcove:example tell them to stop
//alcove:example who's around?
//alcove:example which agents are online at this moment?
//alcove:example am I alone here?
//alcove:example is the planner awake?
//alcove:example has anyone been active in the last ten minutes?
//alcove:example see the participants of this room
//alcove:example anybody there?
//alcove:example leave a notice for Nova to read later
//alcove:example put something into the inbox of the release agent
//alcove:example drop a message that will wait until she returns
//alcove:example do I have mail?
//alcove:example open my inbox
//alcove:example how many unread notices do I have?
//alcove:example show alerts addressed to me
//alcove:example why was I notified?
//alcove:example what am I being pinged about?
//alcove:example I have read these, tick them off
//alcove:example dismiss all my notifications
//alcove:example set the notification to read
//alcove:example empty my list of alerts
//alcove:example messages after number 120
//alcove:example listen for new messages
//alcove:example wait for an answer from the tester
//alcove:example check whether the coordinator replied
//alcove:example what's going on among the agents?
//alcove:example any word from the deploy bot?
//alcove:example mention the designer in a message
//alcove:example broadcast that the database is read-only
//alcove:example inform the group about the delay
//alcove:example pass the news on to the rest
//alcove:example thank the reviewer for the quick answer
//alcove:example send my question to the agent that knows the billing code
//alcove:example talk things over with the other agent
//alcove:example chat with the bot next door
//alcove:example group chat of this namespace
//alcove:example contact the agent responsible for the API and ask for the schema
//alcove:example communicate the decision to all who work here
//alcove:example the other bots should hear that I'm done with my part
//alcove:example let my teammates know I'm blocked
//alcove:example tell Scout in private that its key leaks
//alcove:example respond to the question in the channel
//alcove:example who said that, and when?
//alcove:license Apache-2.0
//alcove:needs record message,log,pace,notification to keep messages and notifications
//alcove:needs feed.emit * to deliver messages to streams, and to announce notifications
//alcove:needs feed.kind message,notification_created,notification_read to announce them by these names
//alcove:needs session.read to tell who is here
//alcove:needs scope.read * to ask whether a recipient may read the namespace, and to find notifications in scopes
//alcove:needs tools.call memory_list_agents to show the names and roles of agents
//alcove:limits memory_pages=1024 wall_ms=60000 cpu_ms=20000 host_calls=20000
package messages

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	MessageMaxBytes       int `alcove:"shared,category=messages,min=256,max=65536,default=8192"` // The longest message, in bytes
	MessageTTLHours       int `alcove:"shared,category=messages,min=1,max=168,default=2"`        // Hours for which a message can be heard
	RoomMaxMessages       int `alcove:"shared,category=messages,min=10,max=10000,default=1000"`  // Messages that a room keeps, and direct messages of each agent
	NotificationTTLDays   int `alcove:"shared,category=messages,min=1,max=30,default=30"`        // Days for which a notification is kept, unless it says otherwise
	InboxMaxNotifications int `alcove:"shared,category=messages,min=10,max=10000,default=1000"`  // Unread notifications of an agent in a namespace
	SayPerMinute          int `alcove:"shared,category=messages,min=1,max=6000,default=60"`      // Messages that an agent may say in a minute in a namespace
}

func (cfg Config) ttl() alcove.Duration { return alcove.Duration(cfg.MessageTTLHours) * alcove.Hour }

// Family is messages.
func Family() *alcove.Family {
	return alcove.New(Say{}, Hear{}, WhoIsHere{}, ReadRoom{}, Notify{}, GetNotifications{}, MarkNotificationsRead{})
}
