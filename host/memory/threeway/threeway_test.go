package threeway_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/threeway"
)

// FuzzValues merges any three values: what only one side changed must come out as that side has it.
func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"a":1}`), []byte(`{"a":1,"b":2}`), []byte(`{"a":1,"c":{"d":3}}`))
	f.Add([]byte(`{"a":{"x":1}}`), []byte(`{"a":{"x":2}}`), []byte(`{"a":{"x":3}}`))
	f.Add([]byte(`[1]`), []byte(`{}`), []byte(`null`))
	f.Add([]byte(`{"a":1,"a":2}`), []byte(`{"\ud800":1}`), []byte(``))
	f.Fuzz(func(t *testing.T, base, source, target []byte) {
		for _, value := range [][]byte{base, source, target} {
			if !json.Valid(value) || jsontext.Depth(value) > 512 {
				return
			}
		}
		merged, ok := threeway.Values(base, source, target)
		if ok && !json.Valid(merged) {
			t.Fatalf("%s and %s, from %s, became %q", source, target, base, merged)
		}
		if one, _ := threeway.Values(base, source, base); !bytes.Equal(one, source) {
			t.Errorf("%s, changed to %s by one side alone, became %s", base, source, one)
		}
		if other, _ := threeway.Values(base, base, target); !bytes.Equal(other, target) {
			t.Errorf("%s, changed to %s by the other side alone, became %s", base, target, other)
		}
	})
}
