package vault

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// together is how many files are read or written at once, and partBytes how many bytes.
const (
	together  = 50
	partBytes = 4 << 20
)

func inParts(files []file, each func([]file) error) error {
	for part := range slices.Chunk(files, together) {
		if err := each(part); err != nil {
			return err
		}
	}
	return nil
}

func pathsOf(files []file) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = f.Path
	}
	return list
}

func readFiles(c *alcove.Call, paths []string) ([]*alcove.File, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := c.FileRead(alcove.FileReadRequest{Root: root, Paths: paths})
	if err == nil && len(out.Files) != len(paths) {
		err = alcove.Errorf(alcove.Internal, "read files: %d are not %d", len(out.Files), len(paths))
	}
	return out.Files, err
}

// writeFiles writes files, and returns how many. In a dry run it counts them.
func writeFiles(c *alcove.Call, items []alcove.FileItem) (written int, err error) {
	if c.DryRun {
		return len(items), nil
	}
	for len(items) > 0 {
		n, bytes := 0, 0
		for n < len(items) && n < together && (n == 0 || bytes+len(items[n].Content) < partBytes) {
			bytes += len(items[n].Content)
			n++
		}
		out, err := c.FileWrite(alcove.FileWriteRequest{Root: root, Files: items[:n]})
		if err != nil {
			return written, err
		}
		written += out.Written
		items = items[n:]
	}
	return written, nil
}
