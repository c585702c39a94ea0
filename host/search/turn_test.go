package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
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
		if got, _, _ := dateIn(question, inEnglish()); got != want {
			t.Errorf("%.60q: %v, not %v", question, got, want)
		}
	}
}

func TestATurnNextToTheOneWithTheWordsIsFound(t *testing.T) {
	x := New(Options{Conversation: Conversation{Cover: -1, Zone: -1, Question: -1}})
	say(x, "s", "How was the pottery class?", "I loved it, we made bowls.", "See you soon.", "Bye then.")
	say(x, "t", "Nothing here.", "Nor here.")
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "pottery class", Explain: true})
	if err != nil || len(r.Hits) != 3 || r.Hits[0].Key != "s0" || r.Hits[1].Key != "s1" || r.Hits[2].Key != "s2" {
		t.Fatalf("Search = %+v, %v, want s0, s1, s2", r.Hits, err)
	}
	first, second, third := r.Hits[0].Why.Turn, r.Hits[1].Why.Turn, r.Hits[2].Why.Turn
	if second.Window != first.Window/2 || third.Window != first.Window/4 || second.Window != r.Hits[1].Score {
		t.Errorf("windows of %+v, %+v, %+v, want each half of the one before", first, second, third)
	}
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: "pottery class", Plain: true}); got != "s0" {
		t.Errorf("plainly it finds %s", got)
	}
}

func TestFeaturesAddUpToTheScoreOfATurn(t *testing.T) {
	x := New(Options{})
	say(x, "s", "Shall we talk about pottery, Bert?", "Fine.", "How was the pottery class?", "I loved it, we made bowls.", "Great bowls!")
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "What did Anna think of the pottery bowls in July 2023?", Explain: true})
	if err != nil || len(r.Hits) != 5 {
		t.Fatalf("Search = %+v, %v, want 5 hits", r.Hits, err)
	}
	seen := Features{}
	for _, h := range r.Hits {
		f := h.Why.Turn
		if sum := f.Window + f.Cover + f.Zone + f.Question + f.Speaker + f.Date; math.Abs(sum-h.Score) > 1e-4*h.Score {
			t.Errorf("%s: %+v make %v, not %v", h.Key, f, sum, h.Score)
		}
		seen = Features{seen.Window + f.Window, seen.Cover + f.Cover, seen.Zone + f.Zone, seen.Question + f.Question, seen.Speaker + f.Speaker, seen.Date + f.Date}
	}
	if slices.Contains([]float64{seen.Window, seen.Cover, seen.Zone, seen.Question, seen.Speaker, seen.Date}, 0) {
		t.Errorf("a feature counts nowhere: %+v", seen)
	}
}

func TestAnAnswerIsFoundByTheWordsOfItsQuestion(t *testing.T) {
	x := New(Options{Conversation: Conversation{Window: -1, Cover: -1, Zone: -1, Speaker: -1, Date: -1}})
	say(x, "s", "How often do you swim?", "Three times a week.", "I swim on Mondays.", "So do I.", "你喜欢游泳吗？", "每天。")
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "how often swim"})
	if err != nil || len(r.Hits) == 0 || r.Hits[0].Key != "s1" {
		t.Errorf("Search(how often swim) = %+v, %v, want s1 first", r, err)
	}
	r, err = x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "喜欢游泳"})
	if err != nil || len(r.Hits) == 0 || r.Hits[0].Key != "s5" {
		t.Errorf("Search(喜欢游泳) = %+v, %v, want s5 first", r, err)
	}
}

// chat adds a chat of a user with an assistant.
func chat(x *Index, session string, turns ...string) {
	for i, text := range turns {
		x.Apply(Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(session, i), Text: []string{text}, State: Active,
			Turn: &Turn{Session: session, Position: int64(i), Role: []Role{User, Assistant}[i%2]}})
	}
}

