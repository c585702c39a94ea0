package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/alcove-memory/alcove/cmd/release/licences"
	"github.com/alcove-memory/alcove/cmd/release/npm"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

// runNPM writes the packages of npm, and prints how large each is.
func runNPM(ctx context.Context, args []string, out io.Writer) error {
	var r product.Release
	flags := flag.NewFlagSet("npm", flag.ContinueOnError)
	flags.StringVar(&r.Version, "version", "", "of the release, as in its tag")
	flags.StringVar(&r.Dir, "dir", "bin/release", "has the programs, and takes the packages")
	sources := flags.String("sources", ".", "folder of the repository")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("npm takes flags only")
	}
	files, err := npm.Write(r, *sources, func(p product.Platform) (map[string][]byte, error) {
		return licences.Of(ctx, r.Program(p), p.OS, p.Arch, *sources)
	})
	if err != nil {
		return err
	}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%10d %s\n", info.Size(), path)
	}
	return nil
}
