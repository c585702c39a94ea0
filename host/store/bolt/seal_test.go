package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// sealed is an engine with a record or more of every kind.
func sealed(t *testing.T) *Engine {
	t.Helper()
	e, err := Open(t.Context(), t.TempDir(), Options{MapSize: 1 << 20, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for i := range 3 {
		key := store.Key{Namespace: "n", Collection: "c", Name: fmt.Sprint("k", i)}
		_, err := e.Commit(t.Context(), store.Batch{
			Writes:   []store.Write{{Branch: 1, Key: key, Value: bytes.Repeat([]byte{'v'}, 1+i*1000)}},
			Counters: []store.CounterWrite{{Branch: 1, Key: key, Version: 1, Value: []byte("7")}},
			Request:  store.Request{Caller: "c", ID: key.Name, Digest: [32]byte{1}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = e.Purge(t.Context(), store.Key{Namespace: "n", Collection: "c", Name: "k0"}, func(store.Entry) ([]byte, bool) { return []byte("gone"), true })
	_, errBlob := e.PutBlob(t.Context(), "blob", strings.NewReader("blob"))
	if err := errors.Join(err, errBlob, e.Trim(t.Context(), 1, 1, nil), e.Check(t.Context())); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestARecordThatIsAlteredMovedOrMissingIsNoticed damages records of every kind, as a disk would that bbolt knows nothing of.
func TestARecordThatIsAlteredMovedOrMissingIsNoticed(t *testing.T) {
	for i, place := range places {
		if i == 7 {
			continue // overlays: there is none
		}
		for how, damage := range map[string]func(r layout.Records, key, data []byte) error{
			"altered": func(r layout.Records, key, data []byte) error {
				data[len(data)/2] ^= 1
				return r.Put(key, data)
			},
			"under another key": func(r layout.Records, key, data []byte) error {
				other := bytes.Clone(key)
				other[len(other)-1] ^= 1
				return errors.Join(r.Delete(key), r.Put(other, data))
			},
			"missing": func(r layout.Records, key, data []byte) error { return r.Delete(key) },
			"older": func(r layout.Records, key, data []byte) error { // whole, and not what was written last
				return r.Put(key, r.Seal(key, []byte("was")))
			},
		} {
			e := sealed(t)
			name := ""
			err := e.db.Update(func(tx *bbolt.Tx) error {
				r := place(tx)
				name = string(r.Kind.Bucket())
				key, data := r.Cursor().Last()
				return damage(r, bytes.Clone(key), bytes.Clone(data))
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Check(context.Background()); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("a record of %s is %s, and the check says: %v", name, how, err)
			}
		}
	}
}

func TestWhatIsDamagedIsNotRead(t *testing.T) {
	e := sealed(t)
	err := e.db.Update(func(tx *bbolt.Tx) error {
		for _, place := range places {
			r := place(tx)
			for key, data := r.Cursor().First(); key != nil && r.Kind != layout.KindMeta && r.Kind != layout.KindOverlay; {
				key = bytes.Clone(key)
				data = bytes.Clone(data)
				data[len(data)-1] ^= 1
				if err := r.Put(key, data); err != nil {
					return err
				}
				c := r.Cursor()
				c.Seek(key)
				key, data = c.Next()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l, key := store.Lineage{{Branch: 1, At: store.Latest}}, store.Key{Namespace: "n", Collection: "c", Name: "k1"}
	for what, read := range map[string]func() error{
		"get":      func() error { _, err := e.GetAt(t.Context(), l, []store.Key{key}); return err },
		"scan":     func() error { _, _, err := e.ScanAt(t.Context(), l, store.Range{}, "", 9); return err },
		"versions": func() error { _, _, err := e.Versions(t.Context(), l, store.Range{}, "", 9); return err },
		"changes":  func() error { _, _, err := e.Changes(t.Context(), 1, 1, 9, 9); return err },
		"counters": func() error { _, err := e.Counters(t.Context(), l, []store.Key{key}); return err },
		"counted":  func() error { _, _, err := e.CountersOn(t.Context(), 1, 0, "", 9); return err },
		"point":    func() error { _, err := e.PointOf(t.Context(), 2); return err },
		"instant":  func() error { _, err := e.VersionAt(t.Context(), e.now()); return err },
		"blob":     func() error { _, err := e.GetBlob(t.Context(), "blob"); return err },
		"blobs":    func() error { _, err := e.Blobs(t.Context(), ""); return err },
		"dump":     func() error { return e.Dump(t.Context(), 0, 3, func(store.Piece) error { return nil }) },
		"request": func() error {
			_, _, err := e.Requested(t.Context(), store.Request{Caller: "c", ID: "k1", Digest: [32]byte{1}})
			return err
		},
	} {
		if err := read(); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s of what is damaged: %v", what, err)
		}
	}
}
