package store

import (
	"context"
	"iter"
)

// PageReader reads entries a page at a time, as ScanAt and Versions of an engine do.
type PageReader func(ctx context.Context, l Lineage, r Range, c Cursor, limit int) ([]Entry, Cursor, error)

// Pages iterates over pages of at most size entries. An error comes alone and is the last.
func Pages(ctx context.Context, read PageReader, l Lineage, r Range, size int) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		for cursor := Cursor(""); ; {
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

// Entries iterates over entries, which it reads in pages of at most size. An error comes alone and is the last.
func Entries(ctx context.Context, read PageReader, l Lineage, r Range, size int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for page, err := range Pages(ctx, read, l, r, size) {
			if err != nil {
				yield(Entry{}, err)
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

// NoteReader reads the notes of commits a page at a time, the newest first, as Notes of an engine does.
type NoteReader func(ctx context.Context, after, before uint64, limit int) ([]Noted, error)

// Notes iterates over the notes of commits of versions between after and before, exclusively, the newest first. It reads them in pages
// of at most size. An error comes alone and is the last.
func Notes(ctx context.Context, read NoteReader, after, before uint64, size int) iter.Seq2[Noted, error] {
	return func(yield func(Noted, error) bool) {
		for more := true; more; {
			page, err := read(ctx, after, before, size)
			if err != nil {
				yield(Noted{}, err)
				return
			}
			for _, n := range page {
				if before = n.Version; !yield(n, nil) {
					return
				}
			}
			more = len(page) == size
		}
	}
}
