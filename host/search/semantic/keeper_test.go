package semantic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestWhatIsAddedIsFoundByWhatItMeans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newCupboard(), Options{})
		first := w.say("a", "banana")
		w.set(byLetters(&letters{}))
		w.keeper.Start(w)
		second := w.say("b", "zzz")
		w.awaitVectors()
		if got := w.nearest("zz", 2); !slices.Equal(got, []uint32{second, first}) {
			t.Errorf("nearest to zz = %v, want %v", got, []uint32{second, first})
		}
		if s := w.status(); s.Vectors != 2 || s.Waiting != 0 || !s.Standard || s.Dimensions != 27 || s.Error != "" {
			t.Errorf("status %+v, want 2 standard vectors of 27 dimensions, none waiting", s)
		}
	})
}

func TestAfterARestartNothingIsEmbeddedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs, e := newCupboard(), &letters{}
		w := newWorld(t, blobs, Options{})
		w.set(byLetters(e))
		w.keeper.Start(w)
		for i := range 50 {
			w.say(fmt.Sprint("k", i), strings.Repeat("a", i+1)+"b")
		}
		w.awaitVectors()
		want := w.nearest("aaab", 5)
		if err := w.keeper.Close(); err != nil {
			t.Fatal(err)
		}
		before := e.count()
		again := newWorld(t, blobs, Options{})
		again.set(byLetters(e))
		again.keeper.Start(again)
		for i := range 50 {
			again.say(fmt.Sprint("k", i), strings.Repeat("a", i+1)+"b")
		}
		again.awaitVectors()
		if got := again.nearest("aaab", 5); !slices.Equal(got, want) || e.count() != before+1 {
			t.Errorf("%v, want %v; %d texts were embedded", got, want, e.count()-before)
		}
	})
}

func TestWhatWaitedToBeKeptIsKeptByClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs, e := newCupboard(), &letters{}
		w := newWorld(t, blobs, Options{FlushAfter: time.Hour})
		w.set(byLetters(e))
		w.keeper.Start(w)
		w.say("a", "hello")
		await.That(t, "it has its vector", func() bool { return w.status().Vectors == 1 })
		if len(blobs.names()) != 0 {
			t.Fatalf("kept too early: %v", blobs.names())
		}
		if err := w.keeper.Close(); err != nil || len(blobs.names()) != 1 {
			t.Errorf("Close: %v, files %v, want one", err, blobs.names())
		}
	})
}

func TestADamagedFileIsDroppedAndItsVectorsAreMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for place := range 6 {
			blobs, e := newCupboard(), &letters{}
			w := newWorld(t, blobs, Options{})
			w.set(byLetters(e))
			w.keeper.Start(w)
			w.say("a", "hello")
			w.awaitVectors()
			w.keeper.Close()
			name := blobs.names()[0]
			data := blobs.blobs[name]
			switch place {
			case 5:
				blobs.blobs[name] = data[:len(data)-1]
			default:
				data[place*(len(data)-1)/4] ^= 64
			}
			again := newWorld(t, blobs, Options{})
			again.set(byLetters(e))
			again.keeper.Start(again)
			again.say("a", "hello")
			again.awaitVectors()
			if got := again.nearest("hello", 1); len(got) != 1 || slices.Contains(blobs.names(), name) {
				t.Errorf("damaged at %d: found %v, files %v", place, got, blobs.names())
			}
		}
	})
}

func TestAnEmbedderThatFailsIsAskedAgainAndSaysWhatIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &letters{fail: errors.New("no route")}
		w := newWorld(t, newCupboard(), Options{})
		w.set(byLetters(e))
		w.keeper.Start(w)
		w.say("a", "hello")
		await.That(t, "the error shows", func() bool { s := w.status(); return strings.Contains(s.Error, "no route") && s.Waiting == 1 })
		e.failing(nil)
		w.awaitVectors()
		if s := w.status(); s.Error != "" || s.Vectors != 1 {
			t.Errorf("status %+v, want one vector and no error", s)
		}
	})
}

func TestATextThatIsRefusedDoesNotHoldUpTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &letters{refuse: "poison"}
		w := newWorld(t, newCupboard(), Options{Refused: func(err error) bool { return errors.Is(err, errRefuse) }})
		w.set(byLetters(e))
		for i := range 9 {
			w.say(fmt.Sprint("k", i), []string{"fine", "poison", "good"}[i%3])
		}
		w.keeper.Start(w)
		w.awaitVectors()
		if s := w.status(); s.Vectors != 6 || s.Refused != 3 || s.Waiting != 0 {
			t.Errorf("status %+v, want 6 vectors, 3 refused, none waiting", s)
		}
	})
}

