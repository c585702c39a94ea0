package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkColdStart starts the built program when nothing of its file is in memory, in turn with reading the same bytes, and
// likewise an older build that BEFORE names:
//
//	make build && BEFORE=path go test -run '^$' -bench ColdStart -benchtime 20x ./cmd/alcove
func BenchmarkColdStart(b *testing.B) {
	program := builtProgram(b)
	b.Run("now", func(b *testing.B) { startCold(b, program) })
	if before := os.Getenv("BEFORE"); before != "" {
		b.Run("before", func(b *testing.B) { startCold(b, before) })
	}
}

func startCold(b *testing.B, program string) {
	var read, version, serve []time.Duration
	dir := filepath.Join(b.TempDir(), "data")
	served(b, program, dir) // which makes the directory
	for b.Loop() {
		forget(b, program)
		read = append(read, timed(func() { readAll(b, program) }))
		forget(b, program)
		version = append(version, timed(func() { runToEnd(b, exec.Command(program, "version")) }))
		forget(b, program)
		serve = append(serve, served(b, program, dir))
	}
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
	b.ReportMetric(median(read)/1000, "read-ms")
	b.ReportMetric(median(version)/1000, "version-ms")
	b.ReportMetric(median(serve)/1000, "serve-ms")
	b.ReportMetric(median(version)/median(read), "version/read")
	b.ReportMetric(median(serve)/median(read), "serve/read")
	b.ReportMetric(0, "ns/op")
}

// forget takes a file out of the page cache.
func forget(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(unix.Fsync(int(f.Fd())), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		b.Fatal(err)
	}
}

func readAll(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
		b.Fatal(err)
	}
}

func runToEnd(b *testing.B, c *exec.Cmd) {
	b.Helper()
	if said, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
}

// served is how long a server takes until clients can connect.
func served(b *testing.B, program, dir string) time.Duration {
	b.Helper()
	c := exec.Command(program, "serve", "--data", dir, "--listen", "off")
	began := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	var took time.Duration
	for took == 0 {
		if conn, err := net.Dial("unix", filepath.Join(dir, "alcove.sock")); err == nil {
			took = time.Since(began)
			conn.Close()
		}
		time.Sleep(time.Millisecond)
		if time.Since(began) > time.Minute {
			b.Fatal("the server does not listen")
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkAttach starts a client's bridge to a running server, and waits for its list of tools: warm, and when nothing of the program's
// file is in memory. In turn, it starts an older build that BEFORE names, as a client of the same server:
//
//	make build && BEFORE=path go test -run '^$' -bench Attach -benchtime 50x ./cmd/alcove
func BenchmarkAttach(b *testing.B) {
	programs := map[string]string{"now": builtProgram(b)}
	if before := os.Getenv("BEFORE"); before != "" {
		programs["before"] = before
	}
	dir := filepath.Join(b.TempDir(), "data")
	serving := exec.Command(programs["now"], "serve", "--data", dir, "--listen", "off")
	if err := serving.Start(); err != nil {
		b.Fatal(err)
	}
	defer serving.Wait()
	defer serving.Process.Signal(os.Interrupt)
	for {
		if conn, err := net.Dial("unix", filepath.Join(dir, "alcove.sock")); err == nil {
			conn.Close()
			break
		}
		time.Sleep(time.Millisecond)
	}
	warm, cold, own, read := map[string][]time.Duration{}, map[string][]time.Duration{}, map[string][]time.Duration{}, []time.Duration{}
	for b.Loop() {
		for name, program := range programs {
			c := attachTo(program, dir)
			warm[name] = append(warm[name], timed(func() { runAttached(b, c) }))
			own[name] = append(own[name], c.ProcessState.UserTime()+c.ProcessState.SystemTime())
			if copied := program + ".cold"; os.Getenv("COLD") != "" {
				if _, err := os.Stat(copied); err != nil { // the server has the other one mapped
					data, err := os.ReadFile(program)
					if err = errors.Join(err, os.WriteFile(copied, data, 0o755)); err != nil {
						b.Fatal(err)
					}
					defer os.Remove(copied)
				}
				forget(b, copied)
				cold[name] = append(cold[name], timed(func() { runAttached(b, attachTo(copied, dir)) }))
				forget(b, copied)
				read = append(read, timed(func() { readAll(b, copied) }))
			}
		}
	}
	for name := range programs {
		b.ReportMetric(median(warm[name])/1000, name+"-warm-ms")
		b.ReportMetric(median(own[name])/1000, name+"-cpu-ms")
		if len(cold[name]) > 0 {
			b.ReportMetric(median(cold[name])/1000, name+"-cold-ms")
			b.ReportMetric(median(read)/1000, "read-ms")
		}
	}
	b.ReportMetric(0, "ns/op")
}

func builtProgram(b *testing.B) string {
	b.Helper()
	program, err := filepath.Abs("../../bin/alcove")
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		b.Skip("the program is not built: make build")
	}
	return program
}

func attachTo(program, dir string) *exec.Cmd {
	c := exec.Command(program, "mcp", "--data", dir)
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	return c
}

func runAttached(b *testing.B, c *exec.Cmd) {
	b.Helper()
	if said, err := c.Output(); err != nil || !strings.Contains(string(said), "memory_store") {
		b.Fatalf("%v: %s", err, said)
	}
}
