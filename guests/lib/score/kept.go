package score

// Kept is what the health score of a memory about a website depends on.
type Kept struct {
	Health    float64 // its counter: 0 at first, never above 0
	IdleDays  float64 // since it was made or last recalled
	Decay     float64 // what it loses a day
	GraceDays float64 // idle days without a loss
	Exempt    bool    // from decay
}

// Score is from 0 to 1, and 1 at first.
func (k Kept) Score() float64 {
	score := 1 + k.Health
	if !k.Exempt {
		score -= k.Decay * max(0, k.IdleDays-k.GraceDays)
	}
	return clamp(score, 0, 1)
}

// Recalled is what a recall adds to the counter: from then on the score is gain higher than it was, and at most 1.
func (k Kept) Recalled(gain float64) float64 { return min(0, k.Score()+gain-1) - k.Health }
