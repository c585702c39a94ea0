// Command plugins writes the plugins of AI clients into a folder, which it empties first.
//
//	plugins -out bin/plugins -version v1.0.0
package main

import (
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
	version := flags.String("version", "", "of the program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" || *version == "" {
		return errors.New("give -out and -version")
	}
	files, err := plugins.Files(*version)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(*out); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(*out, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, files[name], 0o644)); err != nil {
			return err
		}
	}
	return nil
}
