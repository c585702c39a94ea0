package speed_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// BenchmarkItemsOverTheBridge stores 100,000 memories of 200 bytes in calls of 1,000 items, from one client over a bridge, and reports
// memories per second by the wall clock, and per second of CPU that client, bridge and server used together.
//
//	go test ./host/integration/speed -run '^$' -bench ItemsOverTheBridge -benchtime 1x
func BenchmarkItemsOverTheBridge(b *testing.B) {
	const memories, each = 100_000, 1000
	calls := make([]json.RawMessage, memories/each)
	for i := range calls {
		calls[i] = itemsOf(i*each, each)
	}
	for b.Loop() {
		dir := b.TempDir()
		h, err := host.Open(b.Context(), host.Options{Dir: dir, Version: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		_, stop := server.Serve(b, h, host.Listen{})
		c, err := server.Session(b.Context(), server.Dialling(dir))
		if err != nil {
			b.Fatal(err)
		}
		began, used := time.Now(), processCPU()
		for _, call := range calls {
			if _, err := c.Call(b.Context(), "memory_store", call); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(memories/time.Since(began).Seconds(), "memories/s")
		b.ReportMetric(memories/max(processCPU()-used, 1).Seconds(), "memories/CPU-s")
		c.Close()
		if err := stop(); err != nil {
			b.Fatal(err)
		}
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func itemsOf(from, n int) json.RawMessage {
	words := strings.Fields("tea coffee green black afternoon morning deploy script staging garden rain keeper window silver harbour")
	var out strings.Builder
	for i := from; i < from+n; i++ {
		var text strings.Builder
		for j := range 28 {
			fmt.Fprintf(&text, "%s%d ", words[(i*7+j*13)%15], (i*j)%50)
		}
		fmt.Fprintf(&out, `,{"key":"key%d","value":%q,"tags":["bench"]}`, i, text.String())
	}
	return json.RawMessage(`{"items":[` + out.String()[1:] + `]}`)
}
