package words

import (
	"math"
	"testing"
)

func TestThoughtsAreToldApart(t *testing.T) {
	for text, want := range map[string]Thought{
		"Why does the build fail?":                Question,
		"I realize that the index is stale":       Reflection,
		"We will migrate the database tomorrow":   Plan,
		"I'm frustrated with this flaky test":     Feeling,
		"What if the cache were shared":           Idea,
		"I prefer tabs over spaces":               Opinion,
		"It appears that the disk is full":        Observation,
		"PostgreSQL listens on port 5432":         Fact,
		"Perhaps the network is slow":             Unknown,
		"ok":                                      Unknown,
		"The willow stands next door, I’m sad so": Plan,
		"A willow grows near the nextdoor house":  Fact,
	} {
		if got := ThoughtOf(text); got != want {
			t.Errorf("%q is a %s; want %s", text, got, want)
		}
	}
}

func TestSimilarityIsTheShareOfSharedWords(t *testing.T) {
	for name, c := range map[string]struct {
		before, next string
		want         float64
		ok           bool
	}{
		"half of the words and the kind": {"The database needs vacuum", "Our database crashed yesterday", 1./3 + .2, true},
		"nothing but the kind":           {"The database needs vacuum", "Lisbon hotels are cheaper", .2, true},
		"nothing at all":                 {"The database needs vacuum", "Where do we spend the summer?", 0, true},
		"never more than all":            {"database vacuum", "The database vacuum took hours", 1, true},
		"a word inside of another":       {"the table grew", "tables grew fast", 1, true},
		"a text without a topic":         {"ok go on", "Lisbon hotels are cheaper", 1, false},
		"a next one without a topic":     {"The database needs vacuum", "ok", 1, false},
		"letters, not bytes":             {"für uns", "für die", 1, false},
	} {
		if got, ok := Similarity(c.before, c.next); math.Abs(got-c.want) > 1e-12 || ok != c.ok {
			t.Errorf("%s: %v %v; want %v %v", name, got, ok, c.want, c.ok)
		}
	}
}

func TestMoodsFollowWordsAndSigns(t *testing.T) {
	for text, want := range map[string]Mood{
		"The build is done":           {0, 0, .5},
		"I love it!":                  {.6, .3, .5},
		"Terrible!!!! We must stop":   {-.6, 1, .8},
		"good and bad":                {0, 0, .5},
		"THIS IS NOT WHAT I ASKED":    {0, .4, .5},
		"maybe it should work":        {0, 0, .2},
		"A badge is no bad sign: OK!": {-.6, .3, .5},
	} {
		if got := MoodOf(text); got.Distance(want) > 1e-12 {
			t.Errorf("%q: %+v; want %+v", text, got, want)
		}
	}
	if d := (Mood{.6, 1, .8}).Distance(Mood{-.6, 0, .2}); math.Abs(d-math.Sqrt(1.44+1+.36)) > 1e-12 {
		t.Errorf("the distance is %v", d)
	}
}
