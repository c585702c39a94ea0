package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// What is in the file may have been made by anybody: whatever it is, reading it must end in an answer or an error, and
// what was read must be what was written.

func FuzzLineage(f *testing.F) {
	f.Add(encodeLineage(store.Lineage{{Branch: 3, At: 9}, {Branch: 1, At: 4}}), uint64(3), uint64(5))
	f.Add([]byte{1}, uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, branch, at uint64) {
		run := decodeLineage(data)
		if !bytes.HasPrefix(data, encodeLineage(run)) {
			t.Errorf("%x was read as %v", data, run)
		}
		if len(run) == 0 {
			return // never put to use
		}
		o := &overlay{run: run}
		for _, l := range []store.Lineage{run, run.At(at), {{Branch: store.BranchID(branch), At: at}}} {
			if len(l) == 0 {
				continue
			}
			if n := o.covers(l); n < 0 || n > len(l) {
				t.Errorf("%v covers %d of %v", run, n, l)
			}
			o.contains(l)
		}
	})
}

func FuzzFilter(f *testing.F) {
	whole, err := encodeFilter(filterOf(3))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[4:])
	huge := bytes.Clone(whole[4:])
	binary.BigEndian.PutUint64(huge[16:], 1<<60)
	f.Add(huge)
	f.Add(make([]byte, filterHeader))
	f.Fuzz(func(t *testing.T, data []byte) {
		sealed := append(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)), data...)
		if read := decodeFilter(sealed); read != nil {
			read.Test([]byte("key"))
		}
	})
}

// FuzzFile puts hostile bytes into every place of a file that is looked into by key, and then uses the engine.
func FuzzFile(f *testing.F) {
	f.Add(byte(0), true, []byte("n\x00c\x00k\x00\x01aaaaaaaa"), []byte("value"))
	for place := range byte(len(places)) {
		for _, sealed := range []bool{true, false} {
			f.Add(place, sealed, []byte{}, []byte{})
			f.Add(place, sealed, []byte("12345678"), []byte("12345678"))
			f.Add(place, sealed, []byte{0}, []byte(`{"digest":"QQ==","version":18446744073709551615,"sequences":[1]}`))
			f.Add(place, sealed, bytes.Repeat([]byte{255}, 24), bytes.Repeat([]byte{255}, 40))
		}
	}
	f.Fuzz(func(t *testing.T, place byte, sealed bool, key, value []byte) {
		if len(key) == 0 || len(key) > bbolt.MaxKeySize {
			return
		}
		dir := t.TempDir()
		now := time.UnixMicro(1e15)
		open := func() (*Engine, error) {
			return Open(t.Context(), dir, Options{MapSize: 1 << 16, NoSync: true, Now: func() time.Time { return now }})
		}
		e, err := open()
		if err != nil {
			t.Fatal(err)
		}
		use(t, e)
		err = e.db.Update(func(tx *bbolt.Tx) error {
			r := places[int(place)%len(places)](tx)
			if sealed { // somebody who knows the checksums
				return r.Write(key, value)
			}
			return r.Put(key, value)
		})
		if err != nil {
			t.Fatal(err)
		}
		use(t, e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if e, err = open(); err != nil {
			return
		}
		now = now.Add(48 * time.Hour)
		use(t, e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// places are the buckets of a file.
var places = []func(tx *bbolt.Tx) layout.Records{
	func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, layout.KindMeta) },
	func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, layout.KindTime) },
	func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, layout.KindPoints) },
	func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, layout.KindRequests) },
	func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, layout.KindAges) },
	func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, layout.KindBlobs) },
	func(tx *bbolt.Tx) layout.Records { return layout.InSpace(tx, layout.KindPurged) },
	func(tx *bbolt.Tx) layout.Records { return layout.In(layout.Overlays(tx), layout.KindOverlay, 0) },
	func(tx *bbolt.Tx) layout.Records { return branchOne(tx, layout.KindEntries) },
	func(tx *bbolt.Tx) layout.Records { return branchOne(tx, layout.KindValues) },
	func(tx *bbolt.Tx) layout.Records { return branchOne(tx, layout.KindLog) },
	func(tx *bbolt.Tx) layout.Records { return branchOne(tx, layout.KindCounters) },
	func(tx *bbolt.Tx) layout.Records { return branchOne(tx, layout.KindTrim) },
	func(tx *bbolt.Tx) layout.Records { return branchOne(tx, layout.KindCounted) },
}

