// Command typecheck checks the types of the module's packages and tests as they are built on each of the given platforms:
//
//	typecheck linux/arm64 windows/amd64
//
// It needs a few seconds a platform, where a build of the program, all its dependencies and the standard library
// needs a minute.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck OS/ARCH…")
		os.Exit(2)
	}
	for _, platform := range os.Args[1:] {
		began := time.Now()
		if err := check(platform); err != nil {
			fmt.Fprintf(os.Stderr, "typecheck %s: %v\n", platform, err)
			os.Exit(1)
		}
		fmt.Printf("types on %s: %.0f s\n", platform, time.Since(began).Seconds())
	}
}

// check loads the packages and what they import from source.
func check(platform string) error {
	system, arch, found := strings.Cut(platform, "/")
	if !found {
		return fmt.Errorf("a platform is written OS/ARCH")
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return err
	}
	if n := packages.PrintErrors(loaded); n > 0 {
		return fmt.Errorf("%d errors", n)
	}
	return nil
}
