package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadingGoesOnAfterALineThatIsTooLong(t *testing.T) {
	l := NewLines(strings.NewReader(`{"id":7,"a":"`+strings.Repeat("x", 200_000)+"\"}\n\n \r\nnext\nlast"), 1000)
	_, err := l.Next(t.Context())
	var skipped *Skipped
	if !errors.As(err, &skipped) || string(skipped.ID) != "7" || !strings.Contains(err.Error(), "longer than 1000 bytes") {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"next", "last"} {
		if line, err := l.Next(t.Context()); err != nil || string(line) != want {
			t.Errorf("got %q, %v", line, err)
		}
	}
	if _, err := l.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

func TestALineOfTheLimitIsReadAndOneMoreByteIsNot(t *testing.T) {
	for _, limit := range []int{10, shortLine - 1, shortLine, shortLine + 1, 3 * shortLine} {
		line := strings.Repeat("x", limit)
		l := NewLines(strings.NewReader(line+"\n"+line+"x\n"), int64(limit))
		if got, err := l.Next(t.Context()); err != nil || string(got) != line {
			t.Errorf("%d bytes: %d, %v", limit, len(got), err)
		}
		if _, err := l.Next(t.Context()); !errors.As(err, new(*TooLongError)) {
			t.Errorf("%d bytes and one: %v", limit, err)
		}
	}
}

func TestALineCutByABrokenConnectionIsNone(t *testing.T) {
	for _, cut := range []string{`{"id":1,"result":12`, strings.Repeat("x", 2*shortLine)} {
		b := NewBudget(1<<20, 0)
		l := NewLines(strings.NewReader(cut), 1<<20)
		l.Budget = b
		if line, err := l.NextWhole(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("got %q, %v", line, err)
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes count, want 0", b.Used())
		}
	}
}

func TestReadersOfOneConnectionShareItsBuffer(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader("hello\nmessage\n"), shortLine)
	if line, err := NewLines(r, 100).First(); err != nil || string(line) != "hello" {
		t.Fatalf("First() = %q, %v, want hello", line, err)
	}
	if line, err := NewLines(r, 100).Next(t.Context()); err != nil || string(line) != "message" {
		t.Errorf("Next() = %q, %v, want message", line, err)
	}
}

func TestAFirstLineThatIsTooLongIsNotReadToItsEnd(t *testing.T) {
	for _, length := range []int{11, shortLine, 3 * shortLine} {
		r, w := io.Pipe() // on which nothing follows
		go io.WriteString(w, strings.Repeat("x", length)+"\n")
		if _, err := NewLines(r, 10).First(); !errors.As(err, new(*TooLongError)) {
			t.Errorf("%d bytes: %v", length, err)
		}
		r.Close()
	}
	r, w := io.Pipe()
	go io.WriteString(w, strings.Repeat("x", 2*shortLine))
	if _, err := NewLines(r, shortLine).First(); !errors.As(err, new(*TooLongError)) {
		t.Errorf("without an end: %v", err)
	}
	r.Close()
}

// slowLine is a reader of a line that is being written.
func slowLine(t *testing.T, b *Budget, limit int64, within time.Duration) (*Lines, *io.PipeWriter) {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	l := NewLines(r, limit)
	l.Budget, l.Within = b, within
	return l, w
}

// next reads a line in the background.
func next(l *Lines) chan error {
	ended := make(chan error, 1)
	go func() {
		line, err := l.Next(context.Background())
		l.Release(line)
		ended <- err
	}()
	return ended
}

func TestALongLineThatDoesNotEndInTimeIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(4<<20, 0)
		l, w := slowLine(t, b, 1<<20, time.Minute)
		ended := next(l)
		io.WriteString(w, `{"id":5,"a":"`+strings.Repeat("x", 300<<10))
		synctest.Wait()
		if used := b.Used(); used < 256<<10 || used > 600<<10 {
			t.Errorf("%d bytes count while the line grows, want those that it may have", used)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if b.Used() != 0 {
			t.Errorf("%d bytes count after a minute", b.Used())
		}
		io.WriteString(w, "\"}\n{}\n")
		var skipped *Skipped
		if err := <-ended; !errors.As(err, &skipped) || string(skipped.ID) != "5" || !errors.As(err, new(*SlowError)) || !strings.Contains(err.Error(), "within 1m0s") {
			t.Errorf("got %v", err)
		}
		if err := <-next(l); err != nil {
			t.Errorf("the next line: %v", err)
		}
	})
}

func TestShortLinesPassWhateverOthersHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(2<<20, time.Second)
		for range 8 {
			l, w := slowLine(t, b, 1<<20, time.Hour)
			next(l)
			go io.WriteString(w, strings.Repeat("x", 900<<10))
		}
		synctest.Wait()
		if used := b.Used(); used > 2<<20 || used == 0 {
			t.Errorf("%d bytes count", used)
		}
		l := NewLines(strings.NewReader(strings.Repeat("{\"small\":true}\n", 100)+strings.Repeat("y", shortLine-1)+"\n"), 1<<20)
		l.Budget = b
		for i := range 101 {
			line, err := l.Next(t.Context())
			if err != nil {
				t.Fatalf("line %d: %v", i, err)
			}
			l.Release(line)
		}
	})
}

func TestALongLineForWhichThereIsNoRoomIsSkippedWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1<<20, 5*time.Second)
		first, w := slowLine(t, b, 1<<20, time.Hour)
		firstEnded := next(first)
		io.WriteString(w, strings.Repeat("x", 900<<10))
		second, w2 := slowLine(t, b, 1<<20, time.Hour)
		secondEnded := next(second)
		go io.WriteString(w2, `{"id":"b","x":"`+strings.Repeat("y", 500<<10)+"\"}\n")
		var skipped *Skipped
		if err := <-secondEnded; !errors.As(err, &skipped) || string(skipped.ID) != `"b"` || !errors.As(err, new(*BusyError)) || !strings.Contains(err.Error(), "1048576 bytes") {
			t.Errorf("got %v", err)
		}
		io.WriteString(w, "\n")
		if err := <-firstEnded; err != nil {
			t.Errorf("the first line: %v", err)
		}
		third := next(second)
		go io.WriteString(w2, strings.Repeat("z", 500<<10)+"\n")
		if err := <-third; err != nil {
			t.Errorf("once there is room: %v", err)
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes count in the end", b.Used())
		}
	})
}

func TestAClientThatLeavesReleasesItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(4<<20, 0)
		l, w := slowLine(t, b, 1<<20, time.Hour)
		ended := next(l)
		io.WriteString(w, strings.Repeat("x", 200<<10))
		synctest.Wait()
		if b.Used() == 0 {
			t.Error("0 bytes count while the line grows, want those that it may have")
		}
		gone := errors.New("the client is gone")
		w.CloseWithError(gone)
		if err := <-ended; !errors.Is(err, gone) || b.Used() != 0 {
			t.Errorf("got %v, and %d bytes count after it left, want %v and 0", err, b.Used(), gone)
		}
	})
}

// FuzzLines reads any bytes as lines of at most 64 bytes: all come, whole and in order, but for those that are too long.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"id\":1}\n{}\nlast"))
	f.Add([]byte(`{"params":"` + strings.Repeat("x", 200) + `","id":7}` + "\n{}\n"))
	f.Add([]byte("\n\r\n\x00\n"))
	f.Add([]byte(strings.Repeat("x", shortLine+10) + "\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 64
		b := NewBudget(1<<20, 0)
		l := NewLines(bytes.NewReader(data), limit)
		l.Budget = b
		for i, want := range bytes.Split(data, []byte("\n")) {
			if len(want) <= limit && len(bytes.TrimSpace(want)) == 0 {
				continue
			}
			line, err := l.Next(t.Context())
			if long := len(want) > limit; long != errors.As(err, new(*TooLongError)) || !long && !bytes.Equal(line, want) {
				t.Fatalf("%q: line %d is %q, %v", data, i, line, err)
			}
			l.Release(line)
		}
		if line, err := l.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Fatalf("%q ends with %q, %v", data, line, err)
		}
		if b.Used() != 0 {
			t.Fatalf("%q: %d bytes count, want 0", data, b.Used())
		}
	})
}
