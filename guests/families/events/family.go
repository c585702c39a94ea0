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
