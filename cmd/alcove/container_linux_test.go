package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	containerimage "github.com/alcove-memory/alcove/cmd/release/container"
	"github.com/alcove-memory/alcove/cmd/release/product"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// Ids of a container's user, and of the group of its volume.
const containerUser, volumeGroup = 10001, 2000

// container is a root of its own with this program: it cannot be written, but for the group-writable volume /data.
type container struct {
	t    *testing.T
	root string
	env  []string
}

func newContainer(t *testing.T) *container {
	t.Helper()
	c := emptyContainer(t)
	if out, err := exec.Command("cp", ownProgram(t), filepath.Join(c.root, "alcove")).CombinedOutput(); err != nil {
		c.lacking(fmt.Sprintf("the program cannot be copied: %s, %v", out, err))
	}
	c.withSystem()
	c.mount("tmpfs", filepath.Join(c.root, "data"), fmt.Sprintf("size=64m,mode=2770,uid=0,gid=%d", volumeGroup))
	return c
}

// imageContainer is a container of the published image, with this program in it, and a volume that is mounted as said.
func imageContainer(t *testing.T, volume string) (c *container, healthCheck []string) {
	t.Helper()
	c = emptyContainer(t)
	r := product.Release{Version: "v0.0.0-test", Dir: t.TempDir()}
	for _, arch := range containerimage.Architectures() {
		if err := os.Symlink(ownProgram(t), r.Program(product.Platform{OS: "linux", Arch: arch})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := containerimage.Write(r); err != nil {
		t.Fatal(err)
	}
	config, err := containerimage.Unpack(t.Context(), r, runtime.GOARCH, c.root)
	if err != nil {
		t.Fatal(err)
	}
	c.withSystem()
	c.mount("tmpfs", filepath.Join(c.root, "data"), "size=512m,"+volume)
	c.env = append([]string{asMain + "=1"}, config.Env...)
	if got, want := config.User, fmt.Sprintf("%d:%d", containerUser, containerUser); got != want {
		t.Errorf("the image's user: got %s, want %s", got, want)
	}
	return c, config.Healthcheck.Test[1:]
}

func emptyContainer(t *testing.T) *container {
	t.Helper()
	c := &container{t: t, root: t.TempDir(), env: []string{asMain + "=1", "ALCOVE_DATA=/data", "ALCOVE_SHARED_GROUP=1", "HOME=/"}}
	if os.Getuid() != 0 {
		c.lacking("a container needs root")
	}
	c.mount("tmpfs", c.root, "size=512m,mode=755")
	return c
}

// ownProgram is the path of this program, if it needs no libraries.
func ownProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if libraries := importedLibraries(t, self); len(libraries) > 0 {
		t.Skipf("the program needs %q, which the container lacks: build it with CGO_ENABLED=0", libraries)
	}
	return self
}

// withSystem adds what a runtime mounts.
func (c *container) withSystem() {
	c.t.Helper()
	for _, dir := range []string{"data", "scratch", "proc", "dev"} {
		if err := os.MkdirAll(filepath.Join(c.root, dir), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
	null := filepath.Join(c.root, os.DevNull)
	if err := errors.Join(syscall.Mknod(null, syscall.S_IFCHR, 1<<8|3), os.Chmod(null, 0o666)); err != nil {
		c.lacking(fmt.Sprintf("no device can be made here: %v", err))
	}
	c.mount("proc", filepath.Join(c.root, "proc"), "")
}

// importedLibraries lists the libraries that a program needs.
func importedLibraries(t *testing.T, path string) []string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// lacking skips a test because this machine lacks something, but fails it in CI, which must have it.
func (c *container) lacking(what string) {
	c.t.Helper()
	if os.Getenv("CI") == "true" {
		c.t.Fatalf("in CI nothing may be lacking: %s", what)
	}
	c.t.Skip(what + " (with CI=true this fails)")
}

func (c *container) mount(kind, dir, options string) {
	c.t.Helper()
	if err := syscall.Mount(kind, dir, kind, 0, options); err != nil {
		c.lacking(fmt.Sprintf("nothing can be mounted here: %v", err))
	}
	c.t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			c.t.Error(err)
		}
	})
}

// seal makes everything but the volumes unwritable.
func (c *container) seal() {
	c.t.Helper()
	if err := syscall.Mount("", c.root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		c.lacking(fmt.Sprintf("the root cannot be made read-only: %v", err))
	}
}

// withScratch adds a directory that only the container's user can change, and names it.
func (c *container) withScratch() {
	c.t.Helper()
	c.mount("tmpfs", filepath.Join(c.root, "scratch"), fmt.Sprintf("size=256m,mode=700,uid=%d", containerUser))
	c.env = append(c.env, "TMPDIR=/scratch")
}

// command is the program in the container.
func (c *container) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/alcove", args...)
	cmd.Env, cmd.Dir = c.env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root, Credential: &syscall.Credential{Uid: containerUser, Gid: containerUser, Groups: []uint32{volumeGroup}}}
	return cmd
}

