package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
)

// open is a client of an owner that answers each tool call with a result or, when it starts with "error", an
// error of the protocol.
func open(t *testing.T, answer string) *Client {
	t.Helper()
	c, err := Open(t.Context(), "test", func(context.Context, bridge.SessionState) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		go serve(far, answer)
		return near, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(conn net.Conn, answer string) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil {
			continue
		}
		said := `"result":{}`
		if request.Method == "tools/call" {
			said = answer
		}
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`+"\n")
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", request.ID, said)
	}
}

func TestACallGivesWhatTheToolAnswered(t *testing.T) {
	c := open(t, `"result":{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"structuredContent":{"n":12345678901234567890.10}}`)
	for range 2 {
		r, err := c.Call("memory_recall", map[string]any{"key": "<k>"})
		if err != nil || r.Text != "one\ntwo" || string(r.Structured) != `{"n":12345678901234567890.10}` {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

func TestClosingASessionAgainDoesNothing(t *testing.T) {
	c := open(t, `"result":{}`)
	c.Close()
	c.Close() // and at the end of the test once more
	if _, err := c.Call("memory_recall", nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after the end: %v", err)
	}
}

func TestNotesOfAFamilysToolAreGiven(t *testing.T) {
	r, err := open(t, `"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{},"_meta":{"alcove/notes":["Nothing is changed yet."]}}`).Call("any", nil)
	if err != nil || len(r.Notes) != 1 || r.Notes[0] != "Nothing is changed yet." {
		t.Errorf("Call = %+v, %v, want the note that nothing is changed yet", r, err)
	}
}

func TestErrorsOfToolsAndOfTheProtocolHaveTheirCode(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{"isError":true,"content":[{"type":"text","text":"{\"code\":\"not_found\",\"message\":\"no such branch\"}"}]}`: "not_found: no such branch",
		`"result":{"isError":true,"content":[],"structuredContent":{"error":{"code":"conflict","message":"it changed"}}}`:        "conflict: it changed",
		`"result":{"isError":true,"content":[{"type":"text","text":"just text"}]}`:                                               "internal: just text",
		`"error":{"code":-32602,"message":"no such tool","data":{"code":"invalid_argument","retryable":false}}`:                  "invalid_argument: no such tool",
		`"error":{"code":-32602,"message":"no such tool"}`:                                                                       "invalid_argument: no such tool",
		`"error":{"code":-32603,"message":"it broke"}`:                                                                           "internal: it broke",
	} {
		_, err := open(t, answer).Call("x", nil)
		var failure *Error
		if !errors.As(err, &failure) || failure.Code+": "+failure.Message != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWithoutAnOwnerOpenSaysWhy(t *testing.T) {
	_, err := Open(t.Context(), "test", func(context.Context, bridge.SessionState) (io.ReadWriteCloser, error) {
		return nil, errors.New("the disk is on fire")
	})
	if err == nil || !strings.Contains(err.Error(), "the disk is on fire") {
		t.Errorf("got %v", err)
	}
}
