package bolt_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func TestCollectionsAreListedWithoutTheirEntries(t *testing.T) {
	e, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var writes []store.Write
	want := []store.Key{{Namespace: "a", Collection: "memory"}, {Namespace: "a", Collection: "n/x"}, {Namespace: "a", Collection: "n/xy"}, {Namespace: "a.b", Collection: "n/x"}}
	for _, key := range want {
		for i := range 3 {
			key.Name = fmt.Sprint(i, "\x00\xff")
			writes = append(writes, store.Write{Branch: 1, Key: key, Value: []byte("1")})
		}
	}
	if _, err := e.Commit(t.Context(), store.Batch{Writes: writes}); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Collections(t.Context(), 1); err != nil || !slices.Equal(got, want) {
		t.Errorf("Collections(1) = %v, %v, want %v", got, err, want)
	}
	if got, err := e.Collections(t.Context(), 7); err != nil || len(got) != 0 {
		t.Errorf("of a branch without entries: %v, %v", got, err)
	}
}
