package suggest

import (
	"math"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// chosen are the tags of a text without any statistics.
func chosen(text string) []string {
	var tags []string
	for _, c := range (Statistics{}).Tags(New().Read(text), nil, 5) {
		tags = append(tags, c.Tag)
	}
	return tags
}

func TestTagsSayWhatATextIsAbout(t *testing.T) {
	for text, want := range map[string][]string{
		"We decided to use PostgreSQL instead of MongoDB for the billing service. PostgreSQL 16 runs in Frankfurt.": {"postgresql", "mongodb"},
		"The deploy of the checkout API failed with a timeout after 30 s; the connection pool was exhausted.":       {"deployment", "connection-pool"},
		"Alice is allergic to peanuts.":                                            {"peanut"},
		"TODO: migrate the Kubernetes cluster to v1.31":                            {"kubernetes"},
		"Caroline met her friend Melanie Jones":                                    {"melanie-jones"},
		"Die Datenbank läuft auf einem Server in Hamburg":                          {"server"},
		"vector index: rebuild the vector index weekly; the vector index is stale": {"vector-index"},
		"C++ and C# are compiled":                                                  {"c++"},
	} {
		tags := chosen(text)
		for _, tag := range want {
			if !slices.Contains(tags, tag) {
				t.Errorf("%s\n\tis tagged %q, without %s", text, tags, tag)
			}
		}
	}
}

func TestTypesShowInTheWords(t *testing.T) {
	for text, want := range map[string]string{
		"We decided to go with PostgreSQL.":                        Decision,
		"The build crashed with a segfault.":                       Error,
		"Always run the linter before committing.":                 SteeringRule,
		"Next steps: write the migration.":                         Plan,
		"Correction: the port was wrong, it is 8080.":              Correction,
		"The root cause is a race in the cache.":                   Insight,
		"I learned that Go maps are not ordered.":                  Learning,
		"Summary: in this session we discussed the storage layer.": Summary,
		"The sky over Hamburg is grey.":                            "",
		"":                                                         "",
	} {
		if got := New().Read(text).Type; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestImportanceFollowsTypeAndWords(t *testing.T) {
	importance := func(text string) float64 { return New().Read(text).Importance }
	rule, plain, trivial := importance("Never store passwords in the production repository!"), importance("The office has blue chairs and a plant."), importance("Maybe a minor, cosmetic thing, not sure, perhaps trivial.")
	if rule <= .85 || plain < .45 || plain > .55 || trivial >= .4 {
		t.Errorf("a rule %v, an observation %v, a trifle %v", rule, plain, trivial)
	}
	for kind, want := range map[string]float64{Decision: .8, Error: .7, Insight: .75, Correction: .7, SteeringRule: .85, Learning: .65, Summary: .6, Plan: .6, Observation: .5, "else": .5} {
		if got := New().Importance(kind); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}

func TestNamesDatesAndNumbersAreFound(t *testing.T) {
	r := New().Read("On 14 March 2026 Alice Smith paid $4,000 for 16 GB in Hamburg; due 2026-04-01, 3/14/2026 or 1.5.2026, version 1.26.8, 12% off, 250ms late. Later she met Alice Smith's brother.")
	if want := []string{"Alice Smith", "Hamburg"}; !slices.Equal(r.Names, want) {
		t.Errorf("names %q, want %q", r.Names, want)
	}
	if want := []string{"14 March 2026", "2026-04-01", "3/14/2026", "1.5.2026"}; !slices.Equal(r.Dates, want) {
		t.Errorf("dates %q, want %q", r.Dates, want)
	}
	if want := []string{"$4,000", "16 GB", "12%", "250ms"}; !slices.Equal(r.Numbers, want) {
		t.Errorf("numbers %q, want %q", r.Numbers, want)
	}
}

func TestTagsTakeTheFormThatTheCollectionHas(t *testing.T) {
	read := New().Read("The k8s cluster has a connection pool of databases.")
	stats := Statistics{Known: map[string]Known{
		words.Fold("databases"): {Tag: "databases", Uses: 9}, words.Fold("k8s"): {Tag: "kubernetes", Uses: 4}, words.Fold("connection-pool"): {Tag: "connection-pool", Uses: 2},
	}}
	var tags []string
	for _, c := range stats.Tags(read, []string{"Kubernetes"}, 5) {
		tags = append(tags, c.Tag)
	}
	if !slices.Contains(tags, "databases") || !slices.Contains(tags, "connection-pool") || slices.Contains(tags, "kubernetes") || slices.Contains(tags, "connection") {
		t.Errorf("the tags are %q", tags)
	}
}

func TestWordsThatAllMemoriesHoldAreLast(t *testing.T) {
	read := New().Read("The project server needs a linter and a formatter")
	stats := Statistics{Common: map[string]bool{words.Fold("server"): true}, Rarity: map[string]float64{words.Fold("project"): 0, words.Fold("linter"): 1, words.Fold("formatter"): .9}}
	tags := stats.Tags(read, nil, 2)
	if len(tags) == 0 || tags[0].Tag != "linter" || slices.ContainsFunc(tags, func(c Candidate) bool { return c.Tag == "project" || c.Tag == "server" }) {
		t.Errorf("the tags are %v, want linter first and neither project nor server", tags)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "We chose Go 1.26 on 2026-03-14 for $5.", "é’s 3/1/26 €5 £6 %", "a.b.c d_e f@g.h C++ x# 1,000", "日本語のテキスト", "\xff\xfe", "'s ’s", "2026-1", "March 3rd"} {
		f.Add(text)
	}
	s := New()
	f.Fuzz(func(t *testing.T, text string) {
		r := s.Read(words.Cut(text, words.Long))
		if r.Importance < 0 || r.Importance > 1 || len(r.Candidates) > maxCandidates {
			t.Fatalf("importance %v, %d candidates", r.Importance, len(r.Candidates))
		}
		for _, c := range (Statistics{}).Tags(r, nil, 5) {
			if c.Tag == "" || len(c.Tag) > maxTag || utf8.ValidString(text) && !utf8.ValidString(c.Tag) {
				t.Fatalf("the tag %q", c.Tag)
			}
		}
		words.Fold(text)
	})
}

func TestTopicsOfTheThesaurusAreTags(t *testing.T) {
	for text, want := range map[string]string{
		"Chargebacks through Stripe doubled after the refund rule.": "payments",
		"The dermatologist looks at the rash on Monday.":            "health",
		"Knead the dough twice and bake the bread at 230 degrees.":  "recipes",
		"The flight to Lisbon leaves from another airport.":         "flights",
		"The recruiter sends two candidates for the vacancy.":       "hiring",
	} {
		if tags := chosen(text); !slices.Contains(tags, want) {
			t.Errorf("%s\n\tis tagged %q, without %s", text, tags, want)
		}
	}
}

func TestATopicIsCalledAsTheCollectionCallsIt(t *testing.T) {
	stats := Statistics{Known: map[string]Known{words.Fold("finances"): {Tag: "finances", Uses: 3, Given: 3}}}
	tags := stats.Tags(New().Read("The mortgage and the pension cost more than the savings plan brings."), nil, 5)
	if !slices.ContainsFunc(tags, func(c Candidate) bool { return c.Tag == "finances" && c.Known }) {
		t.Errorf("the tags are %v, want finances, as money is called here", tags)
	}
}

func TestScoresHaveThreeDecimals(t *testing.T) {
	for _, c := range (Statistics{}).Tags(New().Read("The nightly backup of the database failed."), nil, 5) {
		if c.Score != math.Round(1000*c.Score)/1000 || c.Score <= 0 || c.Score > 1 {
			t.Errorf("%s has the score %v, want a likelihood with three decimals", c.Tag, c.Score)
		}
	}
}
