package memory

import (
	"context"
	"iter"

	"github.com/alcove-memory/alcove/host/store"
)

// paged lists entries a page at a time, as ScanAt and Versions of an engine do.
type paged func(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error)

// eachPage reads page after page of at most size entries. An error comes alone and is the last.
func eachPage(ctx context.Context, read paged, l store.Lineage, r store.Range, size int) iter.Seq2[[]store.Entry, error] {
	return func(yield func([]store.Entry, error) bool) {
		for cursor := store.Cursor(""); ; {
			page, next, err := read(ctx, l, r, cursor, size)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || next == "" {
				return
			}
			cursor = next
		}
	}
}

// eachEntry reads entry after entry, in pages of at most size. An error comes alone and is the last.
func eachEntry(ctx context.Context, read paged, l store.Lineage, r store.Range, size int) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for page, err := range eachPage(ctx, read, l, r, size) {
			if err != nil {
				yield(store.Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}
