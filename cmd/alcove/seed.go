package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alcove-memory/alcove/host/family/author/seed"
	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/operator"
)

// mostSeed bounds the memories of a --seed that somebody wrote, in bytes.
const mostSeed = 64 << 20

// readSeed reads a --seed: lines that somebody wrote, or a file of a format that alcove import knows. Lines are told by the first one,
// for a memory may mention any word by which the formats are told. Lines may have most bytes in all. Memories are yielded; records and
// settings are added to rest.
func readSeed(ctx context.Context, path string, most int64, rest *seed.Seed, yield func(operator.Memory) error) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return notFound("there is no file %s", path)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		written, err := readSeedLines(path, most, rest, yield)
		if written || err != nil {
			return err
		}
	}
	format, err := importer.Detect(path)
	if err != nil {
		return &usageError{fmt.Errorf(`read %s: it has neither lines such as %s, at most %d bytes in all, nor what alcove export --memories writes`, path, seed.Example, most)}
	}
	return importer.Input{Path: path, Format: format}.Read(ctx, yield)
}

// readSeedLines reads memories that somebody wrote. It reads nothing and says so if the file begins with something else.
func readSeedLines(path string, most int64, rest *seed.Seed, yield func(operator.Memory) error) (written bool, err error) {
	f, err := openFile(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	lines := json.NewDecoder(&seedBytes{f, most})
	for n := 1; ; n++ {
		var raw json.RawMessage
		err := lines.Decode(&raw)
		if n > 1 && errors.Is(err, errTooLong) { // else it may be one value of another format
			return true, &usageError{fmt.Errorf("read entry %d of %s: the file has more than %d bytes, which is the limit: give fewer memories", n, path, most)}
		}
		if n == 1 && (err != nil && !errors.Is(err, io.EOF) || err == nil && !seed.Is(raw)) {
			return false, nil
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err == nil {
			err = rest.Add(raw)
		}
		if err != nil {
			return true, &usageError{fmt.Errorf("read entry %d of %s, as %s: %w", n, path, seed.Example, err)}
		}
		for _, m := range rest.Memories {
			if err := yield(m); err != nil {
				return true, err
			}
		}
		rest.Memories = rest.Memories[:0]
	}
}

var errTooLong = errors.New("too long")

// seedBytes reads from r, and fails where r has more than left bytes.
type seedBytes struct {
	r    io.Reader
	left int64
}

func (l *seedBytes) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooLong
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		return n - 1, errTooLong
	}
	return n, err
}
