package search

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// written applies documents, some in a sealed part and some in a tail.
func written(t *testing.T, texts ...string) *Index {
	t.Helper()
	x := New(Options{Tail: (len(texts) + 1) / 2})
	for i, text := range texts {
		x.Apply(Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(i), Text: strings.Split(text, "|"), State: Active})
		if i == len(texts)/2 {
			tend(t, x)
		}
	}
	return x
}

func TestWhatAQuestionCanAskFor(t *testing.T) {
	x := written(t, "green tea in the morning", "tea that is green", "the morning tea|green leaves", "a teapot, colour blue", "coffee and cream", "color theory", "東京タワー", "京都")
	for question, want := range map[string]string{
		`"green tea"`:              "0",
		`“green tea”`:              "0",
		`tea -green`:               "",
		`morning tea -"green tea"`: "1 2",
		`tea*`:                     "0 1 2 3",
		`Teap*`:                    "3",
		`tea* -teap*`:              "0 1 2",
		`colour~`:                  "3 5",
		`colour~ -blue`:            "5",
		`"tea that is green"`:      "1",
		`"the morning"`:            "0 2",
		`"is green" coffee`:        "0 1 2 4",
		`"is green" "tea that"`:    "1",
		`"is green" -tea`:          "",
		`"tea green"`:              "", // it does not go on in the next passage
		`"green`:                   "0 1 2",
		`-green`:                   "0 1 2",
		`- green`:                  "0 1 2",
		`-"`:                       "",
		`""`:                       "",
		`*`:                        "",
		`~ * - "`:                  "",
		`the`:                      "0 2",
		`東京`:                       "6",
		`京`:                        "6 7",
		`"京"`:                      "6 7",
		`coffee (and) cream?`:      "4",
		`what's "green tea"?`:      "0",
	} {
		if got := keys(t, x, View{Lineage: trunk}, Query{Text: question}); got != want {
			t.Errorf("%s finds %q, not %q", question, got, want)
		}
	}
}

func TestAQuotedTitleInsideAQuestionRaisesWhatHasIt(t *testing.T) {
	x := written(t, "nothing here is impossible to read", "she read the book in June", "nothing is impossible, a book", "a train to Rome", "a book of trains")
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: `When did she read the book "nothing is impossible"?`, Explain: true})
	if err != nil || r.Total != 4 || r.Hits[0].Key != "2" {
		t.Fatalf("Search = %+v, %v, want 4 hits, 2 first", r, err)
	}
	terms := r.Hits[0].Why.Terms
	if i := slices.IndexFunc(terms, func(t Term) bool { return t.Term == `"nothing is impossible"` }); i < 0 || terms[i].Documents != 1 || terms[i].Score <= 0 {
		t.Errorf("terms of the first hit = %+v, want the quoted title in one document", terms)
	}
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: `What did she say about "rising tides"?`}); got != "" {
		t.Errorf("words that no text has find %q", got)
	}
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: `Which train did "rising tides" mention?`}); got != "3 4" {
		t.Errorf("a title that no text has leaves %q", got)
	}
}

func TestAPrefixScoresAsOneWord(t *testing.T) {
	x := written(t, "teapot teacup", "tea tea", "other")
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "tea*", Explain: true})
	if err != nil || len(r.Hits) != 2 {
		t.Fatalf("Search(tea*) = %+v, %v, want 2 hits", r, err)
	}
	for _, h := range r.Hits {
		if why := h.Why.Terms; len(why) != 1 || why[0].Term != "tea*" || why[0].Frequency != 2 || why[0].Documents != 2 || why[0].Score != h.Score {
			t.Errorf("terms of %s = %+v, want tea* alone, twice, in 2 documents", h.Key, why)
		}
	}
}

func TestWordsThatAreFewLettersAwayAreNear(t *testing.T) {
	for pair, want := range map[string]bool{
		"tea tea": true, "tea ten": true, "tea eat": false, "morning mourning": true, "morning moaning": true, "morning evening": false,
		"ab abc": false, "東京都 東京市": true,
	} {
		word, term, _ := strings.Cut(pair, " ")
		if got := near([]rune(word), term, edits(utf8.RuneCountInString(word))); got != want {
			t.Errorf("near(%s) = %v, want %v", pair, got, want)
		}
	}
}

// TestPhrasesAreFoundWhereTheyAre compares with looking for them in the texts.
func TestPhrasesAreFoundWhereTheyAre(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var texts []string
	for range 400 {
		texts = append(texts, text(rng)+" "+text(rng))
	}
	x := written(t, texts...)
	for range 50 {
		phrase := strings.Join(strings.Fields(text(rng) + " " + text(rng))[:2], " ")
		r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: `"` + phrase + `"`, K: 400})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, text := range texts {
			if strings.Contains(" "+text+" ", " "+phrase+" ") {
				want++
			}
		}
		if r.Total != want {
			t.Errorf("%q is in %d texts, and %d are found", phrase, want, r.Total)
		}
	}
}

