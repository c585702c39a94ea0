package bolt_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// BenchmarkBytesOfMemories stores 200,000 texts of 350 bytes: in batches of 100 or alone, with keys in order, in the order of four
// callers in turn, or in none. It prints how many bytes the database has for each byte of text, how many of them are free pages, and the
// rates of the first and the last tenth of the commits:
//
//	go test ./host/store/bolt -run '^$' -bench BytesOfMemories -benchtime 1x
func BenchmarkBytesOfMemories(b *testing.B) {
	inOrder := func(i int) string { return fmt.Sprintf("m/%09d", i) }
	ofFour := func(i int) string { return fmt.Sprintf("%d/%09d", i/100%4, i) }
	inNone := func(i int) string { sum := sha256.Sum256(fmt.Append(nil, i)); return hex.EncodeToString(sum[:13]) }
	for _, c := range []struct {
		name       string
		key        func(i int) string
		all, batch int
	}{{"in order", inOrder, 200_000, 100}, {"in order of four", ofFour, 200_000, 100}, {"in none", inNone, 200_000, 100}, {"in order, alone", inOrder, 20_000, 1}, {"in none, alone", inNone, 20_000, 1}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				storeTexts(b, c.key, c.all, c.batch)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func storeTexts(b *testing.B, key func(int) string, all, size int) {
	dir, random := b.TempDir(), rand.New(rand.NewPCG(1, 2))
	e, err := bolt.Open(b.Context(), dir, bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	text, began := 0, time.Now()
	var tenths [11]time.Duration
	for done := 0; done < all; done += size {
		var batch store.Batch
		for i := range size {
			words := strings.Repeat("word ", 36+random.IntN(69))
			text += len(words)
			batch.Writes = append(batch.Writes, store.Write{Branch: 1, Key: store.Key{Namespace: "default", Collection: "memory", Name: key(done + i)}, Value: []byte(`{"v":"` + words + `","a":"agent"}`)})
		}
		if _, err := e.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		if tenth := (done + size) * 10 / all; tenths[tenth] == 0 {
			tenths[tenth] = time.Since(began)
		}
	}
	state, err := e.Durability(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "alcove.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(text), "file/text")
	b.ReportMetric(float64(info.Size()-state.Unused)/float64(text), "used/text")
	b.ReportMetric(float64(all)/10/tenths[1].Seconds(), "first/s")
	b.ReportMetric(float64(all)/10/(tenths[10]-tenths[9]).Seconds(), "last/s")
}