func TestNewVectorsTakeThePlaceOfTheOldWhenTheyAreComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		switched := make(chan string, 1)
		blobs, old, slow := newCupboard(), &letters{}, &letters{gate: make(chan struct{})}
		w := newWorld(t, blobs, Options{Switched: func(name string) { switched <- name }})
		w.set(byLetters(old))
		w.keeper.Start(w)
		for i := range 20 {
			w.say(fmt.Sprint("k", i), strings.Repeat("x", i)+"y")
		}
		w.awaitVectors()
		w.keeper.IndexFilled()
		files := blobs.names()
		next := byLetters(slow)
		next.Identity = "2"
		w.set(next)
		slow.gate <- struct{}{}
		list := w.keeper.Status()
		if len(list) != 2 {
			t.Fatalf("status %+v, want the old and the new embedder's", list)
		}
		if got := w.nearest("xxxxy", 3); len(got) != 3 || old.count() != 21 {
			t.Errorf("meanwhile %v is found, by %d texts", got, old.count())
		}
		close(slow.gate)
		if name := <-switched; name != "letters" {
			t.Errorf("switched %s", name)
		}
		w.awaitVectors()
		await.That(t, "the old files are gone", func() bool {
			return !slices.ContainsFunc(blobs.names(), func(n string) bool { return slices.Contains(files, n) })
		})
		if s := w.status(); s.Vectors != 20 || s.Making {
			t.Errorf("status %+v, want 20 vectors and none being made", s)
		}
		if got := w.nearest("xxxxy", 3); len(got) != 3 || slow.count() != 21 {
			t.Errorf("%v, by %d texts", got, slow.count())
		}
	})
}

func TestWhatIsRemovedIsNotFoundAndComesBackWithoutBeingEmbedded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs, e := newCupboard(), &letters{}
		w := newWorld(t, blobs, Options{})
		w.set(byLetters(e))
		w.keeper.Start(w)
		a, b := w.say("a", "hello"), w.say("b", "world")
		w.awaitVectors()
		w.remove(a)
		if got := w.nearest("hello", 2); !slices.Equal(got, []uint32{b}) {
			t.Errorf("nearest to hello = %v, want %v", got, []uint32{b})
		}
		asked := e.count()
		back := w.say("a", "hello")
		w.awaitVectors()
		if got := w.nearest("hello", 1); !slices.Equal(got, []uint32{back}) || e.count() != asked {
			t.Errorf("%v, %d texts embedded", got, e.count()-asked)
		}
	})
}

func TestScrubbingLeavesNothingOfWhatIsGoneInAnyFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs, e := newCupboard(), &letters{}
		w := newWorld(t, blobs, Options{})
		w.set(byLetters(e))
		w.keeper.Start(w)
		secret := w.say("a", "secret")
		w.say("b", "harmless")
		w.awaitVectors()
		if !blobs.holds(directed(spelled("secret"))) {
			t.Fatal("it is not kept to begin with")
		}
		w.remove(secret)
		if err := w.keeper.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
		if blobs.holds(directed(spelled("secret"))) || !blobs.holds(directed(spelled("harmless"))) {
			t.Error("the wrong vectors are kept")
		}
		if got := w.nearest("harmless", 2); !slices.Equal(got, []uint32{1}) {
			t.Errorf("nearest to harmless = %v, want [1]", got)
		}
	})
}

func TestVectorsThatComeWithDocumentsAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newCupboard(), Options{})
		w.set(Settings{Name: "mine", Identity: "1", Dimensions: 2})
		w.keeper.Start(w)
		east := w.add(ref("east", 1), search.Doc{Vector: []float32{1, 0}})
		north := w.add(ref("north", 1), search.Doc{Vector: []float32{0, 2}, VectorOf: "mine"})
		w.add(ref("other", 1), search.Doc{Vector: []float32{1, 1}, VectorOf: "another"})
		w.add(ref("wide", 1), search.Doc{Vector: []float32{1, 1, 1}})
		w.add(ref("none", 1), search.Doc{Text: []string{"words"}})
		w.awaitVectors()
		found, err := w.keeper.Nearest(t.Context(), search.Query{Vector: []float32{.1, 1}}, everything(w.next), 5)
		if err != nil || len(found) != 2 || found[0].Number != north || found[1].Number != east {
			t.Errorf("Nearest = %v, %v, want %d, then %d", found, err, north, east)
		}
		if v, err := w.keeper.Embed(t.Context(), "mine", "words"); v != nil || err != nil {
			t.Errorf("a question gets %v, %v", v, err)
		}
		for _, v := range [][]float32{nil, {1}, {0, 0}} {
			if w.keeper.Check("", v) == nil {
				t.Errorf("%v can be asked for", v)
			}
		}
	})
}

