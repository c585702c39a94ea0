package retention

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestABranchsOwnAgeReplacesThatOfAll(t *testing.T) {
	p := Policy{Keep: 3600, Branches: map[string]int64{"short": 60, "whole": 0}}
	for branch, want := range map[string]time.Duration{"default": time.Hour, "short": time.Minute, "whole": 0} {
		if got := p.Age(branch); got != want {
			t.Errorf("%s keeps %s, not %s", branch, got, want)
		}
	}
}

func TestAPolicyBeyondALimitIsRefusedWithItsReason(t *testing.T) {
	many := map[string]Namespace{}
	for i := range MostRules + 1 {
		many[strings.Repeat("n", i+1)] = Namespace{}
	}
	for want, policies := range map[string][]Policy{
		"":              {{}, {Keep: 60}, {Keep: int64(MostAge / time.Second), Versions: MostVersions}, {Namespaces: map[string]Namespace{"n": {Forever: true}}}},
		"at most 1000":  {{Namespaces: many}},
		"0 to 1000000":  {{Versions: -1}, {Versions: MostVersions + 1}, {Namespaces: map[string]Namespace{"n": {Versions: -1}}}},
		"keep a minute": {{Keep: -1}, {Keep: 59}, {Keep: math.MaxInt64}, {Keep: int64(MostAge/time.Second) + 1}, {Branches: map[string]int64{"b": 5}}, {Namespaces: map[string]Namespace{"n": {Keep: 5}}}},
	} {
		for _, p := range policies {
			if err := p.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%+v: %v, want %q", p, err, want)
			}
		}
	}
}