func TestWhatAnAssistantRepeatsCountsLessThanWhatTheUserSaid(t *testing.T) {
	x := New(Options{})
	chat(x, "s", "My budget for the kitchen is 4,000.", "Kitchen budget: here is how to plan the kitchen on a budget. Budget first.", "Now the bathroom?", "Bathroom tiles.")
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "kitchen budget", Explain: true})
	if err != nil || len(r.Hits) < 2 || r.Hits[0].Key != "s0" || r.Hits[1].Key != "s1" {
		t.Fatalf("Search = %+v, %v, want s0, then s1", r.Hits, err)
	}
	for _, h := range r.Hits {
		if f := h.Why.Turn; f.Zone != 0 || f.Question != 0 {
			t.Errorf("%s has zone %v and question %v, want none in a chat", h.Key, f.Zone, f.Question)
		}
	}
	r, err = x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "tiles"})
	if err != nil || len(r.Hits) == 0 || r.Hits[0].Key != "s3" {
		t.Errorf("Search(tiles) = %+v, %v, want s3, which the assistant alone said", r.Hits, err)
	}
}

func TestTheKeyOfATurnIsNotSearched(t *testing.T) {
	x := New(Options{})
	x.Apply(Doc{Branch: 1, Version: 1, Key: "talk/3", Text: []string{"tea"}, State: Active, Turn: &Turn{Session: "s"}},
		Doc{Branch: 1, Version: 2, Key: "note/3", Text: []string{"tea"}, State: Active})
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: "3"}); got != "note/3" {
		t.Errorf("it finds %q", got)
	}
}

func TestAQuestionWithTheNameOfASpeakerAloneFindsTheirTurns(t *testing.T) {
	x := New(Options{})
	say(x, "s", "tea", "coffee", "milk", "water")
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: "What did Bert say?"}); !strings.Contains(got, "s1") || !strings.Contains(got, "s3") {
		t.Errorf("it finds %q", got)
	}
}

// TestThreadsKeepTheOrderOfConversations compares with sorting all turns, while they come and go in any order.
func TestThreadsKeepTheOrderOfConversations(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var list threads
	there := map[uint32]turn{}
	for step := range 4000 {
		number := uint32(rng.Intn(300))
		if _, ok := there[number]; ok {
			list.remove(number)
			delete(there, number)
		} else {
			said := turn{position: position{session: uint32(rng.Intn(6)), at: int64(rng.Intn(40))}, asks: rng.Intn(2) == 0}
			list.add(number, &row{length: 1}, &said)
			there[number] = said
		}
		if step%50 > 0 {
			continue
		}
		list.sort()
		for at, s := range list.slots {
			at := uint32(at)
			if list.follows.has(at) != (s.shape&follows != 0) || list.uneven.has(at) != s.shape.isUneven() || list.asking.has(at) != list.turns[at].asks {
				t.Fatalf("step %d: the sets and slot %d disagree", step, at)
			}
		}
		for row, said := range there {
			var got, want []uint32
			from, to, regular := list.around(list.slotOfRow(row), 3, nil)
			for at := from; at <= to; at++ {
				if other := list.slots[at].row; other != none {
					got = append(got, other)
				}
				if distance := there[row].at - list.turns[at].at; regular && distance != int64(list.slotOfRow(row))-int64(at) {
					t.Fatalf("step %d: around %d is a turn at a distance of %d, as if it were regular", step, row, distance)
				}
			}
			for other, its := range there {
				if its.session == said.session && max(its.at-said.at, said.at-its.at) <= 3 {
					want = append(want, other)
				}
			}
			slices.SortFunc(want, func(a, b uint32) int { return cmp.Or(cmp.Compare(there[a].at, there[b].at), cmp.Compare(a, b)) })
			if !slices.Equal(got, want) {
				t.Fatalf("step %d: around %d are %v, not %v", step, row, got, want)
			}
		}
	}
}

