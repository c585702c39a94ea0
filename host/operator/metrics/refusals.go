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
func (m *Metrics) CountRefusal(why Reason) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusals[why]++
}

func (m *Metrics) ofRefusals() family {
	f := family{name: "alcove_refusals_total", help: "What clients were refused, by reason.", kind: counter}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, why := range []Reason{NotAdmitted, Denied, Quota, Rate} {
		f.samples = append(f.samples, sample{labels: []label{{"reason", string(why)}}, value: float64(m.refusals[why])})
	}
	return f
}
