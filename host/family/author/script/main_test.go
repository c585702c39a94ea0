package script_test

import (
	"os"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox"
)

// TestMain lets the test binary be the compiler of the sandbox.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compile-module" {
		os.Exit(sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
	}
	os.Exit(m.Run())
}
