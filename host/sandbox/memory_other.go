//go:build !linux

package sandbox

// pages is unused here: only Linux reports which pages were written.
type pages struct{}

func newPages() *pages { return nil }

func (*pages) backing(uint64, *original) (backing, error) { return &heap{}, nil }

func (*pages) close() error { return nil }

// original is unused here: each snapshot is a copy.
type original struct{}

func (*original) free() {}
