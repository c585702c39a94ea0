package fronts_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// lineLog is what a server logs, safe for concurrent use.
type lineLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// calls are the calls in the log.
func (l *lineLog) calls(t *testing.T) (list []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("the line %q of the log is not JSON: %v", line, err)
		}
		if entry["msg"] == "call" {
			list = append(list, entry)
		}
	}
	return list
}

// The log of calls says who read and wrote where, also what was refused, and nothing of what was said.
func TestEachCallIsLoggedWithoutItsValues(t *testing.T) {
	t.Parallel()
	var log lineLog
	s := server.Start(t, host.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil)), LogCalls: true})
	key := s.Issue("ann", server.ReadWrite, "team")
	s.Post(key.Secret, "", "memory_store", `{"namespace":"team","key":"secret-key","value":"walnut"}`)
	s.Post(key.Secret, "", "memory_search", `{"namespaces":["team"],"query":"walnut"}`)
	s.Post(key.Secret, "", "memory_recall", `{"namespace":"elsewhere","key":"secret-key"}`)
	s.Post(key.Secret, "", "memory_operation", `{"method":"memory_recall","params":{"namespace":"team","key":"secret-key"}}`)
	list := log.calls(t)
	var got []string
	for _, c := range list {
		if c["agent"] != "ann" || c["key"] != key.ID {
			t.Errorf("the call %v: got another caller, want ann with the key %s", c, key.ID)
		}
		got = append(got, strings.Join([]string{c["tool"].(string), namespaceOf(c), c["outcome"].(string)}, " "))
	}
	want := []string{"memory_store team ok", "memory_search team ok", "memory_recall elsewhere denied", "memory_recall team ok", "memory_operation team ok"}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("calls in the log: got %q, want %q", got, want)
	}
	for _, secret := range []string{"walnut", "secret-key", key.Secret} {
		if strings.Contains(log.text.String(), secret) {
			t.Errorf("the log has %q, want neither values nor keys of memories: %s", secret, log.text.String())
		}
	}
}

func namespaceOf(call map[string]any) string {
	list, _ := call["namespaces"].([]any)
	name, _ := list[0].(string)
	return name
}