func TestCollectionsBehindTheGateAreNotEmbedded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &letters{}
		w := newWorld(t, newCupboard(), Options{Gate: func(collection string) float64 {
			if collection == "_log" {
				return 0
			}
			return 1
		}})
		w.set(byLetters(e))
		w.keeper.Start(w)
		w.add(search.Ref{Branch: 1, Version: 1, Collection: "_log", Key: "1"}, search.Doc{Text: []string{"event"}})
		w.say("a", "memory")
		w.awaitVectors()
		if s := w.status(); s.Vectors != 1 || e.count() != 1 {
			t.Errorf("%+v, %d texts", s, e.count())
		}
	})
}

func TestACostlyEmbedderIsAskedOnceForEqualTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &letters{}
		w := newWorld(t, newCupboard(), Options{})
		s := byLetters(e)
		s.Costly = true
		w.set(s)
		w.keeper.Start(w)
		for version := range 10 {
			w.add(ref("a", uint64(version+1)), search.Doc{Text: []string{"the same"}, Tags: []string{fmt.Sprint(version)}})
			w.awaitVectors()
		}
		if got := w.status(); got.Vectors != 10 || e.count() != 1 {
			t.Errorf("%+v, %d texts", got, e.count())
		}
	})
}

func TestTextsAreCutAndPrefixedAndNameTheirSpeaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &letters{}
		w := newWorld(t, newCupboard(), Options{})
		s := byLetters(e)
		s.MaxChars, s.Prefix, s.Question = 12, "passage: ", "query: "
		w.set(s)
		w.keeper.Start(w)
		w.add(ref("a", 1), search.Doc{Text: []string{"héé", "é and more"}, Turn: &search.Turn{Speaker: "Ann"}})
		w.awaitVectors()
		w.nearest("what?", 1)
		if want := []string{"passage: Ann:\nhéé\né an"[:len("passage: ")] + "Ann:\nhéé\né a", "query: what?"}; !slices.Equal(e.asked, want) {
			t.Errorf("%q, want %q", e.asked, want)
		}
	})
}

func TestWhatDoesNotChangeVectorsIsChangedWithoutMakingThemAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := &letters{}, &letters{}
		w := newWorld(t, newCupboard(), Options{})
		w.set(byLetters(old))
		w.keeper.Start(w)
		w.say("a", "first")
		w.awaitVectors()
		w.set(Settings{Name: "letters", Identity: "1", Dimensions: 27, Embedder: next, Weight: .1})
		w.say("b", "second")
		w.awaitVectors()
		if s := w.status(); s.Vectors != 2 || old.count() != 1 || next.count() != 1 {
			t.Errorf("%+v, %d and %d texts", s, old.count(), next.count())
		}
	})
}

func TestAQuestionIsEmbeddedOnce(t *testing.T) {
	e := &letters{}
	w := newWorld(t, newCupboard(), Options{})
	w.set(byLetters(e))
	for range 3 {
		w.nearest("the same question", 1)
	}
	for i := range mostQuestions + 1 {
		w.nearest(fmt.Sprint("question ", i), 1)
	}
	if e.count() != mostQuestions+2 || len(w.keeper.questions.known) != mostQuestions {
		t.Errorf("%d texts, %d remembered", e.count(), len(w.keeper.questions.known))
	}
}

// mixture is one of 40 texts whose vectors differ.
func mixture(i int) string { return strings.Repeat("m", i) + strings.Repeat("n", 40-i) }

func TestFilesAreMergedAndLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs, e := newCupboard(), &letters{}
		w := newWorld(t, blobs, Options{})
		w.set(byLetters(e))
		w.keeper.Start(w)
		for i := range 40 {
			w.say(fmt.Sprint("k", i), mixture(i))
			w.awaitVectors()
		}
		if files := len(blobs.names()); files > 2*mergedAtOnce {
			t.Errorf("%d files", files)
		}
		if got := w.nearest(mixture(7), 40); len(got) != 40 || got[0] != 7 {
			t.Errorf("%d found, %v", len(got), got[:1])
		}
		w.keeper.Close()
		again := newWorld(t, blobs, Options{})
		again.set(byLetters(e))
		again.keeper.Start(again)
		asked := e.count()
		for i := range 40 {
			again.say(fmt.Sprint("k", i), mixture(i))
		}
		again.awaitVectors()
		if s := again.status(); s.Vectors != 40 || e.count() != asked {
			t.Errorf("%+v, %d embedded again", s, e.count()-asked)
		}
	})
}

