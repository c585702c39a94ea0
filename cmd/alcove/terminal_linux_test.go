package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

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
			t.Errorf("%q: %v", args, err)
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
