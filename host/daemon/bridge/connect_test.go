package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

func TestAConnectionWithoutAnOwnerSaysWhy(t *testing.T) {
	on := errors.New("the disk is on fire")
	c := Connect(t.Context(), func(context.Context, SessionState) (io.ReadWriteCloser, error) { return nil, on })
	fmt.Fprintln(c, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`) // fails, or the answer says why
	text, err := io.ReadAll(c)
	if !errors.Is(err, on) && !strings.Contains(string(text), on.Error()) {
		t.Errorf("read %q, %v, want that %v", text, err, on)
	}
	if c.Close(); c.Close() != nil {
		t.Error("a connection cannot be closed again")
	}
}

func TestAConnectionForwardsAndEndsWhenItIsClosed(t *testing.T) {
	near, far := net.Pipe()
	c := Connect(t.Context(), func(context.Context, SessionState) (io.ReadWriteCloser, error) { return near, nil })
	go func() {
		bufio.NewReader(far).ReadString('\n')
		fmt.Fprintln(far, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}()
	if _, err := fmt.Fprintln(c, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
		t.Errorf("the answer is %q, %v, want a result", line, err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v, want the end", err)
	}
}
