// Package examples tests the example families natively.
package examples

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

// The test of the family in Go is one of its package.
func TestTheFamiliesPassTheirOwnTests(t *testing.T) {
	for name, language := range map[string]string{"redactor": "rust", "phonetic": "c", "reviewer": "assemblyscript"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, err := exec.Command("sh", "../../sdk/compilers.sh", language, filepath.Join(name, "test.sh")).CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 77 {
				t.Skipf("not run: %s", bytes.TrimSpace(said))
			}
			if err != nil {
				t.Fatalf("tests of %s: %v\n%s", name, err, said)
			}
		})
	}
}
