package scale

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/internal/schema"
)

func wordsOf(t *testing.T, seed uint64) Texts {
	t.Helper()
	texts, err := Words(seed)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestATextIsTheSameWheneverItIsAskedFor(t *testing.T) {
	a, b, other := wordsOf(t, 5), wordsOf(t, 5), wordsOf(t, 6)
	last, err := a.Text(Most - 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Text(3); err != nil {
		t.Fatal(err)
	}
	if again, _ := b.Text(Most - 1); again != last || last == "" {
		t.Errorf("%q, then %q", last, again)
	}
	if differs, _ := other.Text(Most - 1); differs == last {
		t.Errorf("another seed makes %q, too", last)
	}
}

func TestWordsAreAsUnevenAsThoseOfALanguage(t *testing.T) {
	texts, counts, all, lengths := wordsOf(t, 1), map[string]int{}, 0, []int{}
	for i := range 5000 {
		text, err := texts.Text(i)
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Fields(text)
		lengths = append(lengths, len(list))
		for _, word := range list {
			counts[word]++
			all++
		}
	}
	slices.Sort(lengths)
	if share := float64(counts["the"]) / float64(all); share < .02 || share > .08 {
		t.Errorf(`"the" is %.3f of all words`, share)
	}
	if median := lengths[len(lengths)/2]; median < 25 || median > 31 || lengths[0] < shortestLength || lengths[len(lengths)-1] > longestLength {
		t.Errorf("lengths go from %d to %d, half of them up to %d", lengths[0], lengths[len(lengths)-1], median)
	}
	if len(counts) < 15_000 {
		t.Errorf("%d words in %d", len(counts), all)
	}
}

func TestAQuestionHasWordsOfOneText(t *testing.T) {
	texts := wordsOf(t, 1)
	for i := range 50 {
		asked, err := Question(texts, 100, i, 2, 5)
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Fields(asked)
		if len(list) < 2 || len(list) > 5 || slices.ContainsFunc(list, texts.Stop) {
			t.Errorf("question %d is %q", i, asked)
		}
		found := false
		for n := range 100 {
			text, _ := texts.Text(n)
			has := strings.Fields(text)
			found = found || !slices.ContainsFunc(list, func(word string) bool { return !slices.Contains(has, word) })
		}
		if !found {
			t.Errorf("no text has all words of %q", asked)
		}
	}
}

func TestTagsAndNamespacesHaveTheirShares(t *testing.T) {
	counts := map[string]int{}
	const n = 100_000
	for i := range n {
		counts[namespace(i)]++
		list, _ := item(1, i, "x")["tags"].([]string)
		for _, tag := range list {
			counts[tag]++
		}
	}
	for name, want := range map[string]int{"notes": n / 10, "default": n * 9 / 10, tenth: n / 10, hundredth: n / 100, thousandth: n / 1000} {
		if got := counts[name]; got < want*7/10 || got > want*13/10 {
			t.Errorf("%s: %d of %d, want about %d", name, got, n, want)
		}
	}
}

func TestABatchEndsAtItsBlockAndAtTheLastTenth(t *testing.T) {
	r := &run{Bench: Bench{Batch: 300}}
	var ends []int
	for at := 0; at < 1250; {
		at = r.until(at, 1250)
		ends = append(ends, at)
	}
	if want := []int{300, 600, 900, 1000, 1125, 1250}; !slices.Equal(ends, want) {
		t.Errorf("batches end at %v, want %v", ends, want)
	}
}

func TestTheRateOfTheLastTenthIsItsOwn(t *testing.T) {
	all, last := (grown{Marks: map[int]float64{900: 9, 1000: 14}}).rates(1000)
	if all != 71.43 || last != 20 {
		t.Errorf("%g a second, the last tenth %g", all, last)
	}
}

func measured() Report {
	r := Report{Version: ReportVersion, Program: "v1", Machine: "m", Texts: `a<b "c"`, Batch: 100}
	for _, n := range []int{1000, 100_000, 1_000_000} {
		size := Size{N: n, Store: Rates{1, 2, 3}, Bytes: Bytes{100, 200, 50, 2.5}, Calls: map[string]Latency{}, Fork: 1,
			Start: &Start{20, 40, 5, 30, 50, 60}, Memory: &Memory{3e8, 2e8, 1e8}, Conversations: &Conversations{Latency{9, 4, 8}, Latency{9, 2, 4}, 2},
			Backup: &Backup{Full: 1, FullRate: 2, Bytes: 3, Changed: 4, Incremental: 5, IncrementalBytes: 6, IncrementalRate: 7}, Verify: &Verify{8, 9},
			Peers: map[string]Peer{Ours: {Version: "x", Question: Latency{9, 3, 6}, CPU: 5}, OursLexical: {Question: Latency{9, 1, 6}, CPU: 1}, "xapian": {Version: "y", Bytes: 9, Question: Latency{9, 2, 6}, CPU: 2}}}
		for _, kind := range Kinds() {
			size.Calls[kind] = Latency{9, 3, 6}
		}
		r.Sizes = append(r.Sizes, size)
	}
	return r
}

func TestAReportIsOfItsSchema(t *testing.T) {
	s, err := schema.Compile(Schema)
	if err != nil {
		t.Fatal(err)
	}
	bare := Report{Version: ReportVersion, Batch: 1, Sizes: []Size{{N: 1, Unmeasured: "why"}}}
	for _, r := range []Report{measured(), bare} {
		raw, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(raw); err != nil {
			t.Error(err)
		}
	}
	if err := s.Check([]byte(`{"version":2}`)); err == nil {
		t.Error("a report of another version passes")
	}
}

func TestTheChartIsXMLAndNamesItsSizes(t *testing.T) {
	for _, r := range []Report{measured(), {Sizes: measured().Sizes[:1]}, {Sizes: []Size{{N: 5}}}} {
		chart, text := r.Chart(), ""
		for d := xml.NewDecoder(strings.NewReader(chart)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, chart)
			}
			if data, ok := token.(xml.CharData); ok {
				text += string(data) + "\n"
			}
		}
		if strings.Contains(chart, "NaN") || strings.Contains(chart, "Inf") {
			t.Errorf("the chart has what is not a number: %s", chart)
		}
		for _, s := range r.Sizes {
			if s.Fork > 0 && !strings.Contains(text, "\n"+Thousands(s.N)+"\n") {
				t.Errorf("the chart lacks %d: %s", s.N, text)
			}
		}
	}
}

