package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/stress"
	"github.com/alcove-memory/alcove/registry"
)

// asMain makes the test binary, and all that it starts, be the program.
const asMain = "ALCOVE_TEST_MAIN"

func TestMain(m *testing.M) {
	if config := os.Getenv(asAttacker); config != "" {
		os.Exit(runAttacker(config))
	}
	// The sandbox starts this file as its compiler, with a bare environment.
	if os.Getenv(asMain) != "" || len(os.Args) > 1 && os.Args[1] == compileModule {
		if path := os.Getenv(vitalsPath); path != "" {
			go tellVitals(path)
		}
		os.Exit(Main())
	}
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") != "alcove" { // as which scripts run it, with an environment of their own
		withCache()
		os.Setenv("ALCOVE_POSTURE", string(registry.Careful)) // what a directory was before there were postures; tests of them choose
	}
	testscript.Main(m, map[string]func(){"alcove": func() { os.Exit(Main()) }})
}

// withCache keeps compiled modules from one run of the tests to the next, apart from the user's own.
func withCache() {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("alcove-tests-%d", os.Getuid()))
	os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
}

// TestScripts runs the scripts in testdata, each with a data directory of its own and no HTTP.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if underRace && testing.Short() { // most of what a script does is one command after the other
		files = stress.Pick(t, len(files)/4, files)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(what string) (bool, error) {
			if what != "families" {
				return false, fmt.Errorf("unknown condition %s", what)
			}
			return len(builtIn()) > 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": func(ts *testscript.TestScript, neg bool, args []string) { waitFor(t, ts, neg, args) }, "exits": exits, "alwayslocked": alwaysLocked, "idof": keyID, "flip": flip, "expand": expand, "vectors": wordVectors, "guest": writeGuest, "ids": changeIDs, "stopowner": func(ts *testscript.TestScript, _ bool, _ []string) {
			stopOwner(t, ts.Getenv("ALCOVE_DATA"))
		}, "killowner": func(ts *testscript.TestScript, _ bool, _ []string) {
			killOwner(t, ts.Getenv("ALCOVE_DATA"))
		}},
		Setup: func(e *testscript.Env) error {
			dir := filepath.Join(e.WorkDir, "data")
			e.Setenv("ALCOVE_DATA", dir)
			e.Setenv("ALCOVE_LISTEN", "off")
			e.Setenv("ALCOVE_POSTURE", string(registry.Careful)) // what a directory was before there were postures
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", os.Getenv("GORACE")) // how long the race detector sleeps before a program exits
			if err := shareCache(e); err != nil {
				return err
			}
			guests, err := filepath.Abs("../../host/sandbox/testdata/guests")
			if err != nil {
				return err
			}
			e.Setenv("GUESTS", guests)
			e.Defer(func() { stopOwners(t, e.WorkDir) })
			return nil
		},
	})
}

// shareCache gives a script the compiled modules of all tests, with a copy of the cache's key, and otherwise a configuration of its own.
func shareCache(e *testscript.Env) error {
	e.Setenv("XDG_CACHE_HOME", os.Getenv("XDG_CACHE_HOME"))
	e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
	cache := sandbox.UserCache()
	box, err := sandbox.New(sandbox.Config{Cache: cache}) // which makes the key, if there is none
	if err != nil {
		return err
	}
	if err := box.Close(); err != nil {
		return err
	}
	key, err := os.ReadFile(cache.Key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(e.WorkDir, "config", "alcove"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.WorkDir, "config", "alcove", filepath.Base(cache.Key)), key, 0o600)
}

// stopOwners ends the owners of all data directories in dir.
func stopOwners(t testing.TB, dir string) {
	t.Helper()
	locks, err := filepath.Glob(owner.LockPath(filepath.Join(dir, "*")))
	if err != nil {
		t.Error(err)
	}
	for _, lock := range locks {
		stopOwner(t, filepath.Dir(lock))
	}
}

