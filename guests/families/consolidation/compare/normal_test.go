package compare

import (
	"strings"
	"testing"
)

func written(text string) string {
	var list []string
	for _, w := range newMeasures().normalized(text) {
		list = append(list, w.Lower)
	}
	return strings.Join(list, " ")
}

func TestWhatIsWrittenInSeveralWaysIsOneWord(t *testing.T) {
	for want, texts := range map[string][]string{
		"300s":        {"5 min", "five minutes", "300 s", "300 seconds", "5 mins"},
		"1800s":       {"half an hour", "30 min", "1,800 s"},
		"t06:00":      {"6:00", "06:00 UTC", "6 am", "6am", "6:00 a.m.", "6 o'clock"},
		"t18:30":      {"18:30", "6:30 pm", "6:30 in the evening"},
		"t09:30":      {"half past nine", "9:30"},
		"t12:00":      {"noon", "12:00", "12 pm"},
		"t00:00":      {"midnight", "12 am"},
		"d03-14":      {"14 March", "March 14", "14th of March", "March 14th", "3/14", "14/3"},
		"500g":        {"500 g", "0.5 kg", "500 grams"},
		"25000000B":   {"25 MB", "25MB", "25 megabytes"},
		"10%":         {"10%", "10 percent", "ten percent", "10 %"},
		"1150eur":     {"€1150", "1,150 euros", "1150 €", "1150 EUR"},
		"18000":       {"18k", "18,000", "eighteen thousand"},
		"25":          {"25", "twenty-five", "twenty five"},
		"10.":         {"10th", "tenth"},
		"2x":          {"twice", "2x", "two times"},
		"19°C":        {"19 °C", "19 degrees"},
		"3/8":         {"3/8", "three-eighths"},
		"d03-14 2026": {"2026-03-14"},
	} {
		for _, text := range texts {
			if got := written(text); got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
		}
	}
}

func TestWhatOnlyLooksLikeANumberIsLeft(t *testing.T) {
	for text, want := range map[string]string{
		"no one may march":    "no one may march",
		"v1.26.3 of the API":  "v1.26.3 of the api",
		"release/2025.04":     "release/2025.04",
		"a second of the day": "a second of the day",
		"13/14":               "13/14",
		"":                    "",
	} {
		if got := written(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestNegationsAndOppositesAreOne(t *testing.T) {
	for _, pair := range [][2]string{
		{"The repo isn't public", "The repo is private"},
		{"The audit did not pass", "The audit failed"},
		{"Debug logging is switched off in production", "In production debug logging is disabled"},
	} {
		if v := New().Compare(pair[0], pair[1]); v.Relation.Contradiction() {
			t.Errorf("%q are %v, want no contradiction", pair, v.Relation)
		}
	}
	for _, pair := range [][2]string{
		{"Priya owns the checkout service", "Tomasz owns the checkout service"},
		{"The load test passed", "The load test failed"},
		{"Lena approved the rollout", "Lena rejected the rollout"},
		{"The bucket is public", "The bucket is private"},
		{"The cluster is in eu-west-1", "The cluster is in us-east-1"},
		{"Connections are limited to 20", "Connections are limited to 40, not 20"},
		{"Invoices are kept for seven years", "Invoices are kept for ten years, not seven"},
		{"We use Postgres for the job queue", "The job queue uses Redis, not Postgres"},
	} {
		if v := New().Compare(pair[0], pair[1]); !v.Relation.Contradiction() {
			t.Errorf("%q are %v, want a contradiction", pair, v.Relation)
		}
	}
}

func TestWhatBothCanBeTrueIsNoContradiction(t *testing.T) {
	for _, pair := range [][2]string{
		{"The loyalty pods crept up to 24 MB overnight", "The loyalty pods crept up to 13 MB"},
		{"Staging runs Postgres 16", "Production runs Postgres 14"},
		{"Latency of the quote API was 200 ms on Monday", "Quote API latency is 350 ms today"},
		{"The app is available in German", "The app is available in Polish"},
		{"The backup starts at 06:00 UTC", "The backup starts at 6:00 UTC"},
		{"The disk has 1 GB", "The disk has 1024 MB"},
		{"orders-api listens on port 8080", "users-api listens on port 8090"},
	} {
		if v := New().Compare(pair[0], pair[1]); v.Relation.Contradiction() {
			t.Errorf("%q are %v, want no contradiction", pair, v.Relation)
		}
	}
}

func TestTheSameWordsInAnotherOrderCanSaySomethingElse(t *testing.T) {
	for _, pair := range [][2]string{
		{"The queue filled up because the consumer crashed", "The consumer crashed because the queue filled up"},
		{"Mateo wrote the draft and Iris reviewed it", "Iris wrote the draft and Mateo reviewed it"},
		{"All services write structured logs", "The auth service writes structured logs"},
	} {
		if v := New().Compare(pair[0], pair[1]); v.Relation.Duplicate() {
			t.Errorf("%q are %v, want no duplicates", pair, v.Relation)
		}
	}
	if v := New().Compare("Because of large files the timeout was raised", "The timeout was raised because of large files"); v.Relation != Same {
		t.Errorf("a cause in front and behind: %v, want the same", v.Relation)
	}
}

func FuzzNormalizing(f *testing.F) {
	for _, text := range []string{"a quarter of an hour", "2026-03-14 at half past", "€1,1 5:", "12 a", "one", "half a"} {
		f.Add(text)
	}
	m := newMeasures()
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range m.normalized(text) {
			if w.Lower == "" || w.From > w.To || w.To > len(text) {
				t.Fatalf("%q has the word %+v", text, w)
			}
		}
	})
}
