package compare

import "testing"

// verdict compares two texts among some others.
func verdict(a, b string) Verdict {
	r := New().NewReader()
	fa, fb := r.Read(a), r.Read(b)
	facts := []*Fact{fa, fb}
	for _, other := range []string{"Ann walks her dog in the park", "The billing service sends invoices", "Port numbers are small", "Berlin is a city"} {
		facts = append(facts, r.Read(other))
	}
	weights := r.weights(facts)
	return r.judge(fa, fb, overlapOf(fa, fb, weights), weights)
}

func TestTextsThatSayTheSameAreDuplicates(t *testing.T) {
	for _, pair := range [][2]string{
		{"The billing service runs on port 8080.", "the billing service runs on port 8080"},
		{"Ann prefers green tea in the morning", "Note: Ann usually prefers green tea in the morning."},
		{"We chose PostgreSQL for the billing database", "We picked Postgres for the billing DB"},
		{"The deploy pipeline needs a manual approval", "A manual approval is what the deploy pipeline needs"},
		{"Kubernetes upgrades happen every quarter", "Kuberentes upgrades happen every quarter"},
		{"Ann's favourite film is Alien", "The favorite movie of Ann is Alien"},
		{"Bob is a manager in the Berlin office", "Bob is a manager in the Berlin office since spring"},
		{"We decided to use PostgreSQL for billing, because transactions matter.", "We picked Postgres for billing because transactions matter"},
		{`deploy: blue green`, `deploy: blue green`},
	} {
		if v := verdict(pair[0], pair[1]); !v.Relation.Duplicate() {
			t.Errorf("%q are %v (%.2f)", pair, v.Relation, v.Similarity)
		}
	}
}

func TestTextsThatAreSimilarAreNotDuplicates(t *testing.T) {
	for _, pair := range [][2]string{
		{"The billing service runs on port 8080", "The search service runs on port 8080"},
		{"Build 512 took 34 seconds", "Build 513 took 34 seconds"},
		{"Ann bought three apples in Hamburg", "Ann bought three apples in Bremen"},
		{"The shop opens at nine", "The shop closes at nine"},
		{"Ann met Bob in the office", "Ann met Carl in the office"},
		{"The deploy of the billing service to Frankfurt failed", "The deploy of the billing service to Frankfurt succeeded"},
		{"The internal API needs a token", "The external API needs a token"},
		{"Ticket 77 is about the login page", "Ticket 78 is about the login page"},
		{"Ann is a teacher", "Ann is a mother"},
		{"The audit database must be documented", "The audit database must be restarted"},
		{"Redis", "Postgres"},
		{"Thanks!", "Thanks for having my back."},
	} {
		if v := verdict(pair[0], pair[1]); v.Relation.Duplicate() || v.Relation.Contradiction() {
			t.Errorf("%q are %v (%.2f)", pair, v.Relation, v.Similarity)
		}
	}
}

func TestTextsThatCannotBothBeTrueContradict(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want Relation
	}{
		{"The billing service runs on port 8080", "The billing service runs on port 9090", OtherValue},
		{"Ann Lee lives in Berlin", "Ann Lee lives in Hamburg now", OtherValue},
		{"The release deadline is 2026-03-14", "The release deadline is 2026-04-01", OtherValue},
		{"Ann is allergic to peanuts", "Ann is not allergic to peanuts", Negated},
		{"Feature flags are enabled in production", "Feature flags are disabled in prod", Opposite},
		{"The primary language of the backend is Go", "The primary language of the backend is Rust", OtherValue},
		{"The owner of the search index is Ann", "The owner of the search index is Bob", OtherValue},
		{"Ann's favorite drink is coffee", "Ann's favourite drink is tea", OtherValue},
		{"Always run the linter before a commit", "Never run the linter before a commit", Negated},
		{"Session timeout: 30 minutes", "Session timeout: 45 minutes", OtherValue},
		{"Bob likes the new editor", "Bob dislikes the new editor", Opposite},
		{"The cluster has 12 nodes in Frankfurt", "The cluster has 16 nodes in Frankfurt", OtherValue},
	} {
		if v := verdict(c.a, c.b); v.Relation != c.want {
			t.Errorf("%q and %q are %v (%.2f), want %v", c.a, c.b, v.Relation, v.Similarity, c.want)
		}
		if v := verdict(c.b, c.a); v.Relation != c.want {
			t.Errorf("%q and %q are %v the other way", c.b, c.a, v.Relation)
		}
	}
}

func TestWhatIsRenderedHasNamesAndValues(t *testing.T) {
	for value, want := range map[string]string{
		`"plain"`:                      "plain",
		` "blank" `:                    "blank",
		`{"a":{"b":1,"c":[true,"x"]}}`: "a b: 1\na c: true\na c: x\n",
		`[1,2]`:                        "1\n2\n",
		`null`:                         "null\n",
		`17`:                           "17\n",
		``:                             "",
	} {
		if got := Render([]byte(value)); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func FuzzComparing(f *testing.F) {
	f.Add(`"The port is 8080"`, `"The port is 9090"`)
	f.Add(`{"a":1}`, `[[[`)
	f.Add(`"not never no"`, `"\ud800 : = ->"`)
	f.Fuzz(func(t *testing.T, a, b string) {
		r := New().NewReader()
		facts := []*Fact{r.Read(Render([]byte(a))), r.Read(Render([]byte(b))), r.Read(a), nil}
		for _, p := range r.pairs(facts) {
			if p.A >= p.B || p.Similarity < 0 || p.Similarity > 1.001 {
				t.Fatalf("Pairs gives %+v, want A before B and a similarity of 0 to 1", p)
			}
		}
		Groups(len(facts), nil, 3, nil)
	})
}