// TestTurnsScoreLikeInAnIndexThatOnlyHeldTheView has turns at the same positions, gaps, other versions, branches and filters.
func TestTurnsScoreLikeInAnIndexThatOnlyHeldTheView(t *testing.T) {
	for seed := range int64(40) {
		rng := rand.New(rand.NewSource(seed))
		docs := randomDocs(rng)
		for i := range docs {
			d := &docs[i]
			d.Type, d.Text[0] = []string{"said", "noted"}[rng.Intn(2)], d.Text[0]+[]string{"", "?"}[rng.Intn(2)]
			at := int64(i/4 + rng.Intn(2)*rng.Intn(9))
			if rng.Intn(20) == 0 {
				at = int64(rng.Uint64())
			}
			d.Turn = &Turn{Session: fmt.Sprint(rng.Intn(2)), Position: at, Speaker: []string{"Anna Green", "Bert"}[rng.Intn(2)], Said: time.UnixMicro(int64(i) * 1e11),
				Role: []Role{Person, Person, User, Assistant}[rng.Intn(4)]}
		}
		of := Conversation{Assistant: []float64{0, -1, 3}[rng.Intn(3)]}
		x := New(Options{Tail: 1 + rng.Intn(12), Conversation: of})
		for _, at := range rng.Perm(len(docs)) {
			x.Apply(docs[at])
		}
		for _, l := range []store.Lineage{trunk, {{Branch: 1, At: 40}}, {{Branch: 3, At: store.Latest}, {Branch: 2, At: 120}, {Branch: 1, At: 50}}} {
			v := View{Lineage: l, Now: time.UnixMicro(100), Namespaces: [][]string{nil, {"a"}}[rng.Intn(2)]}
			only := New(Options{Conversation: of})
			for _, d := range visibleDocs(docs, v) {
				d.Branch = 1
				only.Apply(d)
			}
			q := Query{Text: text(rng) + []string{"", " -rain", " in May 1970", " Bert"}[rng.Intn(4)], K: 500, Types: [][]string{nil, {"said"}}[rng.Intn(2)]}
			got, err := x.Search(t.Context(), v, q)
			want, err2 := only.Search(t.Context(), View{Lineage: trunk, Now: v.Now}, q)
			if err != nil || err2 != nil || got.Total != want.Total || !slices.EqualFunc(got.Hits, want.Hits, func(a, b Hit) bool {
				return a.Score == b.Score && a.Key == b.Key && a.Version == b.Version
			}) {
				t.Fatalf("seed %d, %v, %q: found\n%v\nnot\n%v: %v, %v", seed, l, q.Text, got, want, err, err2)
			}
		}
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
	x := New(Options{})
	say(x, "s", "the tea was good", "the tea was good", "the tea was good", "the tea was good")
	first := func(question string) Hit {
		r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: question, Explain: true})
		if err != nil || len(r.Hits) == 0 {
			t.Fatalf("Search(%q) = %+v, %v, want hits", question, r, err)
		}
		return r.Hits[0]
	}
	if h := first("what tea does Bert drink"); h.Key != "s1" && h.Key != "s3" || h.Why.Turn.Speaker == 0 {
		t.Errorf("the first hit is %+v (%+v), want a turn of Bert, raised for its speaker", h, h.Why)
	}
	if h := first("which tea in July 2023"); h.Key != "s2" || h.Why.Turn.Date == 0 {
		t.Errorf("the first hit is %+v (%+v), want s2, raised for its date", h, h.Why)
	}
	if h := first("what was said in August?"); h.Key != "s3" {
		t.Errorf("the first hit is %+v, want s3", h)
	}
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: "June 2023"}); got != "s1" {
		t.Errorf("a date alone finds %q", got)
	}
}

