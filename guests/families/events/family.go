// Package events serves the family events: changes that are sent to endpoints as they happen.
//
// A subscription sends the events of a branch to an endpoint that the operator named, one after the other, each until the endpoint
// accepted it or it was given up; what was given up is listed. Only what the subscriber may read when it is sent is sent, and nothing more
// once the key of the subscriber ends. An event may be sent again: it then has the same Webhook-Id. memory_poll_events, which the server has
// itself, reads the same events.
//
//alcove:family events 1.0.0
//alcove:description Follow changes: poll, subscribe an endpoint (webhook), replay; state of enrichment
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
