package clients

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// released is an artefact of a release for this machine.
func released(t *testing.T, extension string) string {
	t.Helper()
	dir := os.Getenv("ALCOVE_RELEASE")
	if dir == "" {
		t.Skip("make release-test runs it: ALCOVE_RELEASE is the directory of a release")
	}
	return filepath.Join(dir, "alcove-linux-"+runtime.GOARCH+extension)
}

// newRoot is a Debian without anything beside its base, in which /proc is mounted. ALCOVE_ROOT names one that debootstrap made before.
func newRoot(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a root of its own needs root")
	}
	root, made := filepath.Join(t.TempDir(), "root"), os.Getenv("ALCOVE_ROOT")
	line := []string{"cp", "-a", made, root}
	if made == "" {
		if _, err := exec.LookPath("debootstrap"); err != nil {
			t.Skip("debootstrap is not installed: install the Debian package of this name")
		}
		line = []string{"debootstrap", "--variant=minbase", "stable", root}
	}
	run(t, line...)
	run(t, "mount", "-t", "proc", "proc", filepath.Join(root, "proc"))
	t.Cleanup(func() { run(t, "umount", filepath.Join(root, "proc")) })
	return root
}

func run(t *testing.T, line ...string) string {
	t.Helper()
	out, err := command(t, installWithin, line[0], line[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("run %q: %v; it printed %s", line, err, out)
	}
	return string(out)
}

// present are the files below a root, but for what package managers note, and what is mounted.
func present(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(at, root)
		if err != nil || slices.Contains([]string{"/proc", "/dev", "/var/lib/dpkg", "/var/lib/rpm", "/var/log", "/var/cache/ldconfig"}, name) {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		list = append(list, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// added are the files that are there now and were not before, but for copies that useradd keeps.
func added(t *testing.T, root string, before []string) (list []string) {
	t.Helper()
	for _, name := range present(t, root) {
		if !slices.Contains(before, name) && !strings.HasSuffix(name, "-") && !strings.HasSuffix(name, ".lock") {
			list = append(list, name)
		}
	}
	return list
}

// use has a real client use the program in a root, as a user whose home is empty.
func use(t *testing.T, root string) {
	t.Helper()
	in := []string{"/usr/sbin/chroot", root, "/usr/bin/env", "-i", "HOME=/root", "PATH=/usr/bin:/bin", "ALCOVE_LISTEN=off", "alcove"}
	configuration, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"alcove": map[string]any{"command": in[0], "args": append(slices.Clone(in[1:]), "mcp")}}})
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(at, configuration, 0o600); err != nil {
		t.Fatal(err)
	}
	script(t, install(t), "first.mjs", "sdk", "stdio", at)
	run(t, append(slices.Clone(in), "stop")...)
	run(t, "rm", "-r", filepath.Join(root, "root", ".local"), filepath.Join(root, "root", ".cache"), filepath.Join(root, "root", ".config"))
}

func TestAReleasedDebIsUsedByAClientAndPurgedWithoutRests(t *testing.T) {
	deb := released(t, ".deb")
	root := newRoot(t)
	before := present(t, root)
	run(t, "cp", deb, filepath.Join(root, "alcove.deb"))
	t.Log(run(t, "chroot", root, "dpkg", "-i", "/alcove.deb"))
	run(t, "rm", filepath.Join(root, "alcove.deb"))
	run(t, "chroot", root, "dpkg", "--verify", "alcove")
	if got := run(t, "chroot", root, "getent", "passwd", "alcove"); !strings.Contains(got, ":/var/lib/alcove:/usr/sbin/nologin") {
		t.Errorf("the user of the service is %q", got)
	}
	use(t, root)
	t.Log(run(t, "chroot", root, "dpkg", "--purge", "alcove"))
	if rest := added(t, root, before); len(rest) > 0 {
		t.Errorf("%q are left, want nothing", rest)
	}
	if out, err := exec.Command("chroot", root, "getent", "passwd", "alcove").Output(); err == nil {
		t.Errorf("the user %q is left, who has no data", out)
	}
}

func TestAPurgeOfAReleasedDebLeavesTheDataAndSaysSo(t *testing.T) {
	deb := released(t, ".deb")
	root := newRoot(t)
	run(t, "cp", deb, filepath.Join(root, "alcove.deb"))
	run(t, "chroot", root, "dpkg", "-i", "/alcove.deb")
	run(t, "chroot", root, "install", "-d", "-o", "alcove", "-g", "alcove", "-m", "0700", "/var/lib/alcove") // as the service does
	service := []string{"chroot", "--userspec=alcove:alcove", root, "/usr/bin/env", "-i", "ALCOVE_DATA=/var/lib/alcove", "ALCOVE_CACHE=off", "ALCOVE_LISTEN=off", "PATH=/usr/bin:/bin"}
	run(t, append(slices.Clone(service), "alcove", "store", "tea", "green")...)
	run(t, append(slices.Clone(service), "alcove", "stop")...)
	if got := run(t, "chroot", root, "dpkg", "--purge", "alcove"); !strings.Contains(got, "the data stay in /var/lib/alcove") {
		t.Errorf("a purge says %q, want where the data are", got)
	}
	if _, err := os.Stat(filepath.Join(root, "var/lib/alcove/alcove.db")); err != nil {
		t.Errorf("the data are gone: %v", err)
	}
	run(t, "chroot", root, "getent", "passwd", "alcove")
}

func TestAReleasedRPMIsUsedByAClientAndRemovedWithoutRests(t *testing.T) {
	rpm := released(t, ".rpm")
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed: install the Debian package of this name")
	}
	root := newRoot(t)
	run(t, "rpm", "--root", root, "--initdb")
	before := present(t, root)
	run(t, "rpm", "-K", "--nosignature", rpm)
	// The root is Debian's, whose packages rpm does not know.
	run(t, "rpm", "--root", root, "--nodeps", "-i", rpm)
	run(t, "rpm", "--root", root, "--nodeps", "-V", "alcove")
	use(t, root)
	run(t, "rpm", "--root", root, "--nodeps", "-e", "alcove")
	if rest := added(t, root, before); len(rest) > 0 {
		t.Errorf("%q are left, want nothing", rest)
	}
}

func TestTheUnitsOfAReleasedDebAreValid(t *testing.T) {
	deb := released(t, ".deb")
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed: install the Debian package systemd")
	}
	dir := t.TempDir()
	run(t, "dpkg-deb", "--extract", deb, dir)
	unit := filepath.Join(dir, "usr/lib/systemd/system/alcove.service")
	score := strings.TrimSpace(run(t, "systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=30", unit))
	t.Log(score[strings.LastIndex(score, "\n")+1:])
}

func TestAReleasedArchiveIsUsedByAClient(t *testing.T) {
	archive, dir := released(t, ".tar.gz"), t.TempDir()
	run(t, "tar", "-xzf", archive, "-C", dir, "--strip-components=1")
	for shell, check := range map[string][]string{
		"bash": {"-n", "alcove.bash"}, "zsh": {"-n", "_alcove"}, "fish": {"--no-execute", "alcove.fish"},
	} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed: its completion is not read", shell)
			continue
		}
		run(t, shell, check[0], filepath.Join(dir, "completions", check[1]))
	}
	program, data := filepath.Join(dir, "alcove"), t.TempDir()
	defer run(t, program, "stop", "--data", data)
	script(t, install(t), "first.mjs", "sdk", "stdio", configurations(t, program, data)["stdio"])
}
