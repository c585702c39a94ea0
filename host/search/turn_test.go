package search

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDatesAreFoundInQuestions(t *testing.T) {
	for question, want := range map[string]day{
		"What did Anna buy in May 2023?":       {2023, 5, 0},
		"Where was she on 7 May 2023":          {2023, 5, 7},
		"on May 7th, who called?":              {0, 5, 7},
		"what happened on 2023-05-08?":         {2023, 5, 8},
		"and in 2023-05?":                      {2023, 5, 0},
		"who moved during 2022":                {2022, 0, 0},
		"may I ask what happened":              {},
		"the march of progress":                {},
		"what she said in march":               {0, 3, 0},
		"May 2023":                             {2023, 5, 0},
		"room 1234 and 42 others":              {},
		"":                                     {},
		"\xff\xfe may \x00":                    {0, 5, 0},
		strings.Repeat("may ", 50) + "5 may 7": {0, 5, 5},
	} {
		if got, _ := dateIn(question, inEnglish()); got != want {
			t.Errorf("%.60q: %v, not %v", question, got, want)
		}
	}
}

func TestATurnNextToTheOneWithTheWordsIsFound(t *testing.T) {
	x := New(Options{})
	say(x, "s", "How was the pottery class?", "I loved it, we made bowls.", "See you soon.", "Bye then.")
	say(x, "t", "Nothing here.", "Nor here.")
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "pottery class", Explain: true})
	if err != nil || len(r.Hits) != 3 || r.Hits[0].Key != "s0" || r.Hits[1].Key != "s1" || r.Hits[2].Key != "s2" {
		t.Fatalf("%+v, %v", r.Hits, err)
	}
	if second := r.Hits[1]; second.Why.Around != second.Score || second.Score != r.Hits[0].Score/2 {
		t.Errorf("%+v of %v", second.Why, r.Hits[0].Score)
	}
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: "pottery class", Plain: true}); got != "s0" {
		t.Errorf("plainly it finds %s", got)
	}
}

// say adds a conversation between two.
func say(x *Index, session string, turns ...string) {
	for i, text := range turns {
		said := time.Date(2023, time.Month(5+i), 8, 0, 0, 0, 0, time.UTC)
		x.Apply(Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(session, i), Text: []string{text}, State: Active,
			Turn: &Turn{Session: session, Position: int64(i), Speaker: []string{"Anna Lee", "Bert"}[i%2], Said: said}})
	}
}

func TestSpeakersAndDatesThatAQuestionNamesCountMore(t *testing.T) {
	x := New(Options{Conversation: Conversation{Neighbour: -1}})
	say(x, "s", "the tea was good", "the tea was good", "the tea was good", "the tea was good")
	first := func(question string) Hit {
		r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: question, Explain: true})
		if err != nil || len(r.Hits) == 0 {
			t.Fatalf("%q: %+v, %v", question, r, err)
		}
		return r.Hits[0]
	}
	if h := first("what tea does Bert drink"); h.Key != "s1" || h.Why.Speaker != 1.2 {
		t.Errorf("%+v %+v", h, h.Why)
	}
	if h := first("which tea in July 2023"); h.Key != "s2" || h.Why.Date != 2 {
		t.Errorf("%+v %+v", h, h.Why)
	}
	if h := first("what was said in August?"); h.Key != "s3" {
		t.Errorf("%+v", h)
	}
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: "June 2023"}); got != "s1" {
		t.Errorf("a date alone finds %q", got)
	}
}

func FuzzDatesInQuestions(f *testing.F) {
	for _, seed := range []string{"in May 2023", "2023-05-08", "7th of june", "may", "0000-00", "99999 march 31st"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, question string) {
		if d, _ := dateIn(question, inEnglish()); d.month < 0 || d.month > 12 || d.day < 0 || d.day > 31 {
			t.Errorf("%q names %v", question, d)
		}
	})
}
