package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/testing/powerloss"
)

// powerWork makes the test binary the process whose power fails: the directory that it works in.
const powerWork = "ALCOVE_TEST_POWER_WORK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(powerWork); dir != "" {
		if err := powerWorkload(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const powerWrites = 4

// content is what the nth write gives a file: several sectors that name their write.
func content(n int) []byte { return bytes.Repeat([]byte{byte('0' + n)}, 2000+n) }

// powerWorkload replaces a file again and again, and says when each write returned.
func powerWorkload(dir string) error {
	for n := range powerWrites {
		if err := durable.WriteFile(filepath.Join(dir, "file"), content(n), 0o600); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

// afterPowerFailure makes sure that the file is whole, and no older than the last write that returned.
func afterPowerFailure(dir string, said []byte) error {
	oldest := bytes.Count(said, []byte("\n")) - 1
	data, err := os.ReadFile(filepath.Join(dir, "file"))
	if oldest < 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for n := max(oldest, 0); n < powerWrites; n++ {
		if bytes.Equal(data, content(n)) {
			return nil
		}
	}
	return fmt.Errorf("the file has %d bytes (%.1q) after write %d", len(data), data, oldest)
}

func TestAPowerFailureLeavesTheOldFileOrTheNewOne(t *testing.T) {
	if testing.Short() {
		t.Skip("what is traced is another process, which the race detector does not see: it runs in the long form")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trace, err := powerloss.Record(t.Context(), powerloss.Command{Root: dir, Program: program, Environment: []string{powerWork + "=" + dir}})
	if errors.Is(err, powerloss.ErrUnavailable) && os.Getenv("CI") != "true" {
		t.Skipf("%v (with CI=true this fails)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		lie  func(string) bool
		want bool
	}{
		"an honest disk": {nil, true},
		"a disk that ignores syncs of the file's content": {func(name string) bool { return strings.HasSuffix(name, ".partial") }, false},
		"a disk that ignores syncs of the directory":      {func(name string) bool { return name == "." || name == "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			err := trace.Failures(rand.New(rand.NewPCG(seed, 1)), 200, c.lie, func(f *powerloss.Failure) error {
				left := t.TempDir()
				defer os.RemoveAll(left)
				if err := f.Leave(left); err != nil {
					t.Fatal(err)
				}
				return afterPowerFailure(left, f.Said)
			})
			if (err == nil) != c.want {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	}
}

func TestAWriteThatFailsHalfWayLeavesTheFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := durable.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	err := durable.Write(path, 0o600, func(w io.Writer) error {
		if _, err := io.WriteString(w, "ne"); err != nil {
			t.Fatal(err)
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
	onlyFile(t, dir, "old")
}

func TestAPlaceThatCannotBeReplacedLeavesNoTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(path, []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v (%v)", entries, err)
	}
	if err := durable.WriteFile(filepath.Join(dir, "missing", "file"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing directory: %v", err)
	}
}

func TestAFileHasTheModeThatItsWriterAskedFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	path := filepath.Join(t.TempDir(), "file")
	for _, perm := range []fs.FileMode{0o644, 0o600} {
		if err := durable.WriteFile(path, []byte("x"), perm); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != perm {
			t.Errorf("wanted %o, got %v (%v)", perm, info.Mode(), err)
		}
	}
}

// onlyFile makes sure that a directory holds nothing but "file", with that content.
func onlyFile(t *testing.T, dir, want string) {
	t.Helper()
	if data, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(data) != want {
		t.Errorf("the file holds %q (%v), not %q", data, err, want)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v (%v)", entries, err)
	}
}

func TestALinkToAnOutputStaysAndItsFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip("this user can make no symbolic links:", err)
	}
	err := durable.Output(link, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); to != file || err != nil {
		t.Errorf("the link leads to %q, %v, want %q", to, err, file)
	}
	onlyFile(t, dir, "new")
}
