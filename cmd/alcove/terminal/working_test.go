package terminal

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// onTerminal is an output to a terminal that records what it gets.
func onTerminal() (*Output, *strings.Builder) {
	var got strings.Builder
	return &Output{file: &got, terminal: true, redraws: true}, &got
}

func TestACommandThatTakesOverASecondTellsHowLongItHasBeenAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, got := onTerminal()
		w := o.Working("verify \x1b[2J")
		time.Sleep(quietFor + 2*redrawEvery + time.Millisecond)
		w.Stop()
		w.Stop()
		if want := eraseLine + `| verify \x1b[2J 1 s` + eraseLine + `/ verify \x1b[2J 1 s` + eraseLine + `- verify \x1b[2J 1 s` + eraseLine; got.String() != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	})
}

func TestACommandThatIsDoneWithinASecondShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, got := onTerminal()
		w := o.Working("verify")
		time.Sleep(quietFor - time.Millisecond)
		w.Stop()
		if got.Len() > 0 {
			t.Errorf("printed %q", got)
		}
	})
}

func TestWhatIsPrintedErasesTheLineFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, got := onTerminal()
		w := o.Working("verify")
		time.Sleep(quietFor + time.Millisecond)
		o.Printf("%s\n", "a warning")
		o.Write([]byte("a log line\n"))
		w.Stop()
		if want := eraseLine + "| verify 1 s" + eraseLine + "a warning\na log line\n"; got.String() != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	})
}

func TestWithoutATerminalNobodyIsToldOfWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		w := New(&got, func(string) string { return "" }).Working("verify")
		time.Sleep(time.Minute)
		w.Stop()
		if got.Len() > 0 {
			t.Errorf("printed %q", &got)
		}
	})
}

func TestABuildTellsElsewhereThanOnATerminalEveryFewSecondsHowLongItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		w := New(&got, func(string) string { return "" }).Building("building: sh build.sh")
		time.Sleep(2*lineEvery + time.Millisecond)
		w.Stop()
		if want := "building: sh build.sh 5 s\nbuilding: sh build.sh 10 s\n"; got.String() != want {
			t.Errorf("printed %q, want %q", got.String(), want)
		}
		o, drawn := onTerminal()
		w = o.Building("building: sh build.sh")
		time.Sleep(quietFor + time.Millisecond)
		w.Stop()
		if want := eraseLine + "| building: sh build.sh 1 s" + eraseLine; drawn.String() != want {
			t.Errorf("printed %q, want %q", drawn, want)
		}
	})
}
