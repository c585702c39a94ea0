package audit

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// anchorOfTest counts what it is asked to keep, and answers as it is told.
type anchorOfTest struct {
	asked, kept []Head
	answer      func(context.Context) error // nil: it keeps everything
}

func (a *anchorOfTest) Keep(ctx context.Context, h Head) error {
	a.asked = append(a.asked, h)
	if a.answer != nil {
		if err := a.answer(ctx); err != nil {
			return err
		}
	}
	a.kept = append(a.kept, h)
	return nil
}

// anchoring runs RunAnchor with an interval of a minute in a bubble of synctest. stop ends it and waits.
func anchoring(t *testing.T, l *Log, a Anchor) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.RunAnchor(ctx, a, time.Minute)
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-ended
	}
}

// pass lets time of the bubble pass: no real time.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func called(l *Log) { l.Add(Entry{Kind: Called, Family: "notes", Outcome: "ok"}) }

func TestAHeadIsKeptAtOnceWhenItChangedAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, a := t.TempDir(), &anchorOfTest{}
		l := openLog(t, Options{Dir: dir})
		stop := anchoring(t, l, a)
		if len(a.kept) != 1 {
			t.Fatalf("at the start it kept %+v", a.kept)
		}
		if pass(10 * time.Minute); len(a.kept) != 1 {
			t.Errorf("without a change it kept %+v", a.kept)
		}
		called(l)
		called(l)
		if pass(time.Minute); len(a.kept) != 2 || a.kept[1].Seq != a.kept[0].Seq+2 {
			t.Errorf("after two entries it kept %+v", a.kept)
		}
		called(l)
		if stop(); len(a.kept) != 3 {
			t.Errorf("at the end it kept %+v", a.kept)
		}
		closed(t, l)
		again := openLog(t, Options{Dir: dir})
		if anchoring(t, again, a)(); len(a.kept) != 4 || a.kept[3].Seq <= a.kept[2].Seq {
			t.Errorf("after a restart it kept %+v", a.kept)
		}
		closed(t, again)
		if r := verified(t, dir, a.kept...); len(r.Problems) != 0 {
			t.Errorf("the log has %v", r.Problems)
		}
	})
}

func TestAnAnchorThatWasDownIsGivenTheHeadWhenItIsBackAndTheLogSaysSoOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		var down atomic.Value // the text of the error; empty: it is not down
		down.Store("connection refused")
		a := &anchorOfTest{answer: func(context.Context) error {
			if text := down.Load().(string); text != "" {
				return errors.New(text)
			}
			return nil
		}}
		l := openLog(t, Options{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&said, nil))})
		defer closed(t, l)
		stop := anchoring(t, l, a)
		defer stop()
		pass(5 * time.Minute)
		if len(a.asked) != 6 || len(a.kept) != 0 || strings.Count(said.String(), "connection refused") != 1 {
			t.Errorf("down, it was asked %d times and kept %+v; the log says %s", len(a.asked), a.kept, said.String())
		}
		if err := l.Ready(); err != nil {
			t.Errorf("families are held up: %v", err)
		}
		down.Store("")
		if pass(time.Minute); len(a.kept) != 1 {
			t.Errorf("back, it kept %+v", a.kept)
		}
		down.Store("connection reset")
		called(l)
		if pass(3 * time.Minute); strings.Count(said.String(), "connection reset") != 1 {
			t.Errorf("down again, the log says %s", said.String())
		}
	})
}

// While an anchor is silent, entries are added and written, and the end of the server waits for it twice at most: for the head that is
// under way, and for the last one.
func TestAnAnchorThatIsSilentHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &anchorOfTest{answer: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		l := openLog(t, Options{Dir: t.TempDir()})
		defer closed(t, l)
		stop := anchoring(t, l, a)
		called(l)
		if err := errors.Join(l.Ready(), l.Flush()); err != nil {
			t.Errorf("while the anchor is silent: %v", err)
		}
		began := time.Now()
		stop()
		if took := time.Since(began); took > 2*keepTimeout || len(a.asked) != 2 { // on the clock of the bubble
			t.Errorf("the end took %s, and it was asked %d times", took, len(a.asked))
		}
	})
}

func TestTheLastHeadIsKeptAlthoughAnEarlierOneWasUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &anchorOfTest{answer: func(context.Context) error { time.Sleep(time.Second); return nil }}
		l := openLog(t, Options{Dir: t.TempDir()})
		defer closed(t, l)
		stop := anchoring(t, l, a)
		called(l)
		stop()
		if h, err := l.Head(); err != nil || a.kept[len(a.kept)-1] != h {
			t.Errorf("the anchor kept %+v, and the head is %+v, %v", a.kept, h, err)
		}
	})
}

func TestAnOlderCopyThatIsPutBackWhileAnAnchorRunsIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &anchorOfTest{}
		dir, _ := filled(t, Options{}, 5)
		var old []byte
		change(t, newest(t, dir), func(d []byte) []byte { old = d; return d })
		l := openLog(t, Options{Dir: dir})
		stop := anchoring(t, l, a)
		called(l)
		stop()
		closed(t, l)
		change(t, newest(t, dir), func([]byte) []byte { return old })
		pass(time.Second) // in the same instant the same entries would have the same hashes
		again := openLog(t, Options{Dir: dir})
		stop = anchoring(t, again, a)
		for range 20 {
			called(again)
		}
		stop()
		closed(t, again)
		if r := verified(t, dir); len(r.Problems) != 0 {
			t.Errorf("alone it has %v: nothing needs an anchor", r.Problems)
		}
		if r := verified(t, dir, a.kept...); len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "changed or replaced") {
			t.Errorf("with the heads that the anchor kept it has %v", r.Problems)
		}
	})
}
