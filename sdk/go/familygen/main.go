// Command familygen prints what is generated for the family in the Go package of the current directory, as JSON. alcove family gen
// runs it, from the version of the SDK that the family's module requires.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/alcove-memory/alcove/sdk/go/gen"
)

func main() {
	files, err := gen.Generate(".")
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
