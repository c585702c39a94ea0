package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Records come from a file that anybody may have made: whatever they are, reading them must end in an answer or an
// error.

func FuzzStoredMemory(f *testing.F) {
	f.Add([]byte(`{"v":{"text":"a","n":90071992547409931234},"t":["x"],"i":0.5,"m":{"a":1},"s":"archived","u":["k"],"x":1,"a":"me"}`))
	f.Add([]byte(`{"v":"\ud800","x":9223372036854775807}`))
	f.Add([]byte(`{"m":{"a":null},"i":1e400}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := store.Entry{Key: memoryKey("n", "k"), Point: store.Point{Version: 1}, Value: data}
		if _, _, err := doc(e); err != nil {
			return
		}
		r, err := decodeRecord(e)
		if err != nil {
			t.Fatalf("%q can be indexed and not read: %v", data, err)
		}
		again, err := r.encode()
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", data, err)
		}
		back, err := decodeRecord(store.Entry{Value: again})
		if err != nil || !r.sameContent(back) {
			t.Errorf("%q is written as %q, which says something else (%v)", data, again, err)
		}
		r.expired(time.UnixMicro(0))
		r.memory(e)
	})
}

func FuzzStoredEvent(f *testing.F) {
	f.Add([]byte(`{"e":"decision","d":{"why":"because"},"a":"me","g":"00","h":"11"}`))
	f.Add([]byte(`{"d":`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := store.Entry{Key: store.Key{Namespace: "n", Collection: events, Name: store.SequenceName(1)}, Value: data}
		_, _, indexed := doc(e)
		r, err := decodeEvent(e)
		if (indexed == nil) != (err == nil) {
			t.Fatalf("%q: indexed with %v, read with %v", data, indexed, err)
		}
		if err == nil {
			_ = verifyEvent("", 1, Event{Sequence: 1, Event: r.Event, Data: r.Data, Digest: r.Digest, Hash: r.Hash})
		}
	})
}

func FuzzStoredCount(f *testing.F) {
	f.Add([]byte(`{"n":1,"t":2,"h":-0.5}`))
	f.Add([]byte(`{"n":9223372036854775807,"h":1e308}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeCount(data)
		if err != nil {
			return
		}
		sum := r.plus(countRecord{Accesses: 1, Last: 3, Health: 0.5}).minus(r)
		if _, err := json.Marshal(sum); err != nil {
			t.Errorf("%q added up to %+v, which cannot be written: %v", data, sum, err)
		}
	})
}

// FuzzItem stores whatever JSON there is as a value, and reads it back.
func FuzzItem(f *testing.F) {
	for _, value := range []string{`1e400`, `9007199254740993`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `[[[]]]`, ` { "a" : 1 } `, `nul`, ``, "\"\u2028<&>\""} {
		f.Add([]byte(value), "k\x00")
	}
	s := testSpace(f)
	f.Fuzz(func(t *testing.T, value []byte, key string) {
		stored, err := s.Store(t.Context(), Location{}, []Item{{Key: key, Value: value}}, Write{})
		if err != nil {
			var told *Error
			if !errors.As(err, &told) || told.Code == Internal {
				t.Fatalf("storing %q under %q: %v", value, key, err)
			}
			return
		}
		m, err := s.Recall(t.Context(), Location{}, stored[0].Key, AsOf{})
		if err != nil || m == nil {
			t.Fatalf("%q was stored under %q, and recalled as %v %v", value, stored[0].Key, m, err)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, value); err != nil || !bytes.Equal(want.Bytes(), m.Value) {
			t.Errorf("%q came back as %q (%v)", value, m.Value, err)
		}
	})
}
