package workingmemory

import alcove "github.com/alcove-memory/alcove/sdk/go"

// WmDecay weakens everything in focus.
//
// The attention of each thought is multiplied by 1 − decay_rate. No thought leaves the buffer by that.
//
//alcove:title Weaken everything in focus
//alcove:description Weaken everything in focus.
type WmDecay struct {
	DecayRate float64 `alcove:"min=0,max=1,default=0.1,alias=rate"` // The share of attention that is lost.
}

type decayed struct {
	Count            int
	AverageAttention float64
}

// Call weakens each thought.
func (in WmDecay) Call(c *alcove.Call) (decayed, error) {
	b, err := load(c)
	if err != nil || len(b.Items) == 0 {
		return decayed{}, err
	}
	b.decay(in.DecayRate)
	return decayed{len(b.Items), b.average()}, b.save(c)
}
