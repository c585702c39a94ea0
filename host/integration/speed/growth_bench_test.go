package speed_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// BenchmarkStoresAsASpaceGrows stores ALCOVE_BENCH_MEMORIES texts of 20 to 80 words, or 100,000, in calls of a hundred, from one client
// over a bridge. It prints, for each power of ten and at the end, memories per second by the wall clock and per second of CPU of client,
// bridge and server, since the last of these figures; how long a first list of the newest and a status then take, in milliseconds; and how
// many bytes the database has for each byte of text.
//
//	ALCOVE_BENCH_MEMORIES=1000000 go test ./host/integration/speed -run '^$' -bench StoresAsASpaceGrows -benchtime 1x -timeout 60m
func BenchmarkStoresAsASpaceGrows(b *testing.B) {
	const each = 100
	all, corpus := searchedMemories(b), measure.NewTexts(1)
	texts := make([]string, 20_000)
	for i := range texts {
		texts[i] = corpus.Text(20, 80)
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
		call := func(tool string, arguments any) time.Duration {
			began := time.Now()
			if _, err := c.Call(b.Context(), tool, arguments); err != nil {
				b.Fatal(err)
			}
			return time.Since(began)
		}
		text, last, began, used := 0, 0, time.Now(), processCPU()
		for done := 0; done < all; {
			items := make([]map[string]string, each)
			for i := range items {
				n := done + i
				items[i] = map[string]string{"key": fmt.Sprintf("m/%09d", n), "value": texts[n*7919%len(texts)] + fmt.Sprint(" ", n)}
				text += len(items[i]["value"])
			}
			raw, err := json.Marshal(map[string]any{"items": items})
			if err != nil {
				b.Fatal(err)
			}
			call("memory_store", json.RawMessage(raw))
			if done += each; done != all && (done < 10_000 || !isPowerOfTen(done)) {
				continue
			}
			took, cpu := time.Since(began), processCPU()-used
			state, err := os.Stat(filepath.Join(dir, "alcove.db"))
			if err != nil {
				b.Fatal(err)
			}
			list, status := call("memory_search", map[string]any{"k": 20}), call("memory_status", struct{}{})
			b.Logf("%9d memories: %.0f/s, %.0f/CPU-s, list %.1f ms, status %.2f ms, file/text %.2f", done, float64(done-last)/took.Seconds(), float64(done-last)/cpu.Seconds(),
				ms(list), ms(status), float64(state.Size())/float64(text))
			b.ReportMetric(float64(done-last)/cpu.Seconds(), fmt.Sprintf("%d/CPU-s", done))
			last, began, used = done, time.Now(), processCPU()
		}
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

func isPowerOfTen(n int) bool {
	for n%10 == 0 {
		n /= 10
	}
	return n == 1
}
