package container

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/cmd/release/product"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// podman runs a real release's image with the Debian packages podman and runc, and keeps everything in a directory of its own.
type podman struct {
	t    *testing.T
	args []string
}

func newPodman(t *testing.T) (*podman, product.Release) {
	t.Helper()
	r := product.Release{Version: os.Getenv("ALCOVE_RELEASE_VERSION"), Dir: os.Getenv("ALCOVE_RELEASE")}
	if r.Dir == "" {
		t.Skip("make release-test runs it: ALCOVE_RELEASE is the directory of a release")
	}
	for _, name := range []string{"podman", "runc"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed: install the Debian packages podman and runc", name)
		}
	}
	dir, err := os.MkdirTemp("", "pod") // podman takes no long names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	// cgroupfs and runc need no systemd, and work with both versions of control groups.
	return &podman{t, []string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--cgroup-manager", "cgroupfs", "--runtime", "runc"}}, r
}

func (p *podman) run(args ...string) (string, error) {
	out, err := exec.Command("podman", append(p.args, args...)...).CombinedOutput()
	return string(bytes.TrimSpace(out)), err
}

func (p *podman) must(args ...string) string {
	p.t.Helper()
	out, err := p.run(args...)
	if err != nil {
		p.t.Fatalf("podman %q: %s, %v", args, out, err)
	}
	return out
}

// hardened are the options of all containers: nothing but the volume can be written, and there are no capabilities. The limits are those
// that a sandbox may set.
func hardened(volume string, more ...string) []string {
	return append([]string{"--read-only", "--read-only-tmpfs=false", "--cap-drop", "all", "--security-opt", "no-new-privileges", "--network", "host",
		"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", "--volume", volume + ":/data"}, more...)
}

// load makes podman know a release's image, and returns its name.
func (p *podman) load(r product.Release) (image string) {
	p.t.Helper()
	p.must("load", "--input", File(r))
	image = Reference(r)
	if out, err := p.run(append([]string{"run", "--rm"}, hardened("memory", image, "version")...)...); err != nil {
		p.t.Skipf("podman cannot run containers here: %s, %v", out, err)
	}
	return image
}

// serve starts a container, and returns its id and the address of its server once that is ready.
func (p *podman) serve(image, volume string, options ...string) (server, address string) {
	p.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	address = listener.Addr().String()
	listener.Close()
	server = p.must(append([]string{"run", "--detach"}, hardened(volume, append(options, "--env", "ALCOVE_LISTEN="+address, image)...)...)...)
	p.t.Cleanup(func() { p.must("rm", "--force", "--ignore", "--time", "10", server) })
	await.That(p.t, "the health check passes", func() bool {
		_, err := p.run("exec", server, "/alcove", "doctor", "--ready")
		return err == nil
	})
	return server, address
}

// A volume of Kubernetes is its group's.
func TestTheReleasedImageServesFamiliesOnAVolumeOfItsGroup(t *testing.T) {
	const group = 2000
	p, r := newPodman(t)
	image := p.load(r)
	volume, err := os.MkdirTemp("", "volume")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(volume) })
	if err := errors.Join(os.Chown(volume, 0, group), os.Chmod(volume, 0o775|os.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	server, address := p.serve(image, volume, "--group-add", fmt.Sprint(group))
	answer, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); string(got) != "ready\n" {
		t.Errorf("readyz: got %q, %v, want %q", got, err, "ready\n")
	}
	p.must("exec", server, "/alcove", "family", "warm")
	if got, want := p.must("exec", server, "/alcove", "doctor"), "modules in /data/cache"; !strings.Contains(got, want) {
		t.Errorf("the doctor: got %s, want %q in it", got, want)
	}
}

func TestTheReleasedImageKeepsItsMemoryFromOneContainerToTheNext(t *testing.T) {
	p, r := newPodman(t)
	image := p.load(r)
	server, address := p.serve(image, "memory")
	if got, want := p.must("exec", server, "/alcove", "doctor", "--json"), fmt.Sprintf("http://%s/mcp answers 200 OK", address); !strings.Contains(got, want) {
		t.Errorf("the doctor: got %s, want %q in it", got, want)
	}
	p.must("exec", server, "/alcove", "store", "colour", "blue")
	p.must("rm", "--force", "--time", "10", server)
	if got, want := p.must(append([]string{"run", "--rm"}, hardened("memory", image, "recall", "colour")...)...), "blue"; got != want {
		t.Errorf("the next container recalls %q, want %q", got, want)
	}
	if got, want := p.must("image", "inspect", "--format", "{{.Config.User}} {{.Architecture}}", image), "10001:10001 "; !strings.HasPrefix(got, want) {
		t.Errorf("the image: got %q, want %q at its beginning", got, want)
	}
}
