package npm

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// file is one of a package.
type file struct {
	name string
	mode int64 // 0: a file that only is read
	data []byte
}

const (
	readable   = 0o644
	executable = 0o755
)

// packed is the time that npm pack gives to every file.
var packed = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

// pack writes a package: the same files give the same bytes.
func pack(path string, files []file) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("make the package: %w", err)
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = fmt.Errorf("write the package %s: %w", path, err)
		}
	}()
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := archive(z, files); err != nil {
		return err
	}
	return z.Close()
}

// archive writes the files in the order of their names, all in the folder that npm expects.
func archive(w io.Writer, files []file) error {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: "package/" + f.name, Mode: max(f.mode, readable), Size: int64(len(f.data)), ModTime: packed}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}
