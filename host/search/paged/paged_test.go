package paged

import (
	"strings"
	"testing"
)

func TestValuesStayWhereTheyAre(t *testing.T) {
	var a Array[uint64]
	first := a.Append(7)
	kept := a.At(first)
	for i := range uint32(3 * PageSize) {
		if at := a.Append(uint64(i)); at != i+1 {
			t.Fatalf("value %d is at %d", i+1, at)
		}
	}
	*a.Edit(first) = 8
	if *kept != 8 || *a.At(3 * PageSize) != 3*PageSize-1 || a.Len() != 3*PageSize+1 {
		t.Errorf("of %d values the first is %d and the last %d", a.Len(), *kept, *a.At(3 * PageSize))
	}
}

func TestTextsOfAnyLengthAreKept(t *testing.T) {
	var texts Texts
	type kept struct {
		at   uint64
		text string
	}
	var all []kept
	for i, size := range []int{0, 1, textPage - 2, 1, 2, textPage, textPage + 1, 3*textPage - 1, 0, 5, textPage - 1, 1} {
		text := strings.Repeat(string(rune('a'+i)), size)
		all = append(all, kept{texts.Append(text), text})
	}
	for i, k := range all {
		if got := texts.At(k.at, uint32(len(k.text))); got != k.text {
			t.Errorf("text %d of %d bytes begins with %.5q, not %.5q", i, len(k.text), got, k.text)
		}
	}
}
