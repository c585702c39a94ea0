package bridge

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// closing counts what is written after it was closed.
type closing struct {
	closed atomic.Bool
	late   atomic.Int32
	lines  atomic.Int32
}

func (c *closing) Write(p []byte) (int, error) {
	if c.closed.Load() {
		c.late.Add(1)
	}
	c.lines.Add(1)
	return len(p), nil
}

// TestNothingIsWrittenOnceRunHasReturned has an owner that never stops talking.
func TestNothingIsWrittenOnceRunHasReturned(t *testing.T) {
	var all []*closing
	for range 200 {
		out := &closing{}
		all = append(all, out)
		dial := func(context.Context, SessionState) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs)
			go func() {
				for {
					if _, err := io.WriteString(theirs, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`+"\n"); err != nil {
						return
					}
				}
			}()
			return ours, nil
		}
		in, end := io.Pipe()
		go func() {
			for out.lines.Load() < 3 { // until the owner is heard
				_, _ = io.Copy(end, strings.NewReader("\n"))
			}
			end.Close()
		}()
		if err := Run(t.Context(), Options{Dial: dial, In: in, Out: out}); err != nil {
			t.Fatal(err)
		}
		out.closed.Store(true)
	}
	for i, out := range all { // the first ones ended long ago
		if n := out.late.Load(); n > 0 {
			t.Errorf("%d lines were written after the end of run %d", n, i)
		}
	}
}
