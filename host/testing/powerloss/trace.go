// Package powerloss works out what a power failure could have left on the disk, from what a process asked of it.
//
// The process runs under strace, which records its calls with all they write. Afterwards any moment of the
// recording can be made a power failure: what was synced is there, and of what was not, any part may be missing.
package powerloss

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrUnavailable says that processes cannot be traced here.
var ErrUnavailable = errors.New("system calls cannot be traced")

// traced are the calls that change files, or that this package must refuse because it does not follow them.
const traced = "openat,open,creat,pwrite64,write,ftruncate,fdatasync,fsync,sync_file_range," +
	"rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat," +
	"lseek,fallocate,copy_file_range,sendfile,splice,writev,pwritev,pwritev2,link,linkat,symlink,symlinkat,truncate"

// call is one system call: where it began and ended in the recording, and what it was.
type call struct {
	begin, end int // places in the recording
	process    string
	name       string
	args       []string
	result     string
	open       bool // it had not ended when the recording did
}

// Trace is what a process asked of the disk, under one directory.
type Trace struct {
	root  string
	marks []mark // beginnings and ends of calls, in order
}

// mark is the begin or the end of a call.
type mark struct {
	call *call
	end  bool
}

// Command is a process to record.
type Command struct {
	Root        string // the directory that it works in, empty at first
	Program     string
	Args        []string
	Environment []string // in addition to this process's
	// Failing are calls that fail, in strace's words: "fdatasync:error=EIO:when=7+20" is each thread's seventh, and
	// every twentieth after it.
	Failing []string
}

// Record runs a command under strace and keeps what it did in its root directory. What the command writes to its
// standard output is said, at that moment, to the world.
func Record(ctx context.Context, command Command) (*Trace, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return nil, fmt.Errorf("%w: install strace: %w", ErrUnavailable, err)
	}
	root, err := filepath.EvalSymlinks(command.Root)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	dir, err := os.MkdirTemp("", "powerloss")
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "trace")
	args := []string{"-f", "-y", "-xx", "-s", "1000000000", "--seccomp-bpf", "-e", "signal=none", "-e", "trace=" + traced, "-o", file}
	for _, failing := range command.Failing {
		args = append(args, "-e", "inject="+failing)
	}
	cmd := exec.CommandContext(ctx, strace, append(append(args, command.Program), command.Args...)...)
	cmd.Env = append(os.Environ(), command.Environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("ptrace")) || bytes.Contains(out, []byte("PTRACE")) {
			return nil, fmt.Errorf("%w: %s", ErrUnavailable, out)
		}
		return nil, fmt.Errorf("record %s: %w\n%s", command.Program, err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return parse(root, data)
}

// parse reads what strace wrote.
func parse(root string, data []byte) (*Trace, error) {
	t := &Trace{root: root}
	open := map[string]*call{} // by process
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for place := 1; lines.Scan(); place++ {
		line := lines.Text()
		process, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimLeft(rest, " ")
		switch {
		case rest == "", strings.HasPrefix(rest, "+++"), strings.HasPrefix(rest, "---"):
			continue
		case strings.HasPrefix(rest, "<... "):
			c := open[process]
			_, tail, found := strings.Cut(rest, " resumed>")
			if c == nil || !found {
				return nil, fmt.Errorf("line %d resumes nothing: %.100s", place, line)
			}
			delete(open, process)
			if err := c.finish(place, tail); err != nil {
				return nil, fmt.Errorf("line %d: %w", place, err)
			}
			t.marks = append(t.marks, mark{c, true})
		default:
			name, tail, found := strings.Cut(rest, "(")
			if !found {
				return nil, fmt.Errorf("line %d is no call: %.100s", place, line)
			}
			c := &call{begin: place, process: process, name: name, open: true}
			t.marks = append(t.marks, mark{c, false})
			if head, unfinished := strings.CutSuffix(tail, " <unfinished ...>"); unfinished {
				c.args = splitArgs(head)
				open[process] = c
				continue
			}
			if err := c.finish(place, tail); err != nil {
				return nil, fmt.Errorf("line %d: %w", place, err)
			}
			t.marks = append(t.marks, mark{c, true})
		}
	}
	return t, lines.Err()
}

// finish reads the end of a call: what is left of its arguments, and its result.
func (c *call) finish(place int, tail string) error {
	equals := strings.LastIndex(tail, " = ")
	if equals < 0 {
		return fmt.Errorf("the call %s has no result: %.100s", c.name, tail)
	}
	args, whole := strings.CutSuffix(strings.TrimRight(tail[:equals], " "), ")")
	if !whole {
		return fmt.Errorf("the call %s has no end: %.100s", c.name, tail)
	}
	c.args = append(c.args, splitArgs(args)...)
	c.result, c.end, c.open = strings.TrimSpace(tail[equals+3:]), place, false
	return nil
}

// splitArgs splits arguments; everything that could hold a comma is in hexadecimal.
func splitArgs(text string) []string {
	var args []string
	for _, arg := range strings.Split(text, ",") {
		if arg = strings.TrimSpace(arg); arg != "" {
			args = append(args, arg)
		}
	}
	return args
}

// failed reports whether the call changed nothing.
func (c *call) failed() bool { return strings.HasPrefix(c.result, "-1") || c.result == "?" }

// bytes decodes a quoted argument.
func (c *call) bytes(i int) ([]byte, error) {
	if i >= len(c.args) {
		return nil, fmt.Errorf("%s has no argument %d", c.name, i)
	}
	text, quoted := strings.CutPrefix(c.args[i], `"`)
	text, whole := strings.CutSuffix(text, `"`)
	if !quoted || !whole {
		return nil, fmt.Errorf("%s: argument %d is no text: %.40s", c.name, i, c.args[i])
	}
	return unhex(text)
}

func unhex(text string) ([]byte, error) { return hex.DecodeString(strings.ReplaceAll(text, `\x`, "")) }

// file is the path behind a descriptor such as 7<\x2f\x74>, and the descriptor's number.
func (c *call) file(i int) (fd, name string, err error) {
	if i >= len(c.args) {
		return "", "", fmt.Errorf("%s has no argument %d", c.name, i)
	}
	return descriptor(c.args[i])
}

func descriptor(text string) (fd, name string, err error) {
	fd, rest, found := strings.Cut(text, "<")
	if !found {
		return fd, "", nil
	}
	raw, err := unhex(strings.TrimSuffix(rest, ">"))
	if err != nil {
		return fd, "", nil // a pipe or a socket
	}
	return fd, string(raw), nil
}

// path is the absolute path of the arguments from i on: a directory's descriptor and a name.
func (c *call) path(i int) (string, error) {
	_, dir, err := c.file(i)
	if err != nil {
		return "", err
	}
	name, err := c.bytes(i + 1)
	if err != nil {
		return "", err
	}
	if path.IsAbs(string(name)) {
		return path.Clean(string(name)), nil
	}
	return path.Join(dir, string(name)), nil
}

func (c *call) number(i int) (int64, error) {
	if i >= len(c.args) {
		return 0, fmt.Errorf("%s has no argument %d", c.name, i)
	}
	return strconv.ParseInt(c.args[i], 10, 64)
}
