package redaction

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// BenchmarkStore is the hook with 500 turns of 330 bytes, as an import sends them.
func BenchmarkStore(b *testing.B) {
	var entries []map[string]any
	for i := range 500 {
		entries = append(entries, map[string]any{
			"namespace": "project/app-1a2b3c4d", "collection": "memory", "key": fmt.Sprintf("claude-code/6f0c2a1e-0000-4000-8000-000000000001/u%d", i), "type": "message",
			"tags": []string{"captured", "claude-code"}, "value": strings.Repeat("we moved the search index to its own package and asked whether ", 5),
			"metadata": map[string]any{"client": "claude-code", "session": "6f0c2a1e-0000-4000-8000-000000000001", "seq": i, "speaker": "user",
				"ts": "2026-01-02T10:00:00Z", "folder": "/home/jane/src/app", "git_branch": "main"},
		})
	}
	request, err := json.Marshal(map[string]any{"hook": "store", "entries": entries, "config": map[string]any{"redact": "captured", "mark": "redacted:KIND"}})
	if err != nil {
		b.Fatal(err)
	}
	family := Family()
	b.SetBytes(int64(len(request)))
	for b.Loop() {
		if _, err := family.Handle(nil, alcove.KindHook, request); err != nil {
			b.Fatal(err)
		}
	}
}
