// Package examples tests the example families natively.
package examples

import (
	"bytes"
	"errors"
	"os/exec"
	"testing"
)

func TestTheRedactorPassesItsOwnTests(t *testing.T) {
	said, err := exec.Command("sh", "../../sdk/compilers.sh", "rust", "redactor/test.sh").CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("not run: %s", bytes.TrimSpace(said))
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}
