package governance

// The states of a change.
const (
	waiting  = "pending"
	approved = "approved"
	rejected = "rejected"
)
