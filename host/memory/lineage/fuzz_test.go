package lineage

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// FuzzCatalogue loads records from a file that anybody may have made: they must end in an answer or an error.
func FuzzCatalogue(f *testing.F) {
	f.Add([]byte(`{"name":"default"}`), []byte(`{"name":"b","from":1,"at":3}`), []byte(`{"source":2,"source_at":5,"target":1,"silent":[{"Name":"k"}]}`), "00000000000000000002")
	f.Add([]byte(`{"name":"a","from":1}`), []byte(`{"name":"a","from":2,"at":18446744073709551615}`), []byte(`{"source":1,"target":1}`), "1")
	f.Add([]byte(`{"deleted":true,"reclaimed":true}`), []byte(`{"from":1,"deleted":true}`), []byte(`{}`), "x")
	f.Fuzz(func(t *testing.T, first, second, merged []byte, name string) {
		entry := func(collection, name string, version uint64, value []byte) store.Entry {
			return store.Entry{Key: store.Key{Namespace: Namespace, Collection: collection, Name: name},
				Point: store.Point{Version: version, Time: time.UnixMicro(1)}, Value: value}
		}
		c := New()
		branches := []store.Entry{entry(Branches, store.SequenceName(1), 1, first), entry(Branches, name, 2, second)}
		if err := c.Load(branches, []store.Entry{entry(Merges, "m", 3, merged)}); err != nil {
			return
		}
		for _, b := range c.Kept() {
			c.Pins(b.ID)
			c.needed(b.ID)
			c.Mentioned(b.ID)
			c.MergeKeys(b.ID)
		}
		c.Unneeded()
		c.Live()
	})
}
