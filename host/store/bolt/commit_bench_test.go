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

// BenchmarkCommitBesideBbolt puts the same bytes under the same key into an engine and a plain bbolt file, in turn: an entry alone, and
// one with a request and a note, as a store of a memory has. Both files have 100,000 entries, and each commit is synced.
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
		if err := putPlain(plain, batch.Writes...); err != nil {
			b.Fatal(err)
		}
	}
	next := before
	commit := func(batch store.Batch) error {
		next++
		k := spreadKey(next)
		batch.Writes = []store.Write{{Branch: 1, Key: k, Value: value}}
		if batch.Note != nil {
			batch.Request = store.Request{Caller: "client", ID: k.Name}
		}
		_, err := e.Commit(b.Context(), batch)
		return err
	}
	for range 2000 { // the buckets that only grow, and free pages
		if err := commit(store.Batch{Note: value[:100]}); err != nil {
			b.Fatal(err)
		}
	}
	for name, batch := range map[string]store.Batch{"entry": {}, "memory": {Note: value[:100]}} {
		b.Run(name, func(b *testing.B) {
			var ours, theirs []time.Duration
			pages, theirPages := bolt.PagesWritten(e), plain.Stats().TxStats
			for b.Loop() {
				ours = append(ours, timed(b, func() error { return commit(batch) }))
				theirs = append(theirs, timed(b, func() error {
					return putPlain(plain, store.Write{Key: spreadKey(next), Value: value})
				}))
			}
			now := plain.Stats().TxStats
			b.ReportMetric(float64(bolt.PagesWritten(e)-pages)/float64(b.N), "pages")
			b.ReportMetric(float64(now.GetWrite()-theirPages.GetWrite())/float64(b.N), "bbolt-pages")
			reportRatio(b, ours, theirs)
		})
	}
}

func reportRatio(b *testing.B, ours, theirs []time.Duration) {
	slices.Sort(ours)
	slices.Sort(theirs)
	for _, q := range []int{50, 99} {
		b.ReportMetric(float64(ours[len(ours)*q/100].Microseconds()), fmt.Sprintf("p%d-µs", q))
		b.ReportMetric(float64(theirs[len(theirs)*q/100].Microseconds()), fmt.Sprintf("bbolt-p%d-µs", q))
	}
	b.ReportMetric(float64(ours[len(ours)/2])/float64(theirs[len(theirs)/2]), "ratio")
}

func putPlain(db *bbolt.DB, writes ...store.Write) error {
	return db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
		for _, w := range writes {
			err = errors.Join(err, bucket.Put([]byte(w.Key.Namespace+w.Key.Collection+w.Key.Name), w.Value))
		}
		return err
	})
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
