package connection

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// echo answers each line with itself, once it may.
type echo struct {
	*Conn
	may     chan struct{} // nil: at once
	skipped []error
}

func (e *echo) Receive(ctx context.Context, line []byte) (serve func(), err error) {
	if string(line) == "end" {
		return nil, errors.New("the end")
	}
	leave, err := e.Enter(ctx)
	return func() {
		defer leave()
		defer e.Release(line)
		if e.may != nil {
			<-e.may
		}
		e.Line(line)
	}, err
}

func (e *echo) Refuse(skipped *jsonrpc.Skipped) { e.skipped = append(e.skipped, skipped) }

// serve serves lines, and returns what was written and why the connection ended.
func serve(r io.Reader, l Limits) (e *echo, written string, err error) {
	var out strings.Builder
	l = l.WithDefaults()
	e = &echo{Conn: New(r, &out, func(error) {}, &l, "")}
	err = e.Serve(context.Background(), e)
	return e, out.String(), err
}

func TestAllMessagesAreServedBeforeServeReturns(t *testing.T) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&lines, i)
	}
	_, written, err := serve(strings.NewReader(lines.String()), Limits{})
	if n := strings.Count(written, "\n"); err != nil || n != 1000 {
		t.Errorf("%d of 1000 lines are answered, %v", n, err)
	}
}

func TestReadingEndsWithItsError(t *testing.T) {
	broken := errors.New("broken")
	_, written, err := serve(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), Limits{})
	if !errors.Is(err, broken) || written != "a\n" {
		t.Errorf("got %q, %v", written, err)
	}
	if _, written, err = serve(strings.NewReader("a\nend\nb\n"), Limits{}); err == nil || !strings.Contains(err.Error(), "the end") || written != "a\n" {
		t.Errorf("a handler that ends it: got %q, %v", written, err)
	}
}

func TestALineBeyondTheLimitIsRefusedWithTheLimit(t *testing.T) {
	e, written, err := serve(strings.NewReader(strings.Repeat("x", 101)+"\nb\n"), Limits{Message: 100})
	if len(e.skipped) != 1 || !strings.Contains(e.skipped[0].Error(), "longer than 100 bytes") || written != "b\n" || err != nil {
		t.Errorf("got %q, %v, refused %v", written, err, e.skipped)
	}
}

func TestNoMoreMessagesAreServedThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		l := Limits{}.WithDefaults()
		e := &echo{Conn: New(in, io.Discard, func(error) {}, &l, ""), may: make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- e.Serve(t.Context(), e) }()
		for range MaxInFlight {
			io.WriteString(client, "x\n")
		}
		synctest.Wait()
		if len(e.slots) != MaxInFlight {
			t.Errorf("%d are served", len(e.slots))
		}
		go func() {
			io.WriteString(client, "late\n")
			client.Close()
		}()
		synctest.Wait()
		if len(ended) > 0 || e.Open().Err() != nil {
			t.Error("the message beyond the limit did not wait")
		}
		close(e.may)
		if err := <-ended; err != nil {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

func TestTheEndOfTheContextEndsServing(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close()
	l := Limits{}.WithDefaults()
	ctx, cancel := context.WithCancelCause(t.Context())
	e := &echo{Conn: New(in, io.Discard, func(error) {}, &l, "")}
	why := errors.New("the key ended")
	cancel(why)
	if err := e.Serve(ctx, e); !errors.Is(err, why) || e.Open().Err() == nil {
		t.Errorf("got %v, open: %v", err, e.Open().Err())
	}
}

func TestWhatIsToldComesBeforeLaterLinesAndWaitsForNobody(t *testing.T) {
	r, w := io.Pipe()
	o := &Output{w: w, fail: func(error) {}, read: make(chan struct{}, 1)}
	for i := range 100 {
		o.Notify(fmt.Append(nil, "note ", i))
	}
	go o.Line([]byte("answer"))
	lines := bufio.NewScanner(r)
	for i := range 100 {
		if lines.Scan(); lines.Text() != fmt.Sprint("note ", i) {
			t.Errorf("line %d is %q", i, lines.Text())
		}
	}
	if lines.Scan(); lines.Text() != "answer" {
		t.Errorf("the last line is %q", lines.Text())
	}
	o.finish()
	if o.Notify([]byte("late")); o.Unread() != 0 {
		t.Error("something is told after the end")
	}
}

func TestAClientWithTooMuchToReadIsToldNothing(t *testing.T) {
	r, w := io.Pipe()
	o := &Output{w: w, fail: func(error) {}, read: make(chan struct{}, 1)}
	go o.Line(make([]byte, MaxUnread+1))
	io.ReadFull(r, make([]byte, 1)) // it is being written
	before := o.Unread()
	o.Notify([]byte("note"))
	if after := o.Unread(); after != before {
		t.Errorf("%d bytes wait, %d after one was told more", before, after)
	}
	r.Close()
}

func TestAFailureToWriteEndsTheConnection(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close()
	l := Limits{}.WithDefaults()
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	r.Close()
	e := &echo{Conn: New(in, w, cancel, &l, "")}
	go io.WriteString(client, "a\n")
	if err := e.Serve(ctx, e); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "write to the client") {
		t.Errorf("got %v", err)
	}
}

func TestABodyThatCannotBeReadHasTheStatusOfItsReason(t *testing.T) {
	small := Limits{Message: 10}.WithDefaults()
	full := Limits{Input: jsonrpc.NewBudget(10, 1)}.WithDefaults() // nobody waits
	capped := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 100)))
	capped.Body, capped.ContentLength = http.MaxBytesReader(nil, capped.Body, 5), -1
	for name, c := range map[string]struct {
		limits Limits
		r      *http.Request
		want   int
	}{
		"long":           {small, httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 11))), 413},
		"capped":         {Limits{}.WithDefaults(), capped, 413},
		"broken":         {small, httptest.NewRequest("POST", "/", iotest.ErrReader(errors.New("x"))), 400},
		"without a room": {full, httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 1<<20))), 503},
	} {
		_, err := c.limits.Body(c.r, "")
		if got := StatusOf(err); err == nil || got != c.want {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, c.want)
		}
	}
}
