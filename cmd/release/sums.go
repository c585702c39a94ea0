package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/registry/checksums"
)

// runSums writes the list of the sums of all files of a release, and its signatures if there are keys.
func runSums(_ context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sums", flag.ContinueOnError)
	dir := flags.String("dir", "bin/release", "the folder of the release")
	files := flags.String("keys", "", "the files of secret keys to sign with, with spaces between them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	keys, err := readKeys(strings.Fields(*files))
	if err != nil {
		return err
	}
	list, err := sumsOf(*dir)
	if err != nil {
		return fmt.Errorf("sum the files of the release: %w", err)
	}
	if err := os.WriteFile(filepath.Join(*dir, checksums.List), []byte(list), 0o644); err != nil {
		return err
	}
	if len(keys) > 0 {
		made, err := checksums.Sign([]byte(list), keys...)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(*dir, checksums.Signatures), []byte(made+"\n"), 0o644); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, list)
	return err
}

// sumsOf is the list of a folder's files, in the order of their names.
func sumsOf(dir string) (string, error) {
	var list strings.Builder
	folder := os.DirFS(dir)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || name == checksums.List || name == checksums.Signatures {
			return err
		}
		f, err := folder.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		fmt.Fprintf(&list, "%x  %s\n", sum.Sum(nil), name)
		return err
	})
	return list.String(), err
}
