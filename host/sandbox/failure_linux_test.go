package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/alcove-memory/alcove/host/testing/must"
)

const nobody = 65534

// lack restarts the compiler without a resource that it needs.
func lack(what string) {
	var err error
	switch what {
	case "":
		return
	case "threads":
		if os.Getuid() == 0 { // root is exempt from the limit
			err = errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
		}
		err = errors.Join(err, unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: 1, Max: 1}))
	case "memory":
		err = unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: 256 << 20, Max: 256 << 20})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot lack", what, err)
		os.Exit(exitFailed)
	}
	os.Setenv(compilerLacks, "")
	fmt.Fprintln(os.Stderr, "cannot begin anew:", syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
	os.Exit(exitFailed)
}

func TestTheErrorOfACompilerWithoutThreadsNamesTheCause(t *testing.T) {
	err := compiling(t, compilerLacks+"=threads")
	if err != nil && strings.Contains(err.Error(), "cannot lack") {
		t.Skip("another user cannot be taken on here: ", err)
	}
	if blamed(err) != passing || !strings.Contains(err.Error(), "could not make threads") || !strings.Contains(err.Error(), "ulimit -u") {
		t.Errorf("compile without threads: %v, want a passing failure that names threads and ulimit -u", err)
	}
}

func TestTheErrorOfACompilerWithoutMemoryNamesTheCause(t *testing.T) {
	if underRace {
		t.Skip("under the race detector, the detector may reach the limit of memory before the compiler and end the process itself")
	}
	err := compiling(t, compilerLacks+"=memory")
	if blamed(err) != passing || !strings.Contains(err.Error(), "the system gave the compiler no more memory") {
		t.Errorf("compile without memory: %v, want a passing failure that names memory", err)
	}
}

func TestTheErrorOfAKilledCompilerNamesTheCause(t *testing.T) {
	for signal, want := range map[syscall.Signal][2]string{
		syscall.SIGKILL: {passing, "killed from outside"}, syscall.SIGTERM: {passing, "ended from outside by a signal (terminated)"},
		syscall.SIGXCPU: {passing, "CPU time"}, syscall.SIGSEGV: {theModule, "crashed"},
	} {
		config := testConfig(t)
		config.Compiler.Path = "/bin/sh"
		config.Compiler.Args = []string{"-c", fmt.Sprintf("kill -%d $$; sleep 60", signal), "sh"}
		_, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true})
		if blamed(err) != want[0] || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%v blames %s: %v", signal, blamed(err), err)
		}
	}
}

func TestAFullDiskIsNotTheModulesFault(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("a small disk cannot be mounted here: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	for _, left := range []int{0, 12 << 10} { // for the module; for the module and not for its code
		config := testConfig(t)
		config.Cache = Cache{Dir: filepath.Join(dir, fmt.Sprint(left)), Key: filepath.Join(t.TempDir(), "key")}
		s := newSandbox(t, config)
		must.Do(t, os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 64<<10-left), 0o600))
		_, err := s.Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true})
		if blamed(err) != passing || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "make room") {
			t.Errorf("with %d bytes left: %v", left, err)
		}
		must.Do(t, os.Remove(filepath.Join(dir, "filler")))
		if _, err := s.Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true}); err != nil {
			t.Errorf("with room: %v", err)
		}
		must.Do(t, os.RemoveAll(config.Cache.Dir))
	}
}

func TestATimeoutOfTheCompilerDiffersFromAKill(t *testing.T) {
	config := testConfig(t)
	config.Compiler.Env = append(config.Compiler.Env, compilerHangs+"=1")
	config.Compiler.Timeout = 50 * time.Millisecond
	_, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true})
	if blamed(err) != theModule || !strings.Contains(err.Error(), "longer than 50ms") || !strings.Contains(err.Error(), "trying again") {
		t.Errorf("Admit: %v, want the module blamed, and that it took longer than 50ms", err)
	}
}
