// Package examples tests the example families natively.
package examples

import (
	"bytes"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/stress"
)

// The test of the family in Go is one of its package. Of the others each has its day, because their compilers take long.
func TestTheFamiliesPassTheirOwnTests(t *testing.T) {
	languages := map[string]string{"redactor": "rust", "phonetic": "c", "reviewer": "assemblyscript"}
	for _, name := range stress.Pick(t, 1, slices.Sorted(maps.Keys(languages))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, err := exec.Command("sh", "../../sdk/compilers.sh", languages[name], filepath.Join(name, "test.sh")).CombinedOutput()
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
