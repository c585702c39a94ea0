package layout

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

func FuzzKey(f *testing.F) {
	for _, k := range []store.Key{{}, {Namespace: "n", Collection: "c", Name: "k"}, {Name: "\x00\xff\x00"}, {Namespace: "ä", Name: "\x00\x01"}} {
		f.Add(keycode.Encode(k))
	}
	f.Add([]byte("n\x00c\x00a\x00b\x00\x01"))
	f.Add([]byte{0, 0, 0, 255, 1, 0, 1})
	f.Add([]byte{0, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := keycode.Decode(raw)
		if err != nil {
			return
		}
		if back := keycode.Encode(k); !bytes.Equal(back, raw) {
			t.Errorf("%x was read as %q, which is %x", raw, k, back)
		}
	})
}

func FuzzKeysSortAsTheirBytesDo(f *testing.F) {
	f.Add("n", "c", "a", "n", "c", "a\x00")
	f.Add("", "", "\x00", "", "", "")
	f.Add("n", "c", "\x00\xff", "n", "c", "\x00")
	f.Fuzz(func(t *testing.T, n1, c1, k1, n2, c2, k2 string) {
		a, b := store.Key{Namespace: n1, Collection: c1, Name: k1}, store.Key{Namespace: n2, Collection: c2, Name: k2}
		if keycode.Check(a) != nil || keycode.Check(b) != nil {
			return
		}
		less := a.Namespace < b.Namespace || a.Namespace == b.Namespace && (a.Collection < b.Collection || a.Collection == b.Collection && a.Name < b.Name)
		if got := bytes.Compare(keycode.Encode(a), keycode.Encode(b)) < 0; got != less {
			t.Errorf("%q before %q: %t, in bytes: %t", a, b, less, got)
		}
	})
}

func FuzzRecord(f *testing.F) {
	at := store.Point{Version: 7, Time: time.UnixMicro(1e15)}
	key := []byte("key")
	for _, value := range [][]byte{[]byte(`{"v":1}`), nil, make([]byte, LargeValue+1)} {
		r, _ := NewRecord(key, store.Entry{Branch: 3, Point: at, Value: value, Deleted: value == nil})
		f.Add(key, r.Encode(key))
	}
	f.Add(key, []byte{255})
	f.Fuzz(func(t *testing.T, key, data []byte) {
		r, err := TableOf(KindEntries, 0).DecodeRecord(key, data)
		if err != nil || r.flags != 0 {
			return
		}
		if !bytes.Equal(r.Encode(key), data) {
			t.Errorf("%x is written as %x", data, r.Encode(key))
		}
		e := r.Entry(store.Key{}, 1)
		if e.Deleted == (e.Value != nil) {
			t.Errorf("deleted: %t, with the value %q", e.Deleted, e.Value)
		}
	})
}

func FuzzChange(f *testing.F) {
	key, value := EncodeChange(keycode.Encode(store.Key{Namespace: "n", Collection: "c", Name: "k"}), 9, true)
	f.Add(key, value)
	f.Add([]byte{1, 2, 3}, []byte{})
	f.Add(key, []byte{2})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		ChangeVersion(key)
		c, err := decodeChange(key, value)
		if err != nil {
			return
		}
		k, v := EncodeChange(keycode.Encode(c.Key), c.Version, c.Deleted)
		if !bytes.Equal(k, key) || !bytes.Equal(v, value) {
			t.Errorf("%x: %x is written as %x: %x", key, value, k, v)
		}
	})
}

func FuzzRequest(f *testing.F) {
	data, err := json.Marshal(Request{Digest: []byte{1}, Version: 2, Micros: 3, Sequences: []uint64{4}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, append(U64(3), "c\x00r"...))
	f.Add([]byte(`{"micros":1e400}`), []byte{})
	f.Fuzz(func(t *testing.T, data, age []byte) {
		micros, request := SplitAgeKey(age)
		if len(request) > 0 && !bytes.Equal(append(U64(uint64(micros)), request...), age) {
			t.Errorf("%x is %d of %x", age, micros, request)
		}
		var was Request
		if json.Unmarshal(data, &was) == nil && !LastUsed(data, was.Micros) {
			t.Errorf("%s is not of its own age", data)
		}
	})
}

func FuzzBlob(f *testing.F) {
	f.Add([]byte(`{"Name":"b","Digest":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","Size":5}`))
	f.Add([]byte(`{"Digest":"../../../etc/passwd"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		blob, err := DecodeBlob(data)
		if err == nil && strings.ContainsAny(blob.Digest, "./\\") {
			t.Errorf("%s leads to %q", data, blob.Digest)
		}
	})
}