func TestLanguagesStemAsTheyDo(t *testing.T) {
	x := New(Options{Language: "german", Languages: map[string]string{"notes": "french", "raw": "none"}})
	for i, d := range []Doc{{Text: []string{"Die Häuser am Meer"}}, {Collection: "notes", Text: []string{"l'amitié des chevaux"}}, {Collection: "raw", Text: []string{"running the houses"}}} {
		d.Branch, d.Version, d.Key, d.State = 1, uint64(i+1), fmt.Sprint(i), Active
		x.Apply(d)
	}
	for question, in := range map[string]string{"Haus": "", "cheval amitié": "notes", "running": "raw"} {
		v := View{Lineage: trunk, Collections: []string{in}}
		if got := keys(t, x, v, Query{Text: question}); len(got) != 1 {
			t.Errorf("%s finds %q in %q", question, got, in)
		}
	}
	if got := keys(t, x, View{Lineage: trunk, Collections: []string{"raw"}}, Query{Text: "run house"}); got != "" {
		t.Errorf("without a stemmer %q is found", got)
	}
	if _, err := NewAnalyser("klingon"); err == nil || !strings.Contains(err.Error(), "swedish") {
		t.Errorf("NewAnalyser(klingon): %v, want an error that names the languages", err)
	}
}

// TestTextsOfASCIIAreSplitAsUnicodeSays compares the fast way with the general one.
func TestTextsOfASCIIAreSplitAsUnicodeSays(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	letters := []byte("abZ09''..,:_-  \t\n@/\"")
	for range 20_000 {
		text := make([]byte, rng.Intn(12))
		for i := range text {
			text[i] = letters[rng.Intn(len(letters))]
		}
		fast := fmt.Sprint(inEnglish().Terms(string(text)))
		slow := fmt.Sprint(inEnglish().Terms("é " + string(text)))
		if want := strings.Replace(fast, "[", "[é ", 1); want != slow && strings.Replace(want, " ]", "]", 1) != slow {
			t.Fatalf("%q: %s, not %s", text, fast, slow)
		}
	}
}

func TestLengthsAreKeptRoughly(t *testing.T) {
	last := 0
	for length := range 2_000_000 {
		got := lengthOf(lengthCode(length))
		if length < exactLengths && got != length || got < last || max(got-length, length-got)*16 > length+15 {
			t.Fatalf("%d is kept as %d", length, got)
		}
		last = got
	}
}

func FuzzQuestions(f *testing.F) {
	x := New(Options{Tail: 2})
	for i, text := range []string{"green tea", "東京タワー", "a’b'c", "the"} {
		x.Apply(Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(i), Text: []string{text}, State: Active})
	}
	for _, seed := range []string{`"green tea" -coffee te* tae~`, `-"a b"`, `"`, `-*`, "京", "\xff\"\xfe", "“a” -“b”", "-a-b*~", "may 2023"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, question string) {
		if len(question) > LongestQuery {
			return
		}
		if _, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: question, Explain: true}); err != nil {
			t.Errorf("Search(%q): %v", question, err)
		}
		for _, language := range Languages() {
			if len(question) < 100 {
				mustAnalyser(NewAnalyser(language)).Terms(question)
			}
		}
	})
}

func TestAQuestionOfManyWideWordsCostsNoMoreThanAFew(t *testing.T) {
	x := written(t, "tea", "東京")
	for _, part := range []string{"t* ", "te~ ", `"tea" `, `-"other" `, "京 ", "-x* "} {
		asked := x.analyser.parse(strings.Repeat(part, LongestQuery/len(part)))
		wide := 0
		for _, c := range asked.clauses {
			if c.kind != exactly {
				wide++
			}
		}
		if wide > maxWide || len(asked.conditions) > maxConditions {
			t.Errorf("%s many times makes %d wide clauses and %d conditions", part, wide, len(asked.conditions))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := x.Search(ctx, View{Lineage: trunk}, Query{Text: "tea"}); err == nil {
		t.Error("a search goes on that nobody waits for")
	}
}

func TestAPhraseIsFoundFarInALongText(t *testing.T) {
	x := New(Options{})
	for i, gap := range []int{1, 126, 127, 128, 129, 300, 20_000} {
		x.Apply(Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(gap), State: Active,
			Text: []string{"tea" + strings.Repeat(" cup", gap-1) + " milk tea" + strings.Repeat(" pot", gap) + " milk jug"}})
	}
	for phrase, want := range map[string]string{`"milk tea"`: "1 126 127 128 129 20000 300", `"milk jug"`: "1 126 127 128 129 20000 300", `"tea milk"`: "1"} {
		if got := keys(t, x, View{Lineage: trunk}, Query{Text: phrase}); got != want {
			t.Errorf("%s is in %s, not %s", phrase, got, want)
		}
	}
}
