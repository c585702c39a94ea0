// Package events serves the family events: changes that are sent to endpoints as they happen.
//
// A subscription sends the events of a branch to an endpoint that the operator named, one after the other, each until the endpoint
// accepted it or it was given up; what was given up is listed. Only what the subscriber may read when it is sent is sent, and nothing more
// once the key of the subscriber ends. An event may be sent again: it then has the same Webhook-Id. memory_poll_events, which the server has
// itself, reads the same events.
//
//alcove:family events 1.0.0
//alcove:description Follow changes: poll, subscribe an endpoint (webhook), replay; state of enrichment
//alcove:example tell my service by webhook when something is stored
//alcove:example have an HTTP endpoint called after every update
//alcove:example list my subscriptions, and cancel one
//alcove:example which deliveries failed and why?
//alcove:example send the missed events to the endpoint once more
//alcove:example stream what happens in memory to another system
//alcove:example is the indexing of the new memory done?
//alcove:example how far is background processing: embeddings, tagging?
//alcove:example get notified programmatically of every write
//alcove:example resend last night's events after the outage
//alcove:example push changes to our Slack hook
//alcove:example watch a namespace for modifications
//alcove:example poll for everything new after a certain version
//alcove:example run my callback when a note is created
//alcove:example ping a URL as soon as anything gets saved
//alcove:example trigger our pipeline on each new memory
//alcove:example I want a hook on changes
//alcove:example unsubscribe my endpoint
//alcove:example why did my webhook not receive anything?
//alcove:example deliver again what the endpoint missed while it was down
//alcove:example are the embeddings of my last note computed yet?
//alcove:example what is still in the queue for tagging and embedding?
//alcove:example which endpoints listen to this namespace?
//alcove:example mirror updates into another database as they occur
//alcove:example continuous feed of modifications
//alcove:example notify my program as soon as a memory changes
//alcove:example play all changes of last week again for my endpoint
//alcove:example what was modified since the last poll?
//alcove:example push every new memory to our endpoint
//alcove:example send me an HTTP request when a note is edited
//alcove:example let my service know as soon as something is deleted
//alcove:example set up a webhook for the namespace orders
//alcove:example register our callback with the change feed
//alcove:example subscribe the dashboard to updates
//alcove:example stream modifications to Kafka
//alcove:example forward what is stored to our Slack bot by hook
//alcove:example hook Zapier up so that it fires on new facts
//alcove:example trigger the CI job whenever a decision is recorded
//alcove:example wire up an automation that reacts to stored memories
//alcove:example listen to changes as they happen
//alcove:example live feed of writes
//alcove:example tail the changes
//alcove:example what happened in memory since sequence 4000?
//alcove:example give me all events after this cursor
//alcove:example which memories were written, changed and forgotten today, as a feed?
//alcove:example incremental sync: only what changed since my last fetch
//alcove:example keep a replica up to date from the change stream
//alcove:example cancel the subscription of the old dashboard
//alcove:example stop sending updates to that URL
//alcove:example turn off the webhook
//alcove:example end my hook
//alcove:example no more callbacks please
//alcove:example what am I subscribed to?
//alcove:example list all active webhooks
//alcove:example who receives our change events?
//alcove:example is the endpoint subscribed for deletions as well?
//alcove:example our receiver was down for an hour, deliver again
//alcove:example replay from Monday 8:00 to the endpoint
//alcove:example repeat the deliveries that got lost
//alcove:example resend everything from yesterday to the hook
//alcove:example redeliver failed events
//alcove:example the webhook answered 500, which events are lost?
//alcove:example show the deliveries that were given up
//alcove:example dead letters of my subscription
//alcove:example why did my callback stop being called?
//alcove:example diagnose failing deliveries
//alcove:example how many attempts were made to reach the endpoint?
//alcove:example has the embedding of the new notes been computed?
//alcove:example progress of classification in the background
//alcove:example are my notes indexed yet?
//alcove:example how long is the enrichment backlog?
//alcove:example is the pipeline that tags and embeds caught up?
//alcove:example pending enrichment jobs
//alcove:example state of background processing for note 17
//alcove:example the note is stored but not searchable by meaning yet, is it still being processed?
//alcove:example did the vectors for the import finish?
//alcove:example is anything stuck in the processing queue?
//alcove:example when will the fresh memories be embedded?
//alcove:example notify an external system about new facts
//alcove:example connect our monitoring to what is written
//alcove:example audit stream of writes to our SIEM
//alcove:example fire a request when the importance is above 0.9
//alcove:example only events of type fact_created, to the endpoint crm
//alcove:example subscribe with a filter on namespace and kind
//alcove:example my program should react right when someone adds a memory
//alcove:example integrate with n8n on every stored note
//alcove:example poll for updates
//alcove:example long-poll for changes
//alcove:example let a script run each time knowledge is added
//alcove:example sync memory changes downstream in real time
//alcove:example get told by HTTP about each forgotten memory
//alcove:example feed our data warehouse with each change
//alcove:license Apache-2.0
//alcove:needs feed.read * to send the changes that the subscriber may read
//alcove:needs http * to send them to endpoints
//alcove:needs record subscription,delivery_failure to keep subscriptions, and what could not be sent
//alcove:needs job to send in the background
//alcove:needs memory.read * to tell how far the enrichment of memories is
//alcove:limits wall_ms=300000 cpu_ms=30000
package events

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	SubscriptionsMax  int `alcove:"shared,category=events,min=0,max=1000,default=50"`               // Subscriptions of a namespace
	FeedRetentionDays int `alcove:"shared,category=events,min=1,max=365,default=7"`                 // Days for which events are kept
	FeedAlertRows     int `alcove:"shared,category=events,min=1000,max=1000000000,default=1000000"` // Kept events above which the log warns
}

// Family is events.
func Family() *alcove.Family {
	return alcove.New(GetEnrichmentStatus{}, Subscribe{}, Unsubscribe{}, ListSubscriptions{}, SubscriptionReplay{}, SubscriptionFailures{}, Deliver{})
}
