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
	for _, script := range stress.Pick(t, 1, []string{"rust/test.sh", "c/test.sh", "c/example/test.sh", "cpp/example/test.sh", "zig/test.sh", "zig/example/test.sh", "rust/example/test.sh", "assemblyscript/example/test.sh", "javascript/test.sh"}) {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
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
