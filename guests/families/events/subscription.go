package events

import alcove "github.com/alcove-memory/alcove/sdk/go"

var subscriptions = alcove.Records[subscription]{Name: "subscription", Per: "space", Indexes: [][]string{{"owner"}}}

// prefixSubscription is that of the ids of subscriptions.
const prefixSubscription = "sub:"

// subscription is what is sent to an endpoint, and how far that is.
//
//alcove:camel
type subscription struct {
	Owner      string
	Endpoint   string   // the operator's name
	Events     []string // kinds; none: all
	Namespaces []string // names and patterns; none: all that the owner may read
	Agents     []string
	Branch     string
	Created    alcove.Time

	Watermark uint64 // all commits up to it were handled
	Within    string // the last event that was handled of the commit after it; empty: none
	Replayed  uint64 `json:"replayed,omitzero"` // events up to this watermark are sent again
	Attempts  int    `json:"attempts,omitzero"` // of the next event
	LastError string `json:"lastError,omitzero"`
	Delivered int
	Failed    int
	Job       string // the one that sends; others are of no account
	Due       alcove.Time
}

// find returns a subscription of the caller, or of another in whose name it may act. Those of others are not there.
func find(c *alcove.Call, id alcove.ID) (s subscription, at alcove.ID, err error) {
	if id.Namespace == "" {
		id.Namespace = c.Namespace
	}
	s, ok, err := subscriptions.In(id.Namespace).Get(c, id.Key)
	if err == nil && ok && s.Owner != c.Caller {
		ok, err = maySee(c)
	}
	if err == nil && !ok {
		err = alcove.Errorf(alcove.NotFound, "you have no subscription %q in %s", id.Key, id.Namespace)
	}
	return s, id, err
}

// maySee reports whether the caller may see what others have.
func maySee(c *alcove.Call) (bool, error) {
	can, err := c.CallerCan(alcove.CallerCanRequest{Action: "act_as"})
	return can.Allowed, err
}
