//go:build unix

package family

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

func TestAFamilyThatCannotBeCompiledNowIsUnavailableAndSaysWhy(t *testing.T) {
	for ends, want := range map[string]struct {
		says      string
		retryable bool
	}{
		`echo "runtime: failed to create new OS thread" >&2; exit 2`: {"could not make threads", true},
		`kill -9 $$`: {"killed from outside", true},
		`exit 127`:   {"exit code 127", false},
	} {
		box, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: filepath.Join(t.TempDir(), "modules")}, Compiler: sandbox.Compiler{Path: "/bin/sh", Args: []string{"-c", ends, "sh"}}})
		if err != nil {
			t.Fatal(err)
		}
		w := open(t, func(o *Options) { o.Sandbox = box })
		if _, err := w.Install(pack(t, aFamily("notes"), script{says: `{}`})); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Grant(grants.Request{Family: "notes", All: true}); err != nil {
			t.Fatal(err)
		}
		var failure *memory.Error
		if err := w.Load(t.Context(), "notes"); !errors.As(err, &failure) || failure.Code != memory.Unavailable || failure.Retryable != want.retryable ||
			!strings.Contains(failure.Message, "family notes could not be loaded") || !strings.Contains(failure.Message, want.says) {
			t.Errorf("%s: Load: %v, want it unavailable with %q, retryable: %t", ends, err, want.says, want.retryable)
		}
	}
}
