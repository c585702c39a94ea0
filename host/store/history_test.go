package store_test

import (
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

func TestOnlyASpaceThatHasAllOfACopyContinuesIt(t *testing.T) {
	first := store.History{{ID: "a"}}
	restored := store.History{{ID: "a"}, {ID: "b", From: 20}}
	again := append(restored[:2:2], store.Incarnation{ID: "c", From: 30})
	for name, c := range map[string]struct {
		space, copied store.History
		until         uint64
		want          bool
	}{
		"the same directory":                          {first, first, 20, true},
		"what was restored from this copy":            {restored, first, 20, true},
		"what was restored from a later copy":         {restored, first, 10, true},
		"what was restored from an earlier copy":      {restored, first, 25, false},
		"what was restored twice since":               {again, first, 20, true},
		"the first, when what was restored went on":   {first, restored, 25, false},
		"two that were restored from the same copy":   {restored, store.History{{ID: "a"}, {ID: "x", From: 20}}, 25, false},
		"another space":                               {store.History{{ID: "z"}}, first, 20, false},
		"a copy of which nothing is known":            {first, nil, 20, false},
		"a space of which nothing is known":           {nil, first, 20, false},
		"a repaired directory, which may lack a part": {store.History{{ID: "a"}, {ID: "r"}}, first, 20, false},
	} {
		if got := c.space.Continues(c.copied, c.until); got != c.want {
			t.Errorf("%s: Continues = %t, want %t", name, got, c.want)
		}
	}
}
