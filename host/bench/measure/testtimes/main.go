// Command testtimes runs go test and writes which packages and which tests take longest.
//
//	go run ./host/bench/measure/testtimes -o bin/test-times.txt -- -tags guests ./...
//
// A package's CPU time is that of its test process and of all processes that it waited for. On a busy machine it counts more than elapsed
// time, which also contains what a test waited for others.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// usageDir names the directory for the CPU times; where it is set, this program runs a test binary for go test -exec.
const usageDir = "ALCOVE_TESTTIMES_DIR"

func main() {
	if dir := os.Getenv(usageDir); dir != "" {
		os.Exit(runTest(dir, os.Args[1:]))
	}
	out := flag.String("o", "bin/test-times.txt", "the file to write")
	tests := flag.Int("tests", 20, "how many tests to list")
	flag.Parse()
	code, err := measure(*out, *tests, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "testtimes:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

// measure runs go test with args, prints its output, writes the table to out and returns its exit code.
func measure(out string, tests int, args []string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "testtimes")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", append([]string{"test", "-json", "-count=1", "-exec", self}, args...)...)
	cmd.Env = append(os.Environ(), usageDir+"="+dir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	t := read(stdout, os.Stdout)
	waited := cmd.Wait()
	if cmd.ProcessState == nil {
		return 0, waited
	}
	t.elapsed, t.cpu = time.Since(begun), cpu(cmd.ProcessState)
	if err := t.readUsage(dir); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), os.WriteFile(out, t.table(tests), 0o644)
}

// runTest runs a test binary in go test's place and notes its CPU time beside the directory that it runs in.
func runTest(dir string, args []string) int {
	os.Unsetenv(usageDir)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "testtimes:", err)
		return 1
	}
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	cmd.Wait()
	place, _ := os.Getwd()
	line, _ := json.Marshal(usage{Dir: place, CPU: cpu(cmd.ProcessState)})
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(os.Getpid())), line, 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "testtimes:", err)
	}
	return cmd.ProcessState.ExitCode()
}

func cpu(s *os.ProcessState) time.Duration { return s.UserTime() + s.SystemTime() }

// read collects the events of go test -json and prints what the tests of failed packages say, and one line for each package.
func read(events io.Reader, w io.Writer) *times {
	t := &times{packages: map[string]*pkg{}}
	said := map[string]*strings.Builder{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Package == "" {
			fmt.Fprintln(w, lines.Text()) // of a build
			continue
		}
		if said[e.Package] == nil {
			said[e.Package] = &strings.Builder{}
		}
		said[e.Package].WriteString(e.Output)
		t.add(e)
		if e.Test == "" && e.Action == "fail" {
			io.WriteString(w, said[e.Package].String())
		} else if e.Test == "" && e.Action == "pass" {
			fmt.Fprintf(w, "ok  \t%s\t%.1fs\n", e.Package, e.Elapsed)
		}
		if e.Test == "" && (e.Action == "fail" || e.Action == "pass") {
			delete(said, e.Package)
		}
	}
	return t
}