func TestOnlyTheNamesOfTheViewsSpeakersCount(t *testing.T) {
	at := time.UnixMicro(10)
	for name, other := range map[string]Doc{
		"none":            {},
		"expired":         {Branch: 1, Version: 9, Key: "other", Expires: time.UnixMicro(5), State: Active},
		"a draft":         {Branch: 1, Version: 9, Key: "other", State: "draft"},
		"of another view": {Branch: 2, Version: 9, Key: "other", State: Active},
		"elsewhere":       {Branch: 1, Version: 9, Key: "other", Namespace: "away", State: Active},
		"seen":            {Branch: 1, Version: 9, Key: "other", State: Active},
	} {
		x := New(Options{})
		say(x, "s", "some tea", "more tea")
		if other.Key != "" {
			other.Text, other.Turn = []string{"some tea"}, &Turn{Session: "t", Speaker: "Anna Green", Position: 1}
			x.Apply(other)
		}
		r, err := x.Search(t.Context(), View{Lineage: trunk, Now: at, Namespaces: []string{""}}, Query{Text: "anna green tea", Explain: true})
		i := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.Key == "s0" })
		if err != nil || i < 0 {
			t.Fatalf("%s: Search = %+v, %v, want s0 among the hits", name, r, err)
		}
		total := 0.0
		for _, c := range x.weighed(t, "anna green tea", at) {
			total += c
		}
		want := x.conversation.Speaker * total
		if name == "seen" { // who has more of the name
			want /= 2
		}
		if got := r.Hits[i].Why.Turn.Speaker; math.Abs(got-want) > 1e-9 {
			t.Errorf("a speaker with more of the name is %s: the feature is %v, not %v", name, got, want)
		}
	}
}

// weighed are the weights of a question's clauses.
func (x *Index) weighed(t *testing.T, text string, at time.Time) []float64 {
	t.Helper()
	view := View{Lineage: trunk, Now: at, Namespaces: []string{""}}
	q := Query{Text: text, K: 10}
	r, err := x.newRanking(t.Context(), view, q, x.understand(view, q))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.turns.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.turns.weights
}

func FuzzDatesInQuestions(f *testing.F) {
	for _, seed := range []string{"in May 2023", "2023-05-08", "7th of june", "may", "0000-00", "99999 march 31st"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, question string) {
		if d, _, _ := dateIn(question, inEnglish()); d.month < 0 || d.month > 12 || d.day < 0 || d.day > 31 {
			t.Errorf("%q names %v", question, d)
		}
	})
}

// manyTurns is enough for pruning.
const manyTurns = 6000

// talkOfMany indexes turns that are at positions of all kinds, with words that many have, beside other documents.
func talkOfMany(o Options) *Index {
	random := rand.New(rand.NewSource(5))
	x := New(o)
	for i := range manyTurns {
		words := make([]string, 3+random.Intn(10))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", int(math.Exp(6*random.Float64())))
		}
		text := strings.Join(words, " ") + []string{"?", ".", " the mention.", " in May 2023"}[i%4]
		d := Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(i), Text: []string{text}, State: Active, Type: []string{"", "note"}[i%7/6],
			Turn: &Turn{Session: fmt.Sprint(i / 90), Position: int64(i % 90), Speaker: []string{"Anna Lee", "Bert"}[i%2], Said: time.Date(2023, time.Month(1+i/90%12), 1+i%28, 0, 0, 0, 0, time.UTC)}}
		switch { // some are at one position, or far apart
		case i%11 == 0:
			d.Turn.Position /= 2
		case i%13 == 0:
			d.Turn.Position *= 3
		case i/90 == 7: // a crowd
			d.Turn.Position = int64(i % 2)
			d.Turn.Session = "6"
		case i/90%5 == 0: // a session with gaps
			d.Turn.Position *= int64(2 + i/90%3)
		}
		if i%2 == 0 { // a word that many turns have, and a date
			d.Text = append(d.Text, "may 2023")
		}
		if i%500 == 0 {
			d.Text = append(d.Text, strings.Repeat("w1 ", 300))
		}
		if i/90%4 == 3 || i%29 == 0 { // chats, and someone who butts in
			d.Turn.Role = []Role{User, Assistant}[i%2]
		}
		if i%17 == 0 {
			d.Expires = time.UnixMicro(1)
		}
		if i%19 == 0 {
			d.Turn = nil
		}
		x.Apply(d)
		if i%23 == 0 { // a version after another
			d.Version += manyTurns
			d.Text = []string{text + " w2"}
			x.Apply(d)
		}
	}
	return x
}

