// Command familygen generates the manifest and the codec of the family in the Go package of the current directory. With -write it writes
// both files; otherwise it prints them as JSON, for alcove family gen, which runs it from the version of the SDK that the family's module
// requires.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/alcove-memory/alcove/sdk/go/gen"
)

func main() {
	write := flag.Bool("write", false, "write the files that are not current, and print nothing")
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(write bool) error {
	files, err := gen.Generate(".")
	if err != nil {
		return err
	}
	if write {
		return files.Write()
	}
	return json.NewEncoder(os.Stdout).Encode(files)
}
