package wordvec

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/search"
)

func open(t testing.TB) *Table {
	t.Helper()
	table, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func similarity(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestTextsInOtherWordsAreNearer(t *testing.T) {
	table := open(t)
	for _, c := range []struct{ question, answer, other string }{
		{"when do we ship?", "We deploy on Tuesdays after lunch.", "The dentist replaced the crown in March."},
		{"which vehicle does she drive?", "Anna has a red Toyota.", "Anna has a red dress."},
		{"does anything hurt?", "My knee aches when I climb stairs.", "The stairs were painted white."},
	} {
		q, answer, other := table.Question(c.question), table.Vector(c.answer), table.Vector(c.other)
		if near, far := similarity(q, answer), similarity(q, other); near < far+.1 {
			t.Errorf("%q has a similarity of %.2f to %q and %.2f to %q, want .1 more", c.question, near, c.answer, far, c.other)
		}
		if length := similarity(answer, answer); math.Abs(length-1) > 1e-5 {
			t.Errorf("the vector of %q has the length %g, want 1", c.answer, length)
		}
	}
}

// The identity says which vectors can be compared. Whoever changes the table or the analysis changes the identity and this.
func TestTheIdentityIsThatOfTheTable(t *testing.T) {
	sum := sha256.Sum256([]byte(table))
	got := Identity + " " + open(t).analyser.ID() + " " + hex.EncodeToString(sum[:8])
	if want := "english-1 unicode-1-english 75c08e6003bd78c6"; got != want {
		t.Errorf("the table is %s, want %s", got, want)
	}
}

func TestTextsOfOtherLanguagesHaveNoVector(t *testing.T) {
	table := open(t)
	for _, text := range []string{
		"Wann wird die Heizung im Keller gewartet?", "¿A qué hora sale el autobús de la escuela?", "我们每周二午饭后发布新版本。",
		"", "   ", "??", "the of and", "Kwyjibo", strings.Repeat("zzyzx ", 100_000),
	} {
		if v := table.Question(text); v != nil {
			t.Errorf("%.40q has a vector, want none", text)
		}
	}
}

func TestAStopWordIsNotTheStemOfAnotherWord(t *testing.T) {
	table := open(t)
	if v := table.Vector("own"); v != nil {
		t.Errorf("the stop word own has a vector, want none")
	}
	if table.Vector("owned") == nil || table.Vector("when") == nil {
		t.Errorf("owned or when has no vector, want one each")
	}
}

func TestTheBeginningOfALongTextCounts(t *testing.T) {
	table := open(t)
	long := strings.Repeat("dog ", longestText)
	if got, want := table.Vector(long+strings.Repeat("car ", 10*longestText)), table.Vector(long); !slices.Equal(got, want) {
		t.Errorf("terms beyond the first %d change the vector", longestText)
	}
}

func TestNearTermsAreOfEnglishAlone(t *testing.T) {
	table := open(t)
	near := func(language, term string) (terms []string) {
		by, err := search.NewAnalyser(language)
		if err != nil {
			t.Fatal(err)
		}
		last := 1.0
		for _, n := range table.Near(term, term, by) {
			if n.Near > last || n.Near < leastNear {
				t.Errorf("%s is near to %s by %g after %g", n.Term, term, n.Near, last)
			}
			last, terms = n.Near, append(terms, n.Term)
		}
		return terms
	}
	for range 2 { // the second is remembered
		if got := near("english", "deploy"); !slices.Contains(got, "releas") || slices.Contains(got, "deploy") || len(got) > mostNear {
			t.Errorf("near to deploy is %v, want releas among at most %d others", got, mostNear)
		}
	}
	if got := append(near("german", "deploy"), near("english", "zzyzx")...); len(got) > 0 {
		t.Errorf("near to a term of another language and to an unknown one is %v, want nothing", got)
	}
}

func row(text string, stop bool) Row { return Row{Term{text, stop}, .5, make([]int8, Dimensions)} }

func TestATableIsReadAsItWasWritten(t *testing.T) {
	a, b := row("own", false), row("own", true)
	a.Vector[0], b.Vector[1] = 3, -4
	got, err := parse(string(Encode([]Row{a, b})))
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Vector("owned"); v == nil || v[0] != 1 {
		t.Errorf("the vector of owned is %v, want 1 in the first element", v)
	}
	if v := got.Vector("own"); v == nil || v[1] != -1 {
		t.Errorf("the vector of own is %v, want -1 in the second element", v)
	}
}

func TestDamagedTablesAreRefused(t *testing.T) {
	good := string(Encode([]Row{row("a", false), row("b", false)}))
	for name, raw := range map[string]string{
		"nothing": "", "another magic": "x" + good[1:], "a short header": good[:10], "too few bytes": good[:40], "more rows": good[:8] + "\x09" + good[9:],
		"other dimensions": good[:12] + "\x01" + good[13:], "a row without a term": good[:len(good)-2], "a term twice": good[:len(good)-2] + "a\n",
	} {
		if _, err := parse(raw); err == nil {
			t.Errorf("%s is read without an error", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(string(Encode([]Row{row("a", false), row("when", true)})), "a when")
	f.Fuzz(func(t *testing.T, raw, text string) {
		table, err := parse(raw)
		if err != nil {
			return
		}
		if v := table.Vector(text); v != nil && math.Abs(similarity(v, v)-1) > 1e-3 {
			t.Errorf("the vector of %q has the length %g", text, similarity(v, v))
		}
		table.near("a")
	})
}

func BenchmarkVector(b *testing.B) {
	table := open(b)
	b.ReportAllocs()
	for b.Loop() {
		table.Vector("We decided to deploy on Tuesdays, because the database team is on call then and the customers are asleep.")
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		open(b)
	}
}

func BenchmarkNear(b *testing.B) {
	table := open(b)
	for b.Loop() {
		table.near("deploy")
	}
}