// stopOwner ends the owner that commands left running in dir, and those that clients are only starting, which would make
// files while the directory is deleted. It waits for them all.
func stopOwner(t testing.TB, dir string) {
	t.Helper()
	await.That(t, "the owner of "+dir+" ends", func() bool {
		running := startedOwners(dir)
		if owned := owner.CheckFree(dir); owned == nil && len(running) == 0 {
			return true
		} else if r, err := owner.ReadRecord(dir); owned != nil && err == nil { // otherwise it has not said who it is, or is just leaving
			running = append(running, r.PID)
		}
		for _, pid := range running {
			if p, err := os.FindProcess(pid); err == nil {
				p.Signal(os.Interrupt)
			}
		}
		return false
	})
}

// startedOwners are the processes that clients started to own dir; none where that cannot be told.
func startedOwners(dir string) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		command, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(command, []byte("\x00serve\x00--data\x00"+dir+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// waitFor is a command of the scripts: it waits until a file exists, and holds a text if one is given.
func waitFor(t testing.TB, ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("use it as: waitfor FILE [TEXT]; with TEXT, FILE may be a pattern")
	}
	await.That(t, strings.Join(args, " holds "), func() bool {
		if len(args) == 1 { // which may be a socket
			_, err := os.Stat(ts.MkAbs(args[0]))
			return err == nil
		}
		files, err := filepath.Glob(ts.MkAbs(args[0]))
		return err == nil && slices.ContainsFunc(files, func(file string) bool {
			data, err := os.ReadFile(file)
			return err == nil && bytes.Contains(data, []byte(args[1]))
		})
	})
}

// wordVectors is a command of the scripts: it writes the model.safetensors of a folder, with vectors of two dimensions.
func wordVectors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args)%2 == 0 {
		ts.Fatalf("use it as: vectors FOLDER X Y X Y…")
	}
	var data []byte
	for _, arg := range args[1:] {
		x, err := strconv.ParseFloat(arg, 32)
		ts.Check(err)
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	}
	header := fmt.Sprintf(`{"embeddings":{"dtype":"F32","shape":[%d,2],"data_offsets":[0,%d]}}`, len(data)/8, len(data))
	file := append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "model.safetensors"), file, 0o600))
}

// keyID is a command of the scripts: it sets a variable to the id of the key that key create told of in a file.
func keyID(ts *testscript.TestScript, neg bool, args []string) {
	id := regexp.MustCompile(`[0-9a-f]{12}`)
	if neg || len(args) != 2 {
		ts.Fatalf("use it as: idof FILE VARIABLE")
	}
	ts.Setenv(args[1], id.FindString(ts.ReadFile(args[0])))
}

// expand is a command of the scripts: it puts the values of variables into a file.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("use it as: expand FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}

// flip is a command of the scripts: it changes the last byte of every place of a file that holds a text.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("use it as: flip FILE TEXT")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	text := []byte(args[1])
	damaged := append([]byte(nil), text...)
	damaged[len(damaged)-1] ^= 1
	if !bytes.Contains(data, text) {
		ts.Fatalf("%s does not hold %q", args[0], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.ReplaceAll(data, text, damaged), 0o600))
}

// changeIDs is a command of the scripts: it sets variables to the ids of waiting changes, by the keys that they change.
func changeIDs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args)%2 == 0 {
		ts.Fatalf("use it as: ids FILE KEY VARIABLE KEY VARIABLE…")
	}
	var list struct {
		Pending []struct {
			ID   string
			Keys []string
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &list))
	for i := 1; i < len(args); i += 2 {
		for _, p := range list.Pending {
			if slices.Contains(p.Keys, args[i]) {
				ts.Setenv(args[i+1], p.ID)
			}
		}
	}
}

// exits is a command of the scripts: it runs another, which must end with an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("use it as: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("exec %s: %v", args[1], err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("it ended with exit code %d, not %s", code, args[0])
	}
}

// alwaysLocked is a command of a script: in the audit log that was exported last, no entry that accepts a lock file unlocks what one before it
// locked.
func alwaysLocked(ts *testscript.TestScript, _ bool, _ []string) {
	locked, accepted := false, 0
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var e audit.Entry
		ts.Check(json.Unmarshal([]byte(line), &e))
		if e.Lock == "" {
			continue
		}
		if accepted++; locked && !e.Locked {
			ts.Fatalf("entry %d has the directory unlocked: %s", e.Seq, line)
		}
		locked = e.Locked
	}
	if !locked || accepted < 5 {
		ts.Fatalf("%d entries accept a lock file, and the last is locked: %t, want several", accepted, locked)
	}
}
