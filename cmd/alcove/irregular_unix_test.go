//go:build unix

package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// irregular makes what no file can be read from, by what an error calls it.
func irregular(t *testing.T) (dir string, paths map[string]string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "irregular") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	paths = map[string]string{"a directory": filepath.Join(dir, "folder"), "a pipe": filepath.Join(dir, "pipe"), "a socket": filepath.Join(dir, "socket"), "a device": "/dev/zero"}
	if err := os.Mkdir(paths["a directory"], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(paths["a pipe"], 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", paths["a socket"])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return dir, paths
}

// TestWhatIsNoRegularFileIsRefusedBeforeAnythingStarts runs each command that reads a file. A pipe that is waited for ends
// with the deadline, which is only there to end it.
func TestWhatIsNoRegularFileIsRefusedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	dir, paths := irregular(t)
	for _, c := range []struct {
		args   []string // FILE stands for the path
		folder bool     // a folder is taken, too
	}{
		{args: []string{"family", "inspect", "FILE"}},
		{args: []string{"family", "install", "FILE"}},
		{args: []string{"family", "pack", "FILE", "--manifest", "none.json", "-o", filepath.Join(dir, "out")}},
		{args: []string{"family", "pack", "../../host/sandbox/testdata/guests/c.wasm", "--manifest", "FILE", "-o", filepath.Join(dir, "out")}},
		{args: []string{"family", "meter", "FILE", "-o", filepath.Join(dir, "out")}},
		{args: []string{"family", "call", "FILE", "{}"}},
		{args: []string{"family", "test", "FILE"}, folder: true},
		{args: []string{"family", "test", "../../host/sandbox/testdata/guests/c.wasm", "--cases", "FILE"}},
		{args: []string{"family", "call", "--bare", "FILE", "{}"}},
		{args: []string{"endpoint", "add", "e", "http://127.0.0.1:1", "--key-file", "FILE"}},
		{args: []string{"embedder", "set", "e", "--kind", "openai", "--url", "http://127.0.0.1:1", "--model", "m", "--key-file", "FILE"}},
		{args: []string{"serve", "--embedder-url", "http://127.0.0.1:1", "--embedder-model", "m", "--embedder-key-file", "FILE"}},
		{args: []string{"import", "FILE"}, folder: true},
		{args: []string{"import", "FILE", "--format", "mem0"}, folder: true},
		{args: []string{"restore", "FILE"}, folder: true},
	} {
		for kind, path := range paths {
			if kind == "a directory" && c.folder {
				continue
			}
			refusedAtOnce(t, replaced(c.args, path), "is "+kind+", not a regular file")
		}
	}
	for kind, path := range paths {
		if kind != "a directory" {
			refusedAtOnce(t, []string{"serve", "--families-dir", path}, "is not a folder")
		}
	}
	module := filepath.Join(dir, "text.wasm")
	if err := os.WriteFile(module, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	refusedAtOnce(t, []string{"family", "install", module}, "refuse the module (structure)")
}

func replaced(args []string, path string) (list []string) {
	for _, arg := range args {
		list = append(list, strings.ReplaceAll(arg, "FILE", path))
	}
	return list
}

// refusedAtOnce runs a command, which must fail and leave no data directory.
func refusedAtOnce(t *testing.T, args []string, says string) {
	t.Helper()
	data := dataDir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), await.Deadline())
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), asMain+"=1", "ALCOVE_DATA="+data, "ALCOVE_LISTEN=off")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err == nil || !strings.Contains(errs.String(), says) {
		t.Errorf("alcove %q: %v, %q, want an error that says %q", args, err, errs.String(), says)
	}
	if _, err := os.Stat(data); err == nil {
		t.Errorf("%q made the data directory", args)
	}
}

func TestALinkToARegularFileIsRead(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link.wasm")
	target, err := filepath.Abs("../../host/sandbox/testdata/guests/c.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if out, err := program(t, dataDir(t), "family", "inspect", "--bare", link).Output(); err != nil || !strings.Contains(string(out), "no manifest") {
		t.Errorf("family inspect of a link: %v, %s, want that it has no manifest", err, out)
	}
}
