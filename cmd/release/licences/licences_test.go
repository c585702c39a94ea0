package licences

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestEveryLinkedModuleHasItsLicence(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../plugins").CombinedOutput(); err != nil {
		t.Fatalf("build a program: %v: %s", err, out)
	}
	texts, err := Of(t.Context(), program, runtime.GOOS, runtime.GOARCH, "../../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"std@" + runtime.Version() + "/LICENSE": "The Go Authors", "github.com/tailscale/hujson@": "Tailscale"} {
		found := false
		for n, text := range texts {
			found = found || strings.HasPrefix(n, name) && strings.Contains(string(text), want)
		}
		if !found {
			t.Errorf("there is no text %s with %q, of %d", name, want, len(texts))
		}
	}
	for name := range texts {
		if strings.HasPrefix(name, "github.com/spf13/cobra") {
			t.Errorf("%s is there, which is not linked", name)
		}
	}
}

func TestAModuleWithoutALicenceIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "licence.go"), []byte("package tea"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := t.TempDir()
	if err := os.WriteFile(filepath.Join(long, "LICENSE"), make([]byte, textLimit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, folders := range map[string][]string{"no licence text": {dir}, "these sources do not link it": nil, "a licence text has 1048576 at most": {long}} {
		if err := collect(map[string][]byte{}, "tea@v1", folders); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Of(t.Context(), filepath.Join(dir, "licence.go"), "linux", "amd64", "."); err == nil || !strings.Contains(err.Error(), "read how") {
		t.Errorf("what is no program: %v", err)
	}
}
