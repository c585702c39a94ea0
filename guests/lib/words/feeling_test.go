package words

import (
	"slices"
	"strings"
	"testing"
)

func TestTheEmotionOfATextIsThatOfMostOfItsWords(t *testing.T) {
	for text, want := range map[string]Emotion{
		"I was so frustrated by the flaky build.":                   {"frustrated", .7},
		"Fed up with this annoying linter":                          {"frustrated", .7},
		"We are confident that the migration is done":               {"confident", .55},
		"I'm not sure whether it works":                             {},
		"Proud of the release; an achievement, if unexpected":       {"proud", .5},
		"The cache was surprisingly slow":                           {"surprised", .45},
		"Surprised, and frustrated":                                 {"frustrated", .7},
		"Use PostgreSQL for the event store":                        {},
		"It isn't frustrating at all. The surprise was the latency": {"surprised", .45},
		"": {},
	} {
		if got := CuesOf(text).Emotion(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestTheTierOfATextIsShownByItsWords(t *testing.T) {
	for text, want := range map[string]string{
		"Never commit secrets":                         "critical structural",
		"There was an outage in production":            "critical structural",
		"We risk data loss here":                       "critical structural",
		"We decided to use Go":                         "notable potential",
		"The kettle is blue":                           "background contextual",
		"It is not critical, but we fixed the warning": "notable potential",
		"I am not sure this is critical":               "background contextual",
		"I doubt that security is the reason":          "background contextual",
		"":                                             "background contextual",
	} {
		if got := CuesOf(text).Tier(); got.Observation+" "+got.Importance != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
	if CuesOf("critical").Tier().Confidence != .9 || CuesOf("decided").Tier().Confidence != .78 || CuesOf("tea").Tier().Confidence != .7 {
		t.Error("the confidences are others")
	}
}

func TestHowMuchSomethingMattersIsReadFromWords(t *testing.T) {
	for text, want := range map[string]float64{
		"trivial": 0, "routine": .25, "interesting": .5, "significant": .75, "critical": 1,
		"Life-changing": 1, "quite important to me": .75, "just a normal day": .25,
		"not important": 0, "isn't really significant": 0, "never critical": 0,
		"not trivial": .5, "while cooking": .5, "": .5,
		"I am not sure this is critical": .5, "I'm not sure it's critical": .5, "I don't think that this is important": .5, "unsure whether it is vital": .5,
		"I wonder if that is essential": .5, "I doubt it's important": .5, "no doubt critical": 1, "not only important": .75,
		"I am not sure, but this is critical": 1, "Not sure who wrote it. This is critical": 1,
		"maybe critical": .75, "it might be important": .625, "perhaps trivial": .25,
		"nothing critical": 0, "neither urgent nor important": 0,
	} {
		if got := Matters(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A word counts once, so no list has two cues that begin with it.
func TestNoListHasTwoCuesThatBeginAlike(t *testing.T) {
	lists := [][]string{criticalCues, notableCues}
	for _, e := range emotions() {
		lists = append(lists, e.cues)
	}
	for _, m := range matters() {
		lists = append(lists, m.cues)
	}
	for _, list := range lists {
		var firsts []string
		for _, cue := range list {
			first, _, _ := strings.Cut(cue, "-")
			if slices.Contains(firsts, first) {
				t.Errorf("%s begins two of %q", first, list)
			}
			firsts = append(firsts, first)
		}
	}
}
