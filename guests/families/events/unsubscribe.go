package events

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Unsubscribe stops a subscription.
//
// Nothing more is sent. What was given up stays listed for 30 days.
//
//alcove:title Stop a subscription
//alcove:description Stop a subscription.
//alcove:tool destructive
type Unsubscribe struct {
	ID alcove.ID `alcove:"required,alias=subscriptionId"`
}

type unsubscribed struct{ Success bool }

// Call deletes it.
func (in Unsubscribe) Call(c *alcove.Call) (unsubscribed, error) {
	s, id, err := find(c, in.ID)
	if err != nil {
		return unsubscribed{}, err
	}
	cancel(c, s.Job)
	_, err = subscriptions.In(id.Namespace).Delete(c, id.Key)
	return unsubscribed{err == nil}, err
}

// cancel stops a job, if it is still there.
func cancel(c *alcove.Call, job string) {
	if job == "" {
		return
	}
	if _, err := c.JobCancel(alcove.JobCancelRequest{ID: job}); err != nil && alcove.CodeOf(err) != alcove.NotFound {
		c.Log("the job %s is not cancelled: %v", job, err)
	}
}