// fails runs a server that has to end with an error, which it returns.
func (c *container) fails(args ...string) string {
	c.t.Helper()
	out, err := c.command(args...).CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		c.t.Fatalf("%q ends with %v, want an exit status: %s", args, err, out)
	}
	return string(out)
}

// serves starts a server, and returns what /readyz says once it answers.
func (c *container) serves(args ...string) string {
	c.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	cmd := c.command(append(args, "--listen", address)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		<-ended
	})
	var said string
	await.That(c.t, "the server answers", func() bool {
		select {
		case err := <-ended:
			ended <- err
			c.t.Fatalf("the server ended with %v: %s", err, log.String())
		default:
		}
		answer, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		said = fmt.Sprintf("%d %s", answer.StatusCode, body)
		return err == nil
	})
	return said
}

func TestInAContainerWithoutScratchAServerThatNeedsGuardsEnds(t *testing.T) {
	c := newContainer(t)
	c.seal()
	for _, want := range []string{"a locked server does not go on without tool families", "TMPDIR"} {
		if out := c.fails("serve", "--locked", "--listen", "off"); !strings.Contains(out, want) {
			t.Errorf("a locked server says %q, want %q", out, want)
		}
	}
	if out := c.fails("store", "k", "v"); !strings.Contains(out, "a locked server does not go on without tool families") {
		t.Errorf("a server that a command starts says %q, want that the directory is locked", out)
	}
}

func TestInAContainerWithoutScratchARequiredStoreHookIsNotPassed(t *testing.T) {
	c := newContainer(t)
	c.seal()
	data := filepath.Join(c.root, "data")
	g := registry.Grant{Digest: strings.Repeat("0", 64), Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}}
	if err := registry.Write(data, registry.Lock{Families: map[string]registry.Grant{"checker": g}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(data, registry.File), containerUser, volumeGroup); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--listen", "off"}, {"store", "k", "v"}} {
		if out := c.fails(args...); !strings.Contains(out, "before family checker is asked") {
			t.Errorf("%q says %q, want the name of the guard", args, out)
		}
	}
}

func TestInAContainerWithoutScratchAServerWithoutGuardsSaysThatItHasNoFamilies(t *testing.T) {
	c := newContainer(t)
	c.seal()
	if said := c.serves("serve"); !strings.HasPrefix(said, "200 ready, without tool families: ") {
		t.Errorf("readyz says %q", said)
	}
	if out, _ := c.command("doctor").CombinedOutput(); !bytes.Contains(out, []byte("the server runs without tool families")) {
		t.Errorf("the doctor says %s", out)
	}
}

func TestInAContainerWithScratchALockedServerRuns(t *testing.T) {
	c := newContainer(t)
	c.withScratch()
	c.seal()
	if said := c.serves("serve", "--locked"); said != "200 ready\n" {
		t.Errorf("readyz says %q, want that it is ready", said)
	}
}

func TestTheImageServesWithAReadOnlyRootAndChecksItsHealth(t *testing.T) {
	c, healthCheck := imageContainer(t, fmt.Sprintf("mode=700,uid=%d,gid=%d", containerUser, containerUser))
	c.seal()
	if out, err := c.command(healthCheck[1:]...).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("no server is running")) {
		t.Errorf("without a server the health check says %s, %v, want that none is running", out, err)
	}
	if got, want := c.serves("serve"), "200 ready\n"; got != want {
		t.Errorf("readyz: got %q, want %q", got, want)
	}
	if out, err := c.command(healthCheck[1:]...).CombinedOutput(); err != nil {
		t.Errorf("the health check: %s, %v", out, err)
	}
	for _, args := range [][]string{{"store", "colour", "blue"}, {"recall", "colour"}} {
		if out, err := c.command(args...).CombinedOutput(); err != nil || args[0] == "recall" && string(out) != "blue\n" {
			t.Errorf("%q: got %q, %v, want blue", args, out, err)
		}
	}
}

// A volume of Kubernetes is its group's.
func TestTheImageServesFamiliesWithAReadOnlyRootOnAVolumeOfItsGroup(t *testing.T) {
	c, _ := imageContainer(t, fmt.Sprintf("mode=2775,uid=0,gid=%d", volumeGroup))
	c.seal()
	if got, want := c.serves("serve"), "200 ready\n"; got != want {
		t.Errorf("readyz: got %q, want %q", got, want)
	}
	for _, name := range []string{"alcove", "cache"} {
		info, err := os.Stat(filepath.Join(c.root, "data", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("the directory %s has the mode %o, want 700", name, got)
		}
	}
	if out, err := c.command("doctor").CombinedOutput(); !bytes.Contains(out, []byte("modules in /data/cache")) {
		t.Errorf("the doctor says %s, %v, want that modules are in /data/cache", out, err)
	}
}
