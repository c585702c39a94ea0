// Package sdk tests the SDKs of other languages with their own test runners.
package sdk

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/stress"
)

// Each day another script has its turn, because compilers take long.
func TestTheSDKsPassTheirOwnTests(t *testing.T) {
	alcove := filepath.Join(t.TempDir(), "alcove")
	if said, err := exec.Command("go", "build", "-buildvcs=false", "-o", alcove, "../cmd/alcove").CombinedOutput(); err != nil {
		t.Fatalf("build alcove, which examples generate their manifests with: %v\n%s", err, said)
	}
	t.Setenv("ALCOVE", alcove)
	for _, script := range stress.Pick(t, 1, []string{"rust/test.sh", "c/test.sh", "c/example/test.sh", "cpp/example/test.sh", "zig/test.sh", "zig/example/test.sh", "rust/example/test.sh", "assemblyscript/example/test.sh", "javascript/test.sh"}) {
		t.Run(script, func(t *testing.T) {
			language, _, _ := strings.Cut(script, "/")
			said, err := exec.Command("sh", "compilers.sh", language, filepath.FromSlash(script)).CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 77 {
				t.Skipf("not run: %s", bytes.TrimSpace(said))
			}
			if err != nil {
				t.Fatalf("got %v, want all tests to pass\n%s", err, said)
			}
		})
	}
}
