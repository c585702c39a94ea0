package bolt_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// BenchmarkCommitBesideBbolt commits one entry with its request and note, as a store of one memory does, and puts the same bytes under
// the same key in a plain bbolt file, in turn. Both files have 100,000 entries and are synced.
func BenchmarkCommitBesideBbolt(b *testing.B) {
	e, plain := open(b), openPlain(b)
	const before = 100_000
	for at := 0; at < before; at += 1000 {
		var batch store.Batch
		for i := range 1000 {
			batch.Writes = append(batch.Writes, store.Write{Branch: 1, Key: spreadKey(at + i), Value: value})
		}
		if _, err := e.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		if err := plain.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
			for _, w := range batch.Writes {
				err = errors.Join(err, bucket.Put([]byte(w.Key.Namespace+w.Key.Collection+w.Key.Name), value))
			}
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
	next := before
	commit := func() error {
		next++
		k := spreadKey(next)
		_, err := e.Commit(b.Context(), store.Batch{Note: value[:100], Request: store.Request{Caller: "client", ID: k.Name},
			Writes: []store.Write{{Branch: 1, Key: k, Value: value}}})
		return err
	}
	put := func() error {
		k := spreadKey(next)
		return plain.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("b")).Put([]byte(k.Namespace+k.Collection+k.Name), value)
		})
	}
	for range 2000 { // pages of the buckets that only grow, and free ones
		if err := commit(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		const times = 1000
		var ours, theirs [times]time.Duration
		pages, theirPages := bolt.PagesWritten(e), plain.Stats().TxStats
		for i := range times {
			ours[i], theirs[i] = timed(b, commit), timed(b, put)
		}
		all := plain.Stats().TxStats
		them := float64(all.GetWrite()-theirPages.GetWrite()) / times
		slices.Sort(ours[:])
		slices.Sort(theirs[:])
		b.ReportMetric(float64(bolt.PagesWritten(e)-pages)/times, "pages")
		b.ReportMetric(them, "bbolt-pages")
		b.ReportMetric(float64(ours[times/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(theirs[times/2].Microseconds()), "bbolt-p50-µs")
		b.ReportMetric(float64(ours[times/2])/float64(theirs[times/2]), "ratio")
	}
}

func timed(b *testing.B, do func() error) time.Duration {
	began := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// spreadKey is a key like those that the server makes: they come in no order.
func spreadKey(i int) store.Key {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return store.Key{Namespace: "default", Collection: "memories", Name: hex.EncodeToString(sum[:13])}
}

func openPlain(b *testing.B) *bbolt.DB {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "plain.db"), 0o600, &bbolt.Options{InitialMmapSize: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}
