package sandbox

import "time"

// processor is the processor time that a thread got.
type processor struct {
	thread int // 0: unknown
	used   time.Duration
}
