// Command plugins writes the plugins of AI clients into a folder, which it empties first, or into an archive.
//
//	plugins -out bin/plugins -version v1.0.0
//	plugins -zip bin/release/alcove-plugins.zip -version v1.0.0
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/host/daemon/plugins"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plugins:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("plugins", flag.ContinueOnError)
	out := flags.String("out", "", "the folder")
	archive := flags.String("zip", "", "the archive")
	version := flags.String("version", "", "of the program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" && *archive == "" || *version == "" {
		return errors.New("give -out or -zip, and -version")
	}
	files, err := plugins.Files(*version)
	if err != nil {
		return err
	}
	if *archive != "" {
		if err := pack(*archive, files); err != nil {
			return fmt.Errorf("write %s: %w", *archive, err)
		}
	}
	if *out == "" {
		return nil
	}
	return write(*out, files)
}

// write replaces a folder.
func write(out string, files map[string][]byte) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(out, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, files[name], 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// pack writes an archive. The same files give the same bytes.
func pack(name string, files map[string][]byte) error {
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: "alcove-plugins/" + name, Method: zip.Deflate}
		h.SetMode(0o644)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, data.Bytes(), 0o644)
}
