// Package sdk tests the SDKs of other languages with their own test runners.
package sdk

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheSDKsPassTheirOwnTests(t *testing.T) {
	for language, scripts := range map[string][]string{
		"rust": {"test.sh", "example/test.sh"}, "c": {"test.sh", "example/test.sh"}, "assemblyscript": {"example/test.sh"},
	} {
		for _, script := range scripts {
			t.Run(language+"/"+script, func(t *testing.T) {
				said, err := exec.Command("sh", "compilers.sh", language, filepath.Join(language, script)).CombinedOutput()
				var exit *exec.ExitError
				if errors.As(err, &exit) && exit.ExitCode() == 77 {
					t.Skipf("not run: %s", bytes.TrimSpace(said))
				}
				if err != nil {
					t.Fatalf("%v\n%s", err, said)
				}
			})
		}
	}
}
