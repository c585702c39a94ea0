//go:build guests

package console

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/server"
)

const (
	largeMemories = 100_000
	largeBatch    = 1000
)

func TestAHundredThousandMemories(t *testing.T) {
	s := started(t)
	fill(t, s)
	scenarios(t, "large", asOperator(t, s))
}

// fill stores 100,000 memories with twelve of some 40 words each, and two of these as tags.
func fill(t testing.TB, s *server.Server) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("deploy release postgres retry backoff exponential legal department office berlin error budget feature flag nightly backup customer data frankfurt " +
		"queue consumer timeout billing invoice pull request review on call incident latency cache index shard replica vote ballot harbour crane pier")
	owner := server.Owner(s.Host, "bench")
	for n := 0; n < largeMemories; n += largeBatch {
		var items []memory.Item
		for i := n; i < n+largeBatch; i++ {
			text := make([]string, 12)
			for j := range text {
				text[j] = words[random.IntN(len(words))]
			}
			value, err := json.Marshal(strings.Join(text, " "))
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, memory.Item{Key: fmt.Sprintf("note/%d", i), Value: value, Tags: []string{text[0], text[1]}, Type: []string{"observation", "decision"}[i%2]})
		}
		if _, err := owner.Store(t.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
}