// TestTheBestTurnsAreThoseOfAllTurns compares with a search for all turns, which is without pruning.
func TestTheBestTurnsAreThoseOfAllTurns(t *testing.T) {
	for _, assistant := range []float64{0, -1, 3} {
		bestAreOfAll(t, talkOfMany(Options{Tail: 4000, Conversation: Conversation{Assistant: assistant}}))
	}
}

func bestAreOfAll(t *testing.T, x *Index) {
	t.Helper()
	for _, text := range []string{"w1 w2 w3 w40 w300", "w1 w2", "w5 w6 w7 Anna", "w1 w9 mention in May 2023", "what did Bert Lee mention on 3 June about w1 w30", "w1 w4 -w2", "anna bert w1", "in May 2023"} {
		for _, q := range []Query{{Text: text}, {Text: text, Types: []string{"note"}}, {Text: text, K: 700, Offset: 20}} {
			all := q
			all.K, all.Offset, q.K = 2*manyTurns, 0, cmp.Or(q.K, 40)
			view := View{Lineage: trunk, Now: time.UnixMicro(2)}
			best, err := x.Search(t.Context(), view, q)
			if err != nil {
				t.Fatal(err)
			}
			every, err := x.Search(t.Context(), view, all)
			if err != nil {
				t.Fatal(err)
			}
			want := every.Hits[min(q.Offset, len(every.Hits)):min(q.Offset+q.K, len(every.Hits))]
			if best.Total != every.Total || !slices.EqualFunc(best.Hits, want, func(a, b Hit) bool { return a.Key == b.Key && a.Score == b.Score }) {
				t.Errorf("%q: %d of %d hits, which differ from the best %d of %d", text, len(best.Hits), best.Total, len(want), every.Total)
			}
		}
	}
}

// TestNoTurnScoresAboveItsBound compares bounds with the scores of all turns.
func TestNoTurnScoresAboveItsBound(t *testing.T) {
	for name, weights := range map[string]Conversation{"default": {}, "no window": {Window: -1}, "questions above all": {Question: 2}, "cover alone": {Window: -1, Question: -1, Speaker: -1, Date: -1}, "without assistants": {Assistant: -1}, "assistants above all": {Assistant: 3}} {
		x := talkOfMany(Options{Tail: 4000, Conversation: weights})
		for _, text := range []string{"w1 w2 w3 w40 w300", "w1 w9 mention in May 2023", "what did Bert Lee mention on 3 June about w1 w30", "w1 w4 -w2"} {
			pruned, all := converseWith(t, x, Query{Text: text}), converseWith(t, x, Query{Text: text, K: 2 * manyTurns})
			pruned.findHits()
			pruned.raiseBounds()
			all.addWords()
			if got, want := pruned.sheet.hits.count(), len(all.sheet.scored); got != want {
				t.Errorf("%s, %q: %d possible hits, not %d", name, text, got, want)
			}
			for _, turn := range all.sheet.scored {
				bound := pruned.scoreOf(pruned.sheet.boundAt(turn.slot)) + pruned.exactPart(turn.slot) + pruned.mostPlain()
				if !pruned.sheet.hits.has(turn.slot) || turn.score > bound*(1+margin) {
					t.Fatalf("%s, %q: a turn scores %v above its bound of %v", name, text, turn.score, bound)
				}
			}
			pruned.prune()
			if name == "default" && len(pruned.sheet.scored) > len(all.sheet.scored)/2 {
				t.Errorf("%s, %q: %d of %d turns are candidates", name, text, len(pruned.sheet.scored), len(all.sheet.scored))
			}
		}
	}
}

