package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal: what is written to one end is read at the other.
func openTerminal(t *testing.T) (program, reader *os.File) {
	t.Helper()
	reader, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	t.Cleanup(func() { reader.Close() })
	n, err := unix.IoctlGetInt(int(reader.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(reader.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return program, reader
}

// TestOnATerminalOnlyTheProgramsOwnStylesArePrinted runs commands on a terminal, where text is styled and where even what is
// meant for programs is cleaned.
func TestOnATerminalOnlyTheProgramsOwnStylesArePrinted(t *testing.T) {
	dir := dataDir(t)
	if err := program(t, dir, "store", "k"+steering, "planning "+steering).Run(); err != nil {
		t.Fatal(err)
	}
	style := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, args := range [][]string{{"search", "planning"}, {"search", "planning", "--json"}, {"recall", "k" + steering}, {"export"}, {"export", "--memories"}, {"status"}} {
		tty, reader := openTerminal(t)
		cmd := program(t, dir, args...)
		cmd.Stdout, cmd.Env = tty, append(cmd.Env, "TERM=xterm", "NO_COLOR=")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		printed, _ := io.ReadAll(reader) // it ends with an error when the program has gone
		if err := cmd.Wait(); err != nil {
			t.Errorf("alcove %q: %v", args, err)
		}
		out := strings.ReplaceAll(string(printed), "\r\n", "\n")
		if args[0] == "search" && len(args) == 2 && !style.MatchString(out) {
			t.Errorf("%q: nothing is styled: %q", args, out)
		}
		if found := steers(style.ReplaceAllString(out, "")); found != "" || out == "" {
			t.Errorf("%q prints %s on a terminal", args, found)
		}
	}
}

// TestASlowCommandShowsOnATerminalThatItIsAtWork holds a command up until the terminal has shown it, or its counterpart
// with --json until it has ended.
func TestASlowCommandShowsOnATerminalThatItIsAtWork(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		tty, reader := openTerminal(t)
		a := newApp(strings.NewReader(""), io.Discard, tty, func(name string) string { return map[string]string{"TERM": "xterm"}[name] })
		a.asJSON = asJSON
		var shown string
		c := &cobra.Command{Use: "slow", RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				shown = readUntil(t, reader, "slow 1 s")
			}
			return a.notef("done\n")
		}}
		a.showWorking(c)
		c.SetArgs(nil)
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		rest, _ := io.ReadAll(reader) // it ends with an error when the program has gone
		want := map[bool]string{false: "\r\x1b[Kdone\r\n", true: "done\r\n"}[asJSON]
		if !strings.HasSuffix(shown+string(rest), want) || asJSON && string(rest) != want {
			t.Errorf("json %v: the terminal shows %q and %q", asJSON, shown, rest)
		}
	}
}

func TestSomebodyWhoRunsTheCommandForClientsIsToldWhatItIs(t *testing.T) {
	tty, _ := openTerminal(t)
	cmd := program(t, dataDir(t), "mcp")
	cmd.Stdin, cmd.Stderr = tty, nil
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	readUntil(t, said, "clients start it themselves, as alcove connect prints")
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
}

// readUntil reads until a text has come.
func readUntil(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var got strings.Builder
	for part := make([]byte, 256); !strings.Contains(got.String(), text); {
		n, err := r.Read(part)
		if err != nil {
			t.Fatalf("read the terminal: %v; it shows %q", err, got.String())
		}
		got.Write(part[:n])
	}
	return got.String()
}

func TestSetupAsksOnATerminal(t *testing.T) {
	for _, test := range []struct{ answer, says string }{{"y\n", "wrote "}, {"n\n", "nothing was written"}, {"\n", "nothing was written"}} {
		home := t.TempDir()
		tty, reader := openTerminal(t)
		cmd := program(t, filepath.Join(home, "data"), "setup", "cursor")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.Env = append(cmd.Env, "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		if _, err := reader.WriteString(test.answer); err != nil {
			t.Fatal(err)
		}
		printed, _ := io.ReadAll(reader) // it ends with an error when the program has gone
		if err := cmd.Wait(); err != nil || !strings.Contains(string(printed), "[y/N]") || !strings.Contains(string(printed), test.says) {
			t.Errorf("%q: got %v and %s, want a question and %q", test.answer, err, printed, test.says)
		}
		_, err := os.Stat(filepath.Join(home, ".cursor", "mcp.json"))
		if written := err == nil; written != (test.says == "wrote ") {
			t.Errorf("%q: got a file %t, want %t", test.answer, written, !written)
		}
	}
}