func branchOne(tx *bbolt.Tx, k layout.Kind) layout.Records {
	return layout.InBranch(layout.Branch(tx, 1), 1, k)
}

// use calls everything that reads. Errors are welcome.
func use(t *testing.T, e *Engine) {
	ctx := t.Context()
	l := store.Lineage{{Branch: 3, At: store.Latest}, {Branch: 2, At: 2}, {Branch: 1, At: 2}}
	key := store.Key{Namespace: "n", Collection: "c", Name: "k"}
	request := store.Request{ID: "r"}
	e.Commit(ctx, store.Batch{
		Writes:   []store.Write{{Branch: 1, Key: key, Value: []byte("value")}},
		Appends:  []store.Append{{Lineage: l, Namespace: "n", Collection: "log", Seal: func(store.Entry, uint64, store.Point) ([]byte, error) { return nil, nil }}},
		Counters: []store.CounterWrite{{Branch: 1, Key: key, Version: 1, Value: []byte("1")}},
		Quiet:    []store.Quiet{{Branch: 1, Since: store.Latest}},
		Request:  request,
	})
	e.Requested(ctx, request)
	e.GetAt(ctx, l, []store.Key{key})
	e.ScanAt(ctx, l, store.Range{}, "", 100)
	e.ScanAt(ctx, l, store.Range{Namespace: "n", Collection: "c", Reverse: true}, "", 100)
	e.Versions(ctx, l, store.Range{}, "", 100)
	e.Changes(ctx, 1, 0, store.Latest, 100)
	e.Counters(ctx, l, []store.Key{key})
	e.CountersOn(ctx, 1, 0, "", 100)
	e.VersionAt(ctx, time.Now())
	e.PointOf(ctx, 1)
	e.Blobs(ctx, "")
	if blob, err := e.GetBlob(ctx, "b"); err == nil {
		blob.Close()
	}
	e.PutBlob(ctx, "b", bytes.NewReader([]byte("blob")))
	e.Check(ctx)
	e.Trim(ctx, 1, 1, []uint64{1})
}

// FuzzCursor goes on with a listing from where somebody says that it ended.
func FuzzCursor(f *testing.F) {
	e, err := Open(context.Background(), f.TempDir(), Options{MapSize: 1 << 16, NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { e.Close() })
	for i := range 5 {
		key := store.Key{Namespace: "n", Collection: "c", Name: string(rune('a' + i))}
		if _, err := e.Commit(context.Background(), store.Batch{Writes: []store.Write{{Branch: 1, Key: key, Value: []byte("v")}}}); err != nil {
			f.Fatal(err)
		}
		f.Add("n", "c", "", string(keycode.Encode(key)))
		f.Add("n", "c", "", string(keycode.Version(keycode.Encode(key), 3)))
	}
	f.Add("", "", "", "\x00")
	f.Add("n", "", "b", "\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, namespace, collection, prefix, cursor string) {
		l := store.Lineage{{Branch: 1, At: store.Latest}}
		for _, reverse := range []bool{false, true} {
			r := store.Range{Namespace: namespace, Collection: collection, Prefix: prefix, Reverse: reverse}
			if list, _, err := e.ScanAt(t.Context(), l, r, store.Cursor(cursor), 3); err == nil {
				inside(t, r, list)
			}
		}
		r := store.Range{Namespace: namespace, Collection: collection, Prefix: prefix}
		if list, _, err := e.Versions(t.Context(), l, r, store.Cursor(cursor), 3); err == nil {
			inside(t, r, list)
		}
		e.CountersOn(t.Context(), 1, 0, store.Cursor(cursor), 3)
	})
}

// inside makes sure that a cursor leads to nothing that the range does not select.
func inside(t *testing.T, r store.Range, list []store.Entry) {
	t.Helper()
	for _, e := range list {
		if r.Namespace != "" && (e.Namespace != r.Namespace || r.Collection != "" && (e.Collection != r.Collection || !strings.HasPrefix(e.Name, r.Prefix))) {
			t.Errorf("%+v gives %s", r, e.Key)
		}
	}
}