// converseWith prepares the scores of turns.
func converseWith(t *testing.T, x *Index, q Query) *turnScorer {
	t.Helper()
	q.K = cmp.Or(q.K, 10)
	view := View{Lineage: trunk, Now: time.UnixMicro(2)}
	r, err := x.newRanking(t.Context(), view, q, x.understand(view, q))
	if err == nil {
		err = r.score(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := q.K < manyTurns; r.turns.pruned != want {
		t.Fatalf("%q for %d hits is pruned: %v", q.Text, q.K, r.turns.pruned)
	}
	if r.turns.pruned {
		r.turns.sheet.pruner.start(len(r.turns.threads.slots))
	}
	return r.turns
}

// TestSearchesOfTurnsSeeEachChange searches a branch after each of many changes to it and to another, and compares with an index that was
// never searched.
func TestSearchesOfTurnsSeeEachChange(t *testing.T) {
	random, x := rand.New(rand.NewSource(3)), New(Options{Tail: 30})
	var docs []Doc
	for i := range 400 {
		d := Doc{Branch: store.BranchID(1 + random.Intn(2)), Version: uint64(i + 1), Key: fmt.Sprint(random.Intn(40)), Text: []string{"some tea"},
			State: []string{Active, Active, "draft"}[random.Intn(3)], Deleted: random.Intn(4) == 0, Turn: &Turn{Session: fmt.Sprint(random.Intn(3)), Position: int64(random.Intn(30))}}
		docs = append(docs, d)
		x.Apply(d)
		fresh := New(Options{})
		fresh.Apply(docs...)
		queries := []Query{{Text: "tea", K: 50}, {Text: "tea", K: 50, States: []string{Active, "draft"}}}
		if i%5 > 0 {
			queries = queries[i/50%2:][:1]
		}
		for _, q := range queries {
			got, err := x.Search(t.Context(), View{Lineage: trunk}, q)
			want, err2 := fresh.Search(t.Context(), View{Lineage: trunk}, q)
			if err != nil || err2 != nil || got.Total != want.Total || !slices.EqualFunc(got.Hits, want.Hits, func(a, b Hit) bool { return a.Key == b.Key && a.Score == b.Score }) {
				t.Fatalf("after %d changes, states %v: %d hits\n%v\nnot %d\n%v: %v, %v", i+1, q.States, got.Total, got.Hits, want.Total, want.Hits, err, err2)
			}
		}
	}
}

func TestOfACrowdAtOnePositionTheNextAreInAWindow(t *testing.T) {
	x := New(Options{Conversation: Conversation{Cover: -1, Question: -1, Zone: -1}})
	const crowd = 300
	for i := range crowd {
		d := Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(i), Text: []string{"tea"}, State: Active, Turn: &Turn{Session: "s", Position: 1}}
		if i == 0 {
			d.Text, d.Turn.Position = []string{"pottery"}, 0
		}
		x.Apply(d)
		x.Apply(Doc{Branch: 2, Version: uint64(i + 1), Key: d.Key, Text: d.Text, State: Active, Turn: d.Turn}) // which the view does not see
	}
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "pottery", K: crowd})
	if err != nil || r.Total != 1+windowReach*mostTogether || r.Hits[0].Key != "0" || r.Hits[1].Score > r.Hits[0].Score/2 || r.Hits[r.Total-1].Score != r.Hits[1].Score {
		t.Errorf("%d turns are found, %v", r.Total, err)
	}
}

func TestThreadsGrowBySmallSteps(t *testing.T) {
	before := -1
	for size := uint32(leastThread); size < 1<<30; size = nextSize(size) {
		class := sizeClass(size)
		if class <= before || class >= len(threads{}.free) || nextSize(size) > size+max(1, size/4) {
			t.Fatalf("size %d has class %d, behind %d, and grows to %d", size, class, before, nextSize(size))
		}
		before = class
	}
}
