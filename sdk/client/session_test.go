package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

// begin is a session with a server that answers each tool call with a result or, when it starts with "error", an
// error of the protocol.
func begin(t *testing.T, answer string) *Session {
	t.Helper()
	near, far := net.Pipe()
	go answerAll(far, answer)
	s, err := NewSession(t.Context(), near, Program{"test", "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func answerAll(conn net.Conn, answer string) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil || request.Params.Name == "silent" {
			continue
		}
		said := `"result":{"serverInfo":{"name":"alcove","version":"7"},"tools":[{"name":"memory_store"},{"name":"memory_recall"}]}`
		if request.Method == "tools/call" {
			said = answer
		}
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`+"\n")
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", request.ID, said)
	}
}

func TestACallOfASessionGivesWhatTheToolAnswered(t *testing.T) {
	s := begin(t, `"result":{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"structuredContent":{"n":12345678901234567890.10}}`)
	for range 2 {
		r, err := s.Call(t.Context(), "memory_recall", map[string]any{"key": "<k>"})
		if err != nil || r.Text != "one\ntwo" || string(r.Structured) != `{"n":12345678901234567890.10}` {
			t.Errorf("Call = %+v, %v, want both texts and the number as it was", r, err)
		}
	}
}

func TestASessionKnowsItsServerAndItsTools(t *testing.T) {
	s := begin(t, `"result":{}`)
	list, names, err := s.Tools(t.Context())
	if err != nil || !slices.Equal(names, []string{"memory_store", "memory_recall"}) || !strings.HasPrefix(string(list), `{"serverInfo"`) {
		t.Errorf("Tools = %s, %q, %v, want the answer as it was, with two tools", list, names, err)
	}
	if s.Server() != (Program{"alcove", "7"}) {
		t.Errorf("Server = %+v, want alcove 7", s.Server())
	}
}

func TestClosingASessionAgainDoesNothing(t *testing.T) {
	s := begin(t, `"result":{}`)
	s.Close()
	s.Close() // and at the end of the test once more
	if _, err := s.Call(t.Context(), "memory_recall", nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("Call after the end: %v, want that it has ended", err)
	}
}

func TestTheEndOfACallsContextEndsTheSession(t *testing.T) {
	s := begin(t, `"result":{}`)
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := s.Call(ctx, "silent", nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a cancelled Call: %v, want that the session has ended", err)
	}
	if _, err := s.Call(t.Context(), "memory_recall", nil); err == nil {
		t.Error("the session goes on after a cancelled call")
	}
}

func TestNotesOfAFamilysToolAreGiven(t *testing.T) {
	r, err := begin(t, `"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{},"_meta":{"alcove/notes":["Nothing is changed yet."]}}`).Call(t.Context(), "any", nil)
	if err != nil || len(r.Notes) != 1 || r.Notes[0] != "Nothing is changed yet." {
		t.Errorf("Call = %+v, %v, want the note that nothing is changed yet", r, err)
	}
}

func TestErrorsOfToolsAndOfTheProtocolHaveTheirCode(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{"isError":true,"content":[{"type":"text","text":"{\"code\":\"not_found\",\"message\":\"no such branch\"}"}]}`: "E_NOT_FOUND: no such branch",
		`"result":{"isError":true,"content":[],"structuredContent":{"error":{"code":"conflict","message":"it changed"}}}`:        "E_CONFLICT: it changed",
		`"result":{"isError":true,"content":[{"type":"text","text":"just text"}]}`:                                               "E_INTERNAL: just text",
		`"error":{"code":-32602,"message":"no such tool","data":{"code":"invalid_argument","retryable":false}}`:                  "E_INVALID_ARGUMENT: no such tool",
		`"error":{"code":-32602,"message":"no such tool"}`:                                                                       "E_INVALID_ARGUMENT: no such tool",
		`"error":{"code":-32603,"message":"it broke"}`:                                                                           "E_INTERNAL: it broke",
	} {
		_, err := begin(t, answer).Call(t.Context(), "x", nil)
		var failure *Error
		if !errors.As(err, &failure) || string(failure.Code)+": "+failure.Message != want {
			t.Errorf("Call = %v, want %s", err, want)
		}
	}
}

func TestTheErrorOfAConnectionIsThatOfTheSession(t *testing.T) {
	on := errors.New("the disk is on fire")
	in, write := io.Pipe()
	read, out := io.Pipe()
	read.CloseWithError(on)
	write.CloseWithError(on)
	_, err := NewSession(t.Context(), struct {
		io.Reader
		io.WriteCloser
	}{in, out}, Program{"test", "1"})
	if !errors.Is(err, on) {
		t.Errorf("NewSession = %v, want %v", err, on)
	}
}
