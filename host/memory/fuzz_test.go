package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/counters"
)

// Counts come from a file that anybody may have made.

func FuzzStoredCount(f *testing.F) {
	f.Add([]byte(`{"n":1,"t":2,"h":-0.5}`))
	f.Add([]byte(`{"n":9223372036854775807,"h":1e308}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := counters.Decode(data)
		if err != nil {
			return
		}
		sum := r.Plus(counters.Record{Accesses: 1, Last: 3, Health: 0.5}).Minus(r)
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