func TestTheTableHasGoalsBesideMeasuresAndSaysWhatIsMissing(t *testing.T) {
	table := measured().Table()
	for _, want := range []string{
		"| start to `initialize`, clean | ≤ 30 ms | 20 ms | ≤ 50 ms | 20 ms | ≤ 80 ms | – |",
		"| question over stdio, p50 ÷ Xapian's | ≤ 1.1 | 1.5 | ≤ 1 | 1.5 | ≤ 1 | – |",
		"| … by words alone |  | 0.5 |  | 0.5 |  | – |",
		"| … processor time ÷ Xapian's |  | 2.5 |  | 2.5 |  | – |",
		"Not measured: 10,000,000 memories.",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %s:\n%s", want, table)
		}
	}
}

func TestWhatDoesNotFitTheDiskIsRefused(t *testing.T) {
	b := Bench{Texts: wordsOf(t, 1), Sizes: []int{1_000_000}, Dir: "d", Free: func(string) (uint64, error) { return 1e9, nil }}
	if err := b.Check(); err == nil || !strings.Contains(err.Error(), "d has 1.0 GB free, and 1,000,000 memories take up to 4.0 GB: choose another --dir") {
		t.Errorf("1 GB free, want an error that says what to do: %v", err)
	}
	b.Free = func(string) (uint64, error) { return 5e9, nil }
	if err := b.Check(); err != nil {
		t.Errorf("5 GB free, want a million memories to fit: %v", err)
	}
	broken := errors.New("broken")
	b.Free = func(string) (uint64, error) { return 0, broken }
	if err := b.Check(); !errors.Is(err, broken) {
		t.Errorf("check of an unknown disk: %v, want %v", err, broken)
	}
}

func TestADamagedStateIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(statePath(dir), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(dir, state{}, true); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "choose another --dir") {
		t.Errorf("resume of half a state: %v, want an error that says what to do", err)
	}
}

func TestAProgramThatCannotBeStartedIsNamed(t *testing.T) {
	_, err := Bench{Program: Program{Path: filepath.Join(t.TempDir(), "none")}, Dir: t.TempDir(), Texts: wordsOf(t, 1), Sizes: []int{1}}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("run of no program: %v, want an error that names it", err)
	}
}

func TestFileOfTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "texts.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"text\":\"one\"}\n{\"id\":2,\"text\":\"two\"}\r\n{\"text\":\"thrée\"}")
	texts, file, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i, want := range []string{"one", "two", "thrée"} {
		if got, err := texts.Text(i); got != want || err != nil {
			t.Errorf("text %d is %q, %v", i, got, err)
		}
	}
	long, err := json.Marshal(map[string]string{"text": strings.Repeat("x", longestLine)})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"": "has no lines", "{\"text\":\"a\"}\n{": "line 2", "{\"text\":\" \"}": "line 1: it has no", string(long): "line 1 is longer than"} {
		write(text)
		if _, _, err := File(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func FuzzTextOf(f *testing.F) {
	f.Add([]byte(`{"text":"a"}`))
	f.Add([]byte(`{"text":1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if text, err := textOf(line); err == nil && strings.TrimSpace(text) == "" {
			t.Errorf("%q has the text %q", line, text)
		}
	})
}

func TestLatencyIsInMilliseconds(t *testing.T) {
	if got, want := LatencyOf([]time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond}), (Latency{3, 2, 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
