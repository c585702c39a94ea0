// Package ociregistry starts a real OCI registry for tests.
package ociregistry

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// Start starts a registry on loopback until the test ends, and returns its address. more is added to its configuration, behind the members of
// http. A test is skipped where the Debian package docker-registry is not installed.
func Start(t *testing.T, more string) string {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not installed: install the Debian package docker-registry")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: info}\nstorage:\n  filesystem: {rootdirectory: %q}\nhttp:\n  addr: 127.0.0.1:0\n%s", filepath.Join(dir, "blobs"), more)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", config)
	cmd.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		listens := regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := listens.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case found <- m[1]:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
		cmd.Wait()
	})
	return await.Value(t, "the registry listens", found)
}
