package retire

import "testing"

func of(v float64) *float64 { return &v }

// policy is one with the numbers that are configured by default.
func policy() Policy {
	return Policy{
		ForgetThreshold: .7, PruneAge: 90, PruneImportance: .3, PruneAccesses: 3,
		Importance: map[string]float64{"decision": .8, "error": .7, "insight": .75, "correction": .7, "steering_rule": .85, "learning": .65, "session_summary": .6, "plan": .6, "observation": .5},
		Decay:      map[string]float64{"decision": .998, "error": .995, "insight": .997, "correction": .995, "steering_rule": .999, "learning": .996, "session_summary": .99, "plan": .995, "observation": .99},
	}
}

func TestMemoriesAreKeptArchivedOrPruned(t *testing.T) {
	for name, c := range map[string]struct {
		memory Memory
		want   Fate
	}{
		"a new one":                                {Memory{Idle: -1}, Kept},
		"an old observation that nobody recalls":   {Memory{Age: 400, Idle: -1}, Archived},
		"an old observation that was recalled":     {Memory{Age: 400, Idle: 3}, Kept},
		"an old rule":                              {Memory{Type: "steering_rule", Age: 4000, Idle: -1}, Kept},
		"an old decision":                          {Memory{Type: "decision", Age: 4000, Idle: -1}, Kept},
		"an old one that proved useful":            {Memory{Age: 400, Idle: -1, Health: 1}, Kept},
		"an old one that proved useless":           {Memory{Type: "session_summary", Age: 200, Idle: -1, Health: -.8}, Archived},
		"an old one that was recalled often":       {Memory{Age: 400, Idle: 390, Accesses: 50}, Kept},
		"an unimportant one of three months":       {Memory{Importance: of(.3), Age: 91, Idle: -1}, Pruned},
		"one that is not unimportant enough":       {Memory{Importance: of(.31), Age: 91, Idle: -1}, Kept},
		"an unimportant one that is not old":       {Memory{Importance: of(.1), Age: 90, Idle: -1}, Kept},
		"an unimportant one that is used":          {Memory{Importance: of(.2), Age: 200, Idle: 1, Accesses: 4}, Kept},
		"an unimportant one that is used a bit":    {Memory{Importance: of(.2), Age: 200, Idle: 1, Accesses: 3}, Pruned},
		"an important one of an unknown type":      {Memory{Type: "recipe", Importance: of(1), Age: 4000, Idle: -1}, Kept},
		"an ordinary one of an unknown type":       {Memory{Type: "recipe", Age: 4000, Idle: -1}, Archived},
		"one that the clock says is of the future": {Memory{Age: -3, Idle: -1}, Kept},
	} {
		if got, score := policy().Judge(c.memory); got != c.want || score < 0 || score > 1 {
			t.Errorf("%s: %q with %.3f, want %q", name, got, score, c.want)
		}
	}
}

func TestAMemoryIsForgottenMoreTheLongerItIsNotUsed(t *testing.T) {
	before := -1.0
	for age := 0.0; age < 1000; age += 50 {
		score := policy().Score(Memory{Age: age, Idle: -1})
		if score <= before {
			t.Fatalf("after %v days the score is %v, before it was %v", age, score, before)
		}
		before = score
	}
}
