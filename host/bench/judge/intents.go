package main

import (
	"context"
	"slices"
	"strings"
)

// labelledIntent is what somebody wants to do, and the families for it, with | between them; none: nothing fits.
type labelledIntent struct{ Intent, Family string }

// judgeIntents asks which family an intent loads. The baseline is the family of most intents for everything.
func judgeIntents(ctx context.Context, s *server, l labels) ([]row, error) {
	list, err := read[labelledIntent](l, "intents")
	if err != nil {
		return nil, err
	}
	inScope, suggested, outOfScope := row{measure: "load their family"}, row{measure: "suggest it"}, row{measure: "nothing fits"}
	for _, i := range list {
		var got struct {
			Family      string
			Suggestions []struct{ Family string }
		}
		if err := s.call(ctx, "memory_load_family", map[string]any{"intent": i.Intent}, &got); err != nil {
			return nil, err
		}
		if i.Family == "" {
			outOfScope.got.add(len(got.Suggestions) == 0)
			outOfScope.baseline.add(false)
			continue
		}
		right := strings.Split(i.Family, "|")
		inScope.got.add(slices.Contains(right, got.Family))
		inScope.baseline.add(slices.Contains(right, "facts"))
		among := false
		for _, s := range got.Suggestions {
			among = among || slices.Contains(right, s.Family)
		}
		suggested.got.add(among)
		suggested.baseline.add(slices.Contains(right, "facts"))
	}
	return []row{inScope, suggested, outOfScope}, nil
}
