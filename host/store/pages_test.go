package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
)

func at(version uint64) Entry { return Entry{Point: Point{Version: version}} }

// threePages has pages of two, no and one entries, and fails instead of page broken; it counts what was read.
func threePages(broken int, read *int) PageReader {
	pages := [][]Entry{{at(1), at(2)}, {}, {at(3)}}
	return func(_ context.Context, _ Lineage, _ Range, c Cursor, _ int) ([]Entry, Cursor, error) {
		*read++
		i, _ := strconv.Atoi(string(c)) // the first is empty
		switch i {
		case broken:
			return nil, "", errBroken
		case len(pages) - 1:
			return pages[i], "", nil
		}
		return pages[i], Cursor(strconv.Itoa(i + 1)), nil
	}
}

var errBroken = errors.New("broken")

func TestEntriesComeFromAllPagesUpToAnError(t *testing.T) {
	for broken, want := range map[int][]uint64{-1: {1, 2, 3}, 0: nil, 1: {1, 2}, 2: {1, 2}} {
		var got []uint64
		var failed error
		for e, err := range Entries(t.Context(), threePages(broken, new(int)), nil, Range{}, 2) {
			if failed != nil {
				t.Errorf("page %d fails, and more follows", broken)
			}
			if failed = err; err == nil {
				got = append(got, e.Version)
			}
		}
		if !slices.Equal(got, want) || (broken >= 0) != errors.Is(failed, errBroken) {
			t.Errorf("page %d fails: got %v, %v", broken, got, failed)
		}
	}
}

func TestPagesThatNobodyWantsAreNotRead(t *testing.T) {
	read := 0
	for range Entries(t.Context(), threePages(-1, &read), nil, Range{}, 2) {
		break
	}
	if read != 1 {
		t.Errorf("%d pages were read", read)
	}
}