func TestFilesDoNotKeepForEverWhatNoDocumentClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs := newCupboard()
		w := newWorld(t, blobs, Options{})
		w.set(byLetters(&letters{}))
		w.keeper.Start(w)
		var numbers []uint32
		for i := range 30 {
			numbers = append(numbers, w.say(fmt.Sprint("k", i), strings.Repeat("t", i)+"u"))
		}
		w.awaitVectors()
		w.keeper.IndexFilled()
		for _, n := range numbers[5:] {
			w.remove(n)
		}
		w.say("last", "one more") // and the lane looks around when it has nothing else to do
		w.awaitVectors()
		rows := func() (n int) {
			blobs.mu.Lock()
			defer blobs.mu.Unlock()
			for _, data := range blobs.blobs {
				n += (len(data) - blobHeader) / (blobEntry + 4 + 27)
			}
			return n
		}
		await.That(t, "few rows are left", func() bool { return rows() <= 12 })
		if got := w.nearest("ttu", 10); len(got) != 6 || w.status().Vectors != 6 {
			t.Errorf("nearest to ttu = %v of %d vectors, want all 6", got, w.status().Vectors)
		}
	})
}

func TestFilesOfEmbeddersThatThereAreNotAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs, e := newCupboard(), &letters{}
		w := newWorld(t, blobs, Options{})
		w.set(byLetters(e))
		w.keeper.Start(w)
		w.say("a", "x")
		w.awaitVectors()
		blobs.blobs[blobPrefix+"gone-000000000000/0000000000000001"] = []byte("x")
		blobs.blobs["segments/1"] = []byte("not mine")
		if err := w.keeper.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := blobs.names(); len(got) != 2 || got[0] != "segments/1" || !strings.HasPrefix(got[1], blobPrefix+"letters-") {
			t.Errorf("files %v, want that of another and one of letters", got)
		}
		w.keeper.Drop("letters")
		await.That(t, "the dropped embedder's files are gone", func() bool { return len(blobs.names()) == 1 })
		if _, err := w.keeper.Embed(t.Context(), "letters", "x"); !errors.Is(err, ErrNone) {
			t.Errorf("Embed by a dropped embedder: %v, want ErrNone", err)
		}
	})
}

func TestWhenFilesCannotBeWrittenVectorsStayInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs := newCupboard()
		blobs.broken = errors.New("disk full")
		w := newWorld(t, blobs, Options{})
		w.set(byLetters(&letters{}))
		w.keeper.Start(w)
		w.say("a", "hello")
		await.That(t, "it has its vector", func() bool { return w.status().Vectors == 1 })
		if got := w.nearest("hello", 1); len(got) != 1 {
			t.Errorf("nearest to hello = %v, want one", got)
		}
		blobs.mu.Lock()
		blobs.broken = nil
		blobs.mu.Unlock()
		w.awaitVectors()
		if len(blobs.names()) != 1 {
			t.Errorf("files %v, want one", blobs.names())
		}
	})
}

func TestDocumentsComeAndGoWhileTheyAreSearchedAndScrubbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs := newCupboard()
		w := newWorld(t, blobs, Options{})
		s := byLetters(&letters{})
		s.Costly = true
		w.set(s)
		w.keeper.Start(w)
		w.keeper.IndexFilled()
		var both sync.WaitGroup
		for writer := range 3 {
			both.Go(func() {
				for i := range 150 {
					n := w.say(fmt.Sprint(writer, "/", i), strings.Repeat("q", i%20)+"r")
					if i%3 == 0 {
						w.remove(n)
					}
				}
			})
		}
		both.Go(func() {
			for range 20 {
				if err := w.keeper.Scrub(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
		both.Go(func() {
			for i := range 40 {
				v := spelled(strings.Repeat("q", i%20))
				if _, err := w.keeper.Nearest(context.Background(), search.Query{Vector: v}, everything(450), 5); err != nil {
					t.Error(err)
				}
				w.keeper.Status()
			}
		})
		both.Go(func() {
			for i := range 5 {
				s := s
				s.Identity = fmt.Sprint("i", i)
				if err := w.keeper.Set(s); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
		both.Wait()
		w.awaitVectors()
		await.That(t, "one lane is left", func() bool { return len(w.keeper.Status()) == 1 })
		if s := w.status(); s.Vectors != 300 {
			t.Errorf("status %+v, want 300 vectors", s)
		}
	})
}
