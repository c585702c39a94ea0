package record

import (
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
		e := store.Entry{Key: store.Key{Namespace: "n", Collection: Memories, Name: "k"}, Point: store.Point{Version: 1}, Value: data}
		if _, _, err := Doc(e); err != nil {
			return
		}
		r, err := Decode(e)
		if err != nil {
			t.Fatalf("%q can be indexed and not read: %v", data, err)
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", data, err)
		}
		back, err := Decode(store.Entry{Value: again})
		if err != nil || !r.SameContent(back) {
			t.Errorf("%q is written as %q, which says something else (%v)", data, again, err)
		}
		indexedAlike(t, r)
		if r.Expired(time.UnixMicro(0)) && r.ExpiresAt().After(time.UnixMicro(0)) {
			t.Errorf("%q has expired before %s", data, r.ExpiresAt())
		}
		DecodeVector(r.Vector)
	})
}

func FuzzStoredEvent(f *testing.F) {
	f.Add([]byte(`{"e":"decision","d":{"why":"because"},"a":"me","g":"00","h":"11"}`))
	f.Add([]byte(`{"d":`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := store.Entry{Key: store.Key{Namespace: "n", Collection: Events, Name: store.SequenceName(1)}, Value: data}
		_, _, indexed := Doc(e)
		r, err := DecodeEvent(e)
		if (indexed == nil) != (err == nil) {
			t.Fatalf("%q: indexed with %v, read with %v", data, indexed, err)
		}
		if err == nil {
			_ = r.Verify("", 1, e.Point)
		}
	})
}
