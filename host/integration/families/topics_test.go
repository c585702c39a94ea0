//go:build guests

package families_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// A topic is found by its meaning: one of its notes is among the first five of forty.
func TestAContextHasATopicThatIsNamedInOtherWords(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/personal.txt")
	must.Do(t, err)
	_, text, _ := strings.Cut(string(data), "\n")
	notes, topics, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	s, err := server.Carrying(t, host.Options{}).Connect(owner.Hello{})
	must.Do(t, err)
	for line := range strings.Lines(notes) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), "|")
		server.Answered[any](t, s, "memory_store", map[string]any{"key": key, "value": text, "type": "observation"})
	}
	asked, missed := 0, []string{}
	for line := range strings.Lines(topics) {
		topic, keys, _ := strings.Cut(strings.TrimSpace(line), "|")
		found := server.Answered[struct{ Facts []struct{ FactID string } }](t, s, "memory_pack_context", map[string]any{"topic": topic}).Facts
		asked++
		if !slices.ContainsFunc(found[:min(len(found), 5)], func(f struct{ FactID string }) bool {
			return slices.Contains(strings.Split(keys, ","), strings.TrimPrefix(f.FactID, "default#"))
		}) {
			missed = append(missed, topic)
		}
	}
	if asked != 24 || len(missed) > 2 {
		t.Errorf("%d of %d topics are not found: %q, want at most 2 of 24", len(missed), asked, missed)
	}
}
