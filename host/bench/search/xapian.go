package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

//go:embed xapianpeer.py
var xapianScript string

// ofXapian is Xapian in a process of its own, through its Python bindings. That process measures itself.
type ofXapian struct {
	version string
	dir     string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	latest  time.Duration // what the latest answer took
	used    time.Duration // processor time of all answers
}

type xapianAnswer struct {
	Version string
	Hits    int
	NS      int64
	CPU     int64 // ns
}

// newXapian starts Xapian by the first Python that has it: often only the system's own does.
func newXapian() (*ofXapian, error) {
	var failed error
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		x, err := startXapian(python)
		if err == nil {
			return x, nil
		}
		failed = errors.Join(failed, fmt.Errorf("%s: %w", python, err))
	}
	return nil, fmt.Errorf("start Xapian (on Debian, install python3-xapian): %w", failed)
}

func startXapian(python string) (*ofXapian, error) {
	if err := exec.Command(python, "-c", "import xapian").Run(); err != nil {
		return nil, fmt.Errorf("import xapian: %w", err)
	}
	x := &ofXapian{cmd: exec.Command(python, "-c", xapianScript)}
	in, err := x.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	x.cmd.Stderr, x.in, x.out = os.Stderr, in, bufio.NewReader(out)
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	hello, err := x.answer()
	if err != nil {
		return nil, errors.Join(err, x.close())
	}
	x.version = hello.Version
	return x, nil
}

func (x *ofXapian) ask(request any) (xapianAnswer, error) {
	if err := json.NewEncoder(x.in).Encode(request); err != nil {
		return xapianAnswer{}, fmt.Errorf("ask Xapian: %w", err)
	}
	return x.answer()
}

func (x *ofXapian) answer() (a xapianAnswer, err error) {
	line, err := x.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		err = fmt.Errorf("read the answer of Xapian: %w", err)
	}
	x.latest = time.Duration(a.NS)
	x.used += time.Duration(a.CPU)
	return a, err
}

func (x *ofXapian) took() time.Duration { return x.latest }

func (x *ofXapian) open(dir string) error {
	x.dir = filepath.Join(dir, "xapian")
	_, err := x.ask(map[string]string{"dir": x.dir})
	return err
}

func (x *ofXapian) add(texts []string) error {
	_, err := x.ask(map[string]any{"texts": texts})
	return err
}

func (x *ofXapian) build(dir string, texts []string) error {
	if err := x.open(dir); err != nil {
		return err
	}
	took := time.Duration(0)
	for list := range slices.Chunk(texts, batch) {
		if err := x.add(list); err != nil {
			return err
		}
		took += x.latest
	}
	x.latest = took
	return nil
}

func (x *ofXapian) search(question string) (int, error) {
	a, err := x.ask(map[string]string{"query": question})
	return a.Hits, err
}

func (x *ofXapian) bytes() (int64, error) { return sizeOf(x.dir) }

func (x *ofXapian) close() error { return errors.Join(x.in.Close(), x.cmd.Wait()) }
