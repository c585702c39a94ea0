package search

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/blevesearch/snowballstem"
	porter2 "github.com/blevesearch/snowballstem/english"
)

func TestMoreWordsThanTheCacheHoldsAreAnalysedAlike(t *testing.T) {
	a := mustAnalyser(NewAnalyser(english))
	var readers sync.WaitGroup
	for from := range 2 {
		readers.Go(func() {
			for i := range mostWords {
				word := fmt.Sprintf("word%d running", i+from*mostWords/2)
				if got, want := a.Terms(word), []string{word[:len(word)-len(" running")], "run"}; !slices.Equal(got, want) {
					t.Errorf("%q is %q", word, got)
				}
			}
		})
	}
	readers.Wait()
	if n := len(*a.words.slots.Load()); n != mostWords {
		t.Errorf("the cache has %d slots after as many words as it may hold, %d", n, mostWords)
	}
}

func TestAWordOfAnyUsualSizeIsKept(t *testing.T) {
	a := mustAnalyser(NewAnalyser(english))
	for size := 1; size <= longestWord; size++ {
		word := strings.Repeat("x", size)
		if first := a.words.known(word, a.workOut); a.words.known(word, a.workOut) != first {
			t.Errorf("a word of %d bytes is worked out again", size)
		}
	}
}

func TestALongWordIsNotKept(t *testing.T) {
	a := mustAnalyser(NewAnalyser(english))
	long := strings.Repeat("x", longestWord+1)
	if got := a.Terms(long); !slices.Equal(got, []string{long[:maxTerm]}) {
		t.Errorf("it is %q", got)
	}
	if a.words.slots.Load() != nil {
		t.Error("it is in the cache")
	}
}

func TestEnglishHasNoEndingsAfterADigit(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 100_000 {
		word := make([]byte, 2+r.Intn(10))
		for i := range word {
			word[i] = "aeioulmnstyedrgbvc'0123456789"[r.Intn(29)]
		}
		word[0], word[len(word)-1] = 'a'+byte(r.Intn(26)), '0'+byte(r.Intn(10))
		env := snowballstem.NewEnv(string(word))
		porter2.Stem(env)
		if env.Current() != string(word) {
			t.Errorf("the stem of %q is %q", word, env.Current())
		}
	}
}

func TestWordsOfOneTermShareItsPostings(t *testing.T) {
	tail := newTail(1)
	tea, Tea, milk := &wordAnalysis{term: "tea"}, &wordAnalysis{term: "tea"}, &wordAnalysis{term: "milk"}
	tail.add(&preparedDoc{words: []wordPosition{{tea, 0}, {milk, 1}, {Tea, 2}}, length: 3})
	other := newTail(2)
	other.add(&preparedDoc{words: []wordPosition{{milk, 0}, {tea, 7}}, length: 2})
	tail.add(&preparedDoc{words: []wordPosition{{tea, 5}}, length: 1})
	var got []string
	for _, of := range [][]*entry{tail.sorted(), other.sorted()} {
		for _, e := range of {
			got = append(got, fmt.Sprint(e.term, e.docs, e.frequencies, e.positions))
		}
	}
	if want := "[milk[0] [1] [1] tea[0 1] [2 1] [0 2 5] milk[0] [1] [0] tea[0] [1] [7]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, not %s", got, want)
	}
	if found := tail.find("tea"); found == nil || len(found.docs) != 2 {
		t.Errorf("tea has %v", found)
	}
}

// TestWordsThatDifferAnywhereAreNotTakenForEachOther compares words of few letters, many of which begin and end alike, with those of an
// analyser that knows no other.
func TestWordsThatDifferAnywhereAreNotTakenForEachOther(t *testing.T) {
	a := mustAnalyser(NewAnalyser(english))
	r := rand.New(rand.NewSource(1))
	for size := 1; size <= 2*shortWord; size++ {
		for range 300 {
			word := strings.Repeat("x", size/2) + strings.Repeat("y", size-size/2)
			if at := r.Intn(size); r.Intn(4) > 0 {
				word = word[:at] + string("xyz09"[r.Intn(5)]) + word[at+1:]
			}
			if got, want := a.Terms(word), first(a.workOut(word)); !slices.Equal(got, []string{want}) {
				t.Fatalf("%s is %s, not %s", word, got, want)
			}
		}
	}
}

func TestOneCharacterAnywhereMakesATextMoreThanASCII(t *testing.T) {
	for size := range 40 {
		text := strings.Repeat("a", size)
		if !isASCII(text) {
			t.Errorf("%q is not ASCII", text)
		}
		for at := range size {
			if other := text[:at] + "\x80" + text[at+1:]; isASCII(other) {
				t.Errorf("%q is ASCII", other)
			}
		}
	}
}

func first(term string, _ bool) string { return term }
