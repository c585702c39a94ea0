//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry/signature"
)

// outputInputs are what the commands of outputs read, by the words that stand for it.
func outputInputs(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	paths := map[string]string{"MANIFEST": filepath.Join(dir, "manifest.json"), "MODULE": filepath.Join(dir, "shout.wasm"), "KEY": filepath.Join(dir, "author.secret"),
		"SOURCE": "../../sdk/javascript/example/family.js", "PACKED": filepath.Join(dir, "packed.wasm")}
	manifest := []byte(`{"abi":1,"name":"shout","version":"1.0.0","description":"Answers in capital letters",
		"tools":[{"name":"shout_text","description":"Says it louder","input_schema":{"type":"object"}}]}`)
	guest, err := os.ReadFile("../../host/sandbox/testdata/guests/c.wasm")
	if err != nil {
		t.Fatal(err)
	}
	module, err := sandbox.Pack(guest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"MANIFEST": manifest, "MODULE": module, "KEY": signature.EncodePair(key)} {
		if err := os.WriteFile(paths[name], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// run runs a command that writes to a path, and returns what it said on standard error.
func (c outputCase) run(t *testing.T, data string, inputs map[string]string, path string) (string, error) {
	t.Helper()
	words := []string{"OUT", path, "KEYPAIR", strings.TrimSuffix(path, ".key")}
	for word, input := range inputs {
		words = append(words, word, input)
	}
	var args []string
	for _, arg := range c.args {
		args = append(args, strings.NewReplacer(words...).Replace(arg))
	}
	cmd := program(t, data, args...)
	ctx, cancel := context.WithDeadline(t.Context(), await.Deadline()) // it only ends a command that waits for a pipe
	defer cancel()
	var errs bytes.Buffer
	run := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	run.Env, run.Stderr = cmd.Env, &errs
	err := run.Run()
	return errs.String(), err
}

// TestAnOutputNeverReplacesWhatIsNoRegularFile writes the output of each command to a device, a pipe, a directory, and links to them.
func TestAnOutputNeverReplacesWhatIsNoRegularFile(t *testing.T) {
	t.Parallel()
	dir, inputs, data := t.TempDir(), outputInputs(t), dataDir(t)
	special := map[string]string{"a pipe": filepath.Join(dir, "pipe.key"), "a directory": filepath.Join(dir, "folder.key")}
	if err := syscall.Mkfifo(special["a pipe"], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(special["a directory"], 0o700); err != nil {
		t.Fatal(err)
	}
	if device, err := makeNull(dir); err != nil {
		t.Log("devices are not tested, because only root can make one:", err)
	} else {
		special["a device"] = device
	}
	for _, c := range outputs() {
		for kind, path := range special {
			if kind == "a directory" && c.folder {
				continue
			}
			link := filepath.Join(t.TempDir(), "link.key")
			if err := os.Symlink(path, link); err != nil {
				t.Fatal(err)
			}
			for _, at := range []string{path, link} {
				before := typeOf(t, path)
				says := "is " + kind + ", not a regular file"
				if c.fresh {
					says = "file exists"
				}
				if said, err := c.run(t, data, inputs, at); err == nil || !strings.Contains(said, says) {
					t.Errorf("%s to %s: got error %v and %q, want %q", c.of, at, err, said, says)
				}
				if now := typeOf(t, path); now != before {
					t.Errorf("%s: %s became %s, want %s", c.of, kind, now, before)
				}
				if now := typeOf(t, link); now != fs.ModeSymlink {
					t.Errorf("%s: the link to %s became %s", c.of, kind, now)
				}
			}
		}
	}
}

// TestAnOutputToALinkReplacesTheFileItLeadsTo makes sure that the link stays, and that one to nothing is refused.
func TestAnOutputToALinkReplacesTheFileItLeadsTo(t *testing.T) {
	t.Parallel()
	inputs, data := outputInputs(t), dataDir(t)
	for _, c := range outputs() {
		if !c.ends {
			continue
		}
		dir := t.TempDir()
		file, link, nowhere := filepath.Join(dir, "file.key"), filepath.Join(dir, "link.key"), filepath.Join(dir, "nowhere.key")
		old := `{"name": "memory_observe", "arguments": {"observation": "It failed."}}`
		if c.of != "backup" { // which replaces nothing but backups
			if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if said, err := c.run(t, data, inputs, file); err != nil {
			t.Fatalf("%s to a file: %v, %q", c.of, err, said)
		}
		before := identity(t, file)
		for to, from := range map[string]string{file: link, filepath.Join(dir, "none"): nowhere} {
			if err := os.Symlink(to, from); err != nil {
				t.Fatal(err)
			}
		}
		if said, err := c.run(t, data, inputs, link); err != nil {
			t.Errorf("%s to a link: %v, %q", c.of, err, said)
		}
		if now := typeOf(t, link); now != fs.ModeSymlink {
			t.Errorf("%s: the link became %s", c.of, now)
		}
		if identity(t, file) == before {
			t.Errorf("%s: the file that the link leads to was not replaced", c.of)
		}
		if said, err := c.run(t, data, inputs, nowhere); err == nil {
			t.Errorf("%s to a link to nothing: got no error, want a refusal: %q", c.of, said)
		}
		if now := typeOf(t, nowhere); now != fs.ModeSymlink {
			t.Errorf("%s: the link to nothing became %s", c.of, now)
		}
	}
}

// makeNull makes a device that is like /dev/null.
func makeNull(dir string) (string, error) {
	path := filepath.Join(dir, "null.key")
	return path, syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|3)
}

func typeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Type()
}

// identity is the number of a file's inode.
func identity(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(info.Sys().(*syscall.Stat_t).Ino)
}
