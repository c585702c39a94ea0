package follow_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/follow"
)

func FuzzWhatIsAskedIsReadOrRefused(f *testing.F) {
	for _, text := range []string{"", "0", "1", "2000", "86400000", "86400001", "-1", "+1", "1e3", "0x1", "9223372036854775807", "9223372036854775808", "\x00", "1 "} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, within, least string) {
		h := http.Header{follow.StalenessHeader: {within}, follow.LeastHeader: {least}}
		a, asked, err := follow.AskedIn(h)
		ms, msErr := strconv.ParseUint(within, 10, 64)
		version, versionErr := strconv.ParseUint(least, 10, 64)
		if valid := msErr == nil && ms <= 86400000 && versionErr == nil && version < 1<<63; valid != (err == nil) || valid != asked {
			t.Fatalf("%q and %q: got asked %t (%v), want %t", within, least, asked, err, valid)
		}
		if err == nil && (a.Within < 0 || a.Within > follow.Oldest || a.Within > time.Duration(ms)*time.Millisecond || a.Least != version) {
			t.Errorf("%q and %q: got %+v, want at most %v, and the version", within, least, a, follow.Oldest)
		}
	})
}

func TestSeveralValuesOfAHeaderAreRefused(t *testing.T) {
	if _, _, err := follow.AskedIn(http.Header{follow.StalenessHeader: {"1", "2"}}); err == nil {
		t.Error("two values: got no error, want one")
	}
	if _, asked, err := follow.AskedIn(http.Header{}); asked || err != nil {
		t.Errorf("no header: got asked %t (%v), want nothing", asked, err)
	}
	if a, asked, err := follow.AskedIn(http.Header{follow.LeastHeader: {"7"}}); !asked || err != nil || a.Within != follow.Oldest || a.Least != 7 {
		t.Errorf("a version alone: got %+v, %t (%v), want version 7, not older than %v", a, asked, err, follow.Oldest)
	}
}

// FuzzOnlyReadsAreForCopies has calls of any form: those that are taken have known parameters alone.
func FuzzOnlyReadsAreForCopies(f *testing.F) {
	for _, text := range []string{`{"key":"k"}`, `{"query":"a","mode":"lexical"}`, `{"Key":"k"}`, `{"key":"k","use":true}`, `[]`, `null`, `{"key":"k","key":"l"}`, ``, `{"mode":1}`} {
		f.Add("memory_recall", text)
		f.Add("memory_search", text)
		f.Add("memory_store", text)
	}
	f.Fuzz(func(t *testing.T, tool, arguments string) {
		_, taken := follow.CallOf(tool, []byte(arguments))
		if !taken {
			return
		}
		if !slices.Contains([]string{"memory_recall", "memory_search", "memory_history"}, tool) {
			t.Fatalf("a call of %q is taken, want reads alone", tool)
		}
		var given map[string]json.RawMessage
		if err := json.Unmarshal([]byte(arguments), &given); err != nil && arguments != "" {
			t.Fatalf("arguments %q are taken, want an object alone: %v", arguments, err)
		}
		for _, counts := range []string{"use", "recalls", "topic", "order", "events", "vector"} {
			if _, has := given[counts]; has {
				t.Errorf("a call with %s is taken, want that the leader answers it", counts)
			}
		}
		message, err := json.Marshal(map[string]any{"method": "tools/call", "params": map[string]any{"name": tool, "arguments": given, "task": map[string]any{}}})
		if err != nil {
			t.Fatalf("encode a message: %v", err)
		}
		if _, taken := follow.MessageOf(message); taken {
			t.Error("a call as a task is taken, want that the leader answers it")
		}
	})
}
