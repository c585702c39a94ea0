package memory

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A scan under any prefixes finds what a listing of everything finds under one of them, page by page, with what the stage changed.
func TestAScanFindsTheRecordsUnderItsPrefixes(t *testing.T) {
	s := testSpace(t)
	c := Collection{Name: "test/scanned"}
	r := rand.New(rand.NewPCG(1, 2))
	key := func() string { return fmt.Sprintf("%c%c%c", 'a'+r.IntN(4), 'a'+r.IntN(4), 'a'+r.IntN(4))[:1+r.IntN(3)] }
	put := func(st *Stage, n int) {
		for range n {
			if err := st.PutRecord(t.Context(), c, "", key(), json.RawMessage(fmt.Sprint(r.IntN(100))), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := stage(t, s, "")
	put(first, 60)
	if _, err := first.Commit(t.Context(), Commit{}); err != nil {
		t.Fatal(err)
	}
	st := stage(t, s, "")
	put(st, 20)
	if _, err := st.DeleteRecords(t.Context(), c, "", []string{key(), key(), key(), "aa", "b"}); err != nil {
		t.Fatal(err)
	}
	all, _, err := st.ListRecords(t.Context(), c, "", "", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		prefixes := make([]string, 1+r.IntN(6))
		for i := range prefixes {
			prefixes[i] = key()
		}
		if r.IntN(20) == 0 {
			prefixes[0] = ""
		}
		var want, got []string
		for _, record := range all {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(record.Key, p) }) {
				want = append(want, record.Key+string(record.Value))
			}
		}
		limit, pages := 1+r.IntN(12), 0
		for after, more := "", true; more; pages++ {
			found, next, err := st.ScanRecords(t.Context(), c, "", prefixes, after, limit)
			if err != nil || len(found) > limit || next != "" && len(found) != limit {
				t.Fatalf("%d of at most %d records, next %q: %v", len(found), limit, next, err)
			}
			for _, record := range found {
				got = append(got, record.Key+string(record.Value))
			}
			after, more = next, next != ""
		}
		if !slices.Equal(got, want) || pages > max(1, (len(want)+limit-1)/limit) {
			t.Fatalf("%q finds %q on %d pages of %d; want %q", prefixes, got, pages, limit, want)
		}
	}
}
