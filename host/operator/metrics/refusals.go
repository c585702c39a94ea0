package metrics

// Reason is why a client was refused.
type Reason string

// The reasons of refusals.
const (
	NotAdmitted Reason = "not_admitted" // it had no key or token that holds
	Denied      Reason = "denied"       // it lacked a right
	Quota       Reason = "quota"        // of its agent, or of a family
	Rate        Reason = "rate"         // a limit of its key
)

// CountRefusal counts something that a client was refused.
func (m *Metrics) CountRefusal(why Reason) { m.refusals.WithLabelValues(string(why)).Inc() }
