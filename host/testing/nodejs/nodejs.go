// Package nodejs installs packages of npm for tests that run what is written in JavaScript.
package nodejs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const within = 5 * time.Minute // for one installation

// Lacking skips a test because this machine lacks something, but fails it in CI, which must have it.
func Lacking(t testing.TB, format string, args ...any) {
	t.Helper()
	reason := fmt.Sprintf(format, args...)
	if os.Getenv("CI") == "true" {
		t.Fatalf("in CI nothing may be lacking: %s", reason)
	}
	t.Skipf("%s (with CI=true this fails)", reason)
}

// Install makes node_modules in the working directory lead to the packages of its package-lock.json. They are kept among the user's
// caches under a name, so that another clone, and this one after a change of branches, finds them.
func Install(t testing.TB, name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("packages of npm are used without -short only: they take a while to install")
	}
	program, err := exec.LookPath("npm")
	if err != nil {
		Lacking(t, "this needs Node.js with npm: %v", err)
	}
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		Lacking(t, "there is no place for packages of npm: %v", err)
	}
	kept := filepath.Join(caches, "alcove-tests", fmt.Sprintf("%s-%x", name, sha256.Sum256(lock)), "node_modules")
	if _, err := os.Stat(kept); err != nil {
		download(t, program, filepath.Dir(kept))
	}
	link(t, kept)
}

// download makes a folder with the packages, all of them or none.
func download(t testing.TB, program, folder string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		t.Fatal(err)
	}
	part, err := os.MkdirTemp(filepath.Dir(folder), "part")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(part)
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		if err := copyFile(name, filepath.Join(part, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	ci := exec.CommandContext(ctx, program, "ci")
	ci.Dir = part
	if out, err := ci.CombinedOutput(); err != nil {
		Lacking(t, "npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(part, folder); err != nil {
		if _, there := os.Stat(folder); there != nil { // not by another clone meanwhile
			t.Fatal(err)
		}
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// link makes node_modules lead to the packages.
func link(t testing.TB, packages string) {
	t.Helper()
	if at, err := os.Readlink("node_modules"); err == nil && at == packages {
		return
	}
	if err := os.RemoveAll("node_modules"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packages, "node_modules"); err != nil {
		Lacking(t, "packages of npm need symbolic links: %v", err)
	}
}
